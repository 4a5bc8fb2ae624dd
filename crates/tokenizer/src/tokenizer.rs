//! Counts, encodes and decodes.

use std::borrow::Cow;
use std::cell::RefCell;

use peteos_memory::{OutOfMemory, try_reserve};

use super::block::{self, Block, Piece};
use super::count_cache::CountCache;
use super::encoding::{Encoding, Rank, Vocabulary};
use super::error::Error;
use super::lanes;
use super::merge::Merger;
use super::piece_key::{self, PieceKey};
use super::ranks::{NO_RANK, Ranks};
use super::split::SplitRule;

/// What the memory is for, in errors.
const PURPOSE: &str = "a list of tokens";

/// Counts, encodes and decodes with one vocabulary. Keeps a cache of counts, so reuse it.
///
/// It is not `Sync`: use a separate tokenizer on each thread.
pub struct Tokenizer {
    rule: SplitRule,
    ranks: Ranks,
    work: RefCell<Work>,
}

#[derive(Default)]
struct Work {
    merger: Merger,
    cache: CountCache,
}

impl Work {
    /// Releases what a long piece took.
    ///
    /// # Errors
    ///
    /// If a piece could not be merged.
    fn merged(&mut self) -> Result<(), OutOfMemory> {
        self.merger.shrink();
        self.merger.failure.take().map_or(Ok(()), Err)
    }
}

/// A short piece of a block.
#[derive(Clone, Copy, Default)]
struct Found {
    start: usize,
    key: PieceKey,
}

impl Tokenizer {
    /// A tokenizer from the contents of a vocabulary's file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVocabulary`] if `file` is not the file of this vocabulary.
    pub fn new(vocabulary: Vocabulary, file: &[u8]) -> Result<Self, Error> {
        let ranks = Ranks::new(vocabulary, file)?;
        Ok(Self { rule: vocabulary.split_rule(), ranks, work: RefCell::default() })
    }

    /// The number of tokens of a text.
    ///
    /// # Errors
    ///
    /// If the memory is too small for a long word.
    pub fn count(&self, text: &str) -> Result<u64, OutOfMemory> {
        self.count_up_to(text.as_bytes(), u64::MAX)
    }

    /// The number of tokens of a text in UTF-8, but at most `limit`: counting stops there.
    ///
    /// # Errors
    ///
    /// As [`Tokenizer::count`].
    pub fn count_up_to(&self, text: &[u8], limit: u64) -> Result<u64, OutOfMemory> {
        // Each token takes at most `longest` bytes.
        let can_reach = (self.ranks.longest() as u64).saturating_mul(limit);
        if text.len() as u64 > can_reach {
            return Ok(limit);
        }
        let work = &mut *self.work.borrow_mut();
        let count = match self.rule {
            SplitRule::R50k => self.count_any(work, text, limit),
            SplitRule::Cl100k => self.count_in_blocks::<false>(work, text, limit),
            SplitRule::O200k => self.count_in_blocks::<true>(work, text, limit),
        };
        work.merged()?;
        Ok(count.min(limit))
    }

    /// Almost all text passes through these two loops and nothing else; the smaller they are, the faster. The pieces of a
    /// block are first found and then looked up, so that the processor waits for several memory accesses at once.
    fn count_in_blocks<const CAPITALS: bool>(&self, work: &mut Work, text: &[u8], limit: u64) -> u64 {
        let mut count = 0;
        let mut start = 0;
        let mut found = [Found::default(); lanes::SIZE];
        let mut padded = [0; block::PADDED];
        while start < text.len() && count < limit {
            let rest = &text[start..];
            let block = Block::of::<CAPITALS>(rest.first_chunk().unwrap_or_else(|| {
                padded.fill(0);
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            }));
            let mut place = 0;
            let mut pieces = 0;
            while place < lanes::SIZE.min(rest.len()) {
                let length = match block.piece::<CAPITALS>(place) {
                    Piece::Of(length) => length,
                    Piece::Beyond if place > 0 => break,
                    Piece::Beyond | Piece::Other => self.rule.piece_end(text, start + place) - (start + place),
                };
                if length <= piece_key::LONGEST {
                    found[pieces] = Found { start: start + place, key: block.prefix(place).key(length) };
                    pieces += 1;
                } else {
                    count += self.count_piece(work, text, start + place, start + place + length);
                }
                place += length;
            }
            for piece in &found[..pieces] {
                count += match work.cache.known(piece.key) {
                    Some(known) => known,
                    None => self.count_piece(work, text, piece.start, piece.start + piece.key.length()),
                };
            }
            start += place;
        }
        count
    }

