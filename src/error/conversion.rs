//! Converts the errors of the conversation model, and faults of dicts, which get the file that they are in.

use peteos_json::{FieldPath, ParseError, Position, locate};

use super::{Error, ShapeError};
use crate::conversation::error::Error as ConversationError;

impl From<ConversationError> for Error {
    fn from(error: ConversationError) -> Self {
        match error {
            ConversationError::InvalidArgument { argument, message } => Self::InvalidArgument { argument, message },
            ConversationError::InvalidMessage { field, message } => Self::InvalidMessage { field, message },
            ConversationError::Internal(message) => Self::Internal(message),
        }
    }
}

impl Error {
    /// The error for the file at `path`, which is not valid JSON.
    pub fn not_json(error: ParseError, path: &str) -> Self {
        Self::CorruptSession {
            path: path.to_owned(),
            position: Position { line: error.line, column: error.column },
            field: FieldPath::root(),
            message: error.message,
        }
    }

    /// The error for a field of the file at `path`, whose `text` gives the line and the column.
    pub fn in_file(fault: ShapeError, path: &str, text: &[u8]) -> Self {
        Self::CorruptSession {
            path: path.to_owned(),
            position: locate(text, &fault.field),
            field: fault.field,
            message: fault.message,
        }
    }
}
