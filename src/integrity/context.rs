//! The rules for the file of a context. A rule fixes the dict if nothing can get lost, and reports it. A check then
//! discards the dict, and a repair writes it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::directory::Directory;
use super::finding::{Report, Rule};
use super::text::{self, Damage};
use crate::conversation::{
    CallState, Context, PairedMessage, Pairing, Place, ResultState, SEQUENCE_NUMBER, Special, Tools, keys, shape_faults,
};
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::id::ContextId;
use crate::json::{self, Anomalies, FieldPath, MAX_SAFE_INTEGER, Object, ParseError, Truncated, locate};

/// The contents of the file of a context.
pub(super) struct ContextFile {
    /// The dict as a repair would write it.
    pub dict: Object,
    pub age: Age,
}

/// Orders contexts by age. A window has the messages of the context from which it was cut, so the time of the newest
/// message is not enough.
pub(super) struct Age {
    pub id: ContextId,
    /// The time of the newest message.
    pub latest: String,
    pub origin: Option<String>,
    pub children: Vec<String>,
    /// The largest sequence number.
    pub sequence: Option<u64>,
    /// When the storage last wrote the file, in milliseconds since 1970, if it can tell.
    pub modified: Option<f64>,
}

impl Age {
    /// The ids of the other contexts that the context names: its origin and its children.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let ids = self.children.iter().chain(&self.origin).map(String::as_str);
        ids.filter(|id| *id != self.id.as_str())
    }
}

/// Reports the findings of the file of a context, whose text was `read`; returns its fixed contents if it can be loaded.
pub(super) fn examine(
    directory: &Directory,
    id: &ContextId,
    text: &[u8],
    read: Result<(Value, Anomalies), Damage>,
    environment: &dyn Environment,
    report: &mut Report,
) -> Result<Option<ContextFile>, Error> {
    let (value, anomalies) = match read {
        Ok(read) => read,
        Err(damage) => return salvage(directory, id, damage, environment, report),
    };
    json::ensure_copies(&(&value).into(), 2, "a check of a context")?;
    let root = FieldPath::root();
    let Value::Object(mut dict) = value else {
        let position = locate(text, &root);
        report.add(Rule::WrongShape, position, "expected an object, the dict of a context; fix the file by hand");
        return Ok(None);
    };
    text::report_anomalies(anomalies, report);
    if let Some(found) = dict.get(keys::ID).and_then(Value::as_str).filter(|found| *found != id.as_str()) {
        let at = root.key(keys::ID);
        let position = locate(text, &at);
        report.add_repairable(
            Rule::IdMismatch,
            (at, position),
            format!("expected '{id}', the name of the file, found {found:?}"),
            format!("set the id {found:?} to '{id}', the name of the file"),
        );
        dict.insert(keys::ID.to_owned(), id.as_str().into());
    }
    let faults = shape_faults(&dict);
    if !faults.is_empty() {
        // Finding a line takes as long as reading the file, so it is found only for the fault at which loading stops.
        for (number, fault) in faults.into_iter().enumerate() {
            let message = format!("{}; fix it by hand", fault.message);
            match number {
                0 => report.add(Rule::WrongShape, (fault.field.clone(), locate(text, &fault.field)), message),
                _ => report.add(Rule::WrongShape, fault.field, message),
            }
        }
        report.block_repair();
        return Ok(None);
    }
    check_dict(directory, &mut dict, report);
    Ok(Some(file_of(id, dict)))
}

fn file_of(id: &ContextId, dict: Object) -> ContextFile {
    let times = messages(&dict).filter_map(|message| message.get("creation_timestamp")?.as_str());
    let latest = times.max().unwrap_or_default().to_owned();
    let origin = dict.get(keys::ORIGIN).and_then(Value::as_str).map(str::to_owned);
    let children = dict.get(keys::CHILDREN).and_then(Value::as_array).into_iter().flatten();
    let children = children.filter_map(Value::as_str).map(str::to_owned).collect();
    let sequence = messages(&dict).filter_map(sequence_of).max();
    ContextFile { dict, age: Age { id: id.clone(), latest, origin, children, sequence, modified: None } }
}

