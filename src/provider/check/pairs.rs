//! Which result is that of which call.

use std::collections::HashMap;

use super::super::part::Part;
use super::turn::Turn;

/// The index of a turn and of a part in it.
pub type Place = (usize, usize);

/// The calls and results of a list.
#[derive(Debug, Default)]
pub struct Pairs<'m> {
    /// In order.
    pub calls: Vec<PairedCall<'m>>,
    /// By place, in order.
    pub results: Vec<(Place, Match)>,
}

/// A call and its result.
#[derive(Debug)]
pub struct PairedCall<'m> {
    pub place: Place,
    pub call_id: &'m str,
    pub result: Option<Place>,
    /// Another call before it has the same id.
    pub repeats: Repeats,
}

/// Where the id of a call was met before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    No,
    Before,
    InSameTurn,
}

/// What a result belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The index of the call in [`Pairs::calls`].
    Call(usize),
    /// The call has a result already.
    Second,
    /// No call before it has its id.
    None,
}

/// The calls of the last turn that has calls of an id.
struct Open {
    turn: usize,
    calls: Vec<usize>,
    answered: usize,
}

impl<'m> Pairs<'m> {
    /// As [`Exchanges`](crate::conversation::Exchanges) does it: a result is that of the last call before it with its id.
    /// Calls of one message that have the same id get their results in their order.
    pub fn of(turns: &[Turn<'m>]) -> Self {
        let mut pairs = Self::default();
        let mut open: HashMap<&str, Open> = HashMap::new();
        for (turn, Turn { parts, .. }) in turns.iter().enumerate() {
            for (part, read) in parts.iter().enumerate() {
                match *read {
                    Part::Call(call) => {
                        let index = pairs.calls.len();
                        let repeats = match open.get_mut(call.call_id) {
                            Some(same) if same.turn == turn => {
                                same.calls.push(index);
                                Repeats::InSameTurn
                            }
                            earlier => {
                                let repeats = if earlier.is_some() { Repeats::Before } else { Repeats::No };
                                open.insert(call.call_id, Open { turn, calls: vec![index], answered: 0 });
                                repeats
                            }
                        };
                        pairs.calls.push(PairedCall {
                            place: (turn, part),
                            call_id: call.call_id,
                            result: None,
                            repeats,
                        });
                    }
                    Part::Result { call_id, .. } => {
                        let place = (turn, part);
                        let found = match open.get_mut(call_id) {
                            Some(open) => match open.calls.get(open.answered) {
                                Some(&call) => {
                                    open.answered += 1;
                                    pairs.calls[call].result = Some(place);
                                    Match::Call(call)
                                }
                                None => Match::Second,
                            },
                            None => Match::None,
                        };
                        pairs.results.push((place, found));
                    }
                    _ => {}
                }
            }
        }
        pairs
    }
}
