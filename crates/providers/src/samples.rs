//! Conversations for tests.

use proptest::prelude::*;
use serde_json::{Value, json};

use peteos_conversation::environment::fixed::Fixed;
use peteos_conversation::{Context, MESSAGES, Message};

pub fn messages(dicts: &[Value]) -> Vec<Message> {
    let environment = Fixed::default();
    dicts.iter().map(|dict| Message::stored(dict.clone(), &environment).unwrap().0).collect()
}

pub fn context(dicts: &[Value]) -> Context {
    let mut context = Context::create(None, None, None, &Fixed::default());
    for message in messages(dicts) {
        context.append(message, MESSAGES).unwrap();
    }
    context
}

pub fn message(role: &str, parts: Value) -> Value {
    json!({"role": role, "content": parts})
}

pub fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub fn call(id: &str) -> Value {
    json!({"type": "tool_use", "call_id": id, "name": "look", "arguments": "{}"})
}

pub fn result(id: &str) -> Value {
    json!({"type": "tool_result", "call_id": id, "content": "seen"})
}

fn picture() -> Value {
    json!({"type": "image", "source": {"type": "url", "url": "https://x.org/y.png"}})
}

/// One step of a tool loop.
#[derive(Clone, Debug)]
struct Step {
    calls: usize,
    thinking: Thinking,
    says: bool,
    signed: bool,
    /// How the results are spread over messages, and which role these have.
    results: Results,
    comment: bool,
}

#[derive(Clone, Copy, Debug)]
enum Thinking {
    None,
    Plain,
    /// Thinking in the form of each provider.
    Kept,
}

#[derive(Clone, Copy, Debug)]
enum Results {
    Together(&'static str),
    Apart,
    Reversed,
}

#[derive(Clone, Debug)]
struct Round {
    steps: Vec<Step>,
    answer: bool,
    thinking: Thinking,
    extra: Option<Value>,
    /// Whether the calls have the same ids as those of other rounds.
    reuses_ids: bool,
}

fn thinking() -> impl Strategy<Value = Thinking> {
    prop_oneof![Just(Thinking::None), Just(Thinking::Plain), Just(Thinking::Kept)]
}

/// `tame` leaves out everything that a provider may refuse.
fn step(tame: bool) -> impl Strategy<Value = Step> {
    let results = prop_oneof![
        Just(Results::Together("tool_result")),
        Just(Results::Together("tool")),
        Just(Results::Together("user")),
        Just(Results::Apart),
        Just(Results::Reversed),
    ];
    (1..4_usize, thinking(), any::<bool>(), any::<bool>(), results, any::<bool>()).prop_map(
        move |(calls, thinking, says, signed, results, comment)| Step {
            calls,
            thinking,
            says,
            signed: signed && !tame,
            results,
            comment: comment && !tame,
        },
    )
}

fn round(tame: bool) -> impl Strategy<Value = Round> {
    let extra = prop_oneof![
        4 => Just(None),
        1 => Just(Some(message("system", json!([text("Be brief.")])))),
        1 => Just(Some(message("tool", json!([{"type": "tool", "name": "look", "parameters": {}}])))),
        1 => Just(Some(message("user", json!([text("And this:"), picture()])))),
        1 => Just((!tame).then(|| message("assistant", json!([text("Also")])))),
        1 => Just((!tame).then(|| message("user", json!([{"type": "tool", "name": "look"}])))),
        1 => Just((!tame).then(|| message("assistant", json!([])))),
    ];
    (prop::collection::vec(step(tame), 0..4), any::<bool>(), thinking(), extra, any::<bool>()).prop_map(
        move |(steps, answer, thinking, extra, reuses_ids)| Round {
            steps,
            answer: answer || tame,
            thinking,
            extra,
            reuses_ids: reuses_ids && !tame,
        },
    )
}

fn thinking_part(thinking: Thinking) -> Option<Value> {
    match thinking {
        Thinking::None => None,
        Thinking::Plain => Some(json!({"type": "thinking", "text": "Hm."})),
        Thinking::Kept => Some(json!({"type": "thinking", "text": "Hm.", "signature": "s", "id": "rs_1"})),
    }
}

fn write(rounds: &[Round]) -> Vec<Value> {
    let mut dicts = Vec::new();
    for (number, round) in rounds.iter().enumerate() {
        dicts.push(message("user", json!([text("Look!")])));
        dicts.extend(round.extra.clone());
        for (index, step) in round.steps.iter().enumerate() {
            let prefix = if round.reuses_ids { 0 } else { number + 1 };
            let ids: Vec<String> = (0..step.calls).map(|call| format!("c{prefix}_{index}_{call}")).collect();
            let mut parts: Vec<Value> = thinking_part(step.thinking).into_iter().collect();
            parts.extend(step.says.then(|| text("I look.")));
            parts.extend(ids.iter().enumerate().map(|(first, id)| {
                let mut part = call(id);
                if step.signed && first == 0 {
                    part["thought_signature"] = "g".into();
                }
                part
            }));
            dicts.push(message("assistant", parts.into()));
            let mut results: Vec<Value> = ids.iter().map(|id| result(id)).collect();
            match step.results {
                Results::Together(role) => {
                    results.extend(step.comment.then(|| text("so far")));
                    dicts.push(message(role, results.into()));
                }
                Results::Apart => {
                    dicts.extend(results.into_iter().map(|result| {
                        let comment = step.comment.then(|| text("so far"));
                        message("tool_result", [Some(result), comment].into_iter().flatten().collect())
                    }));
                }
                Results::Reversed => {
                    dicts.extend(results.into_iter().rev().map(|part| message("tool_result", json!([part]))))
                }
            }
        }
        if round.answer {
            let mut parts: Vec<Value> = thinking_part(round.thinking).into_iter().collect();
            parts.push(text("There it is."));
            dicts.push(message("assistant", parts.into()));
        }
    }
    dicts
}

/// Typical conversations of agents: prompts, tool loops with parallel calls, thinking, and an answer at the end.
pub fn ordinary() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(round(true), 1..4).prop_map(|rounds| write(&rounds))
}