    fn count_any(&self, work: &mut Work, text: &[u8], limit: u64) -> u64 {
        let mut count = 0;
        let mut start = 0;
        while start < text.len() && count < limit {
            let end = self.rule.piece_end(text, start);
            count += self.count_piece(work, text, start, end);
            start = end;
        }
        count
    }

    /// The number of tokens of a piece.
    #[inline(never)]
    fn count_piece(&self, work: &mut Work, text: &[u8], start: usize, end: usize) -> u64 {
        work.cache.count(&text[start..end], &text[start..], |piece| match self.ranks.rank(piece) {
            NO_RANK => work.merger.ends(&self.ranks, piece).len() as u64,
            _ => 1,
        })
    }

    /// The ranks of the tokens of a text in UTF-8.
    ///
    /// # Errors
    ///
    /// If they do not fit into the memory.
    pub fn encode(&self, text: &[u8]) -> Result<Vec<Rank>, OutOfMemory> {
        let mut tokens = Vec::new();
        self.for_each_token(text, |start, end| {
            if tokens.len() == tokens.capacity() {
                let more = tokens.len().max(64);
                try_reserve(&mut tokens, more, PURPOSE)?;
            }
            tokens.push(self.ranks.rank(&text[start..end]));
            Ok(())
        })?;
        Ok(tokens)
    }

    /// The number of tokens that begin in each section of a text. `ends` holds the byte offset of the end of each section,
    /// ascending.
    ///
    /// # Errors
    ///
    /// As [`Tokenizer::count`].
    pub fn count_sections(&self, text: &[u8], ends: &[usize]) -> Result<Vec<u64>, OutOfMemory> {
        let mut counts = Vec::new();
        try_reserve(&mut counts, ends.len(), PURPOSE)?;
        counts.resize(ends.len(), 0);
        let mut section = 0;
        self.for_each_token(text, |start, _| {
            while ends.get(section).is_some_and(|&end| end <= start) {
                section += 1;
            }
            if let Some(count) = counts.get_mut(section) {
                *count += 1;
            }
            Ok(())
        })?;
        Ok(counts)
    }

    /// Calls `tell` with the start and the end of each token of a text.
    fn for_each_token(
        &self,
        text: &[u8],
        mut tell: impl FnMut(usize, usize) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        let work = &mut *self.work.borrow_mut();
        let merger = &mut work.merger;
        let mut start = 0;
        while start < text.len() {
            let end = self.rule.piece_end(text, start);
            let piece = &text[start..end];
            match self.ranks.rank(piece) {
                NO_RANK => {
                    let mut from = start;
                    for &to in merger.ends(&self.ranks, piece) {
                        tell(from, start + to as usize)?;
                        from = start + to as usize;
                    }
                }
                _ => tell(start, end)?,
            }
            start = end;
        }
        work.merged()
    }

    /// The concatenated bytes of tokens, which need not be valid UTF-8. A special token of the encoding becomes its name.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownToken`] for the first rank without a token, and [`Error::OutOfMemory`].
    pub fn decode(&self, tokens: &[Rank], encoding: Encoding) -> Result<Vec<u8>, Error> {
        let token = |rank| {
            let special = || encoding.special_token(rank).map(|name| Cow::Owned(name.into_owned().into_bytes()));
            self.ranks.token(rank).map(Cow::Borrowed).or_else(special)
        };
        let mut length = 0;
        for (index, &rank) in tokens.iter().enumerate() {
            let unknown = || Error::UnknownToken { index, rank, encoding: encoding.name() };
            length += token(rank).ok_or_else(unknown)?.len();
        }
        let mut bytes = Vec::new();
        try_reserve(&mut bytes, length, "a text")?;
        for token in tokens.iter().filter_map(|rank| token(*rank)) {
            bytes.extend_from_slice(&token);
        }
        Ok(bytes)
    }
}
