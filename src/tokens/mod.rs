//! Counting tokens: the encodings by name, their vocabularies, and exact counts.

mod block;
mod cache;
mod characters;
mod classes;
mod encoding;
mod lanes;
mod merge;
mod model;
mod ranks;
mod split;
mod tokenizer;
mod window;

pub use encoding::{Encoding, Vocabulary};
pub use model::encoding_for_model;
pub use ranks::Rank;
pub use tokenizer::Tokenizer;

use crate::error::Error;

/// The sum of counts. One that no number holds is as large as can be: a file may claim any count for a message.
///
/// # Errors
///
/// The first of the counts.
pub fn total(counts: impl IntoIterator<Item = Result<u64, Error>>) -> Result<u64, Error> {
    counts.into_iter().try_fold(0u64, |total, count| Ok(total.saturating_add(count?)))
}

/// Counts the tokens of texts in one encoding.
pub trait TokenCounter {
    fn encoding(&self) -> Encoding;

    /// The number of tokens of `text`; text that looks like a special token (`<|endoftext|>`) is text.
    ///
    /// # Errors
    ///
    /// Where the text cannot be split into tokens.
    fn count(&self, text: &str) -> Result<u64, Error>;

    /// The tokens of a text, counted for the section that each begins in. The sections end at the places in `ends`, which
    /// ascend to the end of the text; their counts have the sum that [`TokenCounter::count`] gives.
    ///
    /// # Errors
    ///
    /// As [`TokenCounter::count`].
    fn count_sections(&self, text: &str, ends: &[usize]) -> Result<Vec<u64>, Error>;
}
