//! Where a session lives: the paths of its files, and what a save writes in which order.

use crate::digest::sha256_hex;
use crate::error::Error;
use crate::id::{ContextId, SessionId};
use crate::json::Object;
use crate::session::SharedContext;

pub(crate) const SESSION_FILE: &str = "session.json";
/// Files with more bytes are refused where the caller sets no limit of its own: 256 MiB.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 256 << 20;
const EXTENSION: &str = ".json";

/// The paths of one session's files. They are made of `/`-separated names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    parent_dir: String,
    id: SessionId,
}

impl Layout {
    /// The paths below `parent_dir`; separators at its end do not count.
    pub fn new(parent_dir: &str, id: SessionId) -> Self {
        let trimmed = parent_dir.trim_end_matches('/');
        // Of the root directory the separator is all there is.
        let parent_dir = if trimmed.is_empty() && !parent_dir.is_empty() { "/" } else { trimmed };
        Self { parent_dir: parent_dir.to_owned(), id }
    }

    /// The session's uuid.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// `parent_dir/uuid`.
    pub fn session_dir(&self) -> String {
        join(&self.parent_dir, self.id.as_str())
    }

    /// `parent_dir/uuid/session.json`.
    pub fn session_file(&self) -> String {
        join(&self.session_dir(), SESSION_FILE)
    }

    /// `parent_dir/uuid/<id>.json`.
    pub fn context_file(&self, id: &ContextId) -> String {
        join(&self.session_dir(), &id.file_name())
    }

    /// The path of a file of the session's directory.
    pub fn file(&self, name: &str) -> String {
        join(&self.session_dir(), name)
    }

    /// The id of the context whose file has this name; `None` for any other file.
    pub fn context_id(file_name: &str) -> Option<ContextId> {
        ContextId::parse(file_name.strip_suffix(EXTENSION)?).ok().filter(|_| !file_name.starts_with('.'))
    }
}

/// Checks a parent directory that a caller hands in.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for one with a NUL, which no file system takes.
pub fn check_parent_dir(parent_dir: &str) -> Result<(), Error> {
    if parent_dir.contains('\0') {
        return Err(Error::argument("parent_dir", "contains a NUL character, which no path may contain"));
    }
    Ok(())
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        directory if directory.ends_with('/') => format!("{directory}{name}"),
        directory => format!("{directory}/{name}"),
    }
}

/// The writes of a save, to be done one after the other; the first that fails ends it.
#[derive(Default)]
pub struct SavePlan {
    pub writes: Vec<PlannedWrite>,
}

/// A file to be replaced as a whole.
pub struct PlannedWrite {
    pub path: String,
    pub bytes: Vec<u8>,
    /// The SHA-256 of the bytes in hexadecimal digits.
    pub digest: String,
    /// What the session is to be told when it is done.
    pub what: Written,
}

impl PlannedWrite {
    pub(crate) fn new(path: String, bytes: Vec<u8>, what: Written) -> Self {
        let digest = sha256_hex(&bytes);
        Self { path, bytes, digest, what }
    }
}

/// What a write has made durable.
pub enum Written {
    /// The object itself, not its id: another one may have taken its place in the meantime.
    Context {
        context: SharedContext,
        revision: u64,
    },
    Session {
        dict: Object,
        revision: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let id = SessionId::parse("20260102-x").unwrap();
        let dir = |parent: &str| Layout::new(parent, id.clone()).session_dir();
        assert_eq!(dir("agents/helper"), "agents/helper/20260102-x");
        assert_eq!(dir("agents/helper//"), "agents/helper/20260102-x");
        assert_eq!(dir("/"), "/20260102-x");
        assert_eq!(dir(""), "20260102-x");
        let layout = Layout::new("a", id);
        assert_eq!(layout.session_file(), "a/20260102-x/session.json");
        assert_eq!(layout.context_file(&ContextId::parse("c").unwrap()), "a/20260102-x/c.json");
    }

    #[test]
    fn context_files() {
        assert_eq!(Layout::context_id("20260102-c.json").unwrap().as_str(), "20260102-c");
        for other in ["session.json", "notes.txt", ".json", ".x.json.1.tmp", ".x.json", "a\\b.json"] {
            assert_eq!(Layout::context_id(other), None, "{other}");
        }
    }
}
