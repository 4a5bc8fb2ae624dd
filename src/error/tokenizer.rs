//! Converts the errors of the tokenizer.

use peteos_tokenizer::{Encoding, Error as TokenizerError};

use super::Error;

impl From<TokenizerError> for Error {
    fn from(error: TokenizerError) -> Self {
        let message = error.to_string();
        let unknown = |argument, name| Self::UnknownEncoding { argument, name, known: Encoding::known_names() };
        match error {
            TokenizerError::UnknownEncoding { name } => unknown("encoding", name),
            TokenizerError::OutOfMemory(out_of_memory) => out_of_memory.into(),
            TokenizerError::UnknownModel { name } => unknown("model", name),
            TokenizerError::InvalidVocabulary { .. } => Self::argument("vocabulary", message),
            TokenizerError::UnknownToken { index, .. } => Self::argument(&format!("tokens[{index}]"), message),
        }
    }
}
