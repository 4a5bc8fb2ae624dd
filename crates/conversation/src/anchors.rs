//! Anchors: named positions in the message list at which messages are inserted.

use crate::error::Error;

/// The name of the anchor of the system prompt.
pub const SYSTEM_PROMPT: &str = "system_prompt";
/// The name of the anchor of the tool definitions.
pub const TOOLS: &str = "tools";
/// The name of the anchor that messages are appended to by default.
pub const MESSAGES: &str = "messages";

/// A named position: `index` is the position after the last message of the anchor's partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Unique within a context.
    pub name: String,
    /// A position in the message list, from 0 to its length.
    pub index: u64,
}

/// The anchors of a context, in ascending order of their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Anchors(pub Vec<Anchor>);

impl Anchors {
    /// The position of the anchor `name` in this list.
    pub fn position(&self, name: &str) -> Result<usize, Error> {
        self.0.iter().position(|anchor| anchor.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|anchor| anchor.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Error::argument("anchor", format!("there is no anchor '{name}'; known anchors: {known}"))
        })
    }

    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|anchor| anchor.name == name)
    }

    /// Inserts an anchor in order: after those of the same index, or before them.
    pub fn insert(&mut self, anchor: Anchor, after_existing: bool) {
        let goes_before = |existing: &Anchor| {
            if after_existing { existing.index > anchor.index } else { existing.index >= anchor.index }
        };
        let position = self.0.iter().position(goes_before).unwrap_or(self.0.len());
        self.0.insert(position, anchor);
    }

    /// Moves the anchors to make room for a message at the anchor in this position of the list; returns the message's index.
    pub fn open(&mut self, position: usize) -> u64 {
        let index = self.0[position].index;
        for anchor in &mut self.0[position..] {
            anchor.index += 1;
        }
        index
    }

    /// Moves anchors past the end, which occur in some files, back to the end.
    pub fn clamp(&mut self, message_count: u64) {
        for anchor in &mut self.0 {
            anchor.index = anchor.index.min(message_count);
        }
    }
}

/// Finds the anchor that owns each message: the first with an index greater than the position of the message, or the last
/// anchor if there is none. Positions must be requested in ascending order, so the search only moves forward.
pub(crate) struct AnchorOwners<'a> {
    anchors: &'a [Anchor],
    current: usize,
}

impl<'a> AnchorOwners<'a> {
    pub fn new(anchors: &'a Anchors) -> Self {
        Self { anchors: &anchors.0, current: 0 }
    }

    /// The list position of the anchor that owns the message at `index`; `None` if there are no anchors. Call it with
    /// ascending indices.
    pub fn owner_of(&mut self, index: u64) -> Option<usize> {
        while self.anchors.get(self.current).is_some_and(|anchor| anchor.index <= index) {
            self.current += 1;
        }
        self.anchors.len().checked_sub(1).map(|last| self.current.min(last))
    }
}
