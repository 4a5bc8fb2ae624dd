//! The newest messages of a context and their costs.

use std::collections::HashSet;

use crate::conversation::Context;
use crate::error::Error;

/// The limits of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The count, or the token budget.
    pub limit: u64,
    /// The part of the limit that is reserved.
    pub reserve: u64,
    /// The tokens of the special messages; `None` if messages are counted.
    pub special_tokens: Option<u64>,
}

/// The non-special messages from newest to oldest, with the sums of their costs, computed as far as needed. Retained
/// messages cost nothing here, because they are already charged.
pub(super) struct Newest<'c> {
    rest: Box<dyn Iterator<Item = usize> + 'c>,
    cost_of: &'c dyn Fn(usize) -> Result<u64, Error>,
    retained: &'c HashSet<usize>,
    /// Positions, newest first.
    pub order: Vec<usize>,
    /// The cost of the newest `n` messages, by `n`.
    sums: Vec<u64>,
    /// The number of messages.
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

    /// Whether the message at a position is already charged.
    pub fn holds(&self, position: usize) -> bool {
        self.retained.contains(&position)
    }

    /// The cost of the newest `count` messages.
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

    /// How many of the newest messages fit `room`; 0 if there is no room. Stops at the first message that does not fit.
    pub fn fitting(&mut self, room: Option<u64>) -> Result<usize, Error> {
        let Some(room) = room else { return Ok(0) };
        let mut count = 0;
        while count < self.len && self.cost(count + 1)? <= room {
            count += 1;
        }
        Ok(count)
    }
}
