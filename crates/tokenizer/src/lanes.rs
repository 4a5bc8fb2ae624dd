//! Compares 64 bytes at once.

/// The number of bytes.
pub const SIZE: usize = 64;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod vectors {
    use core::arch::wasm32::{i8x16_bitmask, u8x16_le, u8x16_splat, u8x16_sub, u64x2, v128};

    pub type Vectors = [v128; 4];

    #[inline]
    pub fn of(words: [u64; 8]) -> Vectors {
        let [a, b, c, d, e, f, g, h] = words;
        [u64x2(a, b), u64x2(c, d), u64x2(e, f), u64x2(g, h)]
    }

    #[inline]
    pub fn between(vectors: &Vectors, first: u8, last: u8) -> u64 {
        let found = |vector: v128| {
            let found = u8x16_le(u8x16_sub(vector, u8x16_splat(first)), u8x16_splat(last - first));
            u64::from(i8x16_bitmask(found))
        };
        let [a, b, c, d] = *vectors;
        found(a) | found(b) << 16 | found(c) << 32 | found(d) << 48
    }
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod vectors {
    pub type Vectors = [u64; 8];

    pub fn of(words: [u64; 8]) -> Vectors {
        words
    }

    pub fn between(vectors: &Vectors, first: u8, last: u8) -> u64 {
        const LOWEST: u64 = 0x0101_0101_0101_0101;
        const HIGHEST: u64 = 0x8080_8080_8080_8080;
        vectors.iter().rev().fold(0, |found, word| {
            let from = |first: u8| (word & !HIGHEST) + LOWEST * u64::from(0x80 - first);
            let ascii = from(first) & !from(last + 1) & !word & HIGHEST;
            // Collects the highest bits of the bytes.
            found << 8 | (ascii >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
    }
}

/// Sixty-four bytes.
pub struct Lanes(vectors::Vectors);

impl Lanes {
    /// The first sixty-four of these bytes.
    #[inline]
    pub fn of<const N: usize>(bytes: &[u8; N]) -> Self {
        let word = |index: usize| bytes[8 * index..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        Self(vectors::of([word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)]))
    }

    /// One bit for each byte, the first in the lowest: whether it is between `first` and `last`, which are ASCII.
    #[inline]
    pub fn between(&self, first: u8, last: u8) -> u64 {
        vectors::between(&self.0, first, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // WebAssembly has its own implementation.
    #[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
    #[cfg_attr(not(target_arch = "wasm32"), test)]
    fn every_byte_is_found_in_its_place() {
        for byte in 0..=u8::MAX {
            for place in 0..SIZE {
                let mut bytes = [byte ^ 1; SIZE];
                bytes[place] = byte;
                let lanes = Lanes::of(&bytes);
                for (first, last) in [(0, 0x7f), (b'a', b'z'), (b'\n', b'\n'), (0, 0), (b' ', b'~')] {
                    let expected = |byte: u8| if (first..=last).contains(&byte) { u64::MAX } else { 0 };
                    let here = 1 << place;
                    let expected = expected(byte) & here | expected(byte ^ 1) & !here;
                    assert_eq!(lanes.between(first, last), expected, "{byte} at {place}");
                }
            }
        }
    }
}
