//! The errors of the core: data, and a message that is independent of the caller's language.
//!
//! Arguments have the names of the Rust parameters or fields. An interface that uses other names translates them, and adds
//! advice in its own terms.

mod conversion;
mod kind;
mod storage;
mod tokenizer;

use std::fmt;

pub use kind::ErrorKind;
pub use storage::{Cause, Operation, StorageError};

use peteos_json::{FieldPath, Position};
use peteos_memory::OutOfMemory;

pub use crate::conversation::error::{FileTooLarge, Measure, ShapeError};

/// An error of the core. An operation that returns one has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An invalid argument.
    InvalidArgument {
        /// The argument, with the path of the field within it, such as `pins[2]`.
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
    /// The directory has no `session.json`.
    SessionNotFound {
        /// The path of the missing `session.json`.
        path: String,
    },
    /// The session has no such context.
    ContextNotFound {
        /// The id of the context.
        id: String,
        /// The path of the missing file.
        path: String,
    },
    /// A file that is not a valid session or context.
    CorruptSession {
        /// The path of the file.
        path: String,
        /// The line and the column at fault.
        position: Position,
        /// The invalid field; the root if the text is not valid JSON.
        field: FieldPath,
        /// What was expected and what was found.
        message: String,
    },
    /// A file that exceeds a limit.
    FileTooLarge(FileTooLarge),
    /// An operation that needs more memory than is left.
    MemoryLimit(OutOfMemory),
    /// An unknown encoding, or a model whose encoding is unknown.
    UnknownEncoding {
        /// The argument: `encoding` or `model`.
        argument: &'static str,
        /// The name.
        name: String,
        /// The names of the known encodings.
        known: Vec<&'static str>,
    },
    /// The vocabulary of an encoding is not loaded, and cannot be loaded synchronously.
    EncodingNotLoaded {
        /// The name of the encoding.
        encoding: &'static str,
    },
    /// The messages that a window must keep exceed its limit: the newest exchange, the special messages, the pinned ones and,
    /// for turns, the prompt.
    WindowTooSmall {
        /// The limit in messages or, with `special_tokens`, in tokens.
        limit: u64,
        /// The tokens of the special messages; `None` for a window that counts messages.
        special_tokens: Option<u64>,
        /// The smallest sufficient limit.
        needed: u64,
        /// The tokens of the text of media among `needed`, if the limit would suffice without them; otherwise 0.
        media_tokens: u64,
        /// The reserved tokens.
        reserve: u64,
        /// Whether messages are pinned.
        has_pins: bool,
        /// The name of the boundary.
        boundary: &'static str,
    },
    /// A summary that has as many tokens as what it stands for.
    NoSaving {
        /// The tokens of the summary.
        tokens: u64,
        /// The tokens of the messages that it would replace.
        replaced: u64,
    },
    /// A file that another writer has changed, created or removed. Revisions are SHA-256 digests of the contents in hexadecimal.
    FileConflict {
        /// The path of the file.
        path: String,
        /// The revision last read or written; `None` if the file was never read or written.
        expected: Option<String>,
        /// The revision found; `None` if there is no file.
        found: Option<String>,
    },
    /// Another writer took over the lock before a file was written.
    LockLost {
        /// The path of the file, which is unchanged.
        path: String,
    },
    /// A variable of the session's state that does not have the value the caller expected.
    StateConflict {
        /// The name of the variable.
        name: String,
        /// The value that was found.
        found: serde_json::Value,
    },
    /// The storage failed.
    Storage(StorageError),
    /// The caller has stopped waiting for the storage. It ends the whole operation, which leaves the files as a crash would.
    Stopped,
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
            Self::SessionNotFound { path } => {
                write!(formatter, "{path} does not exist; check the parent directory and the uuid, or create a session")
            }
            Self::ContextNotFound { id, path } => {
                write!(formatter, "the session has no context '{id}': {path} does not exist")
            }
            Self::CorruptSession { path, position, field, message } => {
                write!(formatter, "{path}:{}:{}: ", position.line, position.column)?;
                if !field.is_root() {
                    write!(formatter, "{field}: ")?;
                }
                formatter.write_str(message)
            }
            Self::FileTooLarge(error) => error.fmt(formatter),
            Self::MemoryLimit(out_of_memory) => out_of_memory.fmt(formatter),
            Self::UnknownEncoding { argument, name, known } => {
                write!(formatter, "{argument}: '{name}' is unknown; known encodings: {}", known.join(", "))
            }
            Self::EncodingNotLoaded { encoding } => write!(formatter, "the vocabulary of '{encoding}' is not loaded"),
            Self::WindowTooSmall { limit, special_tokens, needed, media_tokens, reserve, has_pins, boundary } => {
                let unit = if special_tokens.is_some() { "tokens" } else { "messages" };
                write!(formatter, "a window of {limit} {unit} is too small; {needed} are needed to keep ")?;
                formatter.write_str(match *boundary {
                    "message" => "the pinned messages",
                    "turn" => "the newest exchange and the prompt before it",
                    _ => "the newest exchange",
                })?;
                if *has_pins && *boundary != "message" {
                    formatter.write_str(", the pinned messages")?;
                }
                match special_tokens {
                    Some(special) if *special > 0 => write!(formatter, ", the special messages ({special})")?,
                    _ => {}
                }
                if *reserve > 0 {
                    write!(formatter, ", and a reserve of {reserve}")?;
                }
                if *media_tokens > 0 {
                    write!(formatter, "; {media_tokens} of them are the text of media")?;
                }
                Ok(())
            }
            Self::NoSaving { tokens, replaced } => write!(
                formatter,
                "the summary has {tokens} tokens, and the messages that it would replace have {replaced}; nothing was changed"
            ),
            Self::FileConflict { path, expected: None, found: Some(_) } => {
                write!(formatter, "{path} exists, but this session has not read it; nothing was written")
            }
            Self::FileConflict { path, found: None, .. } => {
                write!(formatter, "{path} was removed since this session read or wrote it; nothing was written")
            }
            Self::FileConflict { path, expected: Some(expected), found: Some(found) } => write!(
                formatter,
                "{path} was changed by another writer since this session read or wrote it ({} then, {} now); nothing \
                 was written",
                revision(expected),
                revision(found)
            ),
            Self::LockLost { path } => {
                write!(formatter, "another writer took over the lock before {path} was written; the file is unchanged")
            }
            Self::StateConflict { name, found } => {
                write!(formatter, "the variable '{name}' is now {found}; read it again before updating it")
            }
            Self::Storage(error) => error.fmt(formatter),
            Self::Stopped => formatter.write_str("the caller has stopped waiting for the storage"),
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

/// A short form of a revision: the beginning of the digest.
fn revision(digest: &str) -> String {
    format!("sha256 {}…", digest.get(..8).unwrap_or(digest))
}
