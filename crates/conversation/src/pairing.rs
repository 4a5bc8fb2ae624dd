//! The pairing of tool calls with their results. Windows, the check of files and the rules of providers all use it.

use std::collections::HashMap;

use serde_json::Value;

use crate::part::{OPAQUE, PartKind};

/// The aspects of a message that pairing uses.
#[derive(Clone, Copy, Debug)]
pub struct PairedMessage<'m> {
    /// Whether it is a message of the assistant.
    pub is_assistant: bool,
    /// The parts; may be empty if the message is known to have no calls and no results.
    pub parts: &'m [Value],
    /// Which calls and results count.
    pub tools: Tools,
}

/// Which tools calls and results are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Those of the caller, and those that a provider runs.
    All,
    /// Those of the caller.
    Functions,
}

/// The place of a part: the index of the message, then the index of the part.
pub type Place = (usize, usize);

/// The tool calls and tool results of a conversation, each with its counterpart.
///
/// Calls and results are matched by `call_id`, in display order, which is the order in which a model reads them: a result
/// answers the last call with its id before it, so an id can be reused. If several calls of one message share an id, their
/// results answer them in order, and none of them is pending once one is answered.
#[derive(Debug, Default)]
pub struct Pairing<'m> {
    /// The calls, in display order.
    pub calls: Vec<PairedCall<'m>>,
    /// The results, in display order.
    pub results: Vec<PairedResult<'m>>,
}

/// A tool call and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairedCall<'m> {
    /// Where the call is.
    pub place: Place,
    /// Its id.
    pub call_id: &'m str,
    /// Its result, or why it has none.
    pub state: CallState,
    /// Whether an earlier call has the same id.
    pub repeats: Repeats,
}

/// The result of a call, or why it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// The result is here.
    Answered(Place),
    /// There is no result, but it may still come: the assistant has not spoken since the call.
    Pending,
    /// There is no result, and none is expected: the assistant has spoken since, a later call has reused the id, or another
    /// call of the same message with this id is answered.
    Unanswered,
}

/// Whether an earlier call has the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// No call before this one has its id.
    No,
    /// A call of an earlier message has it.
    Earlier,
    /// A call of the same message has it.
    SameMessage,
}

/// A tool result and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairedResult<'m> {
    /// Where the result is.
    pub place: Place,
    /// The id of the call.
    pub call_id: &'m str,
    /// The call that it answers, or why there is none.
    pub state: ResultState,
}

/// The call that a result answers, as an index of [`Pairing::calls`], or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultState {
    /// It is the result of this call.
    Answers(usize),
    /// This call has a result already.
    Second(usize),
    /// No call before it has the id.
    Orphan,
}

