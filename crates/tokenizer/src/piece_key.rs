//! Short pieces as two words, which can be compared and hashed without a loop.

/// The number of bytes in a [`Prefix`].
pub const PREFIX: usize = 16;

/// The maximum length in bytes of a piece with a key. The last byte of a key is the length of the piece.
pub const LONGEST: usize = PREFIX - 1;

/// Sixteen bytes of a text, the first in the lowest bits of `low`; zeros after the end of the text.
#[derive(Clone, Copy, Default)]
pub struct Prefix {
    low: u64,
    high: u64,
}

/// A piece of at most [`LONGEST`] bytes: the bytes, and their number in the highest byte of `high`. Two pieces are equal
/// if and only if their keys are.
#[derive(Clone, Copy, Default)]
pub struct PieceKey {
    pub low: u64,
    pub high: u64,
}

impl Prefix {
    /// The bytes at `start`, unless the text ends before the sixteenth.
    #[inline]
    pub fn inside(text: &[u8], start: usize) -> Option<Self> {
        let (low, rest) = text.get(start..)?.split_first_chunk::<8>()?;
        Some(Self { low: u64::from_le_bytes(*low), high: u64::from_le_bytes(*rest.first_chunk::<8>()?) })
    }

    /// The first bytes of a text of any length.
    pub fn of(text: &[u8]) -> Self {
        Self::inside(text, 0).unwrap_or_else(|| {
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            let (low, high) = text.split_at(text.len().min(8));
            Self { low: word(low), high: word(&high[..high.len().min(8)]) }
        })
    }

    /// The key of the piece of this length, at most [`LONGEST`], that begins here.
    #[inline]
    pub fn key(self, length: usize) -> PieceKey {
        let bits = 8 * length as u32;
        let low = u64::MAX.checked_shl(bits).unwrap_or(0);
        let high = u64::MAX.checked_shl(bits.saturating_sub(64)).unwrap_or(0);
        PieceKey { low: self.low & !low, high: (self.high & !high) | (length as u64) << 56 }
    }
}

impl PieceKey {
    /// The length of the piece in bytes.
    #[inline]
    pub fn length(self) -> usize {
        (self.high >> 56) as usize
    }
}
