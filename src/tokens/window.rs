//! The first bytes of a piece in two words, so that most pieces are compared at once.

/// The longest piece that leaves a byte of a window for its length.
pub const LONGEST: usize = SIZE - 1;

pub const SIZE: usize = 16;

/// Sixteen bytes, the first in the lowest place of `low`; zeros after the end of the text.
#[derive(Clone, Copy, Default)]
pub struct Window {
    pub low: u64,
    pub high: u64,
}

impl Window {
    /// The window at `start`, if it is all in the text.
    #[inline]
    pub fn inside(text: &[u8], start: usize) -> Option<Self> {
        let (low, rest) = text.get(start..)?.split_first_chunk::<8>()?;
        Some(Self { low: u64::from_le_bytes(*low), high: u64::from_le_bytes(*rest.first_chunk::<8>()?) })
    }

    /// The window of a text that may end in it.
    pub fn of(text: &[u8]) -> Self {
        Self::inside(text, 0).unwrap_or_else(|| {
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            let (low, high) = text.split_at(text.len().min(8));
            Self { low: word(low), high: word(&high[..high.len().min(8)]) }
        })
    }

    /// The first bytes, at most [`LONGEST`], and their number in the last byte: what tells a piece from any other.
    #[inline]
    pub fn first(self, length: usize) -> Self {
        let bits = 8 * length as u32;
        let low = u64::MAX.checked_shl(bits).unwrap_or(0);
        let high = u64::MAX.checked_shl(bits.saturating_sub(64)).unwrap_or(0);
        Self { low: self.low & !low, high: (self.high & !high) | (length as u64) << 56 }
    }

    /// The number of bytes that [`Window::first`] took.
    pub fn length(self) -> usize {
        (self.high >> 56) as usize
    }
}