/// Recovers the complete messages of a damaged text as a context.
fn salvage(
    directory: &Directory,
    id: &ContextId,
    damage: Damage,
    environment: &dyn Environment,
    report: &mut Report,
) -> Result<Option<ContextFile>, Error> {
    let Damage { rule, position, message, truncated } = damage;
    let salvaged = match truncated {
        Some(truncated) => salvaged_dict(truncated, id, environment)?,
        None => None,
    };
    if rule == Rule::FileTooLarge {
        report.add(rule, position, message);
        return Ok(None);
    }
    let Some((mut dict, is_complete)) = salvaged else {
        report.add(
            rule,
            position,
            format!("{message}; restore the file from a backup, or make another context the active one"),
        );
        return Ok(None);
    };
    let count = messages(&dict).count();
    let messages = if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
    let rest = if is_complete { " and everything else" } else { "; nothing after them is complete" };
    report.add_repairable(
        rule,
        position,
        format!("{message}; {messages} can be recovered"),
        format!("recovered {messages}{rest}"),
    );
    check_dict(directory, &mut dict, &mut Report::new(String::new()));
    Ok(Some(file_of(id, dict)))
}

/// The dict of a context with the complete messages, and whether the text holds the whole file; `None` without a message.
fn salvaged_dict(
    truncated: Truncated,
    id: &ContextId,
    environment: &dyn Environment,
) -> Result<Option<(Object, bool)>, Error> {
    let Truncated { mut fields, unfinished, is_whole } = truncated;
    // A partial value of any other field would have another meaning.
    let may_be_partial = [keys::MESSAGES, keys::CONTENT_MAP, keys::CHILDREN];
    if let Some(field) = unfinished.filter(|field| !may_be_partial.contains(&field.as_str())) {
        fields.shift_remove(&field);
    }
    if json::items(&fields, keys::MESSAGES).is_empty() || fields.get(keys::ID).is_some_and(|found| found != id.as_str())
    {
        return Ok(None);
    }
    for kind in Special::ALL {
        if !fields.contains_key(kind.id_key()) {
            let is_special = |message: &&Object| text_of(message, "_type") == kind.type_name();
            let special = messages(&fields).take(kind.positions()).find(is_special);
            let special_id = special.and_then(|message| message.get("id").cloned());
            if let Some(special_id) = special_id {
                fields.insert(kind.id_key().to_owned(), special_id);
            }
        }
    }
    let context = match Context::from_dict(Value::Object(fields), Some(id), environment) {
        Ok(context) => context,
        Err(ShapeError { out_of_memory: Some(out_of_memory), .. }) => return Err(out_of_memory.into()),
        Err(_) => return Ok(None),
    };
    match json::parse(&json::to_file_bytes(&context.view())?) {
        Ok(Value::Object(dict)) => Ok(Some((dict, is_whole))),
        Err(ParseError { out_of_memory: Some(out_of_memory), .. }) => Err(out_of_memory.into()),
        _ => Ok(None),
    }
}

fn check_dict(directory: &Directory, dict: &mut Object, report: &mut Report) {
    check_origin(directory, dict, report);
    check_children(directory, dict, report);
    check_specials(dict, report);
    check_anchors(dict, report);
    check_counters(dict, report);
    check_messages(dict, report);
    check_calls(dict, report);
}

fn check_origin(directory: &Directory, dict: &Object, report: &mut Report) {
    let origin = dict.get(keys::ORIGIN).and_then(Value::as_str).filter(|id| !id.is_empty());
    if let Some(id) = origin.filter(|id| !directory.has_context(id)) {
        let message = format!("the origin '{id}' has no file; this context loads without it");
        report.add(Rule::DanglingOrigin, FieldPath::root().key(keys::ORIGIN), message);
    }
}

fn check_children(directory: &Directory, dict: &mut Object, report: &mut Report) {
    let Some(Value::Array(children)) = dict.get_mut(keys::CHILDREN) else { return };
    let at = FieldPath::root().key(keys::CHILDREN);
    let mut index = 0;
    children.retain(|child| {
        let id = child.as_str().unwrap_or_default();
        let exists = directory.has_context(id);
        if !exists {
            let message = format!("the child '{id}' has no file; a fork that peteos never saved leaves such an id");
            report.add_repairable(
                Rule::DanglingChild,
                at.index(index),
                message,
                format!("removed the child '{id}', which has no file"),
            );
        }
        index += 1;
        exists
    });
}

