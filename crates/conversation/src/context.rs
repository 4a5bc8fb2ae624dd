//! A context: the messages of one step of a session, in order.

use peteos_memory::try_reserve;
use serde_json::Value;

use crate::anchors::{Anchor, Anchors, MESSAGES, SYSTEM_PROMPT, TOOLS};
use crate::context_shape::MAX_COUNTER;
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::file_size::FileSize;
use crate::id::ContextId;
use crate::json::{self, Object};
use crate::keys;
use crate::limits::Limits;
use crate::message::Message;
use crate::order;
use crate::special::Special;

/// The messages of one step of a session in display order, with anchors that determine where new messages go.
///
/// The dict is the source of truth: unknown keys are kept, in their order. The values that change with every append are in
/// separate fields, and are put into the dict when it is written.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) id: ContextId,
    pub(crate) fields: Object,
    pub(crate) messages: Vec<StoredMessage>,
    pub(crate) anchors: Anchors,
    /// The sequence numbers of the anchors, in order of creation.
    pub(crate) anchor_sequences: Vec<u64>,
    pub(crate) message_sequence: u64,
    pub(crate) mutation_counter: u64,
    /// Whether no non-special message comes after a newer one.
    pub(crate) in_order: bool,
    pub(crate) next_key: u64,
    pub(crate) revision: u64,
    pub(crate) limits: Limits,
    pub(crate) file_size: FileSize,
}

/// A message and its key.
#[derive(Clone, Debug)]
pub(crate) struct StoredMessage {
    pub(crate) key: u64,
    pub message: Message,
}

impl Context {
    /// A new context with only the given special messages. It inherits the content map of `parent`.
    pub fn create(
        system_prompt: Option<Message>,
        tool_definitions: Option<Message>,
        parent: Option<&Context>,
        environment: &dyn Environment,
    ) -> Self {
        let mut context = Self::bare(parent, environment);
        for name in [SYSTEM_PROMPT, TOOLS, MESSAGES] {
            context.push_anchor(name, 0);
        }
        for (kind, message) in [(Special::SystemPrompt, system_prompt), (Special::ToolDefinitions, tool_definitions)] {
            if let Some(message) = message {
                context.set_special(kind, message);
            }
        }
        context
    }

    /// A context without messages and anchors.
    pub(crate) fn bare(parent: Option<&Context>, environment: &dyn Environment) -> Self {
        let id = ContextId::generate(environment);
        let limits = parent.map_or_else(Limits::default, |parent| parent.limits);
        let content_map = parent.map_or_else(Object::new, |parent| parent.content_map().clone());
        let mut fields = Object::new();
        fields.insert(keys::MESSAGES.to_owned(), Value::Null);
        fields.insert(keys::ID.to_owned(), id.as_str().into());
        fields.insert(keys::CONTENT_MAP.to_owned(), content_map.into());
        for key in [keys::ANCHOR_POINTS, keys::MESSAGE_SEQUENCE, keys::MUTATION_COUNTER] {
            fields.insert(key.to_owned(), Value::Null);
        }
        fields.insert(keys::CHILDREN.to_owned(), Value::Array(Vec::new()));
        fields.insert(keys::ANCHOR_SEQUENCES.to_owned(), Value::Null);
        if let Some(parent) = parent {
            fields.insert(keys::ORIGIN.to_owned(), parent.id.as_str().into());
            fields.insert(keys::PARENT_MUTATION_COUNTER.to_owned(), 0.into());
        }
        Self {
            id,
            limits,
            file_size: FileSize::of_fields(&fields),
            fields,
            messages: Vec::new(),
            anchors: Anchors::default(),
            anchor_sequences: Vec::new(),
            message_sequence: 0,
            mutation_counter: 0,
            in_order: true,
            next_key: 0,
            revision: 1,
        }
    }

    /// Gives this context a new id, with its previous id as the origin; returns the new id.
    pub fn become_fork(&mut self, environment: &dyn Environment) -> ContextId {
        let id = ContextId::generate(environment);
        let origin = std::mem::replace(&mut self.id, id.clone());
        self.fields.insert(keys::ID.to_owned(), id.as_str().into());
        self.fields.insert(keys::ORIGIN.to_owned(), origin.as_str().into());
        self.fields.insert(keys::PARENT_MUTATION_COUNTER.to_owned(), 0.into());
        // The existing forks have the previous id as their origin.
        self.fields.insert(keys::CHILDREN.to_owned(), Value::Array(Vec::new()));
        self.touch();
        id
    }

    /// The id, which is also the name of the file.
    pub fn id(&self) -> &ContextId {
        &self.id
    }