/// Conversations that some providers may refuse and others accept.
pub fn unusual() -> impl Strategy<Value = Vec<Value>> {
    (prop::collection::vec(round(false), 1..4), any::<prop::sample::Index>(), 0..4_usize).prop_map(
        |(rounds, start, cut)| {
            let mut dicts = write(&rounds);
            if cut == 0 {
                dicts.truncate(start.index(dicts.len()) + 1);
            }
            dicts
        },
    )
}

/// Messages with any part in any place.
pub fn messy() -> impl Strategy<Value = Vec<Value>> {
    let id = || prop_oneof!["[abc]", Just("a.b".to_owned()), Just(String::new()), Just("long".repeat(20))];
    let blank = || prop_oneof![Just("x"), Just(""), Just(" \n"), Just("x \n")];
    let name = prop_oneof![Just("look"), Just("a b"), Just("")];
    let arguments = prop_oneof![
        Just(json!("{}")),
        Just(json!("{\"a\": 1}")),
        Just(json!("[1]")),
        Just(json!("{oops")),
        Just(json!("")),
        Just(json!({"a": 1})),
        Just(json!(7)),
        Just(Value::Null),
    ];
    let source = prop_oneof![
        Just(json!({"type": "url", "url": "https://x.org/y"})),
        Just(json!({"type": "base64", "data": "AA==", "media_type": "image/png"})),
        Just(json!({"type": "base64", "data": "AA==", "media_type": "audio/wav"})),
        Just(json!({"type": "base64", "data": "AA=="})),
        Just(json!({"type": "file"})),
        Just(json!("x")),
    ];
    let part = prop_oneof![
        3 => blank().prop_map(text),
        2 => (blank(), 0..5_usize).prop_map(|(text, kind)| match kind {
            0 => json!({"type": "thinking", "text": text}),
            1 => json!({"type": "thinking", "text": text, "signature": "s"}),
            2 => json!({"type": "thinking", "text": text, "id": "rs_1"}),
            3 => json!({"type": "redacted_thinking", "data": "x"}),
            _ => json!({"type": "thinking", "text": text, "thought_signature": "s"}),
        }),
        5 => (id(), name, arguments, 0..4_usize).prop_map(|(id, name, arguments, kind)| {
            let mut part = json!({"type": "tool_use", "call_id": id, "name": name, "arguments": arguments});
            if kind == 0 {
                part["thought_signature"] = "g".into();
            }
            part
        }),
        5 => (id(), prop_oneof![3 => Just(json!("seen")), 1 => Just(json!([1])), 1 => Just(Value::Null)])
            .prop_map(|(id, content)| json!({"type": "tool_result", "call_id": id, "content": content})),
        1 => (prop_oneof![Just("image"), Just("video"), Just("audio"), Just("pdf")], source)
            .prop_map(|(kind, source)| json!({"type": kind, "source": source})),
        1 => Just(json!({"type": "tool", "name": "look"})),
        1 => Just(json!({"type": "sticker"})),
        1 => Just(json!({"type": "text", "text": 5})),
        1 => Just(json!({"type": "tool_use", "call_id": 5})),
        1 => Just(json!({"type": "tool_result"})),
    ];
    let role = prop_oneof![
        4 => Just("assistant"),
        3 => Just("user"),
        3 => Just("tool_result"),
        1 => Just("tool"),
        1 => Just("system"),
        1 => Just("robot"),
    ];
    let message = (role, prop::collection::vec(part, 0..4)).prop_map(|(role, parts)| message(role, parts.into()));
    prop::collection::vec(message, 0..12)
}