fn check_specials(dict: &mut Object, report: &mut Report) {
    for kind in Special::ALL {
        let key = kind.id_key();
        let Some(id) = dict.get(key).and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned) else {
            continue;
        };
        let at = FieldPath::root().key(key);
        let mut named = messages(dict).enumerate().filter(|(_, message)| text_of(message, "id") == id).peekable();
        let Some(&(position, _)) = named.peek() else {
            drop(named);
            report.add_repairable(
                Rule::DanglingSpecialMessage,
                at,
                format!("no message has the id '{id}'"),
                format!("set {key} to null; no message has the id '{id}'"),
            );
            dict.insert(key.to_owned(), Value::Null);
            continue;
        };
        let is_special = named
            .any(|(position, message)| position < kind.positions() && kind.may_have_type(text_of(message, "_type")));
        if !is_special {
            let message = format!(
                "the message '{id}' at position {position} is not used as the {}: it must be at the beginning and have \
                 the type {}",
                kind.anchor().replace('_', " "),
                kind.type_name()
            );
            report.add(Rule::MisplacedSpecialMessage, at, message);
        }
    }
}

fn check_anchors(dict: &mut Object, report: &mut Report) {
    let count = messages(dict).count() as u64;
    let Some(Value::Array(anchors)) = dict.get_mut(keys::ANCHOR_POINTS) else { return };
    let mut names = HashSet::new();
    let mut last = 0;
    for (position, anchor) in anchors.iter_mut().enumerate() {
        let at = FieldPath::root().key(keys::ANCHOR_POINTS).index(position);
        let Some([Value::String(name), index]) = anchor.as_array_mut().map(Vec::as_mut_slice) else { continue };
        let mut place = index.as_u64().unwrap_or_default();
        if place > count {
            report.add_repairable(
                Rule::AnchorOutOfRange,
                at.index(1),
                format!("the anchor '{name}' is at {place}, after the end of {count} messages"),
                format!("moved the anchor '{name}' from {place} to {count}, the end"),
            );
            *index = count.into();
            place = count;
        }
        if place < last {
            let message = format!(
                "the anchor '{name}' is at {place}, before its predecessor at {last}; new messages may be inserted at the \
                 wrong place"
            );
            report.add(Rule::AnchorsNotAscending, at.index(1), message);
        }
        last = last.max(place);
        if !names.insert(name.clone()) {
            let message = format!("two anchors are named '{name}'; messages are appended at the first");
            report.add(Rule::DuplicateAnchor, at.index(0), message);
        }
    }
}

fn check_counters(dict: &mut Object, report: &mut Report) {
    let count = messages(dict).count() as u64;
    let anchors = json::items(dict, keys::ANCHOR_SEQUENCES).iter().filter_map(Value::as_u64);
    let highest = messages(dict).filter_map(sequence_of).chain(anchors).max();
    let next = highest.map_or(0, |highest| (highest + 1).min(MAX_SAFE_INTEGER));
    raise(dict, keys::MESSAGE_SEQUENCE, count, "the number of messages", report);
    raise(dict, keys::MUTATION_COUNTER, next, "the number after the highest sequence number", report);
}

fn raise(dict: &mut Object, key: &str, least: u64, what: &str, report: &mut Report) {
    let found = dict.get(key).and_then(Value::as_u64);
    if found.unwrap_or_default() >= least {
        return;
    }
    let is = found.map_or("is missing".to_owned(), |found| format!("is {found}"));
    report.add_repairable(
        Rule::CounterLags,
        FieldPath::root().key(key),
        format!("{is}; expected at least {least}, {what}"),
        format!("raised {key} to {least}, {what}"),
    );
    dict.insert(key.to_owned(), least.into());
}

