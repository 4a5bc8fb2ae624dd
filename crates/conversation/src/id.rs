//! The ids of contexts, which are the names of files.

use std::fmt;

use crate::environment::Environment;

/// The maximum length in bytes. It leaves room for the extensions of files and temporary files.
const MAX_LENGTH: usize = 200;

/// The stem of a file's name that no context may have.
const RESERVED: &str = "session";

/// The id of a context and the stem of its file's name: a plain file name, usually `YYYYMMDD-<uuid4>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(String);

impl ContextId {
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
        if RESERVED.eq_ignore_ascii_case(id) {
            return Err(format!("{id:?} is the name of another file of the session"));
        }
        Ok(Self(id.to_owned()))
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the context's file.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.0)
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Checks that an id is a plain file name. Any other could lead out of the directory of the session.
///
/// # Errors
///
/// What is wrong, as a message to follow the name of the argument or field.
pub fn check_file_name(id: &str) -> Result<(), String> {
    // All ids that this package generates are of this kind.
    let is_simple = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let fault = if is_simple && !id.is_empty() && id.len() <= MAX_LENGTH {
        return Ok(());
    } else if id.is_empty() {
        "is empty"
    } else if id == "." || id == ".." {
        "names a directory"
    } else if id.contains(['/', '\\']) {
        "contains a path separator"
    } else if id.chars().any(char::is_control) {
        "contains a control character"
    } else if id.contains(['<', '>', ':', '"', '|', '?', '*']) || id.ends_with(['.', ' ']) {
        "is not a valid file name on every system"
    } else if id.len() > MAX_LENGTH {
        "is too long"
    } else {
        return Ok(());
    };
    Err(format!("{id:?} {fault}; an id must be a plain file name such as 20260102-<uuid>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_file_names() {
        let long = "x".repeat(MAX_LENGTH + 1);
        for bad in ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "a\n", "c:", "x.", "x ", "../../x", long.as_str()] {
            assert!(ContextId::parse(bad).is_err(), "{bad:?}");
        }
        assert!(ContextId::parse("Session").is_err(), "its file would be session.json");
        for good in ["20260102-00000000-0000-4000-8000-000000000000", "..x", "été", "a b"] {
            assert_eq!(ContextId::parse(good).unwrap().as_str(), good);
        }
    }
}
