//! Ids that are the names of files and directories.

use std::fmt;

use crate::conversation::id::check_file_name;
use crate::environment::Environment;

pub use crate::conversation::id::ContextId;

/// The id of a session and the name of its directory: a plain file name, usually `YYYYMMDD-<uuid4>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    /// A new id: the local date and a random uuid.
    pub fn generate(environment: &dyn Environment) -> Self {
        Self(environment.dated_id())
    }

    /// Parses an id, which may come from an untrusted file or caller.
    ///
    /// # Errors
    ///
    /// Why it is not a plain file name, as a message to follow the name of the argument or field.
    pub fn parse(id: &str) -> Result<Self, String> {
        check_file_name(id)?;
        Ok(Self(id.to_owned()))
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_file_names() {
        for bad in ["", "..", "a/b"] {
            assert!(SessionId::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(SessionId::parse("session").unwrap().as_str(), "session");
    }
}