fn check_messages(dict: &Object, report: &mut Report) {
    let mut ids = HashMap::new();
    let mut sequences = HashMap::new();
    for (index, message) in messages(dict).enumerate() {
        let at = FieldPath::root().key(keys::MESSAGES).index(index);
        if let Some(id) = message.get("id").and_then(Value::as_str) {
            if let Some(first) = ids.insert(id, index) {
                let message = format!("'{id}' is also the id of messages[{first}]; references to it are ambiguous");
                report.add(Rule::DuplicateMessageId, at.key("id"), message);
            }
        }
        if let Some(sequence) = sequence_of(message) {
            if let Some(first) = sequences.insert(sequence, index) {
                let message = format!(
                    "{sequence} is also the number of messages[{first}]; their positions decide which one is newer"
                );
                report.add(Rule::DuplicateSequenceNumber, at.key(SEQUENCE_NUMBER), message);
            }
        }
    }
}

/// Reports unanswered calls and results without a call. A pending call is not a fault.
fn check_calls(dict: &Object, report: &mut Report) {
    let pairing = Pairing::of(messages(dict).map(|message| PairedMessage {
        is_assistant: text_of(message, "role") == "assistant",
        parts: json::items(message, "content"),
        tools: Tools::Functions,
    }));
    let field = |(message, part): Place| {
        FieldPath::root().key(keys::MESSAGES).index(message).key("content").index(part).key("call_id")
    };
    for call in pairing.calls.iter().filter(|call| call.state == CallState::Unanswered) {
        let message = format!("the call '{}' has no result; providers refuse such a conversation", call.call_id);
        report.add(Rule::CallWithoutResult, field(call.place), message);
    }
    for result in pairing.results.iter().filter(|result| result.state == ResultState::Orphan) {
        let call_id = result.call_id;
        let message = format!("no call '{call_id}' precedes this result; providers refuse such a conversation");
        report.add(Rule::ResultWithoutCall, field(result.place), message);
    }
}

fn messages(dict: &Object) -> impl Iterator<Item = &Object> {
    json::items(dict, keys::MESSAGES).iter().filter_map(Value::as_object)
}

