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
            ConversationError::MemoryLimit(out_of_memory) => Self::MemoryLimit(out_of_memory),
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

    /// The error for the file at `path`, which could not be parsed.
    pub fn not_json(error: ParseError, path: &str) -> Self {
        if let Some(out_of_memory) = error.out_of_memory {
            return out_of_memory.into();
        }
        Self::CorruptSession {
            path: path.to_owned(),
            position: Position { line: error.line, column: error.column },
            field: FieldPath::root(),
            message: error.message,
        }
    }

    /// The error for a field of the file at `path`, whose `text` gives the line and the column.
    pub fn in_file(fault: ShapeError, path: &str, text: &[u8]) -> Self {
        if let Some(out_of_memory) = fault.out_of_memory {
            return out_of_memory.into();
        }
        Self::CorruptSession {
            path: path.to_owned(),
            position: locate(text, &fault.field),
            field: fault.field,
            message: fault.message,
        }
    }
}
