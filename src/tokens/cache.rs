//! The counts of pieces that had to be merged, because the same words come again and again.

use super::ranks::hash;

const SLOTS: usize = 4096;
/// Longer pieces are rare, and seldom come twice.
const LONGEST: usize = 30;

/// One place for each hash; whoever comes later takes it.
#[derive(Default)]
pub struct CountCache {
    /// Empty until the first piece comes.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    /// 0 in an empty one.
    length: u8,
    count: u8,
    piece: [u8; LONGEST],
}

impl CountCache {
    /// The count of a piece: the one that is known, or what `merge` makes of it.
    pub fn count(&mut self, piece: &[u8], merge: impl FnOnce(&[u8]) -> u64) -> u64 {
        if piece.len() > LONGEST {
            return merge(piece);
        }
        if self.slots.is_empty() {
            self.slots = vec![Slot { length: 0, count: 0, piece: [0; LONGEST] }; SLOTS];
        }
        #[expect(clippy::cast_possible_truncation, reason = "the upper bits are the best mixed, and fit")]
        let slot = &mut self.slots[(hash(piece) >> 40) as usize % SLOTS];
        if usize::from(slot.length) == piece.len() && &slot.piece[..piece.len()] == piece {
            return u64::from(slot.count);
        }
        let count = merge(piece);
        // A piece has no more tokens than bytes, of which there are few.
        if let (Ok(length), Ok(small)) = (u8::try_from(piece.len()), u8::try_from(count)) {
            slot.length = length;
            slot.count = small;
            slot.piece[..piece.len()].copy_from_slice(piece);
        }
        count
    }
}
