//! What can be mended in a message by itself: its role and its parts.

use serde_json::{Value, json};

use super::super::Format;
use super::super::check::Rule;
use super::super::part::{
    Part, Role, arguments_object, is_empty_text, is_name, is_name_character, longest_name, media_fault, takes_thinking,
};
use super::draft::Draft;
use super::text_part;
use crate::conversation::{Message, PartKind};

/// A message with the parts that a format takes; several where calls stand in one that is not of the assistant.
pub fn clean(message: &Message, position: usize, format: Format) -> Vec<Draft> {
    let mut draft = Draft::of(message, position);
    if draft.role() == Role::Unknown {
        draft.set_role("user");
    }
    let cleaner = Cleaner { role: draft.role(), format };
    let parts: Vec<Option<Value>> = draft.parts.iter().map(|part| cleaner.part(part)).collect();
    let is_same = parts.iter().zip(&draft.parts).all(|(new, old)| new.as_ref() == Some(old));
    if !is_same {
        draft.set_parts(parts.into_iter().flatten().collect());
    }
    let is_call = |part: &Value| matches!(Part::read(part), Part::Call(_));
    if draft.role() == Role::Assistant || !draft.parts.iter().any(is_call) {
        return vec![draft];
    }
    split(draft)
}

/// The special message of a context as a format takes it: without parts that have no place, with notes for media.
pub fn clean_special(message: &Message, format: Format) -> Message {
    let cleaner = Cleaner { role: Role::System, format };
    let parts: Vec<Value> = message.parts().iter().filter_map(|part| cleaner.part(part)).collect();
    if parts == message.parts() { message.clone() } else { message.clone().with_content(parts.into()) }
}

/// What stands before the first call, the calls, and the rest.
fn split(draft: Draft) -> Vec<Draft> {
    let (mut before, mut calls, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let mut call_id = String::new();
    for part in draft.parts.clone() {
        match Part::read(&part) {
            Part::Call(call) => {
                if calls.is_empty() {
                    call_id = call.call_id.to_owned();
                }
                calls.push(part);
            }
            _ if calls.is_empty() => before.push(part),
            _ => after.push(part),
        }
    }
    let id = draft.id().to_owned();
    vec![
        draft.split_off(None, id.clone(), before),
        draft.split_off(Some("assistant"), format!("repair-call-{call_id}"), calls),
        draft.split_off(None, format!("{id}-2"), after),
    ]
}

struct Cleaner {
    role: Role,
    format: Format,
}

impl Cleaner {
    /// What a format takes in the place of a part; `None` where that is nothing.
    fn part(&self, part: &Value) -> Option<Value> {
        let format = self.format;
        let is_lifted = self.role == Role::System && matches!(format, Format::Anthropic | Format::Gemini);
        match Part::read(part) {
            Part::Unknown(_) => None,
            Part::Invalid { field, .. } => match PartKind::of(part) {
                PartKind::Media => Some(text_part(&unreadable(part))),
                _ => mend_field(part, field).and_then(|part| self.part(&part)),
            },
            Part::Thinking(fields) => takes_thinking(format, self.role, fields).then(|| part.clone()),
            Part::Text { text, signed } => (is_lifted || !is_empty_text(format, text, signed)).then(|| part.clone()),
            Part::Media(media) if media_fault(format, self.role, &media).is_some() => {
                Some(text_part(&format!("[{} left out: the provider takes none]", media.kind.name())))
            }
            Part::Call(call) => {
                let mut part = part.clone();
                let Value::Object(fields) = &mut part else { return Some(part) };
                if Rule::InvalidArguments.holds_for(format) && arguments_object(call.arguments).is_err() {
                    fields.insert("arguments".to_owned(), invalid_arguments(call.arguments));
                }
                if Rule::InvalidName.holds_for(format) && !is_name(format, call.name) {
                    fields.insert("name".to_owned(), valid_name(format, call.name).into());
                }
                Some(part)
            }
            Part::Media(_) | Part::Result { .. } | Part::Definition(_) => Some(part.clone()),
        }
    }
}

/// What is said in the place of a medium whose source is none.
fn unreadable(part: &Value) -> String {
    format!("[{} left out: it cannot be read]", part["type"].as_str().unwrap_or_default())
}

/// A part with another value in a field that was none that its type can have; `None` where there is no saying which.
fn mend_field(part: &Value, field: &str) -> Option<Value> {
    let mut fields = part.as_object()?.clone();
    let kind = fields.get("type").and_then(Value::as_str)?;
    if kind == "tool" && field != "name" {
        fields.shift_remove(field);
        return Some(Value::Object(fields));
    }
    let value = match (kind, field, fields.get(field)) {
        ("tool_use", "arguments", None | Some(Value::Null)) => "{}".into(),
        ("tool_use", "arguments", Some(object @ Value::Object(_))) => object.to_string().into(),
        ("tool_use", "arguments", Some(other)) => invalid_arguments(&other.to_string()),
        ("tool_result", "content", None | Some(Value::Null)) => "".into(),
        ("tool_result", "content", Some(other)) => other.to_string().into(),
        _ => return None,
    };
    fields.insert(field.to_owned(), value);
    Some(Value::Object(fields))
}

/// Arguments that say what stood in the place of arguments, as JSON text.
fn invalid_arguments(text: &str) -> Value {
    json!({"invalid_arguments": text}).to_string().into()
}

fn valid_name(format: Format, name: &str) -> String {
    let character = |character| if is_name_character(format, character) { character } else { '_' };
    let valid: String = name.chars().map(character).take(longest_name(format)).collect();
    if valid.is_empty() { "_".to_owned() } else { valid }
}
