//! The errors of this crate.

use std::fmt;

use peteos_memory::OutOfMemory;

/// An error of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No encoding has this name.
    UnknownEncoding {
        /// The name.
        name: String,
    },
    /// tiktoken does not know a model with this name.
    UnknownModel {
        /// The name.
        name: String,
    },
    /// The data is not the file of this vocabulary.
    InvalidVocabulary {
        /// The expected file, as named by [`Vocabulary::file_stem`](crate::Vocabulary::file_stem).
        file_stem: &'static str,
        /// What is wrong with the data.
        reason: String,
    },
    /// The memory is too small.
    OutOfMemory(OutOfMemory),
    /// No token of the encoding has this rank.
    UnknownToken {
        /// The index of the rank in the list to be decoded.
        index: usize,
        /// The rank.
        rank: u32,
        /// The name of the encoding.
        encoding: &'static str,
    },
}

impl std::error::Error for Error {}

impl From<OutOfMemory> for Error {
    fn from(out_of_memory: OutOfMemory) -> Self {
        Self::OutOfMemory(out_of_memory)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEncoding { name } => write!(formatter, "unknown encoding '{name}'"),
            Self::OutOfMemory(out_of_memory) => out_of_memory.fmt(formatter),
            Self::UnknownModel { name } => write!(formatter, "unknown model '{name}'"),
            Self::InvalidVocabulary { file_stem, reason } => {
                write!(formatter, "{reason}; expected the contents of encodings/{file_stem}.bin")
            }
            Self::UnknownToken { rank, encoding, .. } => write!(formatter, "{rank} is not a token of {encoding}"),
        }
    }
}
