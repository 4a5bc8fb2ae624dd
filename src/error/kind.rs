//! The kinds of errors, by their stable names.

use super::Error;
use crate::conversation::named_enum;

named_enum! {
    /// The kind of an error. The names are stable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ErrorKind {
        /// A bug in this library.
        Internal = "SessionError",
        /// `session.json` does not exist.
        SessionNotFound = "SessionNotFoundError",
        /// The session has no context with this id.
        ContextNotFound = "ContextNotFoundError",
        /// A file is not a valid session or context.
        CorruptSession = "CorruptSessionError",
        /// A file is larger than the limit.
        FileTooLarge = "FileTooLargeError",
        /// An operation needs more memory than is left.
        MemoryLimit = "MemoryLimitError",
        /// An argument or option is invalid.
        InvalidArgument = "InvalidArgumentError",
        /// A message has the wrong shape.
        InvalidMessage = "InvalidMessageError",
        /// An encoding or a model is unknown.
        UnknownEncoding = "UnknownEncodingError",
        /// The vocabulary of an encoding is not loaded.
        EncodingNotLoaded = "EncodingNotLoadedError",
        /// The limit of a window is too small for the messages that it must keep.
        WindowTooSmall = "WindowTooSmallError",
        /// A summary has as many tokens as what it stands for.
        NoSaving = "NoSavingError",
        /// The storage failed.
        Storage = "StorageError",
        /// Another writer has changed a file, or a variable has another value than expected.
        Conflict = "ConflictError",
    }
}

impl Error {
    /// The kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidArgument { .. } => ErrorKind::InvalidArgument,
            Self::InvalidMessage { .. } => ErrorKind::InvalidMessage,
            Self::SessionNotFound { .. } => ErrorKind::SessionNotFound,
            Self::ContextNotFound { .. } => ErrorKind::ContextNotFound,
            Self::CorruptSession { .. } => ErrorKind::CorruptSession,
            Self::FileTooLarge { .. } => ErrorKind::FileTooLarge,
            Self::MemoryLimit(_) => ErrorKind::MemoryLimit,
            Self::UnknownEncoding { .. } => ErrorKind::UnknownEncoding,
            Self::EncodingNotLoaded { .. } => ErrorKind::EncodingNotLoaded,
            Self::WindowTooSmall { .. } => ErrorKind::WindowTooSmall,
            Self::NoSaving { .. } => ErrorKind::NoSaving,
            Self::FileConflict { .. } | Self::LockLost { .. } | Self::StateConflict { .. } => ErrorKind::Conflict,
            Self::Storage(_) | Self::Stopped => ErrorKind::Storage,
            Self::Internal(_) => ErrorKind::Internal,
        }
    }
}
