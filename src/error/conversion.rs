//! Converts the errors of the conversation model, and faults of dicts, which get the file that they are in.

use peteos_json::{FieldPath, ParseError, Position, locate};

use super::{Error, FileTooLarge, ShapeError};
use crate::conversation::error::Error as ConversationError;
use crate::conversation::limits::Limits;

impl From<ConversationError> for Error {
    fn from(error: ConversationError) -> Self {
        match error {
            ConversationError::InvalidArgument { argument, message } => Self::InvalidArgument { argument, message },
            ConversationError::InvalidMessage { field, message } => Self::InvalidMessage { field, message },
            ConversationError::FileTooLarge(error) => Self::FileTooLarge(error),
            ConversationError::Internal(message) => Self::Internal(message),
        }
    }
}

impl From<FileTooLarge> for Error {
    fn from(error: FileTooLarge) -> Self {
        Self::FileTooLarge(error)
    }
}

impl Error {
    /// The error for the file at `path`, which is not valid JSON, or has more values than the limits allow.
    pub fn not_parsed(error: ParseError, path: &str, limits: Limits) -> Self {
        match error.has_more_values {
            true => limits.too_many_values(path, false).into(),
            false => Self::not_json(error, path),
        }
    }

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
