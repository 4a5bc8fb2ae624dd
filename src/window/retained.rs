//! The messages that a window keeps regardless of where it cuts.

use std::collections::{HashMap, HashSet};

use super::units::Units;
use super::{Boundary, WindowOptions};
use crate::conversation::{Context, Exchanges, Message};
use crate::error::Error;

/// The positions of the messages that a window keeps regardless of where it cuts.
#[derive(Debug, Default)]
pub(super) struct Retained {
    /// The messages that the caller pinned.
    pub pinned: HashSet<usize>,
    /// The other messages of their exchanges.
    pub with_pinned: HashSet<usize>,
    /// The prompts before them, for a window that begins at prompts.
    pub prompts: HashSet<usize>,
}

impl Retained {
    /// The messages that a window with these options retains.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a pin that is not the id of a message.
    pub fn new(context: &Context, options: &WindowOptions, exchanges: &Exchanges) -> Result<Self, Error> {
        let specials = context.specials();
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
        for (position, message) in context.messages().enumerate() {
            by_id.entry(message.id()).or_default().push(position);
        }
        let mut retained = Self::default();
        for (index, id) in options.pins.iter().enumerate() {
            let Some(positions) = by_id.get(id.as_str()) else {
                let message = format!("the context has no message with the id {id:?}");
                return Err(Error::argument(&format!("pins[{index}]"), message));
            };
            retained.pinned.extend(positions.iter().filter(|position| !specials.contains(&Some(**position))));
        }
        let firsts: HashSet<usize> = retained.pinned.iter().map(|&position| exchanges.first(position)).collect();
        let members = (0..context.messages().len()).filter(|&position| firsts.contains(&exchanges.first(position)));
        retained.with_pinned = members.filter(|position| !retained.pinned.contains(position)).collect();
        if options.boundary == Boundary::Turn {
            let units = Units::new(context, exchanges);
            let places = units.places();
            // The oldest place of each exchange.
            let mut oldest: HashMap<usize, usize> = HashMap::new();
            for position in retained.pinned.iter().chain(&retained.with_pinned) {
                if let Some(place) = places.get(*position).copied().flatten() {
                    let oldest = oldest.entry(exchanges.first(*position)).or_insert(place);
                    *oldest = place.max(*oldest);
                }
            }
            let is_prompt_at = |position: usize| context.message(position).is_some_and(Message::is_prompt);
            let needing = oldest.into_iter().filter(|(first, _)| !is_prompt_at(*first));
            let prompts = units.prompts_before();
            retained.prompts = needing.filter_map(|(_, place)| prompts.get(place + 1).copied().flatten()).collect();
        }
        Ok(retained)
    }

    /// All of these positions.
    pub fn all(&self) -> HashSet<usize> {
        [&self.pinned, &self.with_pinned, &self.prompts].into_iter().flatten().copied().collect()
    }
}
