//! The sessions in a directory.

use futures_util::{StreamExt, stream};

use super::SessionSummary;
use crate::error::Error;
use crate::id::SessionId;
use crate::layout::Layout;
use crate::storage::Storage;

/// The number of sessions that are read at the same time.
const READS_AT_ONCE: usize = 16;

/// The sessions in a directory.
#[derive(Debug, Default)]
pub struct SessionList {
    /// The newest first.
    pub summaries: Vec<SessionSummary>,
    /// The errors of the sessions that cannot be read.
    pub errors: Vec<Error>,
}

impl SessionList {
    /// Reads the `session.json` of each session in a directory, and no context. Other files and directories are ignored.
    ///
    /// # Errors
    ///
    /// Those of the storage when it lists the directory.
    pub async fn read(parent_dir: &str, storage: &impl Storage) -> Result<Self, Error> {
        let names = storage.list(if parent_dir.is_empty() { "." } else { parent_dir }).await?;
        let layouts = names.iter().filter_map(|name| Some(Layout::new(parent_dir, SessionId::parse(name).ok()?)));
        let mut results = stream::iter(layouts).map(|layout| summary(layout, storage)).buffered(READS_AT_ONCE);
        let mut list = Self::default();
        while let Some(result) = results.next().await {
            match result {
                Ok(summary) => list.summaries.extend(summary),
                Err(error) => list.errors.push(error),
            }
        }
        SessionSummary::sort_newest_first(&mut list.summaries);
        Ok(list)
    }
}

/// The summary of a session; `None` for a directory without one.
async fn summary(layout: Layout, storage: &impl Storage) -> Result<Option<SessionSummary>, Error> {
    let path = layout.session_file();
    let Some(text) = storage.read(&path).await? else { return Ok(None) };
    let modified_at = storage.modified_time(&path).await?;
    SessionSummary::from_file(&layout, &text, modified_at).map(Some)
}
