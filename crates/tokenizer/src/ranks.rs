//! A vocabulary, looked up through a hash table of offsets.

use std::ops::Range;

use super::characters::{Finder, WholeCharacters};
use super::encoding::{Rank, Vocabulary};
use super::error::Error;

/// The rank of bytes that are not a token.
pub const NO_RANK: Rank = Rank::MAX;

/// The mask of the rank in an entry of the table. The upper bits are a part of the hash.
const RANK_BITS: u32 = 18;
const EMPTY: u32 = u32::MAX;

/// The tokens of one byte, with the lowest ranks.
const SINGLE_BYTES: usize = 256;
/// The columns of a file, of one byte for each further rank.
const COLUMNS: usize = 6;
/// The parts of a rank without a token.
const NO_PARTS: Rank = 0xFF_FFFF;

/// Tokens by their bytes, and bytes by rank.
pub struct Ranks {
    /// For each rank a byte with the length of its token, then the token; the length is 0 if no token has this rank.
    data: Vec<u8>,
    /// The offset of each rank's token in the data; its length is the byte before.
    starts: Vec<u32>,
    /// An open hash table over the tokens.
    table: Vec<u32>,
    /// The ranks of tokens of two bytes, which every merge begins with.
    pairs: Vec<Rank>,
    longest: usize,
    characters: WholeCharacters,
}

