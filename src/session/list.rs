//! The sessions in a directory, newest first, page by page.

use super::rank::{CreationDay, Rank};
use super::summary::SessionSummary;
use crate::conversation::order;
use crate::error::Error;
use crate::id::SessionId;
use crate::layout::Layout;
use crate::storage::Storage;

/// The number of files that are read concurrently.
const BATCH: usize = 64;

/// How sessions are listed.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// The difference of local time from UTC in milliseconds: positive east of Greenwich.
    pub utc_offset: f64,
    /// Whether only some of the sessions will be asked for. The times of all files are read first then, and the contents only
    /// of those.
    pub is_page: bool,
    /// The session after which the list begins.
    pub after: Option<Cursor>,
}

/// A place in a list.
#[derive(Clone, Debug)]
pub enum Cursor {
    /// The present place of a session.
    Session(SessionId),
    /// The place of a session when it was listed, with the time in its summary.
    Listed(SessionId, Option<f64>),
}

/// A list of sessions that is read as far as it is asked for. Each `session.json` is read once, and no context.
pub struct SessionList<'s, S> {
    parent_dir: String,
    storage: &'s S,
    options: ListOptions,
    after: Option<Rank>,
    /// The sessions of which nothing was read; the newest day comes last.
    days: Vec<(CreationDay, Vec<SessionId>)>,
    /// The sessions whose places are known; the newest comes last.
    ranked: Vec<Ranked>,
}

/// A session whose place is known.
struct Ranked {
    rank: Rank,
    layout: Layout,
    modified_at: Option<f64>,
    /// `None` until the file is read.
    summary: Option<SessionSummary>,
}

impl<'s, S: Storage> SessionList<'s, S> {
    /// Lists the names in a directory. Ignores other files and directories.
    ///
    /// # Errors
    ///
    /// Those of listing the directory. [`Error::SessionNotFound`] if the session of [`Cursor::Session`] does not exist.
    pub async fn open(parent_dir: &str, storage: &'s S, options: ListOptions) -> Result<Self, Error> {
        let after = match &options.after {
            None => None,
            Some(Cursor::Listed(id, modified_at)) => Some(Rank::new(id.as_str(), *modified_at, options.utc_offset)),
            Some(Cursor::Session(id)) => {
                let path = Layout::new(parent_dir, id.clone()).session_file();
                let modified_at = storage.modified_time(&path).await?;
                if modified_at.is_none() && storage.read(&path).await?.is_none() {
                    return Err(Error::SessionNotFound { path });
                }
                Some(Rank::new(id.as_str(), modified_at, options.utc_offset))
            }
        };
        let names = storage.list(if parent_dir.is_empty() { "." } else { parent_dir }).await?;
        let is_needed = |day: &CreationDay| after.as_ref().is_none_or(|after| day.earliest() <= after.created());
        let ids = names.iter().filter_map(|name| SessionId::parse(name).ok());
        let mut dated: Vec<(CreationDay, SessionId)> =
            ids.map(|id| (CreationDay::of(id.as_str()), id)).filter(|(day, _)| is_needed(day)).collect();
        order::sort_by(&mut dated, &|(one, _), (other, _)| one.start().total_cmp(&other.start()));
        let mut days: Vec<(CreationDay, Vec<SessionId>)> = Vec::new();
        for (day, id) in dated {
            match days.last_mut() {
                Some((last, ids)) if last.start() == day.start() => ids.push(id),
                _ => days.push((day, vec![id])),
            }
        }
        Ok(Self { parent_dir: parent_dir.to_owned(), storage, options, after, days, ranked: Vec::new() })
    }

