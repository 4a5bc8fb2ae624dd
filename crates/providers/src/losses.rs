//! What a conversion leaves out or changes in meaning.
//!
//! Nothing is listed by hand: what was written is read again, and compared with what was to be written.

use std::collections::HashMap;

use peteos_conversation::{Message, OPAQUE, PartKind};
use peteos_json::Object;
use serde::Serialize;
use serde_json::Value;

use super::builder::UNNAMED;
use super::compose::{Composed, Written, compose};
use super::entry::{Entry, Section, Slot};
use super::field::Field;
use super::format::ProviderFormat;
use super::formats::FORMATS;
use super::media::{Media, MediaKind};
use super::originals::{KEY, Kept, Originals, STATES};
use super::part::Role;
use super::reader::{Unsendable, read_source};
use super::repair::RepairedMessage;
use super::same::{is_absent, is_same};
use super::source::Speaker;

/// Something that a conversion left out, or that means something else now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The path of the part or the message.
    pub path: String,
    /// The field of it; empty if it is lost as a whole.
    pub field: String,
    /// What happened.
    pub message: String,
}

impl Loss {
    fn new(path: String, field: &str, message: impl Into<String>) -> Self {
        Self { path, field: field.to_owned(), message: message.into() }
    }
}

/// The messages of a context, each with its position.
pub type Positioned<'m> = [(usize, &'m Message)];

/// What was lost of messages when they were written.
pub fn of_writing(messages: &Positioned, composed: &Composed, format: &dyn ProviderFormat) -> Vec<Loss> {
    let read = read_again(composed, format);
    let mut losses = Vec::new();
    for &(position, message) in messages {
        let own = Originals::of(message, format);
        for (index, part) in message.parts().iter().enumerate() {
            let path = format!("messages[{position}].content[{index}]");
            match read.get(&(position, index)) {
                None => losses.push(Loss::new(path, "", format!("{} has no field for it", format.name()))),
                Some(_) if own.as_ref().is_some_and(|own| own.is_kept(index)) || part["type"] == OPAQUE => {}
                Some(read) => losses.extend(
                    lost_fields(part, read)
                        .map(|field| Loss::new(path.clone(), field, format!("{} has no field for it", format.name()))),
                ),
            }
        }
        losses.extend(of_another_provider(position, message, format));
    }
    of_order(composed, format, &mut losses);
    losses
}

/// The parts that reading what was written gives, by the place of the part that was written.
fn read_again(composed: &Composed, format: &dyn ProviderFormat) -> HashMap<(usize, usize), Value> {
    let sections = [
        (Section::System, &composed.system),
        (Section::Tools, &composed.tools),
        (Section::Messages, &composed.messages),
    ];
    let mut read = HashMap::new();
    for (section, written) in sections {
        for Written { value, parts } in written {
            let entry = format.read_entry(section, &Field::root(value));
            // The prompt of some formats is a message.
            let entry = entry.or_else(|_| format.read_entry(Section::Messages, &Field::root(value)));
            let Ok(Entry { blocks, .. }) = entry else { continue };
            for (message, index, slot) in parts {
                let is_there = |(known, _): &&(Slot, Value)| {
                    known == slot
                        || matches!((known, slot), (Slot::Fields(_), Slot::Fields(_)))
                        || matches!((known, slot), (Slot::Item(..), Slot::Whole)) && parts.len() == 1
                };
                if let Some((_, part)) = blocks.iter().find(is_there) {
                    read.insert((*message, *index), part.clone());
                }
            }
        }
    }
    read
}

/// The fields of a part that reading it again does not give.
fn lost_fields<'p>(part: &'p Value, read: &'p Value) -> impl Iterator<Item = &'p str> {
    let fields = part.as_object().into_iter().flatten();
    fields.filter(move |(key, value)| !is_kept_field(part, key, value, read)).map(|(key, _)| key.as_str())
}

