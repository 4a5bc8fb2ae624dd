//! What can go wrong, each with what the caller needs to mend it.

use std::fmt;

use crate::json::{FieldPath, ParseError, Position};

/// An error of the core. Nothing was changed when one is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An argument or option that cannot be used.
    InvalidArgument { argument: String, message: String },
    /// A message of the wrong shape; `field` is the way to the field at fault within the message.
    InvalidMessage { field: FieldPath, message: String },
    /// The directory holds no `session.json`.
    SessionNotFound { path: String },
    /// A context that the session does not have.
    ContextNotFound { id: String, path: String },
    /// A file that is no session or context.
    CorruptSession { path: String, position: Position, field: FieldPath, message: String },
    /// A file that is larger than the caller allows, in bytes.
    FileTooLarge { path: String, size: u64, limit: u64 },
    /// An encoding or model that tiktoken does not know.
    UnknownEncoding { argument: &'static str, name: String },
    /// The vocabulary of this encoding was not loaded, and cannot be loaded synchronously here.
    EncodingNotLoaded { encoding: &'static str },
    /// Not even the least that the window has to keep fits: the newest exchange with the special messages, the pinned ones
    /// and, for turns, the prompt. `needed` is the limit that would do.
    WindowTooSmall {
        limit: u64,
        special_tokens: Option<u64>,
        needed: u64,
        reserve: u64,
        has_pins: bool,
        boundary: &'static str,
    },
    /// A file that somebody else has changed since this session read or wrote it, or, if it was never known, made: both
    /// revisions are the SHA-256 of the contents in hexadecimal digits.
    FileConflict { path: String, expected: Option<String>, found: Option<String> },
    /// A variable of the session's state that has another value than the caller expected.
    StateConflict { name: String, found: serde_json::Value },
    /// A defect of this library, reported instead of a panic.
    Internal(String),
}

impl Error {
    pub fn argument(argument: &str, message: impl Into<String>) -> Self {
        Self::InvalidArgument { argument: argument.to_owned(), message: message.into() }
    }

    /// The name of the JavaScript class that carries this error.
    pub fn class(&self) -> &'static str {
        match self {
            Self::InvalidArgument { .. } => "InvalidArgumentError",
            Self::InvalidMessage { .. } => "InvalidMessageError",
            Self::SessionNotFound { .. } => "SessionNotFoundError",
            Self::ContextNotFound { .. } => "ContextNotFoundError",
            Self::CorruptSession { .. } => "CorruptSessionError",
            Self::FileTooLarge { .. } => "FileTooLargeError",
            Self::UnknownEncoding { .. } => "UnknownEncodingError",
            Self::EncodingNotLoaded { .. } => "EncodingNotLoadedError",
            Self::WindowTooSmall { .. } => "WindowTooSmallError",
            Self::FileConflict { .. } | Self::StateConflict { .. } => "ConflictError",
            Self::Internal(_) => "SessionError",
        }
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
            Self::FileTooLarge { path, size, limit } => write!(
                formatter,
                "{path} has {size} bytes, more than {limit}; raise options.maxFileBytes to have it read"
            ),
            Self::UnknownEncoding { argument, name } => {
                write!(formatter, "{argument}: '{name}' is not known; known encodings: ")?;
                formatter.write_str(&peteos_tokenizer::Encoding::known_names().join(", "))
            }
            Self::EncodingNotLoaded { encoding } => write!(
                formatter,
                "the vocabulary of '{encoding}' is not loaded; call `await loadEncoding('{encoding}')` first"
            ),
            Self::WindowTooSmall { limit, special_tokens, needed, reserve, has_pins, boundary } => {
                let (unit, argument) = match special_tokens {
                    Some(_) => ("tokens", "maxTokens"),
                    None => ("messages", "count"),
                };
                write!(formatter, "a window of {limit} {unit} is too small: it takes {needed} to keep ")?;
                formatter.write_str(match *boundary {
                    "message" => "what is pinned",
                    "turn" => "the newest exchange and the prompt before it",
                    _ => "the newest exchange",
                })?;
                if *has_pins && *boundary != "message" {
                    formatter.write_str(", what is pinned")?;
                }
                match special_tokens {
                    Some(special) if *special > 0 => write!(formatter, ", the special messages ({special})")?,
                    _ => {}
                }
                if *reserve > 0 {
                    write!(formatter, ", and a reserve of {reserve}")?;
                }
                write!(formatter, "; raise {argument} to {needed}")?;
                let ways = [(*has_pins, ", pin less"), (*reserve > 0, ", reserve less")];
                ways.iter().filter(|(holds, _)| *holds).try_for_each(|(_, way)| formatter.write_str(way))?;
                match *boundary {
                    "message" => Ok(()),
                    _ => formatter.write_str(", or use the boundary 'message', which may take exchanges apart"),
                }
            }
            Self::FileConflict { path, expected: None, .. } => write!(
                formatter,
                "{path} exists, and this session has not read it; nothing was written: load that context with \
                 loadContext(id) and change it, or give the new one another id"
            ),
            Self::FileConflict { path, expected: Some(expected), found } => write!(
                formatter,
                "{path} was changed by somebody else since this session read or wrote it ({} then, {} now); \
                 nothing was written: load the session again and repeat what is missing there, or keep both with \
                 save({{ onConflict: 'fork' }})",
                revision(Some(expected)),
                revision(found.as_ref())
            ),
            Self::StateConflict { name, found } => {
                write!(formatter, "the variable '{name}' is {found} now; read it again before you update it")
            }
            Self::Internal(message) => write!(formatter, "internal error, please report it: {message}"),
        }
    }
}

