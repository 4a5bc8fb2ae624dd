//! Functions that formats share to write a request.

use serde_json::Value;

use super::dict::dict;
use super::part::Tool;
use super::source::{BETWEEN_TEXTS, Part, Speaker, Text, Turn};
use peteos_json::Object;

/// The fields of a request, without those that are null.
pub fn request<const N: usize>(fields: [(&str, Value); N]) -> Object {
    let mut request = Object::new();
    for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        request.insert(key.to_owned(), value);
    }
    request
}

/// A list, or null if it is empty.
pub fn unless_empty(items: Vec<Value>) -> Value {
    if items.is_empty() { Value::Null } else { items.into() }
}

/// Joins texts, for a format that accepts only one.
pub fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.collect::<Vec<&str>>().join(BETWEEN_TEXTS)
}

/// The joined texts of the system prompt; null if there are none.
pub fn one_system_text(system: &[Text]) -> Value {
    match system {
        [] => Value::Null,
        texts => joined(texts.iter().map(|text| text.text)).into(),
    }
}

/// The JSON schema of a tool's arguments. A schema without a type gets the type `object`; a tool without a schema gets one
/// that accepts any object.
pub fn object_schema(tool: &Tool) -> Value {
    let Some(parameters) = tool.parameters else { return dict! {"type": "object", "properties": Object::new()} };
    let mut schema = parameters.clone();
    if !schema.contains_key("type") {
        schema.shift_insert(0, "type".to_owned(), "object".into());
    }
    schema.into()
}

/// The turns for a format in which the user sends tool results: the results of consecutive messages become one turn before
/// the other content of these messages.
pub fn with_results_joined<'c>(turns: Vec<Turn<'c>>) -> Vec<Turn<'c>> {
    let mut joined: Vec<Turn> = Vec::new();
    // Whether the last turn consists of results.
    let mut is_open = false;
    for mut turn in turns {
        let last = joined.last_mut().filter(|_| is_open);
        match (turn.speaker, last) {
            (Speaker::Tools, Some(last)) => {
                let at = last.parts.iter().take_while(|part| matches!(part, Part::Result(_))).count();
                last.parts.splice(at..at, turn.parts);
                last.message = turn.message;
            }
            (Speaker::User, Some(last)) if last.message == turn.message => last.parts.append(&mut turn.parts),
            (speaker, _) => {
                is_open = speaker == Speaker::Tools;
                if is_open {
                    turn.speaker = Speaker::User;
                }
                joined.push(turn);
            }
        }
    }
    joined
}

/// The texts of a system message.
pub fn system_texts<'c>(turn: &Turn<'c>) -> Vec<&'c str> {
    // A system message contains only texts.
    turn.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.text) } else { None }).collect()
}
