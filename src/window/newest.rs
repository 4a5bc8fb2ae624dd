//! The newest messages of a context, and what they cost.

use std::collections::HashSet;

use crate::conversation::Context;
use crate::error::Error;

/// The limits of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The count, or the token budget.
    pub limit: u64,
    /// The part of the limit that is set aside.
    pub reserve: u64,
    /// The tokens of the special messages; `None` where messages are counted.
    pub special_tokens: Option<u64>,
}

/// The messages that are not special, from the newest to the oldest, with the sums of their costs, computed as far as needed.
/// Retained messages cost nothing here, because they are paid for already.
pub(super) struct Newest<'c> {
    rest: Box<dyn Iterator<Item = usize> + 'c>,
    cost_of: &'c dyn Fn(usize) -> Result<u64, Error>,
    retained: &'c HashSet<usize>,
    /// Positions, the newest first.
    pub order: Vec<usize>,
    /// By count, the cost of that many of the newest messages.
    sums: Vec<u64>,
    /// How many messages there are.
    pub len: usize,
}

impl<'c> Newest<'c> {
    /// The messages of a context.
    pub fn new(
        context: &'c Context,
        retained: &'c HashSet<usize>,
        cost_of: &'c dyn Fn(usize) -> Result<u64, Error>,
    ) -> Self {
        let len = context.others_count();
        Self { rest: context.newest_first(), cost_of, retained, order: Vec::new(), sums: vec![0], len }
    }

    /// Whether the message at a position is paid for already.
    pub fn holds(&self, position: usize) -> bool {
        self.retained.contains(&position)
    }

    /// The cost of the `count` newest messages.
    pub fn cost(&mut self, count: usize) -> Result<u64, Error> {
        while self.sums.len() <= count {
            let Some(position) = self.rest.next() else { break };
            let cost = if self.retained.contains(&position) { 0 } else { (self.cost_of)(position)? };
            let sum = self.sums.last().copied().unwrap_or(0).saturating_add(cost);
            self.order.push(position);
            self.sums.push(sum);
        }
        Ok(self.sums.get(count).or(self.sums.last()).copied().unwrap_or(0))
    }

    /// How many of the newest messages cost no more than `room`; none without room. Stops at the first that does not fit.
    pub fn fitting(&mut self, room: Option<u64>) -> Result<usize, Error> {
        let Some(room) = room else { return Ok(0) };
        let mut count = 0;
        while count < self.len && self.cost(count + 1)? <= room {
            count += 1;
        }
        Ok(count)
    }
}
