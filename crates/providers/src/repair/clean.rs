//! Repairs the role and the parts of a single message.

use serde_json::{Value, json};

use super::draft::Draft;
use super::text_part;
use crate::format::{ProviderFormat, accepts_thinking, media_fault};
use crate::media::Media;
use crate::part::{Part, Role, arguments_object};
use peteos_conversation::{Message, PartKind};

/// A message with the parts that a format accepts; several messages if it has calls but is not from the assistant.
pub fn clean(message: &Message, position: usize, format: &dyn ProviderFormat) -> Vec<Draft> {
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

/// A special message without unsupported parts, and with notes in place of media.
pub fn clean_special(message: &Message, format: &dyn ProviderFormat) -> Message {
    let cleaner = Cleaner { role: Role::System, format };
    let parts: Vec<Value> = message.parts().iter().filter_map(|part| cleaner.part(part)).collect();
    if parts == message.parts() { message.clone() } else { message.clone().with_content(parts.into()) }
}

/// Splits a message into what precedes the first call, the calls, and the rest.
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

struct Cleaner<'f> {
    role: Role,
    format: &'f dyn ProviderFormat,
}

impl Cleaner<'_> {
    /// Whether the format refuses media that a tool returned.
    fn refuses(&self, media: &Media) -> bool {
        media_fault(self.format, Role::User, media).is_some()
    }

    /// The replacement for a part; `None` if the part is removed.
    fn part(&self, part: &Value) -> Option<Value> {
        let format = self.format;
        let requirements = format.requirements();
        let is_lifted = self.role == Role::System && requirements.lifts_system_messages;
        match Part::read(part) {
            Part::Unknown(_) => None,
            Part::Invalid { field, .. } => match PartKind::of(part) {
                PartKind::Media => Some(text_part(&unreadable(part))),
                _ => repair_field(part, field).and_then(|part| self.part(&part)),
            },
            Part::Thinking(fields) => accepts_thinking(format, self.role, fields).then(|| part.clone()),
            Part::Text { text, is_signed } => {
                (is_lifted || !format.refuses_text(text, is_signed)).then(|| part.clone())
            }
            Part::Media(media) if media_fault(format, self.role, &media).is_some() => Some(text_part(&refused(&media))),
            Part::Result { content, .. } if content.media().any(|media| self.refuses(media)) => {
                let mut part = part.clone();
                for part in part["content"].as_array_mut().into_iter().flatten() {
                    if let Part::Media(media) = Part::read(part) {
                        if self.refuses(&media) {
                            *part = text_part(&refused(&media));
                        }
                    }
                }
                Some(part)
            }
            Part::Call(call) => {
                let mut part = part.clone();
                let Value::Object(fields) = &mut part else { return Some(part) };
                if requirements.has_argument_objects && arguments_object(call.arguments).is_err() {
                    fields.insert("arguments".to_owned(), invalid_arguments(call.arguments));
                }
                if let Some(names) = requirements.tool_names.filter(|names| !names.is(call.name)) {
                    fields.insert("name".to_owned(), names.repair(call.name, "_").into());
                }
                Some(part)
            }
            Part::Media(_) | Part::Result { .. } | Part::Definition(_) | Part::Opaque(_) => Some(part.clone()),
        }
    }
}

/// The note that replaces media that the provider refuses.
fn refused(media: &Media) -> String {
    format!("[{} left out: the provider takes none]", media.kind.name())
}

/// The note that replaces media whose source cannot be read.
fn unreadable(part: &Value) -> String {
    format!("[{} left out: it cannot be read]", part["type"].as_str().unwrap_or_default())
}

/// A part with its invalid field replaced by a valid value; `None` if no value can be derived.
fn repair_field(part: &Value, field: &str) -> Option<Value> {
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

/// Valid arguments, as JSON text, that quote the invalid ones.
fn invalid_arguments(text: &str) -> Value {
    json!({"invalid_arguments": text}).to_string().into()
}
