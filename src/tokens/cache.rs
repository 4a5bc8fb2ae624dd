//! The counts of the pieces that come again and again, which in any text is most of them.

/// A power of two; so many keys fit the nearest caches of a processor.
const SLOTS: usize = 4096;
/// The longest piece that is kept.
pub const LONGEST: usize = 15;

/// The bytes of a piece and their number, in two words that are compared at once.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key(u64, u64);

/// One place for each hash; whoever comes later takes it.
pub struct CountCache {
    /// No piece has the length 0, which an empty place has.
    keys: Vec<Key>,
    counts: Vec<u8>,
}

impl Default for CountCache {
    fn default() -> Self {
        Self { keys: vec![Key(0, 0); SLOTS], counts: vec![0; SLOTS] }
    }
}

impl CountCache {
    /// The count of the piece between these places of the text, no longer than [`LONGEST`]: the one that is known, or
    /// what `count` makes of it.
    #[inline]
    pub fn count(&mut self, text: &[u8], start: usize, end: usize, count: impl FnOnce(&[u8]) -> u64) -> u64 {
        let key = Key::of(text, start, end - start);
        let slot = key.slot();
        if self.keys[slot] == key {
            return u64::from(self.counts[slot]);
        }
        let count = count(&text[start..end]);
        // A piece has no more tokens than bytes.
        if let Ok(small) = u8::try_from(count) {
            self.keys[slot] = key;
            self.counts[slot] = small;
        }
        count
    }
}

impl Key {
    #[inline]
    fn of(text: &[u8], start: usize, length: usize) -> Self {
        let words = text.get(start..start + 16).and_then(|bytes| bytes.split_first_chunk::<8>());
        let (low, high) = match words.and_then(|(low, rest)| Some((low, rest.first_chunk::<8>()?))) {
            Some((low, high)) => (u64::from_le_bytes(*low), u64::from_le_bytes(*high)),
            // Near the end of the text there are fewer bytes.
            None => {
                let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                let piece = &text[start..start + length];
                let (low, high) = piece.split_at(length.min(8));
                (word(low), word(high))
            }
        };
        let first = |bytes: usize| (1u64 << (8 * bytes)) - 1;
        let (low, high) = if length < 8 { (low & first(length), 0) } else { (low, high & first(length - 8)) };
        Self(low, high | (length as u64) << 56)
    }

    #[inline]
    fn slot(self) -> usize {
        let mixed = (self.0 ^ self.1.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (mixed >> 40) as usize;
        slot % SLOTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_counted_once_wherever_it_stands() {
        let mut cache = CountCache::default();
        let text = b"a abc abcdefghijklmno abc abcdefghijklmno a\0\0";
        let mut counted = 0;
        let mut count = |start: usize, end: usize| {
            let before = counted;
            let length = cache.count(text, start, end, |piece| {
                counted += 1;
                piece.len() as u64
            });
            assert_eq!(length, (end - start) as u64);
            counted > before
        };
        assert!(count(2, 5));
        assert!(!count(22, 25));
        assert!(count(6, 21));
        assert!(!count(26, 41));
        assert!(count(42, 43), "a");
        assert!(!count(0, 1), "a, not at the end");
        assert!(count(42, 44), "a zero byte is a byte");
        assert!(count(42, 45));
    }
}