fn is_kept_field(part: &Value, key: &str, value: &Value, read: &Value) -> bool {
    let again = read.get(key).unwrap_or(&Value::Null);
    let kind = PartKind::of(part);
    let text = |value: &Value| value.as_str().map(str::to_owned).unwrap_or_default();
    match key {
        _ if STATES.contains(&key) || value == again => true,
        // Nothing is said with these.
        _ if value.is_null() || value == &Value::Bool(false) => true,
        "name" => kind == PartKind::ToolResult,
        "call_id" => text(value).starts_with(UNNAMED) && text(again).is_empty(),
        "arguments" => {
            let object = |value: &Value| serde_json::from_str::<Value>(&text(value)).ok();
            object(value).is_some() && object(value) == object(again)
        }
        "source" => is_same_media(part, read),
        "parameters" => is_same_schema(value, again),
        "content" => match (value.as_array(), again.as_array()) {
            (Some(parts), Some(again)) => {
                parts.len() == again.len()
                    && parts.iter().zip(again).all(|(part, read)| lost_fields(part, read).next().is_none())
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_same_media(part: &Value, read: &Value) -> bool {
    let media = |part: &'_ Value| {
        let fields = part.as_object()?;
        let kind = MediaKind::of_part(fields.get("type")?.as_str()?)?;
        Media::read(kind, fields).ok().map(|media| media.url().to_ascii_lowercase())
    };
    media(part).is_some() && media(part) == media(read)
}

/// A schema of arguments without a type is that of an object.
fn is_same_schema(schema: &Value, again: &Value) -> bool {
    let without_type = |schema: &Value| {
        let mut schema = schema.as_object().cloned().unwrap_or_default();
        if schema.get("type").is_some_and(|name| name == "object") {
            schema.shift_remove("type");
        }
        schema
    };
    without_type(schema) == without_type(again)
}

/// What another provider sent with a message, beyond what its parts hold.
fn of_another_provider(position: usize, message: &Message, format: &dyn ProviderFormat) -> Vec<Loss> {
    let provider = message.dict().get(KEY).and_then(|record| record["provider"].as_str());
    let other = FORMATS.into_iter().find(|other| Some(other.name()) == provider && other.name() != format.name());
    let Some((other, originals)) = other.and_then(|other| Some((other, Originals::of(message, other)?))) else {
        return Vec::new();
    };
    let mut dict = message.dict().clone();
    dict.shift_remove(KEY);
    let plain = Message::of_dict(dict);
    let source = read_source([None, None], [(position, &plain)].into_iter(), other, Unsendable::LeftOut);
    let written = source.map(|source| compose(source, other)).unwrap_or_default();
    let written: Vec<&Written> = written.messages.iter().chain(&written.tools).chain(&written.system).collect();
    let mut losses = Vec::new();
    let lost = || format!("it is kept for {}, and {} has no field for it", other.name(), format.name());
    for (index, kept) in originals.parts.iter().enumerate() {
        let Some(Kept { block: Some(Value::Object(block)), .. }) = kept else { continue };
        let again = written.iter().find_map(|written| written.block_of(index)).map(|(_, block)| block);
        let path = format!("messages[{position}].content[{index}]");
        for field in beyond(block, again.as_ref().and_then(Value::as_object), other) {
            losses.push(Loss::new(path.clone(), field, lost()));
        }
    }
    let speaker = match Role::of(message.role()) {
        Role::Assistant => Speaker::Assistant,
        Role::System => Speaker::System,
        _ => Speaker::User,
    };
    let neutral = other.shell(speaker);
    for shell in &originals.entries {
        let fields = beyond(&shell.fields, Some(&neutral), other);
        let fields = fields.filter(|field| !shell.lists.contains(field) && !UNSPOKEN.contains(field));
        losses.extend(fields.map(|field| Loss::new(format!("messages[{position}]"), field, lost())));
    }
    losses
}

/// Fields of an entry that mean nothing to another provider.
const UNSPOKEN: [&str; 5] = ["id", "status", "type", "role", "content"];

/// The fields of a block that another one does not have, or not in the same way.
fn beyond<'b>(
    block: &'b Object,
    other: Option<&'b Object>,
    format: &'b dyn ProviderFormat,
) -> impl Iterator<Item = &'b str> {
    let is_there = move |key: &str, value: &Value| {
        other.and_then(|other| other.get(key)).is_some_and(|other| is_same(value, other, format))
    };
    let fields = block.iter().filter(move |(key, value)| !is_absent(key, value, format) && !is_there(key, value));
    fields.map(|(key, _)| key.as_str())
}

/// Messages whose text goes to the system prompt, and messages whose parts come in another order.
fn of_order(composed: &Composed, format: &dyn ProviderFormat, losses: &mut Vec<Loss>) {
    let mut add = |position: usize, field: &str, message: String| {
        let loss = Loss::new(format!("messages[{position}]"), field, message);
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    };
    let prompt = composed.system.first().and_then(|written| written.parts.first()).map(|(position, ..)| *position);
    for (position, ..) in composed.system.iter().flat_map(|written| &written.parts) {
        let is_prompt = Some(*position) == prompt && *position == 0;
        if !is_prompt && format.requirements().lifts_system_messages {
            add(*position, "role", "its text goes to the system prompt".to_owned());
        }
    }
    let mut last = None;
    for written in &composed.messages {
        let mut parts: Vec<&(usize, usize, Slot)> = written.parts.iter().collect();
        // Chat Completions reads texts before calls.
        parts.sort_by_key(|(.., slot)| matches!(slot, Slot::Item("tool_calls", _)));
        for (position, index, _) in parts {
            if last > Some((*position, *index)) {
                add(*position, "content", format!("{} takes its parts in another order", format.name()));
            }
            last = last.max(Some((*position, *index)));
        }
    }
}

/// What a repair changed: the parts of the messages that are in none of the repaired ones.
pub fn of_repair<'m>(
    specials: impl Iterator<Item = (usize, &'m Message, &'m Message)>,
    given: &Positioned,
    repaired: &[RepairedMessage],
    losses: &mut Vec<Loss>,
) {
    let mut missing = |position: usize, message: &Message, parts: &mut Vec<&Value>| {
        for (index, part) in message.parts().iter().enumerate() {
            match parts.iter().position(|kept| *kept == part) {
                Some(found) => drop(parts.swap_remove(found)),
                None => {
                    let path = format!("messages[{position}].content[{index}]");
                    losses.push(Loss::new(path, "", "the repair replaces it or leaves it out"));
                }
            }
        }
    };
    for (position, message, repaired) in specials {
        missing(position, message, &mut repaired.parts().iter().collect());
    }
    // A repair moves results to other messages.
    let mut moved: Vec<&Value> = Vec::new();
    let mut parts: HashMap<usize, Vec<&Value>> = HashMap::new();
    for RepairedMessage { position, message } in repaired {
        match position {
            Some(position) => parts.entry(*position).or_default().extend(message.parts()),
            None => moved.extend(message.parts()),
        }
    }
    for (position, message) in given {
        let own = parts.entry(*position).or_default();
        own.append(&mut moved);
        missing(*position, message, own);
        moved.append(own);
    }
}

