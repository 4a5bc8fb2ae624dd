//! Entries and blocks: what a request consists of, in every format.
//!
//! An entry is an element of one of the lists of a request: a message, an item, a content, a tool. It is one block itself, or
//! it has blocks in its lists and fields. A block is what becomes one stored part.

use serde_json::Value;

use super::field::Field;
use super::reading::ReadPart;
use super::stored;
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

/// The list of a request that an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The system prompt.
    System,
    /// The tools.
    Tools,
    /// The messages.
    Messages,
}

impl Section {
    /// All sections, each with the key of its entries in what is kept of a request.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::System, "system"), (Self::Tools, "tools"), (Self::Messages, "messages")];
}

/// Where a block is in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The entry is the block.
    Whole,
    /// An element of a list of the entry. A text in place of the list is its first element.
    Item(&'static str, usize),
    /// Fields of the entry.
    Fields(&'static [&'static str]),
}

impl Slot {
    /// The block of an entry at this place.
    pub fn block(self, entry: &Value) -> Value {
        match self {
            Self::Whole => entry.clone(),
            Self::Item(list, index) => match &entry[list] {
                Value::Array(items) => items.get(index).cloned().unwrap_or_default(),
                text => text.clone(),
            },
            Self::Fields(names) => {
                let field = |name: &&str| Some(((*name).to_owned(), entry.get(*name)?.clone()));
                names.iter().filter_map(field).collect::<Object>().into()
            }
        }
    }

    /// Where a block of this place goes in an entry that is written.
    pub fn target(self) -> Target {
        match self {
            Self::Whole => Target::Whole,
            Self::Item(list, _) => Target::List(list),
            Self::Fields(_) => Target::Fields,
        }
    }
}

/// Where a block goes in the entry that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It is an entry of its own.
    Whole,
    /// To the end of a list of the entry.
    List(&'static str),
    /// Its fields become fields of the entry.
    Fields,
}

/// The lists that blocks can be in.
const LISTS: [&str; 4] = ["content", "parts", "tool_calls", "functionDeclarations"];
/// The name of [`Target::Fields`].
const FIELDS: &str = "fields";

impl Target {
    /// The name of the place in a stored part; `None` for an entry of its own.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::List(list) => Some(list),
            Self::Fields => Some(FIELDS),
        }
    }

    /// The place with this name.
    pub fn named(name: &str) -> Self {
        match LISTS.into_iter().find(|list| *list == name) {
            Some(list) => Self::List(list),
            None if name == FIELDS => Self::Fields,
            None => Self::Whole,
        }
    }
}

/// A block to be written.
pub struct Block {
    /// The fields of the entry around it.
    pub shell: Object,
    /// Where it goes in the entry.
    pub target: Target,
    /// The block.
    pub value: Value,
}

impl Block {
    /// A block that is an entry of its own.
    pub fn whole(value: Value) -> Self {
        Self { shell: Object::new(), target: Target::Whole, value }
    }
}

/// An entry that was read.
pub struct Entry {
    /// The role of the stored message.
    pub role: &'static str,
    /// Whether the entry continues the message before it, if that has the same role.
    pub joins: bool,
    /// The stored part of each block, and where the block is. The part is null if the block is, which stands in a kept entry
    /// for a block that was left out.
    pub blocks: Vec<(Slot, Value)>,
}

impl Entry {
    /// A message of its own.
    pub fn message(role: &'static str, blocks: Vec<(Slot, Value)>) -> Self {
        Self { role, joins: false, blocks }
    }

    /// An entry that is one block.
    pub fn whole(role: &'static str, part: Value) -> Self {
        Self { role, joins: true, blocks: vec![(Slot::Whole, part)] }
    }
}

/// Reads the blocks in a list of an entry, or a text in its place.
///
/// # Errors
///
/// The field that is missing or has the wrong type.
pub fn blocks(entry: &Field, list: &'static str, read: ReadPart) -> Result<Vec<(Slot, Value)>, ShapeError> {
    let Some(field) = entry.get(list)? else { return Ok(Vec::new()) };
    if let Value::String(text) = field.value {
        return Ok(vec![(Slot::Item(list, 0), stored::text(text))]);
    }
    let items = field.items()?;
    let block = |(index, item): (usize, Field)| {
        let part = if item.value.is_null() { Value::Null } else { read(&item)? };
        Ok((Slot::Item(list, index), part))
    };
    items.into_iter().enumerate().map(block).collect()
}
