//! The error for a JSON value with the wrong shape, independent of where the value came from.

use peteos_json::FieldPath;

use super::Error;

/// A JSON value with the wrong shape. Code that knows where the value came from converts this into an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The path of the invalid field within the value; the root for the value itself.
    pub field: FieldPath,
    /// What was expected and what was found.
    pub message: String,
}

impl ShapeError {
    /// The error for a field.
    pub fn new(field: FieldPath, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }

    /// The error of the same field in a value that has this one at `outer`.
    pub fn below(self, outer: &FieldPath) -> Self {
        Self { field: self.field.below(outer), message: self.message }
    }

    /// The error for a message that a caller passed in.
    pub fn in_message(self) -> Error {
        Error::InvalidMessage { field: self.field, message: self.message }
    }

    /// The error for a value that a caller passed in as `argument`.
    pub fn in_argument(self, argument: &str) -> Error {
        let at = self.field.below(&FieldPath::root().key(argument));
        Error::InvalidArgument { argument: at.to_string(), message: self.message }
    }
}
