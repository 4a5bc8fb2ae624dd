//! Where a window cuts.

use super::newest::{Limits, Newest};
use super::reason::Reason;
use super::retained::Retained;
use super::units::Units;
use super::{Boundary, WindowOptions};
use crate::conversation::{Context, Exchanges, order};
use crate::error::Error;
use crate::tokens;

/// What a window keeps.
#[derive(Debug)]
pub(super) struct Cut {
    /// The positions of the non-special messages that are kept, in display order.
    pub kept: Vec<usize>,
    /// The exchanges of the context; `None` if they were not needed.
    pub exchanges: Option<Exchanges>,
    /// Positions from newest to oldest, computed as far as needed.
    order: Vec<usize>,
    /// The number of newest messages that are kept.
    newest: usize,
    retained: Retained,
    /// The number of newest messages that would be kept by the limit alone, with whole exchanges, and without a lower mark.
    would_stay: [usize; 3],
    dropped: usize,
}

/// A possible cut. Candidates form a chain: each keeps everything that the previous one keeps, and more.
#[derive(Clone, Copy)]
struct Candidate {
    /// The number of newest messages that are kept.
    newest: usize,
    /// The position of an earlier prompt that is kept too.
    prompt: Option<usize>,
}

impl Cut {
    /// Takes the largest candidate that fits. `cost_of` returns the cost of the message at a position.
    ///
    /// # Errors
    ///
    /// Those of [`Windows::rolling_token_window`](super::Windows::rolling_token_window), and those of `cost_of`.
    pub fn decide(
        context: &Context,
        limits: Limits,
        options: &WindowOptions,
        cost_of: &dyn Fn(usize) -> Result<u64, Error>,
    ) -> Result<Self, Error> {
        let Limits { limit, reserve, special_tokens } = limits;
        let room = limit.saturating_sub(reserve);
        if let Some(mark) = options.lower_mark.filter(|mark| *mark > room) {
            let rest = if reserve > 0 { format!(" ({limit} minus a reserve of {reserve})") } else { String::new() };
            let message = format!("{mark} exceeds the window's limit of {room}{rest}");
            return Err(Error::argument("lower_mark", message));
        }
        // Pinned messages are charged first. Where a window may begin matters only if it must cut.
        let exchanges = (!options.pins.is_empty()).then(|| Exchanges::of(context));
        let retained = match &exchanges {
            Some(exchanges) => Retained::new(context, options, exchanges)?,
            None => Retained::default(),
        };
        let all_retained = retained.all();
        let base = tokens::total(all_retained.iter().map(|&position| cost_of(position)))?;
        let base = base.saturating_add(special_tokens.unwrap_or(0));
        let mut newest = Newest::new(context, &all_retained, cost_of);
        let fitting = newest.fitting(room.checked_sub(base))?;
        let all = newest.len;
        if fitting == all {
            let would_stay = [all; 3];
            let order = newest.order;
            return Ok(Self {
                exchanges,
                ..Self::keeping(context, order, Candidate::newest(all), retained, would_stay)
            });
        }
        let keeps_whole = options.boundary != Boundary::Message;
        let exchanges = exchanges.or_else(|| keeps_whole.then(|| Exchanges::of(context)));
        let units = exchanges.as_ref().filter(|_| keeps_whole).map(|exchanges| Units::new(context, exchanges));
        let too_small = |needed: u64| Error::WindowTooSmall {
            limit,
            special_tokens,
            needed: needed.saturating_add(reserve),
            media_tokens: 0,
            reserve,
            has_pins: !options.pins.is_empty(),
            boundary: options.boundary.name(),
        };
        if !keeps_whole && !options.pins.is_empty() && base > room {
            return Err(too_small(base));
        }
        let mut choice =
            Choice { boundary: options.boundary, units: units.as_ref(), newest: &mut newest, base, cost_of };
        let Some(at_limit) = choice.largest(room)? else {
            return Err(too_small(choice.smallest()?.1));
        };
        let whole = choice.whole(fitting);
        let chosen = match options.lower_mark {
            Some(mark) => match choice.largest(mark)?.filter(|candidate| candidate.newest > 0) {
                Some(candidate) => candidate,
                // Nothing fits the lower mark, so the smallest candidate that fits the limit is taken.
                None => choice.smallest_within(at_limit)?,
            },
            None => at_limit,
        };
        let would_stay = [fitting, whole, at_limit.newest];
        let order = newest.order;
        Ok(Self { exchanges, ..Self::keeping(context, order, chosen, retained, would_stay) })
    }

    fn keeping(
        context: &Context,
        order: Vec<usize>,
        candidate: Candidate,
        mut retained: Retained,
        would_stay: [usize; 3],
    ) -> Self {
        retained.prompts.extend(candidate.prompt);
        let mut kept: Vec<usize> = order.iter().take(candidate.newest).copied().chain(retained.all()).collect();
        order::sort(&mut kept);
        kept.dedup();
        let dropped = context.others_count() - kept.len();
        Self { kept, exchanges: None, order, newest: candidate.newest, retained, would_stay, dropped }
    }