impl Ranks {
    /// Reads the file of a vocabulary. It begins with the 256 tokens of one byte, in the order of ranks. Every other token is
    /// two earlier ones, one after the other: for each rank from 256, the file has the ranks of both, in six columns. The
    /// first column has the lowest bytes of the left ranks, the second their middle bytes, the third the highest; the others
    /// have those of the right ranks. Two times `0xFF_FFFF` stands for a rank without a token.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVocabulary`] if `file` is not the file of this vocabulary.
    pub fn new(vocabulary: Vocabulary, file: &[u8]) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Error::InvalidVocabulary { file_stem: vocabulary.file_stem(), reason: reason.to_owned() };
        let Some((bytes, columns)) = file.split_at_checked(SINGLE_BYTES) else {
            return Err(refuse("it is cut off"));
        };
        let (merged, rest) = (columns.len() / COLUMNS, columns.len() % COLUMNS);
        let (found, count) = (SINGLE_BYTES + merged, vocabulary.ranks());
        if rest != 0 || found < count || found > count && !vocabulary.is_prefix() {
            return Err(refuse(&format!("it has {found} ranks, not {count}")));
        }
        let mut characters = Finder::new();
        let mut ranks = Self {
            data: Vec::with_capacity(file.len() * 3 / 2),
            starts: Vec::with_capacity(count),
            table: vec![EMPTY; (count * 3 / 2).next_power_of_two()],
            pairs: vec![NO_RANK; 1 << 16],
            longest: 0,
            characters: WholeCharacters::default(),
        };
        for &byte in bytes {
            ranks.data.extend([1, byte]);
            if !ranks.add() {
                return Err(refuse("a token occurs twice"));
            }
        }
        let rank_at = |column: usize, row: usize| {
            let byte = |column: usize| Rank::from(columns[column * merged + row]);
            byte(column) | byte(column + 1) << 8 | byte(column + 2) << 16
        };
        for row in 0..count - SINGLE_BYTES {
            let (left, right) = (rank_at(0, row), rank_at(3, row));
            if left == NO_PARTS && right == NO_PARTS {
                ranks.data.push(0);
            } else if !ranks.join(left, right) {
                return Err(refuse("a token is not made of two earlier ones"));
            }
            if !ranks.add() {
                return Err(refuse("a token occurs twice"));
            }
            let token = ranks.range(row as Rank + SINGLE_BYTES as Rank).unwrap_or_default();
            characters.add(&ranks.data[token], |pair| ranks.rank(pair) != NO_RANK);
        }
        ranks.characters = characters.finish();
        Ok(ranks)
    }

    /// The rank of a token; [`NO_RANK`] for other bytes.
    #[inline]
    pub fn rank(&self, bytes: &[u8]) -> Rank {
        if let [first, second] = *bytes {
            return self.pairs[pair(first, second)];
        }
        if bytes.len() > self.longest {
            return NO_RANK;
        }
        match self.find(bytes, hash(bytes)) {
            Ok(rank) => rank,
            Err(_) => NO_RANK,
        }
    }

    /// The length of the longest token in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The end of the part at `start` that merging starts from: a character that is always merged first, or a byte.
    #[inline]
    pub fn part_end(&self, piece: &[u8], start: usize) -> usize {
        self.characters.end(piece, start)
    }

    /// The bytes of a token.
    pub fn token(&self, rank: Rank) -> Option<&[u8]> {
        self.range(rank).and_then(|range| self.data.get(range)).filter(|token| !token.is_empty())
    }

    /// Where a token is in the data.
    fn range(&self, rank: Rank) -> Option<Range<usize>> {
        let start = *self.starts.get(rank as usize)? as usize;
        Some(start..start + usize::from(*self.data.get(start - 1)?))
    }

    /// Appends the token that two others make to the data. False if one of them does not exist or the token is too long.
    fn join(&mut self, left: Rank, right: Rank) -> bool {
        let (Some(left), Some(right)) = (self.range(left), self.range(right)) else {
            return false;
        };
        let Ok(length) = u8::try_from(left.len() + right.len()) else {
            return false;
        };
        self.data.push(length);
        self.data.extend_from_within(left);
        self.data.extend_from_within(right);
        true
    }

    /// Gives the next rank to the token at the end of the data. False if it has one already.
    // A separate function: engines replace slow code with optimised code only between calls.
    #[inline(never)]
    fn add(&mut self) -> bool {
        let last = self.starts.len().checked_sub(1).and_then(|rank| self.range(rank as Rank));
        let start = last.map_or(0, |range| range.end) + 1;
        // The numbers of ranks fit the bits, and the data is far smaller than 4 GB.
        let (rank, position) = (self.starts.len() as u32, start as u32);
        self.starts.push(position);
        let token = &self.data[start..];
        if token.is_empty() {
            return true;
        }
        self.longest = self.longest.max(token.len());
        if let [first, second] = *token {
            self.pairs[pair(first, second)] = rank;
        }
        let hash = hash(token);
        match self.find(token, hash) {
            Ok(_) => false,
            Err(slot) => {
                self.table[slot] = tag(hash) | rank;
                true
            }
        }
    }

    /// The rank of a token, or the free slot for it.
    #[inline]
    fn find(&self, bytes: &[u8], hash: u64) -> Result<Rank, usize> {
        let mask = self.table.len() - 1;
        let tag = tag(hash);
        // The upper bits are the best mixed.
        let mut slot = (hash >> 40) as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == EMPTY {
                return Err(slot);
            }
            if entry & !RANK_MASK == tag && self.token(entry & RANK_MASK) == Some(bytes) {
                return Ok(entry & RANK_MASK);
            }
            slot = (slot + 1) & mask;
        }
    }
}

const RANK_MASK: u32 = (1 << RANK_BITS) - 1;

fn tag(hash: u64) -> u32 {
    (hash as u32) << RANK_BITS
}

fn pair(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

/// A hash of a few bytes, eight at a time, in the manner of FxHash.
#[inline]
pub fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(FACTOR);
        product ^ product >> 29
    };
    let mut hash = bytes.len() as u64;
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        hash = mix(hash, u64::from_le_bytes(*word));
        rest = after;
    }
    let last = match rest {
        [] => 0,
        [one] => u64::from(*one),
        [one, two] => u64::from(u16::from_le_bytes([*one, *two])),
        [one, two, three] => u64::from(u32::from_le_bytes([*one, *two, *three, 0])),
        // Two overlapping words.
        [one, two, three, four, .., five, six, seven, eight] => {
            u64::from_le_bytes([*one, *two, *three, *four, *five, *six, *seven, *eight])
        }
        [one, two, three, four, more @ ..] => {
            let low = u64::from(u32::from_le_bytes([*one, *two, *three, *four]));
            more.iter().fold(low, |word, byte| word << 8 | u64::from(*byte))
        }
    };
    mix(mix(hash, last), 0)
}
