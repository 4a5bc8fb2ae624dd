//! Token counts: the tokenizer of the crate `peteos-tokenizer`, and the interface for counting messages.

pub use peteos_tokenizer::{Encoding, Rank, Tokenizer, Vocabulary, encoding_for_model};

use crate::error::Error;

/// Counts the tokens of texts in one encoding.
pub trait TokenCounter {
    /// The encoding in which tokens are counted.
    fn encoding(&self) -> Encoding;

    /// The number of tokens of `text`. A text that looks like a special token (`<|endoftext|>`) is ordinary text.
    ///
    /// # Errors
    ///
    /// If the text cannot be split into tokens.
    fn count(&self, text: &str) -> Result<u64, Error>;

    /// The number of tokens of a text by section. A token belongs to the section in which it begins. `ends` has the byte
    /// offset of the end of each section, ascending to the length of the text. The counts add up to
    /// [`TokenCounter::count`].
    ///
    /// # Errors
    ///
    /// Those of [`TokenCounter::count`].
    fn count_sections(&self, text: &str, ends: &[usize]) -> Result<Vec<u64>, Error>;
}

/// The sum of counts, saturating: a file may claim any count for a message.
///
/// # Errors
///
/// The counts, or the first error.
pub fn total<E>(counts: impl IntoIterator<Item = Result<u64, E>>) -> Result<u64, E> {
    counts.into_iter().try_fold(0u64, |total, count| Ok(total.saturating_add(count?)))
}
