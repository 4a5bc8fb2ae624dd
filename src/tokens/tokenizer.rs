//! A vocabulary made ready to count, to encode and to decode.

use std::cell::RefCell;

use super::Vocabulary;
use super::cache::{self, CountCache};
use super::merge::Merger;
use super::ranks::{NO_RANK, Rank, Ranks};
use super::split::SplitRule;
use crate::error::Error;

/// The rule of an encoding and its vocabulary, with the memory to work in.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    rule: SplitRule,
    ranks: Ranks,
    work: RefCell<Work>,
}

#[derive(Default)]
struct Work {
    merger: Merger,
    cache: CountCache,
}

impl Tokenizer {
    /// Takes the contents of a vocabulary's file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] where `data` is not the file of this vocabulary.
    pub fn new(vocabulary: Vocabulary, data: Vec<u8>) -> Result<Self, Error> {
        let ranks = Ranks::new(vocabulary, data)?;
        Ok(Self { vocabulary, rule: vocabulary.split_rule(), ranks, work: RefCell::default() })
    }

    /// The number of tokens of a text.
    pub fn count(&self, text: &str) -> u64 {
        let Work { merger, cache } = &mut *self.work.borrow_mut();
        let text = text.as_bytes();
        let mut count = 0;
        let mut start = 0;
        while start < text.len() {
            let end = self.rule.piece_end(text, start);
            let mut count_piece = |piece: &[u8]| self.count_piece(piece, merger);
            count += match end - start {
                // Every byte is a token.
                1 => 1,
                ..=cache::LONGEST => cache.count(text, start, end, count_piece),
                _ => count_piece(&text[start..end]),
            };
            start = end;
        }
        count
    }

    fn count_piece(&self, piece: &[u8], merger: &mut Merger) -> u64 {
        if self.ranks.rank(piece) != NO_RANK {
            return 1;
        }
        let mut count = 0;
        merger.tokens(&self.ranks, piece, |_token| count += 1);
        count
    }

    /// The ranks of the tokens of a text.
    pub fn encode(&self, text: &str) -> Vec<Rank> {
        let Work { merger, .. } = &mut *self.work.borrow_mut();
        let text = text.as_bytes();
        let mut tokens = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = self.rule.piece_end(text, start);
            let piece = &text[start..end];
            start = end;
            match self.ranks.rank(piece) {
                NO_RANK => merger.tokens(&self.ranks, piece, |token| tokens.push(self.ranks.rank(token))),
                rank => tokens.push(rank),
            }
        }
        tokens
    }

    /// The bytes of tokens, one after the other; they need not be UTF-8.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] with the position of a rank that no token has.
    pub fn decode(&self, tokens: &[Rank]) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for (index, rank) in tokens.iter().enumerate() {
            let token = self.ranks.token(*rank).ok_or_else(|| {
                let message = format!("{rank} is no token of {}", self.vocabulary.file_stem());
                Error::argument(&format!("tokens[{index}]"), message)
            })?;
            bytes.extend_from_slice(token);
        }
        Ok(bytes)
    }
}