/// A tool call or a tool result, with the id of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolPart<'p> {
    /// A tool call.
    Call(&'p str),
    /// A tool result.
    Result(&'p str),
}

impl<'p> ToolPart<'p> {
    /// Reads a part; `None` for a part of another kind, and for one without an id.
    ///
    /// What a provider sent for a tool that it runs, a part of the type [`OPAQUE`], names its id in `calls` or `answers`.
    pub fn read(part: &'p Value, tools: Tools) -> Option<Self> {
        let id = |key: &str| part.get(key).and_then(Value::as_str);
        match PartKind::of(part) {
            PartKind::ToolCall => id("call_id").map(Self::Call),
            PartKind::ToolResult => id("call_id").map(Self::Result),
            PartKind::Other if tools == Tools::All && part["type"] == OPAQUE => {
                id("calls").map(Self::Call).or_else(|| id("answers").map(Self::Result))
            }
            _ => None,
        }
    }
}

/// The calls with a certain id in the last message that has any.
struct Open {
    message: usize,
    first: usize,
    /// The other calls of the message with this id.
    more: Vec<usize>,
    answered: usize,
}

impl Open {
    /// The next call to be answered.
    fn next(&self) -> Option<usize> {
        match self.answered.checked_sub(1) {
            None => Some(self.first),
            Some(index) => self.more.get(index).copied(),
        }
    }

    fn last(&self) -> usize {
        self.more.last().copied().unwrap_or(self.first)
    }
}

impl<'m> Pairing<'m> {
    /// Pairs the calls and results of messages in display order.
    pub fn of(messages: impl IntoIterator<Item = PairedMessage<'m>>) -> Self {
        let mut pairing = Self::default();
        let mut open: HashMap<&str, Open> = HashMap::new();
        let mut last_assistant = None;
        for (message, PairedMessage { is_assistant, parts, tools }) in messages.into_iter().enumerate() {
            if is_assistant {
                last_assistant = Some(message);
            }
            for (part, value) in parts.iter().enumerate() {
                match ToolPart::read(value, tools) {
                    Some(ToolPart::Call(call_id)) => pairing.add_call((message, part), call_id, &mut open),
                    Some(ToolPart::Result(call_id)) => pairing.add_result((message, part), call_id, &mut open),
                    None => {}
                }
            }
        }
        let is_pending = |open: &&Open| open.answered == 0 && last_assistant <= Some(open.message);
        for open in open.values().filter(is_pending) {
            for call in [open.first].into_iter().chain(open.more.iter().copied()) {
                pairing.calls[call].state = CallState::Pending;
            }
        }
        pairing
    }

    fn add_call(&mut self, place: Place, call_id: &'m str, open: &mut HashMap<&'m str, Open>) {
        let index = self.calls.len();
        let repeats = match open.get_mut(call_id) {
            Some(same) if same.message == place.0 => {
                same.more.push(index);
                Repeats::SameMessage
            }
            earlier => {
                let repeats = if earlier.is_some() { Repeats::Earlier } else { Repeats::No };
                open.insert(call_id, Open { message: place.0, first: index, more: Vec::new(), answered: 0 });
                repeats
            }
        };
        self.calls.push(PairedCall { place, call_id, state: CallState::Unanswered, repeats });
    }

    fn add_result(&mut self, place: Place, call_id: &'m str, open: &mut HashMap<&'m str, Open>) {
        let state = match open.get_mut(call_id) {
            None => ResultState::Orphan,
            Some(open) => match open.next() {
                Some(call) => {
                    open.answered += 1;
                    self.calls[call].state = CallState::Answered(place);
                    ResultState::Answers(call)
                }
                None => ResultState::Second(open.last()),
            },
        };
        self.results.push(PairedResult { place, call_id, state });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Calls = Vec<(Place, CallState, Repeats)>;
    type Results = Vec<(Place, ResultState)>;

    /// The calls and results of messages in words: `u` user, `a` assistant, `c1` a call, `r1` a result; `+` joins parts.
    fn pairing(words: &str) -> (Calls, Results) {
        let part = |word: &str| match word.split_at(1) {
            ("c", id) => json!({"type": "tool_use", "call_id": id}),
            ("r", id) => json!({"type": "tool_result", "call_id": id}),
            _ => json!({"type": "text", "text": "x"}),
        };
        let messages: Vec<(bool, Vec<Value>)> = words
            .split_whitespace()
            .map(|word| (word.starts_with(['a', 'c']), word.split('+').map(part).collect()))
            .collect();
        let pairing = Pairing::of(messages.iter().map(|(is_assistant, parts)| PairedMessage {
            is_assistant: *is_assistant,
            parts,
            tools: Tools::All,
        }));
        (
            pairing.calls.into_iter().map(|call| (call.place, call.state, call.repeats)).collect(),
            pairing.results.into_iter().map(|result| (result.place, result.state)).collect(),
        )
    }

    fn calls(words: &str) -> Vec<CallState> {
        pairing(words).0.into_iter().map(|(_, state, _)| state).collect()
    }

    fn results(words: &str) -> Vec<ResultState> {
        pairing(words).1.into_iter().map(|(_, state)| state).collect()
    }

    #[test]
    fn a_call_is_pending_until_the_assistant_speaks_again() {
        use CallState::{Answered, Pending, Unanswered};
        assert_eq!(calls("u c1"), [Pending]);
        assert_eq!(calls("u c1 u"), [Pending]);
        assert_eq!(calls("u c1 u a"), [Unanswered]);
        assert_eq!(calls("u c1+c2 r2"), [Pending, Answered((2, 0))]);
        assert_eq!(calls("c1 r1 a"), [Answered((1, 0))]);
        assert_eq!(calls("c1 a r1"), [Answered((2, 0))], "a late result is a result");
        assert_eq!(calls("c1+r1"), [Answered((0, 1))], "both in one message");
    }

    #[test]
    fn a_result_answers_the_last_call_with_its_id() {
        use CallState::{Answered, Pending, Unanswered};
        use ResultState::{Answers, Orphan, Second};
        assert_eq!(calls("c1 c1 r1"), [Unanswered, Answered((2, 0))]);
        assert_eq!(calls("c1 r1 c1 r1"), [Answered((1, 0)), Answered((3, 0))]);
        assert_eq!(results("r1 c1 r1 r2 r1"), [Orphan, Answers(0), Orphan, Second(0)]);
        assert_eq!(results("c1+c1 r1+r1+r1"), [Answers(0), Answers(1), Second(1)]);
        assert_eq!(calls("c1+c2+c1 r1"), [Answered((1, 0)), Pending, Unanswered]);
    }

    #[test]
    fn repeated_ids_are_known() {
        let repeats: Vec<Repeats> = pairing("c1+c2+c1 r1 c1").0.into_iter().map(|(_, _, repeats)| repeats).collect();
        assert_eq!(repeats, [Repeats::No, Repeats::No, Repeats::SameMessage, Repeats::Earlier]);
    }
}
