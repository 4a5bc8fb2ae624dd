//! Where a window may begin.

use std::collections::HashSet;

use crate::conversation::{Context, Exchanges, Message, ToolPart, UnpairedKind};

/// The non-special messages in units that a window keeps or drops as a whole. A place is an index from the newest message,
/// which is 0, to the oldest.
pub(super) struct Units<'c> {
    context: &'c Context,
    /// The position in the context, by place.
    order: Vec<usize>,
    /// Whether the newest `n` messages are whole units, by `n`.
    is_whole: Vec<bool>,
}

impl<'c> Units<'c> {
    pub fn new(context: &'c Context, exchanges: &Exchanges) -> Self {
        let order: Vec<usize> = context.newest_first().collect();
        let is_whole = whole_counts(context.messages().len(), &order, exchanges);
        Self { context, order, is_whole }
    }

    /// The numbers of newest messages that are whole units, ascending, from one unit to all.
    pub fn exchange_counts(&self) -> impl Iterator<Item = usize> {
        (1..self.is_whole.len()).filter(|&count| self.is_whole[count])
    }

    /// Those of [`Units::exchange_counts`] that begin at a prompt.
    pub fn turn_counts(&self) -> impl Iterator<Item = usize> {
        self.exchange_counts().filter(|&count| self.is_prompt_at(count - 1))
    }

    /// The numbers of newest messages that are whole units after the prompt that the assistant works under, ascending, each
    /// with the position of the last prompt before them.
    pub fn loop_counts(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        let end = self.newest_prompt().unwrap_or(self.order.len());
        let mut before = 0;
        self.exchange_counts().take_while(move |&count| count <= end).map(move |count| {
            // The last prompt before a longer run is the same or an earlier one.
            before = before.max(count);
            while before < self.order.len() && !self.is_prompt_at(before) {
                before += 1;
            }
            (count, self.order.get(before).copied())
        })
    }

    /// The position of the last prompt before the newest `n` messages, by `n`.
    pub fn prompts_before(&self) -> Vec<Option<usize>> {
        let mut last = None;
        let mut prompts: Vec<Option<usize>> = (0..self.order.len())
            .rev()
            .map(|place| {
                last = self.is_prompt_at(place).then(|| self.order[place]).or(last);
                last
            })
            .collect();
        prompts.reverse();
        prompts
    }

    /// The place of each message, by position; `None` for special messages.
    pub fn places(&self) -> Vec<Option<usize>> {
        let mut places = vec![None; self.context.messages().len()];
        for (place, &position) in self.order.iter().enumerate() {
            places[position] = Some(place);
        }
        places
    }

    /// The place of the prompt that the assistant works under, as [`prompt_in_unit`] finds it.
    fn newest_prompt(&self) -> Option<usize> {
        let mut end = 0;
        self.exchange_counts().find_map(|start| {
            let unit = (end..start).rev().filter_map(|place| Some((place, self.message(place)?)));
            end = start;
            prompt_in_unit(unit)
        })
    }

    fn is_prompt_at(&self, place: usize) -> bool {
        self.message(place).is_some_and(Message::is_prompt)
    }

    fn message(&self, place: usize) -> Option<&'c Message> {
        self.context.message(*self.order.get(place)?)
    }
}

/// The place of the newest prompt of a unit that the assistant works under: the newest at which a window could have begun,
/// now or when there were fewer messages. A prompt that arrived while calls were waiting for their results does not count,
/// unless the assistant continued before the first of these results. `unit` yields places and messages, oldest first.
///
/// Once a prompt counts, it always counts, even if a late result makes it part of an older unit. So no new message brings
/// an old one back. This depends on which calls were waiting at each moment, so it is not read from the final pairing.
fn prompt_in_unit<'m>(unit: impl Iterator<Item = (usize, &'m Message)>) -> Option<usize> {
    let mut found = None;
    let mut called: HashSet<&str> = HashSet::new();
    // The last calls of the assistant, and the newest prompt since.
    let mut waiting: HashSet<&str> = HashSet::new();
    let mut between = None;
    for (place, message) in unit {
        if message.role() == "assistant" {
            found = between.take().or(found);
            waiting.clear();
        }
        for part in message.tool_parts() {
            match part {
                ToolPart::Call(call_id) => {
                    called.insert(call_id);
                    waiting.insert(call_id);
                }
                ToolPart::Result(call_id) => {
                    waiting.remove(call_id);
                    between = between.filter(|_| !called.contains(call_id));
                }
            }
        }
        if message.is_prompt() {
            *(if waiting.is_empty() { &mut found } else { &mut between }) = Some(place);
        }
    }
    found
}

/// Whether no exchange is split between the newest `n` messages and the older ones, by `n`. The exchange of a pending call
/// extends to the end.
fn whole_counts(messages: usize, order: &[usize], exchanges: &Exchanges) -> Vec<bool> {
    // The newest and oldest place of each exchange, by the position of its first message.
    let mut spans: Vec<Option<(usize, usize)>> = vec![None; messages];
    for (place, &position) in order.iter().enumerate() {
        spans[exchanges.first(position)].get_or_insert((place, place)).1 = place;
    }
    for unpaired in exchanges.unpaired.iter().filter(|unpaired| unpaired.kind == UnpairedKind::Pending) {
        if let Some(span) = &mut spans[exchanges.first(unpaired.position)] {
            span.0 = 0;
        }
    }
    // The change in the number of open exchanges at each count.
    let mut changes = vec![0i32; order.len() + 1];
    for (newest, oldest) in spans.into_iter().flatten() {
        changes[newest + 1] += 1;
        changes[oldest + 1] -= 1;
    }
    let mut open = 0;
    let is_closed = |change| {
        open += change;
        open == 0
    };
    changes.into_iter().map(is_closed).collect()
}
