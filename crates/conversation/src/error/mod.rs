//! The errors of the conversation model: data, and a message that is independent of the caller's language.

mod measure;
mod shape;

use std::fmt;

use peteos_json::FieldPath;
use peteos_memory::OutOfMemory;

pub use measure::Measure;
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
    /// The operation needs more memory than is left.
    MemoryLimit(OutOfMemory),
    /// A file that exceeds a limit, or would.
    FileTooLarge(FileTooLarge),
    /// A bug in this library, reported instead of a panic.
    Internal(String),
}

/// A file that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTooLarge {
    /// The path of the file; its name if it belongs to no session yet.
    pub path: String,
    /// What the limit is about.
    pub measure: Measure,
    /// Its size in this measure; `None` if it was counted only up to the limit.
    pub size: Option<u64>,
    /// The limit.
    pub limit: u64,
    /// Whether the file was to be written, and was not.
    pub is_written: bool,
}

impl fmt::Display for FileTooLarge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, measure, size, limit, is_written } = self;
        let (verb, unit) = (if *is_written { "would have" } else { "has" }, measure.unit());
        match size {
            Some(size) => write!(formatter, "{path} {verb} {size} {unit}, more than the limit of {limit}"),
            None => write!(formatter, "{path} {verb} more {unit} than the limit of {limit}"),
        }
    }
}

impl From<FileTooLarge> for Error {
    fn from(error: FileTooLarge) -> Self {
        Self::FileTooLarge(error)
    }
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
            Self::MemoryLimit(out_of_memory) => out_of_memory.fmt(formatter),
            Self::FileTooLarge(error) => error.fmt(formatter),
            Self::Internal(message) => write!(formatter, "internal error, please report it: {message}"),
        }
    }
}

impl From<OutOfMemory> for Error {
    fn from(out_of_memory: OutOfMemory) -> Self {
        Self::MemoryLimit(out_of_memory)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.to_string())
    }
}