    pub fn drops_any(&self) -> bool {
        self.dropped > 0
    }

    /// Why each message is kept or dropped, by position.
    pub fn reasons(&self, context: &Context, boundary: Boundary) -> Vec<Reason> {
        let mut reasons = vec![Reason::OverLimit; context.messages().len()];
        let [fitting, whole, at_limit] = self.would_stay;
        for (place, &position) in self.order.iter().enumerate() {
            let reason = if place < self.newest {
                Reason::Recent
            } else if place >= fitting {
                Reason::OverLimit
            } else if place >= whole {
                Reason::Exchange
            } else if place >= at_limit && boundary == Boundary::Turn {
                Reason::Turn
            } else {
                Reason::LowerMark
            };
            set(&mut reasons, position, reason);
        }
        for &position in &self.retained.prompts {
            // A prompt among the newest messages has the reason `recent`.
            if reasons.get(position).is_some_and(|reason| !reason.keeps()) {
                reasons[position] = Reason::Prompt;
            }
        }
        self.retained.with_pinned.iter().for_each(|&position| set(&mut reasons, position, Reason::PinnedExchange));
        self.retained.pinned.iter().for_each(|&position| set(&mut reasons, position, Reason::Pinned));
        context.specials().into_iter().flatten().for_each(|position| set(&mut reasons, position, Reason::Special));
        reasons
    }
}

fn set(reasons: &mut [Reason], position: usize, reason: Reason) {
    if let Some(place) = reasons.get_mut(position) {
        *place = reason;
    }
}

/// Chooses among the candidates.
struct Choice<'a, 'c> {
    boundary: Boundary,
    units: Option<&'a Units<'c>>,
    newest: &'a mut Newest<'c>,
    /// The cost of the retained and special messages.
    base: u64,
    cost_of: &'a dyn Fn(usize) -> Result<u64, Error>,
}

impl Choice<'_, '_> {
    /// The largest candidate that costs no more than `room`.
    fn largest(&mut self, room: u64) -> Result<Option<Candidate>, Error> {
        let fitting = self.newest.fitting(room.checked_sub(self.base))?;
        let Some(units) = self.units else {
            return Ok(Some(Candidate { newest: fitting, prompt: None }));
        };
        let fits = |count: &usize| *count <= fitting;
        if self.boundary == Boundary::Exchange {
            return Ok(units.exchange_counts().take_while(fits).last().map(Candidate::newest));
        }
        if let Some(count) = units.turn_counts().take_while(fits).last() {
            return Ok(Some(Candidate::newest(count)));
        }
        let mut largest = None;
        for (newest, prompt) in units.loop_counts() {
            let candidate = Candidate { newest, prompt };
            if self.cost(candidate)? > room {
                break;
            }
            largest = Some(candidate);
        }
        Ok(largest)
    }

    /// The smallest candidate that keeps a message, and its cost.
    fn smallest(&mut self) -> Result<(Candidate, u64), Error> {
        let candidate = match (self.boundary, self.units) {
            (Boundary::Exchange, Some(units)) => units.exchange_counts().next().map(Candidate::newest),
            (Boundary::Turn, Some(units)) => {
                let in_loop = units.loop_counts().next().map(|(newest, prompt)| Candidate { newest, prompt });
                in_loop.or_else(|| units.turn_counts().next().map(Candidate::newest))
            }
            _ => Some(Candidate::newest(self.newest.len.min(1))),
        };
        // All messages are a candidate, the only one in a history that cannot be cut.
        let candidate = candidate.unwrap_or(Candidate::newest(self.newest.len));
        Ok((candidate, self.cost(candidate)?))
    }

    /// The smallest candidate, or `largest` if that is smaller.
    fn smallest_within(&mut self, largest: Candidate) -> Result<Candidate, Error> {
        let (smallest, _) = self.smallest()?;
        Ok(if smallest.newest <= largest.newest { smallest } else { largest })
    }

    /// How many of `count` newest messages are whole exchanges.
    fn whole(&self, count: usize) -> usize {
        match self.units {
            Some(units) => units.exchange_counts().take_while(|whole| *whole <= count).last().unwrap_or(0),
            None => count,
        }
    }

    fn cost(&mut self, candidate: Candidate) -> Result<u64, Error> {
        let newest = self.newest.cost(candidate.newest)?;
        let prompt = candidate.prompt.filter(|position| !self.newest.holds(*position));
        let prompt = prompt.map_or(Ok(0), self.cost_of)?;
        Ok(self.base.saturating_add(newest).saturating_add(prompt))
    }
}

impl Candidate {
    fn newest(newest: usize) -> Self {
        Self { newest, prompt: None }
    }
}
