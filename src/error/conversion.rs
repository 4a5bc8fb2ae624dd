//! Converts the errors of the conversation model, and faults of dicts, which get the file that they are in.

use peteos_json::{FieldPath, ParseError, Position, locate};

use super::{Error, ShapeError};
use crate::conversation::error::Error as ConversationError;

impl From<ConversationError> for Error {
    fn from(error: ConversationError) -> Self {
        match error {
            ConversationError::InvalidArgument { argument, message } => Self::InvalidArgument { argument, message },
            ConversationError::InvalidMessage { field, message } => Self::InvalidMessage { field, message },
            ConversationError::MemoryLimit(out_of_memory) => Self::MemoryLimit(out_of_memory),
            ConversationError::Internal(message) => Self::Internal(message),
        }
    }
}

impl Error {
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
