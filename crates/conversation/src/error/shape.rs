//! The error for a JSON value with the wrong shape, independent of where the value came from.

use peteos_json::{FieldPath, ParseError};
use peteos_memory::OutOfMemory;

use super::Error;

/// A JSON value with the wrong shape, or one for which there is not enough memory. Code that knows where the value came from converts this into an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The path of the invalid field within the value; the root for the value itself.
    pub field: FieldPath,
    /// What was expected and what was found.
    pub message: String,
    /// Set if the memory is too small and the value may be valid.
    pub out_of_memory: Option<OutOfMemory>,
}

impl From<OutOfMemory> for ShapeError {
    fn from(out_of_memory: OutOfMemory) -> Self {
        let (field, message) = (FieldPath::root(), out_of_memory.to_string());
        Self { field, message, out_of_memory: Some(out_of_memory) }
    }
}

impl From<ParseError> for ShapeError {
    fn from(error: ParseError) -> Self {
        Self { field: FieldPath::root(), message: error.message, out_of_memory: error.out_of_memory }
    }
}

impl ShapeError {
    /// The error for a field.
    pub fn new(field: FieldPath, message: impl Into<String>) -> Self {
        Self { field, message: message.into(), out_of_memory: None }
    }

    /// The error of the same field in a value that has this one at `outer`.
    pub fn below(self, outer: &FieldPath) -> Self {
        Self { field: self.field.below(outer), ..self }
    }

    /// The error for a message that a caller passed in.
    pub fn in_message(self) -> Error {
        match self.out_of_memory {
            Some(out_of_memory) => out_of_memory.into(),
            None => Error::InvalidMessage { field: self.field, message: self.message },
        }
    }

    /// The error for a value that a caller passed in as `argument`.
    pub fn in_argument(self, argument: &str) -> Error {
        if let Some(out_of_memory) = self.out_of_memory {
            return out_of_memory.into();
        }
        let at = self.field.below(&FieldPath::root().key(argument));
        Error::InvalidArgument { argument: at.to_string(), message: self.message }
    }
}
