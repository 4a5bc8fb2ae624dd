//! A cache of the counts of pieces. Most pieces of a text occur more than once.

use super::piece_key::{LONGEST, PieceKey, Prefix};
use super::ranks;

/// Counts by piece, in tables for pieces up to a certain length.
#[derive(Default)]
pub struct CountCache {
    short: ShortTable,
    to_30: Table<30>,
    to_62: Table<62>,
    to_126: Table<126>,
    to_254: Table<254>,
}

/// The number of places in a set, the places where a piece may be. A new piece takes the first and moves the others back;
/// a piece that is found again moves one place forward.
const WAYS: usize = 4;

impl CountCache {
    /// The count of a short piece, if it is known.
    #[inline]
    pub fn known(&mut self, key: PieceKey) -> Option<u64> {
        self.short.get(key)
    }

    /// The count of a piece, from the cache or from `count`. `text` begins with the piece.
    pub fn count(&mut self, piece: &[u8], text: &[u8], count: impl FnOnce(&[u8]) -> u64) -> u64 {
        match piece.len() {
            0..=LONGEST => {
                let key = Prefix::of(text).key(piece.len());
                self.short.get(key).unwrap_or_else(|| {
                    let count = count(piece);
                    self.short.put(key, count);
                    count
                })
            }
            16..=30 => self.to_30.count(1 << 14, piece, count),
            31..=62 => self.to_62.count(1 << 12, piece, count),
            63..=126 => self.to_126.count(1 << 10, piece, count),
            127..=254 => self.to_254.count(1 << 8, piece, count),
            _ => count(piece),
        }
    }
}

/// The counts of short pieces: the two words of each key, with the count in the upper half of the last byte, whose lower
/// half is the length. The count fits, because a piece never has more tokens than bytes. An empty place has the length 0.
#[derive(Default)]
struct ShortTable(Vec<u64>);

const SHORT_SETS: usize = 1 << 15;
const COUNT_SHIFT: u32 = 60;
const COUNT: u64 = 0xf << COUNT_SHIFT;

impl ShortTable {
    #[inline]
    fn get(&mut self, key: PieceKey) -> Option<u64> {
        let set = self.set(key)?;
        let is_key =
            |set: &[u64; 2 * WAYS], place: usize| set[2 * place] == key.low && set[2 * place + 1] & !COUNT == key.high;
        if is_key(set, 0) {
            return Some(set[1] >> COUNT_SHIFT);
        }
        for place in 1..WAYS {
            if is_key(set, place) {
                let count = set[2 * place + 1] >> COUNT_SHIFT;
                set.swap(2 * place, 2 * place - 2);
                set.swap(2 * place + 1, 2 * place - 1);
                return Some(count);
            }
        }
        None
    }

    fn put(&mut self, key: PieceKey, count: u64) {
        if self.0.is_empty() {
            self.0 = vec![0; SHORT_SETS * 2 * WAYS];
        }
        if let Some(set) = self.set(key) {
            set.rotate_right(2);
            (set[0], set[1]) = (key.low, key.high | count << COUNT_SHIFT);
        }
    }

    /// The set of a key; `None` before the first entry.
    #[inline]
    fn set(&mut self, key: PieceKey) -> Option<&mut [u64; 2 * WAYS]> {
        let hash = (key.low ^ key.high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The upper bits depend on all others.
        let set = (hash >> 49) as usize % SHORT_SETS;
        self.0.get_mut(set * 2 * WAYS..)?.first_chunk_mut()
    }
}

/// The counts of pieces of up to `LONGEST` bytes. An entry is a byte with the length, one with the count, and the piece.
#[derive(Default)]
struct Table<const LONGEST: usize>(Vec<u8>);

impl<const LONGEST: usize> Table<LONGEST> {
    const ENTRY: usize = LONGEST + 2;

    /// `sets` is the number of sets, a power of two.
    fn count(&mut self, sets: usize, piece: &[u8], count: impl FnOnce(&[u8]) -> u64) -> u64 {
        let size = Self::ENTRY * WAYS;
        if self.0.is_empty() {
            self.0 = vec![0; sets * size];
        }
        let set = (ranks::hash(piece) >> 40) as usize % sets;
        let set = &mut self.0[set * size..(set + 1) * size];
        let is_piece = |entry: &[u8]| entry[2..].get(..usize::from(entry[0])) == Some(piece);
        if let Some(place) = set.chunks_exact(Self::ENTRY).position(is_piece) {
            let start = place * Self::ENTRY;
            let count = set[start + 1];
            if let Some(front) = start.checked_sub(Self::ENTRY) {
                set[front..start + Self::ENTRY].rotate_right(Self::ENTRY);
            }
            return u64::from(count);
        }
        let count = count(piece);
        set.rotate_right(Self::ENTRY);
        // Both are at most the length of a piece that fits.
        (set[0], set[1]) = (piece.len() as u8, count as u8);
        set[2..][..piece.len()].copy_from_slice(piece);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_counted_once_wherever_it_stands() {
        let mut cache = CountCache::default();
        let long = "b".repeat(254);
        let text = format!("a abc abcdefghijklmno abc abcdefghijklmno {long} {long} {long}c a\0\0");
        let text = text.as_bytes();
        let find = |piece: &str, after: usize| {
            after + text[after..].windows(piece.len()).position(|window| window == piece.as_bytes()).unwrap()
        };
        let mut is_counted = |start: usize, length: usize| {
            let mut counted = false;
            let count = cache.count(&text[start..start + length], &text[start..], |piece| {
                counted = true;
                piece.len() as u64
            });
            assert_eq!(count, length as u64);
            counted
        };
        for piece in ["abc", "abcdefghijklmno", &long] {
            let start = find(piece, 0);
            assert!(is_counted(start, piece.len()));
            assert!(!is_counted(find(piece, start + 1), piece.len()));
        }
        let end = text.len();
        assert!(is_counted(end - 3, 1), "a");
        assert!(!is_counted(0, 1), "a, not at the end");
        assert!(is_counted(end - 3, 2), "a zero byte is a byte");
        assert!(is_counted(end - 3, 3));
        assert!(is_counted(find(&long, 0), 253), "a part of another");
        let longest = find(&(long.clone() + "c"), 0);
        assert!(is_counted(longest, 255));
        assert!(is_counted(longest, 255), "one that is not kept");
    }
}
