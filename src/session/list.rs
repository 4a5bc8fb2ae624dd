//! The sessions in a directory.

use super::summary::SessionSummary;
use crate::error::Error;
use crate::id::SessionId;
use crate::layout::Layout;
use crate::storage::Storage;

/// The number of sessions that are read concurrently.
const BATCH: usize = 64;

/// The sessions in a directory.
#[derive(Debug, Default)]
pub struct SessionList {
    /// The summaries, newest first.
    pub summaries: Vec<SessionSummary>,
    /// The errors of the sessions that could not be read.
    pub errors: Vec<Error>,
}

impl SessionList {
    /// Reads the `session.json` of each session in a directory, but no contexts. Ignores other files and directories.
    ///
    /// # Errors
    ///
    /// Those of listing the directory, and [`Error::MemoryLimit`]: then nothing is known about a session.
    pub async fn read(parent_dir: &str, storage: &impl Storage) -> Result<Self, Error> {
        let names = storage.list(if parent_dir.is_empty() { "." } else { parent_dir }).await?;
        let layout = |name: &String| Some(Layout::new(parent_dir, SessionId::parse(name).ok()?));
        let layouts: Vec<Layout> = names.iter().filter_map(layout).collect();
        let mut list = Self::default();
        for batch in layouts.chunks(BATCH) {
            list.add(batch, storage).await?;
        }
        SessionSummary::sort_newest_first(&mut list.summaries);
        Ok(list)
    }

    async fn add(&mut self, layouts: &[Layout], storage: &impl Storage) -> Result<(), Error> {
        let paths: Vec<String> = layouts.iter().map(Layout::session_file).collect();
        let (mut found, mut found_paths) = (Vec::new(), Vec::new());
        for ((layout, path), read) in layouts.iter().zip(paths.iter()).zip(storage.read_all(&paths).await) {
            match read {
                Ok(Some(text)) => {
                    found.push((layout, text));
                    found_paths.push(path.clone());
                }
                // A directory without a session.
                Ok(None) => {}
                Err(error @ Error::MemoryLimit(_)) => return Err(error),
                Err(error) => self.errors.push(error),
            }
        }
        let times = storage.modified_times(&found_paths).await;
        for ((layout, text), time) in found.into_iter().zip(times) {
            match time.and_then(|time| SessionSummary::from_file(layout, &text, time)) {
                Ok(summary) => self.summaries.push(summary),
                Err(error @ Error::MemoryLimit(_)) => return Err(error),
                Err(error) => self.errors.push(error),
            }
        }
        Ok(())
    }
}
