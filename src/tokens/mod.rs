//! Counting tokens: the encodings by name, their vocabularies, and exact counts.

mod cache;
mod classes;
mod encoding;
mod merge;
mod model;
mod ranks;
mod split;
mod tokenizer;

pub use encoding::{Encoding, Vocabulary};
pub use model::encoding_for_model;
pub use ranks::Rank;
pub use tokenizer::Tokenizer;

use crate::error::Error;

/// Counts the tokens of texts in one encoding.
pub trait TokenCounter {
    fn encoding(&self) -> Encoding;

    /// The number of tokens of `text`; text that looks like a special token (`<|endoftext|>`) is text.
    ///
    /// # Errors
    ///
    /// Where the text cannot be split into tokens.
    fn count(&self, text: &str) -> Result<u64, Error>;
}
