//! The paths of the files of a session.

use crate::error::Error;
use crate::id::{ContextId, SessionId};

pub(crate) const SESSION_FILE: &str = "session.json";
const EXTENSION: &str = ".json";

/// The paths of the files of one session: names separated by `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    parent_dir: String,
    id: SessionId,
}

impl Layout {
    /// The paths below `parent_dir`. Trailing separators are ignored.
    pub fn new(parent_dir: &str, id: SessionId) -> Self {
        let trimmed = parent_dir.trim_end_matches('/');
        // The root directory consists of a separator.
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

    /// The path of a file in the session's directory.
    pub fn file(&self, name: &str) -> String {
        join(&self.session_dir(), name)
    }

    /// The id of the context whose file has this name; `None` if it is not the file of a context.
    pub fn context_id(file_name: &str) -> Option<ContextId> {
        ContextId::parse(file_name.strip_suffix(EXTENSION)?).ok().filter(|_| !file_name.starts_with('.'))
    }
}

/// Checks a parent directory that a caller passes.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a path with a NUL character, which no file system accepts.
pub fn check_parent_dir(parent_dir: &str) -> Result<(), Error> {
    if parent_dir.contains('\0') {
        return Err(Error::argument("parent_dir", "must not contain a NUL character"));
    }
    Ok(())
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        directory if directory.ends_with('/') => [directory, name].concat(),
        directory => [directory, "/", name].concat(),
    }
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