fn text_of<'m>(message: &'m Object, key: &str) -> &'m str {
    message.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn sequence_of(message: &Object) -> Option<u64> {
    message.get(SEQUENCE_NUMBER).and_then(Value::as_u64).filter(|sequence| *sequence <= MAX_SAFE_INTEGER)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::environment::fixed::Fixed;
    use crate::id::SessionId;
    use crate::layout::Layout;

    /// The rules, fields and repairability of the findings of a context `c` next to a context `other`.
    fn examine(text: &[u8]) -> (Vec<(&'static str, String, bool)>, Option<Object>) {
        let layout = Layout::new("a", SessionId::parse("s").unwrap());
        let names = ["c.json", "other.json"].map(str::to_owned);
        let directory = Directory::new(layout, names);
        let mut report = Report::new("a/s/c.json".to_owned());
        let id = ContextId::parse("c").unwrap();
        let file =
            super::examine(&directory, &id, text, text::read(text, 100_000).unwrap(), &Fixed::default(), &mut report)
                .unwrap();
        let findings = report.finish().into_iter().map(|finding| {
            let is_repairable = finding.is_repairable();
            (finding.rule.name(), finding.field.unwrap_or_default().to_string(), is_repairable)
        });
        (findings.collect(), file.map(|file| file.dict))
    }

    fn message(id: &str, sequence: u64, content: Value) -> Value {
        json!({"_type": "Message", "id": id, "role": "user", "content": content, "_sequence_number": sequence})
    }

    #[test]
    fn each_rule() {
        let call = |id: &str| json!([{"type": "tool_use", "call_id": id}]);
        let result = |id: &str| json!([{"type": "tool_result", "call_id": id}]);
        let no = || json!([]);
        let cases = [
            (json!({}), vec![]),
            (json!({"id": "x"}), vec![("id-mismatch", "id", true)]),
            (json!({"id": 7}), vec![("wrong-shape", "id", false)]),
            (
                json!({"id": "x", "messages": [7, {"id": 1}, {}], "children": 1}),
                vec![
                    ("id-mismatch", "id", false),
                    ("wrong-shape", "children", false),
                    ("wrong-shape", "messages[0]", false),
                    ("wrong-shape", "messages[1].id", false),
                ],
            ),
            (json!({"origin_context_id": "other", "children": ["other", "c"]}), vec![]),
            (
                json!({"origin_context_id": "gone", "children": ["other", "gone", "../x"]}),
                vec![
                    ("dangling-origin", "origin_context_id", false),
                    ("dangling-child", "children[1]", true),
                    ("dangling-child", "children[2]", true),
                ],
            ),
            (
                json!({"anchor_points": [["a", 1], ["b", 0], ["a", 9]], "messages": [message("m", 0, no())],
                    "message_sequence": 1, "_mutation_counter": 1}),
                vec![
                    ("anchors-not-ascending", "anchor_points[1][1]", false),
                    ("anchor-out-of-range", "anchor_points[2][1]", true),
                    ("duplicate-anchor", "anchor_points[2][0]", false),
                ],
            ),
            (
                json!({"messages": [message("m", 7, no())], "message_sequence": 0}),
                vec![("counter-lags", "message_sequence", true), ("counter-lags", "_mutation_counter", true)],
            ),
            (
                json!({"_anchor_sequences": [0, 5], "_mutation_counter": 5}),
                vec![("counter-lags", "_mutation_counter", true)],
            ),
            (
                json!({"messages": [message("m", 0, no()), message("m", 0, no())], "message_sequence": 2,
                    "_mutation_counter": 9, "system_prompt_message_id": "gone", "tool_definitions_message_id": "m"}),
                vec![
                    ("dangling-special-message", "system_prompt_message_id", true),
                    ("misplaced-special-message", "tool_definitions_message_id", false),
                    ("duplicate-message-id", "messages[1].id", false),
                    ("duplicate-sequence-number", "messages[1]._sequence_number", false),
                ],
            ),
            (
                json!({"messages": [message("a", 0, call("1")), message("b", 1, result("2")),
                    {"id": "c", "role": "assistant", "_sequence_number": 2}, message("d", 3, call("3")),
                    message("e", 4, call("4")), message("f", 5, result("3")), message("g", 6, no())],
                    "message_sequence": 7, "_mutation_counter": 7}),
                vec![
                    ("call-without-result", "messages[0].content[0].call_id", false),
                    ("result-without-call", "messages[1].content[0].call_id", false),
                ],
            ),
        ];
        for (dict, expected) in cases {
            let (findings, file) = examine(dict.to_string().as_bytes());
            let expected: Vec<_> =
                expected.into_iter().map(|(rule, field, fixed)| (rule, field.to_owned(), fixed)).collect();
            assert_eq!(findings, expected, "{dict}");
            // A fixed fault is not found again.
            if let Some(file) = file {
                let (left, _) = examine(&json::to_file_bytes(&(&file).into()).unwrap());
                let kept: Vec<&str> = expected.iter().filter(|finding| !finding.2).map(|finding| finding.0).collect();
                assert_eq!(left.iter().map(|finding| finding.0).collect::<Vec<_>>(), kept, "{dict}");
            }
        }
    }

    #[test]
    fn the_complete_contents_of_a_truncated_file_are_kept() {
        let first = r#"{"_type":"SystemPromptMessage","id":"s","role":"system","_sequence_number":3}"#;
        let text = format!(
            r#"{{"messages":[{first},{{"id":"m","_sequence_number":4}}],"id":"c","anchor_points":[["a",0],["b"#
        );
        let (findings, file) = examine(text.as_bytes());
        assert_eq!(findings, [("torn-file", String::new(), true)]);
        let file = file.unwrap();
        assert_eq!(file["system_prompt_message_id"], "s");
        assert_eq!(file["anchor_points"], json!([["system_prompt", 1], ["tools", 1], ["messages", 2]]));
        assert_eq!((&file["message_sequence"], &file[keys::MUTATION_COUNTER]), (&json!(2), &json!(5)));
        let nothing = r#"{"messages":[{"id":"#;
        assert_eq!(examine(nothing.as_bytes()), (vec![("torn-file", String::new(), false)], None));
        let another = r#"{"id":"x","messages":[{}],"content_map":{"#;
        assert_eq!(examine(another.as_bytes()).1, None, "the file of another context");
    }
}
