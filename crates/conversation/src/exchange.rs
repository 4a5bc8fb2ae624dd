//! Exchanges: messages that belong together because one has results for the tool calls of another.

use crate::context::Context;
use crate::message::Message;
use crate::order;
use crate::pairing::{CallState, PairedMessage, Pairing, ResultState, ToolPart, Tools};
use crate::part::PartKind;

/// The exchanges of a context: which messages belong together because one has results for the calls of another, as
/// [`Pairing`] matches them. Results may be spread over messages, in any order, with other messages in between.
#[derive(Debug)]
pub struct Exchanges {
    /// The first message of the exchange of each message; the message itself if it is in none.
    first: Vec<usize>,
    /// The calls without a result and the results without a call, in display order.
    pub unpaired: Vec<Unpaired>,
}

/// A call without a result, or a result without a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpaired {
    /// What is missing, and whether it may still come.
    pub kind: UnpairedKind,
    /// The position of the message.
    pub position: usize,
    /// The index of the part in the message.
    pub part: usize,
    /// The id of the call.
    pub call_id: String,
}

/// What is missing in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpairedKind {
    /// A call without a result. The assistant has not spoken since, so the result may still come.
    Pending,
    /// A call without a result, after which the assistant has spoken.
    Call,
    /// A result without a call before it.
    Result,
}

impl Exchanges {
    /// The exchanges of a context.
    pub fn of(context: &Context) -> Self {
        let mut first: Vec<usize> = (0..context.messages().len()).collect();
        let pairing = Pairing::of(context.messages().map(Message::paired));
        let mut unpaired: Vec<Unpaired> = Vec::new();
        let mut add = |kind, (position, part), call_id: &str| {
            unpaired.push(Unpaired { kind, position, part, call_id: call_id.to_owned() });
        };
        for call in &pairing.calls {
            match call.state {
                CallState::Answered(_) => {}
                CallState::Pending => add(UnpairedKind::Pending, call.place, call.call_id),
                CallState::Unanswered => add(UnpairedKind::Call, call.place, call.call_id),
            }
        }
        for result in &pairing.results {
            match result.state {
                ResultState::Answers(call) | ResultState::Second(call) => {
                    join(&mut first, pairing.calls[call].place.0, result.place.0);
                }
                ResultState::Orphan => add(UnpairedKind::Result, result.place, result.call_id),
            }
        }
        order::sort_by(&mut unpaired, &|one, other| (one.position, one.part).cmp(&(other.position, other.part)));
        for position in 0..first.len() {
            first[position] = root(&mut first, position);
        }
        Self { first, unpaired }
    }

    /// The position of the first message of the exchange of a message: the same for all messages of the exchange, and its
    /// own position for a message that is in none.
    pub fn first(&self, position: usize) -> usize {
        self.first.get(position).copied().unwrap_or(position)
    }
}

impl Message {
    /// Whether this is a prompt: a user message without calls and results.
    pub fn is_prompt(&self) -> bool {
        let kinds = self.kinds();
        !kinds.contains(PartKind::ToolCall) && !kinds.contains(PartKind::ToolResult) && self.role() == "user"
    }

    /// The message in the form that [`Pairing`] takes, with the calls and results of all tools.
    pub fn paired(&self) -> PairedMessage<'_> {
        let kinds = self.kinds();
        let may_have = [PartKind::ToolCall, PartKind::ToolResult, PartKind::Other];
        let parts = if may_have.into_iter().any(|kind| kinds.contains(kind)) { self.parts() } else { &[] };
        PairedMessage { is_assistant: self.role() == "assistant", parts, tools: Tools::All }
    }

    /// The same with only those of the tools of the caller.
    pub fn paired_functions(&self) -> PairedMessage<'_> {
        PairedMessage { tools: Tools::Functions, ..self.paired() }
    }

    /// The tool calls and tool results of the message.
    pub fn tool_parts(&self) -> impl Iterator<Item = ToolPart<'_>> {
        self.paired().parts.iter().filter_map(|part| ToolPart::read(part, Tools::All))
    }
}

