//! Byte pair encoding: turns a piece that is not itself a token into tokens.
//!
//! Starting from bytes, the two neighbours that form the token with the lowest rank are merged, the leftmost first among
//! equals, until no two neighbours form a token.
//!
//! A long piece is merged in overlapping windows, because the work for a piece grows faster than its length. That is
//! exact, because tokens are the result for a piece if and only if every two neighbours are the result for their bytes.
//! (Take the first merge that would cross a boundary between two such tokens. Until then the merges within the two tokens
//! are those for the two alone, and those never cross the boundary.) So if the next window begins at
//! the start of one of this window's tokens, and its result begins with the same token, then the tokens before it followed
//! by those of the next window are the result for the piece.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use peteos_memory::{OutOfMemory, ensure, try_reserve};

use super::encoding::Rank;
use super::ranks::{NO_RANK, Ranks};

/// The lengths of windows in bytes: first a cheap one, then one that fits several of the longest tokens.
const WINDOWS: [usize; 2] = [64, 512];
/// Pieces of up to this length in bytes are merged as a whole.
const SHORT: usize = 96;

/// Memory for more tokens than this is released after use.
const KEPT: usize = 1 << 14;
/// What the memory is for, in errors.
const PURPOSE: &str = "counting the tokens of a long word";

/// Merges pieces, reusing its memory.
#[derive(Default)]
pub struct Merger {
    /// Set if a piece could not be merged: its tokens are missing.
    pub failure: Option<OutOfMemory>,
    /// The end of each token of the piece.
    ends: Vec<u32>,
    parts: Vec<Part>,
    heap: BinaryHeap<Reverse<(Rank, u32)>>,
    links: Vec<Link>,
}

/// The start of a part, and the rank of the part merged with the next.
#[derive(Clone, Copy)]
struct Part {
    start: u32,
    rank: Rank,
}

/// A part in the linked list of the remaining parts. It begins at the index of the link.
#[derive(Clone, Copy)]
struct Link {
    previous: u32,
    /// The end of this part and the start of the next.
    next: u32,
    /// The rank of this part merged with the next.
    rank: Rank,
}

impl Merger {
    /// The ends of the tokens of the piece, ascending. If the memory for a long piece is missing, sets `failure` and returns
    /// nothing: a result that can be an error would slow down the loops that call this.
    pub fn ends(&mut self, ranks: &Ranks, piece: &[u8]) -> &[u32] {
        self.ends.clear();
        if piece.len() <= SHORT {
            self.merge(ranks, piece);
            self.ends.extend(self.parts[1..].iter().map(|part| part.start));
        } else if let Err(failure) = self.merge_long(ranks, piece) {
            self.ends.clear();
            self.failure = Some(failure);
        }
        &self.ends
    }

    fn merge_long(&mut self, ranks: &Ranks, piece: &[u8]) -> Result<(), OutOfMemory> {
        for window in WINDOWS {
            if self.merge_in_windows(ranks, piece, window)? {
                return Ok(());
            }
        }
        self.merge_with_heap(ranks, piece)
    }

    /// Releases the memory that a long piece took.
    pub fn shrink(&mut self) {
        if self.links.capacity() > KEPT || self.ends.capacity() > KEPT {
            (self.ends, self.links, self.heap) = Default::default();
        }
    }

    /// Merges in windows of this length. Returns false if the windows are too short to agree.
    fn merge_in_windows(&mut self, ranks: &Ranks, piece: &[u8], window: usize) -> Result<bool, OutOfMemory> {
        self.ends.clear();
        let mut start = 0;
        let mut last: &[u8] = &[];
        // Where the first token of the next window must end.
        let mut expected = None;
        loop {
            let end = (start + window).min(piece.len());
            let bytes = &piece[start..end];
            if self.ends.capacity() - self.ends.len() < window {
                let more = self.ends.len().max(window);
                try_reserve(&mut self.ends, more, PURPOSE)?;
            }
            // Long pieces are often repetitions.
            if bytes != last {
                self.merge(ranks, bytes);
                last = bytes;
            }
            let ends = self.parts[1..].iter().map(|part| start as u32 + part.start);
            if expected.is_some_and(|expected| ends.clone().next() != Some(expected)) {
                return Ok(false);
            }
            if end == piece.len() {
                self.ends.extend(ends);
                return Ok(true);
            }
            // Tokens near the end of the window may differ in the piece.
            let settled = (start + window / 4 * 3) as u32;
            let before = self.ends.len();
            self.ends.extend(ends.clone().take_while(|end| *end <= settled));
            let Some(&next) = self.ends[before..].last() else { return Ok(false) };
            expected = ends.clone().find(|end| *end > next);
            start = next as usize;
        }
    }