impl From<peteos_tokenizer::Error> for Error {
    fn from(error: peteos_tokenizer::Error) -> Self {
        use peteos_tokenizer::Error as Tokenizer;
        let message = error.to_string();
        match error {
            Tokenizer::UnknownEncoding { name } => Self::UnknownEncoding { argument: "encoding", name },
            Tokenizer::UnknownModel { name } => Self::UnknownEncoding { argument: "model", name },
            Tokenizer::InvalidVocabulary { .. } => Self::argument("vocabulary", message),
            Tokenizer::UnknownToken { index, .. } => Self::argument(&format!("tokens[{index}]"), message),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.to_string())
    }
}

/// A JSON value that is not what it has to be. Whoever knows where the value came from makes the [`Error`] of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    pub field: FieldPath,
    pub message: String,
}

impl ShapeError {
    pub fn new(field: FieldPath, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }

    /// The error of a message that a caller handed in.
    pub fn in_message(self) -> Error {
        Error::InvalidMessage { field: self.field, message: self.message }
    }

    /// The error of an argument that a caller handed in.
    pub fn in_argument(self, argument: &str) -> Error {
        let at = self.field.below(&FieldPath::root().key(argument));
        Error::InvalidArgument { argument: at.to_string(), message: self.message }
    }

    /// The error of a file, whose text serves to find the line.
    pub fn in_file(self, path: &str, text: &[u8]) -> Error {
        Error::CorruptSession {
            path: path.to_owned(),
            position: crate::json::locate(text, &self.field),
            field: self.field,
            message: self.message,
        }
    }
}

impl ParseError {
    /// The error of a file that is no JSON.
    pub fn in_file(self, path: &str) -> Error {
        Error::CorruptSession {
            path: path.to_owned(),
            position: Position { line: self.line, column: self.column },
            field: FieldPath::root(),
            message: self.message,
        }
    }
}

/// A revision in few words: the beginning of the digest is enough to tell it from another.
fn revision(digest: Option<&String>) -> String {
    digest.map_or_else(|| "no file".to_owned(), |digest| format!("sha256 {}…", digest.get(..8).unwrap_or(digest)))
}
