//! A vocabulary, looked up in the contents of its file through a hash table of offsets.

use super::characters::{Finder, WholeCharacters};
use super::encoding::{Rank, Vocabulary};
use super::error::Error;

/// The rank of bytes that are not a token.
pub const NO_RANK: Rank = Rank::MAX;

/// The mask of the rank in an entry of the table. The upper bits are a part of the hash.
const RANK_BITS: u32 = 18;
const EMPTY: u32 = u32::MAX;

/// Tokens by their bytes, and bytes by rank.
pub struct Ranks {
    /// The file: for each rank a byte with the length of its token, then the token.
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
    /// Reads the file of a vocabulary: for each rank from 0, one byte with the length of its token, then the token. The
    /// length 0 stands for a rank without a token.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVocabulary`] if `data` is not the file of this vocabulary.
    pub fn new(vocabulary: Vocabulary, data: Vec<u8>) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Error::InvalidVocabulary { file_stem: vocabulary.file_stem(), reason: reason.to_owned() };
        let count = vocabulary.ranks();
        let mut characters = Finder::new();
        let mut ranks = Self {
            data,
            starts: Vec::with_capacity(count),
            table: vec![EMPTY; (count * 3 / 2).next_power_of_two()],
            pairs: vec![NO_RANK; 1 << 16],
            longest: 0,
            characters: WholeCharacters::default(),
        };
        let mut position = 0;
        while let Some(&length) = ranks.data.get(position) {
            let end = position + 1 + usize::from(length);
            if end > ranks.data.len() {
                return Err(refuse("the last token is cut off"));
            }
            if ranks.starts.len() == count {
                if vocabulary.is_prefix() {
                    ranks.data.truncate(position);
                    break;
                }
                return Err(refuse(&format!("it has more than {count} ranks")));
            }
            if !ranks.add(position + 1, end) {
                return Err(refuse("a token occurs twice"));
            }
            characters.add(&ranks.data[position + 1..end], |pair| ranks.rank(pair) != NO_RANK);
            position = end;
        }
        if ranks.starts.len() != count {
            return Err(refuse(&format!("it has {} ranks, not {count}", ranks.starts.len())));
        }
        // Every text can be merged from single bytes.
        if (0..=u8::MAX).any(|byte| ranks.rank(&[byte]) == NO_RANK) {
            return Err(refuse("a single byte has no token"));
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
        let start = *self.starts.get(rank as usize)? as usize;
        let length = usize::from(*self.data.get(start - 1)?);
        self.data.get(start..start + length).filter(|token| !token.is_empty())
    }

    /// Gives the next rank to the token at `start..end` of the data. False if it has one already.
    // A separate function: engines replace slow code with optimised code only between calls.
    #[inline(never)]
    fn add(&mut self, start: usize, end: usize) -> bool {
        // The numbers of ranks fit the bits, and the files are far smaller than 4 GB.
        let (rank, position) = (self.starts.len() as u32, start as u32);
        self.starts.push(position);
        let token = &self.data[start..end];
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
