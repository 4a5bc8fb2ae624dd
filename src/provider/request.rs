//! What all formats do alike when a request is written or read.

use serde_json::Value;

use super::draft;
use super::field::Field;
use super::part::Tool;
use super::source::{BETWEEN_TEXTS, Part, Speaker, Text, Turn};
use crate::error::ShapeError;
use crate::json::Object;

/// What `dict!` makes. Not inlined: it stands at a hundred places.
#[inline(never)]
pub fn object(fields: &mut [(&str, Value)]) -> Value {
    fields.iter_mut().map(|(key, value)| ((*key).to_owned(), value.take())).collect::<Object>().into()
}

/// The fields of a request; those that are null are absent.
pub fn request<const N: usize>(fields: [(&str, Value); N]) -> Object {
    let mut request = Object::new();
    for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        request.insert(key.to_owned(), value);
    }
    request
}

/// Sets a field of an object.
#[inline(never)]
pub fn set(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(key.to_owned(), value);
    }
}

/// A list, or null where it is empty.
pub fn unless_empty(items: Vec<Value>) -> Value {
    if items.is_empty() { Value::Null } else { items.into() }
}

/// Texts as one, for where a format takes no more.
pub fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.collect::<Vec<&str>>().join(BETWEEN_TEXTS)
}

/// The texts of the system prompt as one; null without any.
pub fn one_system_text(system: &[Text]) -> Value {
    match system {
        [] => Value::Null,
        texts => joined(texts.iter().map(|text| text.text)).into(),
    }
}

/// The JSON schema of a tool's arguments; that of any object where it has none, the type of an object where it has none
/// of its own.
pub fn object_schema(tool: &Tool) -> Value {
    let Some(parameters) = tool.parameters else { return dict! {"type": "object", "properties": Object::new()} };
    let mut schema = parameters.clone();
    if !schema.contains_key("type") {
        schema.shift_insert(0, "type".to_owned(), "object".into());
    }
    schema.into()
}

/// A field that a format knows and the parts here do not: its name here, its name there, and whether a value is one of
/// it.
pub type Carried = (&'static str, &'static str, fn(&Value) -> bool);

/// Takes such fields of a stored part.
pub fn carry(from: &Object, to: &mut Value, fields: &[Carried]) {
    for (ours, theirs, is_right) in fields {
        if let Some(value) = from.get(*ours).filter(|value| is_right(value)) {
            set(to, theirs, value.clone());
        }
    }
}

/// Keeps such fields on a part that is to be stored.
pub fn carry_back(from: &Object, to: &mut Value, fields: &[Carried]) {
    for (ours, theirs, is_right) in fields {
        if let Some(value) = from.get(*theirs).filter(|value| is_right(value)) {
            set(to, ours, value.clone());
        }
    }
}

/// The turns as the formats want them that take the results of tools from the user: those of messages that follow each
/// other are one turn, in front of what else these messages say.
pub fn with_results_joined<'c>(turns: Vec<Turn<'c>>) -> Vec<Turn<'c>> {
    let mut joined: Vec<Turn> = Vec::new();
    // Whether the last turn is one of results.
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
    // Nothing else is said by the system.
    turn.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.text) } else { None }).collect()
}

/// The messages of a request body, or of the bare list of them, and the body.
///
/// # Errors
///
/// The field that is not what it has to be.
pub fn open<'v>(root: &Field<'v>, keys: &[&'static str]) -> Result<(Option<Field<'v>>, Field<'v>), ShapeError> {
    if root.value.is_array() {
        return Ok((None, root.clone()));
    }
    if !root.value.is_object() {
        let expected = format!("an array of messages, or an object with them in `{}`", keys.join("` or `"));
        return Err(root.wrong(&expected));
    }
    for key in keys {
        if let Some(messages) = root.get(key)? {
            return Ok((Some(root.clone()), messages));
        }
    }
    root.required(keys.first().copied().unwrap_or_default()).map(|messages| (Some(root.clone()), messages))
}

/// Reads one part of a content and adds what it says.
pub type ReadPart = fn(&Field, &mut Vec<Value>) -> Result<(), ShapeError>;

/// The parts of a content that is a text, or a list of parts of which each is read.
///
/// # Errors
///
/// The field that is not what it has to be.
pub fn content(field: Option<Field>, read: ReadPart) -> Result<Vec<Value>, ShapeError> {
    let mut parts = Vec::new();
    match field {
        None => {}
        Some(Field { value: Value::String(text), .. }) => parts.push(draft::text(text)),
        Some(field) => {
            for item in field.items()? {
                read(&item, &mut parts)?;
            }
        }
    }
    Ok(parts)
}
