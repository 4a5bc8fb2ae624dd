//! A vocabulary made ready to count.

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, Rank};

use super::{Encoding, TokenCounter, Vocabulary};
use crate::error::Error;

/// tiktoken-rs over a vocabulary that was read from its file.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    bpe: CoreBPE,
}

impl Tokenizer {
    /// Reads the file of a vocabulary: for each rank from 0 up one byte with the length of its token, then the token; a
    /// length of 0 stands for a rank without one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] where `data` is not the file of this vocabulary.
    pub fn new(vocabulary: Vocabulary, data: &[u8]) -> Result<Self, Error> {
        let refuse = |fault: &str| {
            let name = vocabulary.file_stem();
            Error::argument("vocabulary", format!("{fault}; expected the contents of encodings/{name}.bin"))
        };
        let mut tokens: FxHashMap<Vec<u8>, Rank> = FxHashMap::default();
        tokens.reserve(vocabulary.ranks());
        let mut rest = data;
        let mut rank: Rank = 0;
        while let Some((&length, after)) = rest.split_first() {
            let (token, after) =
                after.split_at_checked(usize::from(length)).ok_or_else(|| refuse("the last token is cut off"))?;
            if !token.is_empty() && tokens.insert(token.to_vec(), rank).is_some() {
                return Err(refuse("a token stands twice"));
            }
            rank += 1;
            rest = after;
        }
        if rank as usize != vocabulary.ranks() {
            return Err(refuse(&format!("it has {rank} ranks, not {}", vocabulary.ranks())));
        }
        // Whatever the text, the search for tokens ends at single bytes.
        if (0..=u8::MAX).any(|byte| !tokens.contains_key([byte].as_slice())) {
            return Err(refuse("a single byte has no token"));
        }
        // Special tokens are never counted as such, but the constructor needs one to look for.
        let special = FxHashMap::from_iter([("<|endoftext|>".to_owned(), Rank::MAX)]);
        let bpe =
            CoreBPE::new(tokens, special, vocabulary.pattern()).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self { vocabulary, bpe })
    }

    /// A counter that calls itself by the name of one of the encodings that use this vocabulary.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] for an encoding of another vocabulary.
    pub fn counter(&self, encoding: Encoding) -> Result<impl TokenCounter + '_, Error> {
        if encoding.vocabulary() != self.vocabulary {
            return Err(Error::Internal(format!("{} does not use this vocabulary", encoding.name())));
        }
        Ok(Counter { encoding, bpe: &self.bpe })
    }
}

struct Counter<'t> {
    encoding: Encoding,
    bpe: &'t CoreBPE,
}

impl TokenCounter for Counter<'_> {
    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn count(&self, text: &str) -> Result<u64, Error> {
        // Not `count_ordinary`, which panics where its regular expressions give up.
        match self.bpe.count(text, &HashSet::new()) {
            Ok(count) => Ok(count as u64),
            Err(error) => Err(Error::argument("text", format!("cannot be counted: {error}"))),
        }
    }
}
