//! Where a window cuts.

use crate::conversation::Context;
use crate::error::Error;
use crate::tokens::{self, TokenCounter};

/// The positions of the non-special messages that a window keeps and drops, each in display order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub kept: Vec<usize>,
    pub dropped: Vec<usize>,
}

impl Cut {
    /// Keeps the last `count`.
    pub fn to_count(context: &Context, count: u64) -> Self {
        let ranked = by_rank(context);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(ranked.len());
        Self::keeping_last(ranked, count)
    }

    /// Keeps the last that have no more than `max_tokens` tokens together with the special messages. Counts back from
    /// the end, no further than the first that does not fit.
    pub fn to_tokens(context: &Context, max_tokens: u64, counter: &dyn TokenCounter) -> Result<Self, Error> {
        let ranked = by_rank(context);
        let mut total = special_tokens(context, counter)?;
        let mut count = 0;
        for message in ranked.iter().rev().filter_map(|&position| context.message(position)) {
            total = total.saturating_add(message.tokens(counter)?);
            if total > max_tokens {
                break;
            }
            count += 1;
        }
        Ok(Self::keeping_last(ranked, count))
    }

    pub fn drops_any(&self) -> bool {
        !self.dropped.is_empty()
    }

    fn keeping_last(mut ranked: Vec<usize>, count: usize) -> Self {
        let mut kept = ranked.split_off(ranked.len() - count);
        let mut dropped = ranked;
        kept.sort_unstable();
        dropped.sort_unstable();
        Self { kept, dropped }
    }
}

/// The tokens of the special messages.
pub(super) fn special_tokens(context: &Context, counter: &dyn TokenCounter) -> Result<u64, Error> {
    let specials = context.specials().into_iter().flatten();
    tokens::total(specials.filter_map(|position| context.message(position)).map(|message| message.tokens(counter)))
}

/// The positions of the non-special messages from the oldest to the newest: by sequence number, and one without a number
/// right after the one that is displayed before it.
fn by_rank(context: &Context) -> Vec<usize> {
    let specials = context.specials();
    let mut last = None;
    let mut ranked: Vec<(Option<i64>, usize)> = Vec::with_capacity(context.messages().len());
    for (position, message) in context.messages().enumerate() {
        if specials.contains(&Some(position)) {
            continue;
        }
        last = message.sequence().or(last);
        ranked.push((last, position));
    }
    if !ranked.is_sorted() {
        ranked.sort_unstable();
    }
    ranked.into_iter().map(|(_, position)| position).collect()
}
