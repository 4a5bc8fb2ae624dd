//! Byte pair encoding: turning a piece that is no token itself into tokens.
//!
//! Starting from its bytes, the two neighbours that together are the token of the lowest rank are merged, the leftmost of
//! equals first, until no two neighbours are a token.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ranks::{NO_RANK, Rank, Ranks};

/// Up to this length the next merge is looked for among all: that is quicker than keeping a heap of few.
const SHORT: usize = 96;

/// Merges pieces; keeps its memory from one to the next.
#[derive(Default)]
pub struct Merger {
    parts: Vec<Part>,
    heap: BinaryHeap<Reverse<(Rank, u32)>>,
    links: Vec<Link>,
}

/// Where a part begins, and the rank of it merged with the next.
#[derive(Clone, Copy)]
struct Part {
    start: u32,
    rank: Rank,
}

/// A part that begins at the link's own index, in a list of those that are left.
#[derive(Clone, Copy)]
struct Link {
    previous: u32,
    /// Where the next part begins, and this one ends.
    next: u32,
    /// The rank of this part merged with the next.
    rank: Rank,
}

impl Merger {
    /// Calls `found` with each token of the piece, in order.
    pub fn tokens<'p>(&mut self, ranks: &Ranks, piece: &'p [u8], mut found: impl FnMut(&'p [u8])) {
        if piece.len() <= SHORT {
            self.merge_short(ranks, piece);
            for pair in self.parts.windows(2) {
                found(&piece[pair[0].start as usize..pair[1].start as usize]);
            }
        } else {
            self.merge_long(ranks, piece);
            let mut start = 0;
            while let Some(link) = self.links.get(start) {
                found(&piece[start..link.next as usize]);
                start = link.next as usize;
            }
        }
    }

    /// Leaves the starts of the tokens in `parts`, and the end of the piece.
    fn merge_short(&mut self, ranks: &Ranks, piece: &[u8]) {
        let parts = &mut self.parts;
        parts.clear();
        for start in 0..piece.len() {
            let rank = piece.get(start..start + 2).map_or(NO_RANK, |pair| ranks.rank(pair));
            parts.push(Part { start: start as u32, rank });
        }
        parts.push(Part { start: piece.len() as u32, rank: NO_RANK });
        // The rank of the part at `index` merged with the one after.
        let merged = |parts: &[Part], index: usize| match parts.get(index + 2) {
            Some(end) => ranks.rank(&piece[parts[index].start as usize..end.start as usize]),
            None => NO_RANK,
        };
        loop {
            let mut lowest = (NO_RANK, 0);
            for (index, part) in parts.iter().enumerate() {
                if part.rank < lowest.0 {
                    lowest = (part.rank, index);
                }
            }
            let (rank, index) = lowest;
            if rank == NO_RANK {
                return;
            }
            parts.remove(index + 1);
            parts[index].rank = merged(parts, index);
            if index > 0 {
                parts[index - 1].rank = merged(parts, index - 1);
            }
        }
    }

    /// Leaves the tokens as linked parts.
    fn merge_long(&mut self, ranks: &Ranks, piece: &[u8]) {
        let (links, heap) = (&mut self.links, &mut self.heap);
        let length = piece.len() as u32;
        links.clear();
        heap.clear();
        for start in 0..length {
            let rank = piece.get(start as usize..start as usize + 2).map_or(NO_RANK, |pair| ranks.rank(pair));
            links.push(Link { previous: start.wrapping_sub(1), next: start + 1, rank });
            if rank != NO_RANK {
                heap.push(Reverse((rank, start)));
            }
        }
        while let Some(Reverse((rank, start))) = heap.pop() {
            let left = links[start as usize];
            // What has been merged since then has another rank.
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
    }
}