/// Joins the exchanges of two messages.
fn join(first: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(first, one), root(first, other));
    let (earlier, later) = (one.min(other), one.max(other));
    first[later] = earlier;
}

/// The first message of an exchange, as known so far. Shortens the path to it for the next look-up.
fn root(first: &mut [usize], mut position: usize) -> usize {
    while first[position] != position {
        first[position] = first[first[position]];
        position = first[position];
    }
    position
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::anchors::MESSAGES;
    use crate::environment::fixed::Fixed;

    /// A context from words: `u` user, `a` assistant, `c1` a call of the assistant, `r1` a result; `+` joins parts.
    fn context(words: &str) -> Context {
        let mut context = Context::create(None, None, None, &Fixed::default());
        for word in words.split_whitespace() {
            let part = |word: &str| match word.split_at(1) {
                ("c", id) => json!({"type": "tool_use", "call_id": id, "name": "f", "arguments": "{}"}),
                ("r", id) => json!({"type": "tool_result", "call_id": id, "content": ""}),
                _ => json!({"type": "text", "text": "x"}),
            };
            let role = match &word[..1] {
                "u" => "user",
                "r" => "tool_result",
                _ => "assistant",
            };
            let content: Vec<Value> = word.split('+').map(part).collect();
            let message = Message::given(json!({"role": role, "content": content}), &Fixed::default()).unwrap();
            context.append(message, MESSAGES).unwrap();
        }
        context
    }

    fn firsts(words: &str) -> Vec<usize> {
        let context = context(words);
        let exchanges = Exchanges::of(&context);
        (0..context.messages().len()).map(|position| exchanges.first(position)).collect()
    }

    fn unpaired(words: &str) -> Vec<(UnpairedKind, usize, usize)> {
        let found = Exchanges::of(&context(words)).unpaired;
        found.into_iter().map(|unpaired| (unpaired.kind, unpaired.position, unpaired.part)).collect()
    }

    #[test]
    fn results_belong_to_the_last_call_of_their_id() {
        assert_eq!(firsts("u c1 r1 a u"), [0, 1, 1, 3, 4]);
        assert_eq!(firsts("u c1+c2 r2 u r1 a"), [0, 1, 1, 3, 1, 5]);
        assert_eq!(firsts("c1 r1 c1 r1"), [0, 0, 2, 2], "an id that is used again");
        assert_eq!(firsts("c1 c2 r1 r2"), [0, 1, 0, 1], "side by side");
        assert_eq!(firsts("c1 c2 u r2+r1"), [0, 0, 2, 0], "a message with the results of both");
        assert_eq!(firsts("c1 c2 c3 r3+r2 r2+r1"), [0, 0, 0, 0, 0]);
        assert_eq!(firsts("c1 r1 a r1"), [0, 0, 2, 0], "a second result");
        assert_eq!(firsts("r1 c1"), [0, 1]);
        assert_eq!(firsts(""), Vec::<usize>::new());
    }

    #[test]
    fn calls_and_results_that_stand_alone() {
        use UnpairedKind::{Call, Pending, Result};
        assert_eq!(unpaired("u c1 r1 a+c2"), [(Pending, 3, 1)]);
        assert_eq!(unpaired("u c1+c2 r2"), [(Pending, 1, 0)]);
        assert_eq!(unpaired("u c1 u"), [(Pending, 1, 0)]);
        assert_eq!(unpaired("u c1 u a"), [(Call, 1, 0)]);
        assert_eq!(unpaired("r1 c1 r1 r2"), [(Result, 0, 0), (Result, 3, 0)]);
        assert_eq!(unpaired("c1 c1 r1"), [(Call, 0, 0)], "the first of both");
        assert_eq!(unpaired("c1+c1 r1"), [(Call, 0, 1)], "calls of one message are answered in order");
        assert_eq!(unpaired("c1+c1"), [(Pending, 0, 0), (Pending, 0, 1)]);
        assert_eq!(unpaired("c1+c1 r1 r1"), []);
    }
}
