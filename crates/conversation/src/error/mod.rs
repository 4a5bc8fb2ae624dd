//! The errors of the conversation model: data, and a message that is independent of the caller's language.

mod shape;

use std::fmt;

use peteos_json::FieldPath;

pub use shape::ShapeError;

/// An error of the conversation model. An operation that returns one has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An invalid argument.
    InvalidArgument {
        /// The argument, with the path of the field within it, such as `dict.messages[2].role`.
        argument: String,
        /// The reason.
        message: String,
    },
    /// A message with the wrong shape.
    InvalidMessage {
        /// The path of the invalid field within the message; the root for the message itself.
        field: FieldPath,
        /// What was expected and what was found.
        message: String,
    },
    /// A bug in this library, reported instead of a panic.
    Internal(String),
}

impl Error {
    /// The error for an argument; `message` follows its name and a colon.
    pub fn argument(argument: &str, message: impl Into<String>) -> Self {
        Self::InvalidArgument { argument: argument.to_owned(), message: message.into() }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidArgument { argument, message } => write!(formatter, "{argument}: {message}"),
            Self::InvalidMessage { field, message } if field.is_root() => write!(formatter, "message: {message}"),
            Self::InvalidMessage { field, message } => write!(formatter, "message.{field}: {message}"),
            Self::Internal(message) => write!(formatter, "internal error, please report it: {message}"),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.to_string())
    }
}