/// What was lost of repaired messages when they were written, with the paths of the messages that they were made from.
pub fn of_repaired(repaired: &[RepairedMessage], format: &dyn ProviderFormat, losses: &mut Vec<Loss>) {
    let messages: Vec<(usize, &Message)> =
        repaired.iter().filter_map(|repaired| Some((repaired.position?, &repaired.message))).collect();
    let source = read_source([None, None], messages.iter().copied(), format, Unsendable::LeftOut);
    if let Ok(source) = source {
        losses.extend(of_writing(&messages, &compose(source, format), format));
    }
}

/// What of a request differs from the one that was read, in the normal form.
pub fn of_reading(given: &Value, again: &Object, format: &dyn ProviderFormat) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (key, again) in again {
        let of_body = || given.get(key).or_else(|| given.get("config")?.get(key));
        let (path, given) = match given {
            Value::Array(_) => (String::new(), Some(given).filter(|_| again.is_array())),
            _ => (format!(".{key}"), of_body()),
        };
        match (given, again) {
            (Some(Value::Array(given)), Value::Array(again)) if given.len() == again.len() => {
                for (index, (given, again)) in given.iter().zip(again).enumerate() {
                    if !is_same(given, again, format) {
                        losses.push(Loss::new(format!("value{path}[{index}]"), "", CHANGED));
                    }
                }
            }
            // A text in place of a list, or the other way round, is the same.
            (Some(given), again) if !is_same(given, again, format) && !given.is_string() && !again.is_string() => {
                losses.push(Loss::new(format!("value{path}"), "", CHANGED));
            }
            _ => {}
        }
    }
    losses
}

const CHANGED: &str = "the same provider gets it back in another form";