    /// Leaves the starts of the tokens in `parts`, and the end of the piece.
    fn merge(&mut self, ranks: &Ranks, piece: &[u8]) {
        let parts = &mut self.parts;
        parts.clear();
        let mut start = 0;
        let mut end = ranks.part_end(piece, 0);
        while end < piece.len() {
            let next_end = ranks.part_end(piece, end);
            parts.push(Part { start: start as u32, rank: ranks.rank(&piece[start..next_end]) });
            (start, end) = (end, next_end);
        }
        parts.push(Part { start: start as u32, rank: NO_RANK });
        parts.push(Part { start: piece.len() as u32, rank: NO_RANK });
        loop {
            let mut lowest = (NO_RANK, 0);
            for (index, part) in parts.iter().enumerate() {
                if part.rank < lowest.0 {
                    lowest = (part.rank, index);
                }
            }
            let (rank, first) = lowest;
            if rank == NO_RANK {
                return;
            }
            merge_all(parts, rank, first, |start, end| ranks.rank(&piece[start as usize..end as usize]));
        }
    }

    /// Merges the piece as a whole in O(n log n).
    fn merge_with_heap(&mut self, ranks: &Ranks, piece: &[u8]) -> Result<(), OutOfMemory> {
        let (links, heap) = (&mut self.links, &mut self.heap);
        let length = piece.len() as u32;
        self.ends.clear();
        links.clear();
        heap.clear();
        try_reserve(&mut self.ends, piece.len(), PURPOSE)?;
        try_reserve(links, piece.len(), PURPOSE)?;
        // Each merge takes an entry and adds two at most, so the heap doubles once.
        ensure(3 * piece.len() * size_of::<(Rank, u32)>(), PURPOSE)?;
        heap.reserve(piece.len());
        for start in 0..length {
            let rank = piece.get(start as usize..start as usize + 2).map_or(NO_RANK, |pair| ranks.rank(pair));
            links.push(Link { previous: start.wrapping_sub(1), next: start + 1, rank });
            if rank != NO_RANK {
                heap.push(Reverse((rank, start)));
            }
        }
        while let Some(Reverse((rank, start))) = heap.pop() {
            let left = links[start as usize];
            // The entry is stale if the part has been merged since.
            if left.rank != rank {
                continue;
            }
            let right = links[left.next as usize];
            links[left.next as usize].rank = NO_RANK;
            links[start as usize].next = right.next;
            if right.next < length {
                links[right.next as usize].previous = start;
            }
            let previous = (start > 0).then_some(left.previous);
            for start in [Some(start), previous].into_iter().flatten() {
                let next = links[start as usize].next;
                let end = links.get(next as usize).map(|link| link.next);
                let rank = end.map_or(NO_RANK, |end| ranks.rank(&piece[start as usize..end as usize]));
                links[start as usize].rank = rank;
                if rank != NO_RANK {
                    heap.push(Reverse((rank, start)));
                }
            }
        }
        let mut start = 0;
        while let Some(link) = self.links.get(start) {
            self.ends.push(link.next);
            start = link.next as usize;
        }
        Ok(())
    }
}

