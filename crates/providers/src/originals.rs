//! What a provider sent, kept beside the stored message that was made of it, so that the same provider gets it back.
//!
//! The dict of the message holds it under [`KEY`], not its parts: the content of a message is what counts as tokens. It is
//! `{"provider": name, "messages": [entry, …]}` (or `system`, `tools` for the special messages): the entries that the message
//! was read from. A block that the stored part alone gives back is null in it, and nothing is kept if all of them are and
//! nothing else is missing.
//!
//! A kept block is sent only while reading it still gives the stored part. So a part that was changed is written anew, and
//! one that was removed stays away.

use serde_json::Value;

use super::compose::Written;
use super::dict::dict;
use super::entry::{Entry, Section, Slot, Target};
use super::field::Field;
use super::format::ProviderFormat;
use super::part::Role;
use super::same::is_same;
use peteos_conversation::{Message, PartKind};
use peteos_json::{Object, items};

/// The key of what is kept in the dict of a message.
pub const KEY: &str = "provider_original";

/// The states of calls and results, which no provider has.
pub const STATES: [&str; 2] = ["approval_status", "execution_status"];

/// What has to be kept of the entries that a message was read from; `None` if `written`, which was written from its parts
/// alone, says the same.
pub fn kept(
    entries: &[(Section, Value, Vec<Slot>)],
    written: &[Written],
    is_apart: bool,
    format: &dyn ProviderFormat,
) -> Option<Value> {
    let is_whole = entries.len() == written.len()
        && entries.iter().zip(written).all(|((_, entry, _), written)| is_same(entry, &written.value, format));
    let (section, ..) = entries.first()?;
    if is_whole && !is_apart {
        return None;
    }
    let mut part = 0;
    let mut kept = Vec::new();
    for (_, entry, slots) in entries {
        let mut entry = entry.clone();
        for slot in slots {
            let again = written.iter().find_map(|written| written.block_of(part));
            part += 1;
            let original = slot.block(&entry);
            let is_given_back = original.is_string() && matches!(slot, Slot::Item(..))
                || again.is_some_and(|(again, block)| {
                    again.target() == slot.target() && is_same(&original, &block, format)
                });
            if is_given_back {
                leave_out(&mut entry, *slot);
            }
        }
        kept.push(entry);
    }
    let (_, key) = Section::ALL.into_iter().find(|(known, _)| known == section)?;
    let mut record = dict! {"provider": format.name()};
    super::dict::set(&mut record, key, kept.into());
    Some(record)
}

fn leave_out(entry: &mut Value, slot: Slot) {
    match slot {
        Slot::Whole => *entry = Value::Null,
        Slot::Item(list, index) => match entry.get_mut(list) {
            Some(Value::Array(items)) => {
                if let Some(item) = items.get_mut(index) {
                    *item = Value::Null;
                }
            }
            Some(text) => *text = vec![Value::Null].into(),
            None => {}
        },
        Slot::Fields(_) => {}
    }
}

/// What is kept of a message for one format.
pub struct Originals {
    /// The entries, without their blocks.
    pub entries: Vec<Shell>,
    /// For each part of the message its block.
    pub parts: Vec<Option<Kept>>,
    /// Whether thinking that is kept is not a part of the message any more.
    pub lost_thinking: bool,
}

/// An entry without its blocks.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// Its fields. The lists that had blocks are empty.
    pub fields: Object,
    /// The names of these lists.
    pub lists: Vec<&'static str>,
    /// Whether it had no block.
    pub is_empty: bool,
}

/// The block of a part.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The index of the entry.
    pub entry: usize,
    /// Where the block goes in it.
    pub target: Target,
    /// The block; `None` if the part gives it back.
    pub block: Option<Value>,
}

impl Originals {
    /// Whether a part is sent as it was.
    pub fn is_kept(&self, part: usize) -> bool {
        matches!(self.parts.get(part), Some(Some(Kept { block: Some(_), .. })))
    }

    /// What is kept of a message, if it is kept for this format and still fits the message.
    pub fn of(message: &Message, format: &dyn ProviderFormat) -> Option<Self> {
        let record = message.dict().get(KEY)?.as_object()?;
        if record.get("provider")? != format.name() {
            return None;
        }
        let (section, key) = Section::ALL.into_iter().find(|(_, key)| record.contains_key(*key))?;
        let mut entries = Vec::new();
        let mut blocks: Vec<(Kept, Value)> = Vec::new();
        for (index, entry) in items(record, key).iter().enumerate() {
            let read = match entry {
                Value::Null => Entry::whole("", Value::Null),
                entry => format.read_entry(section, &Field::root(entry)).ok()?,
            };
            if !entry.is_null() && speaker(read.role) != speaker(message.role()) {
                return None;
            }
            entries.push(Shell::of(entry, &read));
            for (slot, part) in read.blocks {
                let block = (!part.is_null()).then(|| slot.block(entry));
                blocks.push((Kept { entry: index, target: slot.target(), block }, part));
            }
        }
        let mut next = 0;
        let mut parts = Vec::new();
        let mut lost_thinking = false;
        let mut skip = |blocks: &[(Kept, Value)]| {
            lost_thinking |= blocks.iter().any(|(_, part)| PartKind::of(part) == PartKind::Thinking);
        };
        for part in message.parts() {
            let rest = blocks.get(next..).unwrap_or_default();
            let exact = rest.iter().position(|(kept, read)| kept.block.is_some() && is_part(read, part));
            let found = exact.or_else(|| rest.iter().position(|(kept, _)| kept.block.is_none()));
            parts.push(found.and_then(|found| {
                skip(rest.get(..found).unwrap_or_default());
                next += found + 1;
                rest.get(found).map(|(kept, _)| kept.clone())
            }));
        }
        skip(blocks.get(next..).unwrap_or_default());
        Some(Self { entries, parts, lost_thinking })
    }
}

/// The role of a message. Whether one of the user has results depends on blocks that may have been left out.
fn speaker(role: &str) -> Role {
    match Role::of(role) {
        Role::Tool => Role::User,
        role => role,
    }
}

impl Shell {
    fn of(entry: &Value, read: &Entry) -> Self {
        let mut fields = entry.as_object().cloned().unwrap_or_default();
        let mut lists = Vec::new();
        for (slot, _) in &read.blocks {
            match slot {
                Slot::Whole => fields.clear(),
                Slot::Item(list, _) if !lists.contains(list) => {
                    lists.push(*list);
                    fields.insert((*list).to_owned(), Vec::<Value>::new().into());
                }
                Slot::Item(..) => {}
                Slot::Fields(names) => names.iter().for_each(|name| drop(fields.shift_remove(*name))),
            }
        }
        Self { fields, lists, is_empty: read.blocks.is_empty() }
    }
}

/// Whether a stored part is what was read, apart from what a context adds to it.
fn is_part(read: &Value, stored: &Value) -> bool {
    let (Some(read), Some(stored)) = (read.as_object(), stored.as_object()) else { return false };
    let is_result = read.get("type").is_some_and(|kind| kind == "tool_result");
    // An id that was made, and the name of a tool that the call has.
    let is_added = |key: &str| {
        STATES.contains(&key)
            || key == "name" && is_result
            || key == "call_id" && read.get("call_id").is_some_and(|id| id == "")
    };
    let is_in =
        |one: &Object, other: &Object| one.iter().all(|(key, value)| is_added(key) || other.get(key) == Some(value));
    is_in(read, stored) && is_in(stored, read)
}
