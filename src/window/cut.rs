//! Where a window cuts.

use crate::conversation::Context;
use crate::error::Error;
use crate::tokens::{self, TokenCounter};

/// The positions of the non-special messages that a window keeps, in display order, and how many it drops.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub kept: Vec<usize>,
    dropped: usize,
}

impl Cut {
    /// Keeps the last `count`.
    pub fn to_count(context: &Context, count: u64) -> Self {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Self::keeping(context, context.newest_first().take(count).collect())
    }

    /// Keeps the last that have no more than `max_tokens` tokens together with the special messages. Counts back from
    /// the end, no further than the first that does not fit.
    pub fn to_tokens(context: &Context, max_tokens: u64, counter: &dyn TokenCounter) -> Result<Self, Error> {
        let mut total = special_tokens(context, counter)?;
        let mut kept = Vec::new();
        for position in context.newest_first() {
            let tokens = context.message(position).map_or(Ok(0), |message| message.tokens(counter))?;
            total = total.saturating_add(tokens);
            if total > max_tokens {
                break;
            }
            kept.push(position);
        }
        Ok(Self::keeping(context, kept))
    }

    pub fn drops_any(&self) -> bool {
        self.dropped > 0
    }

    /// The positions of the non-special messages that the window drops, in display order.
    pub fn dropped(&self, context: &Context) -> impl Iterator<Item = usize> {
        let specials = context.specials();
        let mut kept = self.kept.iter().copied().peekable();
        (0..context.messages().len())
            .filter(move |position| kept.next_if_eq(position).is_none() && !specials.contains(&Some(*position)))
    }

    fn keeping(context: &Context, mut kept: Vec<usize>) -> Self {
        kept.sort_unstable();
        let specials = context.specials().into_iter().flatten().count();
        let dropped = context.messages().len() - specials - kept.len();
        Self { kept, dropped }
    }
}

/// The tokens of the special messages.
pub(super) fn special_tokens(context: &Context, counter: &dyn TokenCounter) -> Result<u64, Error> {
    let specials = context.specials().into_iter().flatten();
    tokens::total(specials.filter_map(|position| context.message(position)).map(|message| message.tokens(counter)))
}