/// Merges the parts of this rank from left to right, beginning with `first`: all of them, or up to a merge that makes one
/// of a lower rank possible.
fn merge_all(parts: &mut Vec<Part>, rank: Rank, first: usize, rank_between: impl Fn(u32, u32) -> Rank) {
    let (mut read, mut write) = (first, first);
    let mut lower = false;
    while let Some(&part) = parts.get(read) {
        parts[write] = part;
        read += 1;
        if part.rank == rank && !lower {
            // The part to merge with, and the one after it.
            read += 1;
            let end = parts[read].start;
            let merged = parts.get(read + 1).map_or(NO_RANK, |next| rank_between(part.start, next.start));
            parts[write].rank = merged;
            lower = merged < rank;
            if let Some(previous) = write.checked_sub(1) {
                let merged = rank_between(parts[previous].start, end);
                parts[previous].rank = merged;
                lower |= merged < rank;
            }
        }
        write += 1;
    }
    parts.truncate(write);
}

// proptest is not built for WebAssembly.
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::sync::LazyLock;

    use super::super::encoding::Vocabulary;
    use super::*;

    static RANKS: LazyLock<Ranks> = LazyLock::new(|| {
        let bpe = tiktoken_rs::r50k_base().unwrap();
        let tokens: Vec<Vec<u8>> = (0..50_256).map(|rank| bpe.decode_bytes(&[rank]).unwrap()).collect();
        Ranks::new(Vocabulary::R50k, &file_of(&tokens)).unwrap()
    });

    /// The file of a vocabulary in which every rank has a token.
    fn file_of(tokens: &[Vec<u8>]) -> Vec<u8> {
        let (bytes, merged) = tokens.split_at(256);
        let ranks: HashMap<&[u8], u32> = tokens.iter().map(Vec::as_slice).zip(0..).collect();
        let parts = |(token, rank): (&Vec<u8>, u32)| {
            let halves = (1..token.len()).map(|middle| token.split_at(middle));
            let mut ranked = halves.filter_map(|(left, right)| Some([*ranks.get(left)?, *ranks.get(right)?]));
            ranked.find(|parts| parts.iter().all(|part| *part < rank)).unwrap()
        };
        let pairs: Vec<[u32; 2]> = merged.iter().zip(256..).map(parts).collect();
        let column = |column: usize| pairs.iter().map(move |pair| pair[column / 3].to_le_bytes()[column % 3]);
        bytes.iter().flatten().copied().chain((0..6).flat_map(column)).collect()
    }

    /// The ends of tokens from the `parts` that a merge leaves.
    fn at_once(merger: &mut Merger, piece: &[u8]) -> Vec<u32> {
        merger.merge(&RANKS, piece);
        merger.parts[1..].iter().map(|part| part.start).collect()
    }

    proptest! {
        #[test]
        fn all_ways_give_the_same_tokens(
            piece in prop_oneof![
                "[a-z]{1,900}",
                "[ab]{1,900}",
                "[aeiou \n-]{1,900}",
                "[а-яё]{1,400}",
                "[\u{e01}-\u{e3a}\u{e40}-\u{e4e}]{1,300}",
                "[一-十丂-乐]{1,300}",
                "[\u{1f600}-\u{1f64f}\u{200d}]{1,200}",
                ("[a-z]{1,9}", 1..90usize).prop_map(|(part, times)| part.repeat(times)),
            ],
        ) {
            let piece = piece.as_bytes();
            let mut merger = Merger::default();
            let expected = at_once(&mut merger, piece);
            prop_assert_eq!(merger.ends(&RANKS, piece), &expected);
            merger.merge_with_heap(&RANKS, piece).unwrap();
            prop_assert_eq!(&merger.ends, &expected);
            for window in [8, 16, 64, 512] {
                if merger.merge_in_windows(&RANKS, piece, window).unwrap() {
                    prop_assert_eq!(&merger.ends, &expected, "windows of {}", window);
                }
            }
        }
    }

    #[test]
    fn windows_that_are_too_short_are_given_up() {
        let piece = "-".repeat(2000);
        let mut merger = Merger::default();
        // r50k_base has a token of 64 of them.
        assert!(!merger.merge_in_windows(&RANKS, piece.as_bytes(), 64).unwrap());
        assert!(merger.merge_in_windows(&RANKS, piece.as_bytes(), 512).unwrap());
        let expected = at_once(&mut merger, piece.as_bytes());
        assert_eq!(merger.ends(&RANKS, piece.as_bytes()), expected);
    }
}
