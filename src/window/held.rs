//! What a window keeps wherever it cuts.

use std::collections::{HashMap, HashSet};

use super::units::{Units, is_prompt};
use super::{Boundary, WindowOptions};
use crate::conversation::{Context, Exchanges};
use crate::error::Error;

/// The positions of the messages that the caller pinned, of what belongs to their exchanges, and of the prompts that a
/// window that begins at prompts needs with them.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub pinned: HashSet<usize>,
    pub with_pinned: HashSet<usize>,
    pub prompts: HashSet<usize>,
}

impl Held {
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an id that no message has.
    pub fn new(context: &Context, options: &WindowOptions, exchanges: &Exchanges) -> Result<Self, Error> {
        let specials = context.specials();
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
        for (position, message) in context.messages().enumerate() {
            by_id.entry(message.id()).or_default().push(position);
        }
        let mut held = Self::default();
        for (index, id) in options.pins.iter().enumerate() {
            let Some(positions) = by_id.get(id.as_str()) else {
                let message = format!("no message of the context has the id {id:?}");
                return Err(Error::argument(&format!("pins[{index}]"), message));
            };
            held.pinned.extend(positions.iter().filter(|position| !specials.contains(&Some(**position))));
        }
        let firsts: HashSet<usize> = held.pinned.iter().map(|&position| exchanges.first(position)).collect();
        let members = (0..context.messages().len()).filter(|&position| firsts.contains(&exchanges.first(position)));
        held.with_pinned = members.filter(|position| !held.pinned.contains(position)).collect();
        if options.boundary == Boundary::Turn {
            let units = Units::new(context, exchanges);
            let places = units.places();
            // The oldest place of each exchange.
            let mut oldest: HashMap<usize, usize> = HashMap::new();
            for position in held.pinned.iter().chain(&held.with_pinned) {
                if let Some(place) = places.get(*position).copied().flatten() {
                    let oldest = oldest.entry(exchanges.first(*position)).or_insert(place);
                    *oldest = place.max(*oldest);
                }
            }
            let is_prompt_at = |position: usize| context.message(position).is_some_and(is_prompt);
            let needing = oldest.into_iter().filter(|(first, _)| !is_prompt_at(*first));
            let prompts = units.prompts_before();
            held.prompts = needing.filter_map(|(_, place)| prompts.get(place + 1).copied().flatten()).collect();
        }
        Ok(held)
    }

    pub fn all(&self) -> HashSet<usize> {
        [&self.pinned, &self.with_pinned, &self.prompts].into_iter().flatten().copied().collect()
    }
}