    /// The next sessions, as many as `count` unless the list ends. The errors of those that cannot be read are added to
    /// `errors`; with [`Error::Stopped`] among them the list ends.
    pub async fn next(&mut self, count: usize, errors: &mut Vec<Error>) -> Vec<SessionSummary> {
        let mut summaries = Vec::new();
        while summaries.len() < count {
            let batch = self.next_ranked((count - summaries.len()).min(BATCH), errors).await;
            if batch.is_empty() {
                break;
            }
            self.read(batch, &mut summaries, errors).await;
            if is_stopped(errors) {
                break;
            }
        }
        summaries
    }

    /// The next sessions, at least one unless the list ends.
    async fn next_ranked(&mut self, count: usize, errors: &mut Vec<Error>) -> Vec<Ranked> {
        loop {
            // A session of a day that was not read may come before the others.
            let first = match self.days.last() {
                Some((day, _)) => self.ranked.partition_point(|ranked| ranked.rank.created() <= day.latest()),
                None => 0,
            };
            if first < self.ranked.len() {
                let first = first.max(self.ranked.len().saturating_sub(count));
                return self.ranked.drain(first..).rev().collect();
            }
            let Some((_, ids)) = self.days.pop() else { return Vec::new() };
            for ids in ids.chunks(BATCH) {
                self.rank(ids, errors).await;
                if is_stopped(errors) {
                    return Vec::new();
                }
            }
            order::sort_by(&mut self.ranked, &|one, other| one.rank.cmp(&other.rank));
        }
    }

    /// Finds the places of sessions.
    async fn rank(&mut self, ids: &[SessionId], errors: &mut Vec<Error>) {
        let layouts: Vec<Layout> = ids.iter().map(|id| Layout::new(&self.parent_dir, id.clone())).collect();
        let paths: Vec<String> = layouts.iter().map(Layout::session_file).collect();
        let mut add = |layout: Layout, modified_at, summary| {
            let rank = Rank::new(layout.id().as_str(), modified_at, self.options.utc_offset);
            if self.after.as_ref().is_none_or(|after| rank < *after) {
                self.ranked.push(Ranked { rank, layout, modified_at, summary });
            }
        };
        if self.options.is_page {
            for (layout, time) in layouts.into_iter().zip(self.storage.modified_times(&paths).await) {
                match time {
                    Ok(time) => add(layout, time, None),
                    Err(error) => errors.push(error),
                }
            }
            return;
        }
        let limits = self.storage.limits();
        for (layout, file) in layouts.into_iter().zip(self.storage.read_with_times(&paths).await) {
            match file
                .map(|file| file.map(|(text, time)| (SessionSummary::from_file(&layout, &text, time, limits), time)))
            {
                Ok(Some((Ok(summary), time))) => add(layout, time, Some(summary)),
                // A directory without a session.
                Ok(None) => {}
                Ok(Some((Err(error), _))) | Err(error) => errors.push(error),
            }
        }
    }

    /// Reads the files that were not read yet.
    async fn read(&self, batch: Vec<Ranked>, summaries: &mut Vec<SessionSummary>, errors: &mut Vec<Error>) {
        let limits = self.storage.limits();
        let unread = batch.iter().filter(|ranked| ranked.summary.is_none());
        let paths: Vec<String> = unread.map(|ranked| ranked.layout.session_file()).collect();
        let mut files =
            if paths.is_empty() { Vec::new() } else { self.storage.read_with_times(&paths).await }.into_iter();
        for Ranked { layout, modified_at, summary, .. } in batch {
            let summary = match summary {
                Some(summary) => Ok(Some(summary)),
                None => match files.next() {
                    Some(Ok(Some((text, _)))) => {
                        SessionSummary::from_file(&layout, &text, modified_at, limits).map(Some)
                    }
                    Some(Ok(None)) | None => Ok(None),
                    Some(Err(error)) => Err(error),
                },
            };
            match summary {
                Ok(summary) => summaries.extend(summary),
                Err(error) => errors.push(error),
            }
        }
    }
}

fn is_stopped(errors: &[Error]) -> bool {
    errors.iter().any(|error| matches!(error, Error::Stopped))
}
