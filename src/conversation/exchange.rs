//! Exchanges: tool calls and the results that belong to them.

use std::collections::HashMap;

use serde_json::Value;

use super::context::Context;
use super::part::PartKind;

/// Which messages of a context belong together, because one has the results of calls of another.
///
/// Calls and results are matched by `call_id`, in display order, which is the order a model reads: a result is that of
/// the last call before it with its id, so that an id that is used again opens a new exchange. The results may be in one
/// message or in several, in any order, with other messages between.
#[derive(Debug)]
pub struct Exchanges {
    /// For each message the first of its exchange; itself where it is in none.
    first: Vec<usize>,
    /// The calls without a result and the results without a call, in display order.
    pub unpaired: Vec<Unpaired>,
}

/// A call or a result that stands alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpaired {
    pub kind: UnpairedKind,
    /// The position of the message.
    pub position: usize,
    /// The index of the part in the message.
    pub part: usize,
    pub call_id: String,
}

/// What is missing of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpairedKind {
    /// A call without a result after which the assistant has not spoken again: the result may still come.
    Pending,
    /// A call without a result after which the assistant has spoken again.
    Call,
    /// A result of a call that is not there, or that comes after it.
    Result,
}

impl Exchanges {
    /// Those of a context.
    pub fn of(context: &Context) -> Self {
        let mut first: Vec<usize> = (0..context.messages().len()).collect();
        let mut unpaired: Vec<Unpaired> = Vec::new();
        let mut calls: HashMap<&str, Call> = HashMap::new();
        for (position, message) in context.messages().enumerate() {
            for (part, kind, call_id) in message.calls_and_results() {
                match kind {
                    CallOrResult::Call => {
                        if let Some(replaced) = calls.insert(call_id, Call { position, part, answered: false }) {
                            // A result that comes now is one of the new call.
                            unpaired.extend(replaced.without_result(call_id, UnpairedKind::Call));
                        }
                    }
                    CallOrResult::Result => match calls.get_mut(call_id) {
                        Some(call) => {
                            call.answered = true;
                            join(&mut first, call.position, position);
                        }
                        None => unpaired.push(Unpaired {
                            kind: UnpairedKind::Result,
                            position,
                            part,
                            call_id: call_id.to_owned(),
                        }),
                    },
                }
            }
        }
        let last_assistant = context.messages().rposition(|message| message.role() == "assistant");
        unpaired.extend(calls.iter().filter_map(|(call_id, call)| {
            let is_last = last_assistant <= Some(call.position);
            call.without_result(call_id, if is_last { UnpairedKind::Pending } else { UnpairedKind::Call })
        }));
        unpaired.sort_unstable_by_key(|unpaired| (unpaired.position, unpaired.part));
        for position in 0..first.len() {
            first[position] = root(&mut first, position);
        }
        Self { first, unpaired }
    }

    /// The position of the first message of the exchange that a message belongs to: the same for all of them, its own
    /// where it is in none.
    pub fn first(&self, position: usize) -> usize {
        self.first.get(position).copied().unwrap_or(position)
    }
}

/// A call that was met on the way.
struct Call {
    position: usize,
    part: usize,
    answered: bool,
}

impl Call {
    fn without_result(&self, call_id: &str, kind: UnpairedKind) -> Option<Unpaired> {
        let &Self { position, part, answered } = self;
        (!answered).then(|| Unpaired { kind, position, part, call_id: call_id.to_owned() })
    }
}

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOrResult {
    Call,
    Result,
}

impl super::Message {
    /// The tool calls and tool results of a message: the index of the part, which of both it is, and the id of the call.
    pub fn calls_and_results(&self) -> impl Iterator<Item = (usize, CallOrResult, &str)> {
        let kinds = self.kinds();
        let has_any = kinds.contains(PartKind::ToolCall) || kinds.contains(PartKind::ToolResult);
        let parts = if has_any { self.parts() } else { &[] };
        parts.iter().enumerate().filter_map(|(index, part)| {
            let kind = match PartKind::of(part) {
                PartKind::ToolCall => CallOrResult::Call,
                PartKind::ToolResult => CallOrResult::Result,
                _ => return None,
            };
            Some((index, kind, part.get("call_id").and_then(Value::as_str)?))
        })
    }
}

/// Makes one exchange of those that two messages belong to.
fn join(first: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(first, one), root(first, other));
    let (earlier, later) = (one.min(other), one.max(other));
    first[later] = earlier;
}

/// The first message that is known of an exchange. Shortens the way there for the next time.
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
    use crate::conversation::{MESSAGES, Message};
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
        assert_eq!(unpaired("c1+c1 r1"), [(Call, 0, 0)]);
    }
}