    /// Increases with every change. It is 0 if the context is as in its file.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The messages in display order.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> + DoubleEndedIterator {
        self.messages.iter().map(|stored| &stored.message)
    }

    /// The message at a position of the display order.
    pub fn message(&self, index: usize) -> Option<&Message> {
        self.messages.get(index).map(|stored| &stored.message)
    }

    /// A number for each message in display order that is new for each new and each changed message, so that a copy can be
    /// recognised as current.
    pub fn message_keys(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.messages.iter().map(|stored| stored.key)
    }

    /// The key of the message at a position.
    pub fn message_key(&self, position: usize) -> Option<u64> {
        self.messages.get(position).map(|stored| stored.key)
    }

    /// Name and index of each anchor in ascending order.
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors.0
    }

    /// The next sequence number.
    pub fn mutation_counter(&self) -> u64 {
        self.mutation_counter
    }

    /// The content map: texts by their SHA-256 in hexadecimal digits.
    pub fn content_map(&self) -> &Object {
        static EMPTY: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);
        self.fields.get(keys::CONTENT_MAP).and_then(Value::as_object).unwrap_or(&EMPTY)
    }

    /// The ids of the contexts forked from this one.
    pub fn children(&self) -> impl Iterator<Item = &str> {
        let children = json::items(&self.fields, keys::CHILDREN);
        children.iter().filter_map(Value::as_str)
    }

    /// The id of the context that this one was forked from.
    pub fn origin(&self) -> Option<&str> {
        self.fields.get(keys::ORIGIN).and_then(Value::as_str)
    }

    /// The position of a special message, which must be at the front and have the id that the context names.
    pub fn special(&self, kind: Special) -> Option<usize> {
        let id = self.fields.get(kind.id_key()).and_then(Value::as_str).filter(|id| !id.is_empty())?;
        let position = self.messages().take(kind.positions()).position(|message| message.id() == id)?;
        kind.may_have_type(self.messages[position].message.type_name()).then_some(position)
    }

    /// The positions of the special messages that the context has.
    pub fn specials(&self) -> [Option<usize>; 2] {
        let [system_prompt, tool_definitions] = Special::ALL.map(|kind| self.special(kind));
        // One message may be named as both.
        [system_prompt, tool_definitions.filter(|position| Some(*position) != system_prompt)]
    }

    /// The number of messages that are not special.
    pub fn others_count(&self) -> usize {
        self.messages.len() - self.specials().into_iter().flatten().count()
    }

    /// The positions of the messages that are not special, from the newest to the oldest by sequence number. A message
    /// without a number counts as appended directly after the one displayed before it. If no message comes after a newer
    /// one, the time for the first positions does not depend on the number of messages.
    pub fn newest_first(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        if self.in_order {
            let specials = self.specials();
            return Box::new((0..self.messages.len()).rev().filter(move |at| !specials.contains(&Some(*at))));
        }
        let mut ages: Vec<(Option<i64>, usize)> = self.ages().collect();
        order::sort(&mut ages);
        Box::new(ages.into_iter().rev().map(|(_, position)| position))
    }

    /// The sequence number and the position of each message that is not special.
    pub(crate) fn ages(&self) -> impl Iterator<Item = (Option<i64>, usize)> + '_ {
        let specials = self.specials();
        let mut last = None;
        let others = self.messages().enumerate().filter(move |(position, _)| !specials.contains(&Some(*position)));
        others.map(move |(position, message)| {
            last = message.sequence().or(last);
            (last, position)
        })
    }

    /// Inserts a message at the end of an anchor's partition; returns its position.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if there is no such anchor. [`Error::FileTooLarge`] if the file would exceed a limit.
    pub fn append(&mut self, message: Message, anchor: &str) -> Result<usize, Error> {
        let position = self.anchors.position(anchor)?;
        self.check_counters("message")?;
        let message = message.with_sequence(self.mutation_counter as i64);
        if self.messages.len() == self.messages.capacity() {
            let more = self.messages.len().max(4);
            try_reserve(&mut self.messages, more, "a message")?;
        }
        self.make_room(&message, None)?;
        Ok(self.insert(message, position))
    }

    /// Appends all of these messages, or none of them. Returns their positions.
    ///
    /// # Errors
    ///
    /// Those of [`Context::append`].
    pub fn append_all(&mut self, messages: Vec<Message>, anchor: &str) -> Result<Vec<usize>, Error> {
        let before = (self.anchors.clone(), self.file_size, self.in_order);
        let counters = (self.mutation_counter, self.message_sequence, self.revision);
        let mut positions = Vec::with_capacity(messages.len());
        for message in messages {
            match self.append(message, anchor) {
                Ok(position) => positions.push(position),
                Err(error) => {
                    // They are in a row, so each removal leaves the positions of the earlier ones.
                    positions.into_iter().rev().for_each(|position| drop(self.messages.remove(position)));
                    (self.anchors, self.file_size, self.in_order) = before;
                    (self.mutation_counter, self.message_sequence, self.revision) = counters;
                    return Err(error);
                }
            }
        }
        Ok(positions)
    }

    /// Inserts a message with its sequence number at an anchor; returns its position.
    fn insert(&mut self, message: Message, anchor: usize) -> usize {
        self.anchors.clamp(self.messages.len() as u64);
        let index = self.anchors.open(anchor) as usize;
        self.mutation_counter += 1;
        self.message_sequence += 1;
        let key = self.new_key();
        self.in_order &= index == self.messages.len();
        self.messages.insert(index, StoredMessage { key, message });
        self.touch();
        index
    }

    /// Registers an anchor at a position of the message list, after those at the same position or before them.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the name is taken or the index is past the end.
    pub fn add_anchor(&mut self, name: &str, index: u64, after_existing: bool) -> Result<(), Error> {
        if self.anchors.contains(name) {
            return Err(Error::argument("name", format!("the anchor '{name}' already exists")));
        }
        let count = self.messages.len() as u64;
        if index > count {
            return Err(Error::argument("index", format!("{index} exceeds the number of messages, {count}")));
        }
        self.check_counters("name")?;
        self.anchors.clamp(count);
        self.anchors.insert(Anchor { name: name.to_owned(), index }, after_existing);
        self.fields.entry(keys::ANCHOR_SEQUENCES).or_insert(Value::Null);
        self.file_size.add_name(name);
        self.take_anchor_sequence();
        self.touch();
        Ok(())
    }

    /// Changes fields of the message with this id; returns its position.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] or [`Error::InvalidMessage`] if no message has this id or a field has the wrong shape.
    /// [`Error::FileTooLarge`] if the file would exceed a limit.
    pub fn update_message(&mut self, id: &str, changes: Value) -> Result<usize, Error> {
        let index = self
            .messages()
            .position(|message| message.id() == id)
            .ok_or_else(|| Error::argument("id", format!("the context has no message '{id}'")))?;
        let message = self.messages[index].message.changed(changes).map_err(ShapeError::in_message)?;
        self.make_room(&message, Some(index))?;
        self.put_message(index, message);
        Ok(index)
    }

    /// Adds an anchor at the end of the list, while a context is built.
    pub(crate) fn push_anchor(&mut self, name: &str, index: u64) {
        self.anchors.0.push(Anchor { name: name.to_owned(), index });
        self.file_size.add_name(name);
        self.take_anchor_sequence();
    }

    /// Adds a message at the end of the list without moving an anchor, while a context is built.
    pub(crate) fn push_message(&mut self, message: Message) {
        let message = message.with_sequence(self.mutation_counter as i64);
        self.mutation_counter += 1;
        self.message_sequence += 1;
        let key = self.new_key();
        self.messages.push(StoredMessage { key, message });
    }

    /// Appends a special message to its anchor and names it, while a context is built.
    pub(crate) fn set_special(&mut self, kind: Special, message: Message) {
        self.fields.insert(kind.id_key().to_owned(), message.id().into());
        if !self.anchors.contains(kind.anchor()) {
            // Tool definitions come after the system prompt, whose anchor is always the first.
            let system_prompt = self.anchors.0.iter().position(|anchor| anchor.name == SYSTEM_PROMPT);
            let position = system_prompt.map_or(0, |position| position + 1);
            let index = system_prompt.map_or(0, |position| self.anchors.0[position].index);
            self.anchors.0.insert(position, Anchor { name: kind.anchor().to_owned(), index });
            self.take_anchor_sequence();
        }
        if let Ok(position) = self.anchors.position(kind.anchor()) {
            let message = message.with_sequence(self.mutation_counter as i64);
            self.file_size.add_message(&message);
            self.insert(message, position);
        }
        // The position may be one where the message does not count as special.
        self.in_order = self.ages().is_sorted();
    }

    /// Replaces the message at a position with a changed one.
    pub(crate) fn put_message(&mut self, index: usize, message: Message) {
        let key = self.new_key();
        self.in_order &= self.messages[index].message.sequence() == message.sequence();
        self.messages[index] = StoredMessage { key, message };
        self.touch();
    }

    /// Records a change.
    pub(crate) fn touch(&mut self) {
        self.revision += 1;
    }

    pub(crate) fn add_child(&mut self, id: &ContextId) {
        if let Some(Value::Array(children)) = self.fields.get_mut(keys::CHILDREN) {
            children.push(id.as_str().into());
            self.file_size.add_name(id.as_str());
        }
        self.touch();
    }

    /// Refuses to count beyond the maximum in a file. Only a file can set a counter that high.
    fn check_counters(&self, argument: &str) -> Result<(), Error> {
        if self.mutation_counter.max(self.message_sequence) >= MAX_COUNTER {
            return Err(Error::argument(
                argument,
                "the counters of this context have reached their maximum; fork the context",
            ));
        }
        Ok(())
    }

    fn take_anchor_sequence(&mut self) {
        self.anchor_sequences.push(self.mutation_counter);
        self.mutation_counter += 1;
    }

    pub(super) fn new_key(&mut self) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        key
    }
}
