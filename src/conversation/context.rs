//! A context: the messages of one step of a session, and the dict that they are kept in.

use std::collections::{HashMap, VecDeque};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::anchors::{Anchor, Anchors, MESSAGES, SYSTEM_PROMPT, TOOLS};
use super::message::Message;
use super::shape::{self, wrong};
use super::special::Special;
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::id::ContextId;
use crate::json::{self, FieldPath, Object};

/// Counters of a file may not be greater, so that counting on never overflows.
const MAX_COUNTER: u64 = json::MAX_SAFE_INTEGER;

pub(crate) mod keys {
    pub const MESSAGES: &str = "messages";
    pub const ID: &str = "id";
    pub const CONTENT_MAP: &str = "content_map";
    pub const ANCHOR_POINTS: &str = "anchor_points";
    pub const MESSAGE_SEQUENCE: &str = "message_sequence";
    pub const MUTATION_COUNTER: &str = "_mutation_counter";
    pub const CHILDREN: &str = "children";
    pub const ANCHOR_SEQUENCES: &str = "_anchor_sequences";
    pub const ORIGIN: &str = "origin_context_id";
    pub const PARENT_MUTATION_COUNTER: &str = "parent_mutation_counter";
}

/// The messages of one step of a session in display order, with anchors that say where new ones go.
///
/// The dict is the source of truth: keys that are not known here are kept, in their order. What changes at every append
/// lives in fields of its own and takes its place in the dict when that is written.
#[derive(Clone, Debug)]
pub struct Context {
    id: ContextId,
    pub(super) fields: Object,
    pub(super) messages: Vec<StoredMessage>,
    pub(super) anchors: Anchors,
    /// In order of creation.
    pub(super) anchor_sequences: Vec<u64>,
    pub(super) message_sequence: u64,
    pub(super) mutation_counter: u64,
    /// No message stands after one that is newer, the special ones aside.
    in_order: bool,
    next_key: u64,
    revision: u64,
}

/// A message in its place.
#[derive(Clone, Debug)]
pub(super) struct StoredMessage {
    key: u64,
    pub message: Message,
}

/// The messages of a context by id, those of the same id in display order.
struct MessagesById<'c>(HashMap<&'c str, VecDeque<&'c StoredMessage>>);

impl<'c> MessagesById<'c> {
    /// The first message with this id that was not taken yet.
    fn take(&mut self, id: &str) -> Option<&'c StoredMessage> {
        self.0.get_mut(id)?.pop_front()
    }
}

impl Context {
    /// A new context without messages but the special ones given. Of `parent` it takes over the content map.
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
    pub(super) fn bare(parent: Option<&Context>, environment: &dyn Environment) -> Self {
        let id = ContextId::generate(environment);
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

    /// A context of the dict of a file or of a caller. What is missing is added: without an `id` it gets `fallback_id`,
    /// or a new one; without anchors the usual three around the messages there are.
    ///
    /// # Errors
    ///
    /// The field of the wrong shape.
    pub fn from_dict(
        dict: Value,
        fallback_id: Option<&ContextId>,
        environment: &dyn Environment,
    ) -> Result<Self, ShapeError> {
        let mut fields = match dict {
            Value::Object(fields) => fields,
            other => return Err(wrong(&FieldPath::root(), "an object", &other)),
        };
        check_fields(&fields)?;
        let id = match fields.get(keys::ID).and_then(Value::as_str) {
            Some(id) => {
                ContextId::parse(id).map_err(|fault| ShapeError::new(FieldPath::root().key(keys::ID), fault))?
            }
            None => fallback_id.cloned().unwrap_or_else(|| ContextId::generate(environment)),
        };
        let mut generated = false;
        let mut messages = Vec::new();
        for (index, message) in take_array(&mut fields, keys::MESSAGES).into_iter().enumerate() {
            let (message, added) = Message::stored(message, environment).map_err(|fault| {
                ShapeError::new(fault.field.below(&FieldPath::root().key(keys::MESSAGES).index(index)), fault.message)
            })?;
            generated |= added;
            messages.push(StoredMessage { key: index as u64, message });
        }
        let count = messages.len() as u64;
        let highest = messages.iter().filter_map(|stored| stored.message.sequence()).max();
        let anchors = anchors_of(&mut fields);
        let mut context = Self {
            id,
            messages,
            anchors: Anchors::default(),
            anchor_sequences: take_array(&mut fields, keys::ANCHOR_SEQUENCES)
                .iter()
                .filter_map(Value::as_u64)
                .collect(),
            message_sequence: fields.get(keys::MESSAGE_SEQUENCE).and_then(Value::as_u64).unwrap_or(count),
            mutation_counter: fields.get(keys::MUTATION_COUNTER).and_then(Value::as_u64).unwrap_or(0),
            fields,
            in_order: false,
            next_key: count,
            revision: u64::from(generated),
        };
        context.anchors = anchors.unwrap_or_else(|| context.usual_anchors());
        // A counter that lags would give a number twice.
        context.mutation_counter =
            context.mutation_counter.max(highest.map_or(0, |highest| (highest as u64 + 1).min(MAX_COUNTER)));
        context.add_missing_fields();
        context.in_order = context.ages().is_sorted();
        Ok(context)
    }

    fn add_missing_fields(&mut self) {
        let id = Value::from(self.id.as_str());
        let defaults = [
            (keys::MESSAGES, Value::Null),
            (keys::ID, id),
            (keys::CONTENT_MAP, Value::Object(Object::new())),
            (keys::ANCHOR_POINTS, Value::Null),
            (keys::MESSAGE_SEQUENCE, Value::Null),
            (keys::MUTATION_COUNTER, Value::Null),
            (keys::CHILDREN, Value::Array(Vec::new())),
        ];
        for (key, value) in defaults {
            self.fields.entry(key).or_insert(value);
        }
    }

    /// The anchors of a fresh context as they stand after the messages that this one has.
    fn usual_anchors(&self) -> Anchors {
        let system = self.special(Special::SystemPrompt).map_or(0, |_| 1);
        let tools = self.special(Special::ToolDefinitions).map_or(system, |index| index as u64 + 1);
        let count = self.messages.len() as u64;
        let anchor = |name: &str, index| Anchor { name: name.to_owned(), index };
        Anchors(vec![anchor(SYSTEM_PROMPT, system), anchor(TOOLS, tools), anchor(MESSAGES, count)])
    }

    /// Replaces the dict. Messages that are equal in both keep their identity; numbers that are equal as doubles keep
    /// their text (`1.0`, 2⁶³).
    ///
    /// # Errors
    ///
    /// The field of the wrong shape, or another id.
    pub fn replace_dict(&mut self, mut dict: Value, environment: &dyn Environment) -> Result<(), ShapeError> {
        self.keep_numbers(&mut dict);
        let mut new = Self::from_dict(dict, Some(&self.id), environment)?;
        if new.id != self.id {
            let message = format!("a context keeps its id '{}'", self.id);
            return Err(ShapeError::new(FieldPath::root().key(keys::ID), message));
        }
        new.next_key = self.next_key;
        let mut known = self.messages_by_id();
        for stored in &mut new.messages {
            match known.take(stored.message.id()) {
                Some(old) if old.message.dict() == stored.message.dict() => *stored = old.clone(),
                _ => {
                    stored.key = new.next_key;
                    new.next_key += 1;
                }
            }
        }
        new.revision = self.revision + 1;
        *self = new;
        Ok(())
    }

    fn messages_by_id(&self) -> MessagesById<'_> {
        let mut known: HashMap<&str, VecDeque<&StoredMessage>> = HashMap::new();
        for stored in &self.messages {
            known.entry(stored.message.id()).or_default().push_back(stored);
        }
        MessagesById(known)
    }

    /// Gives the numbers of another dict the text that equal ones have here.
    fn keep_numbers(&self, dict: &mut Value) {
        let Value::Object(dict) = dict else { return };
        for (key, value) in dict.iter_mut() {
            match (key.as_str(), value) {
                (keys::MESSAGES, Value::Array(messages)) => {
                    let mut known = self.messages_by_id();
                    for message in messages {
                        let id = message.get(keys::ID).and_then(Value::as_str).unwrap_or_default();
                        if let Some(old) = known.take(id) {
                            old.message.keep_numbers(message);
                        }
                    }
                }
                (key, value) => {
                    if let Some(old) = self.fields.get(key) {
                        json::keep_numbers(old, value);
                    }
                }
            }
        }
    }

    /// Makes this a context of its own, with a new id, whose origin is the one that it was; returns the id.
    pub fn become_fork(&mut self, environment: &dyn Environment) -> ContextId {
        let id = ContextId::generate(environment);
        let origin = std::mem::replace(&mut self.id, id.clone());
        self.fields.insert(keys::ID.to_owned(), id.as_str().into());
        self.fields.insert(keys::ORIGIN.to_owned(), origin.as_str().into());
        self.fields.insert(keys::PARENT_MUTATION_COUNTER.to_owned(), 0.into());
        // The forks there are have the other one as their origin.
        self.fields.insert(keys::CHILDREN.to_owned(), Value::Array(Vec::new()));
        self.touch();
        id
    }

    /// The id, which its file is named after.
    pub fn id(&self) -> &ContextId {
        &self.id
    }

    /// Grows with every change; a context whose revision is 0 is as its file is.
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

    /// A number for each message in display order, by which a copy of it held elsewhere can be told to be current: it
    /// is new for each new message and each changed one.
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

    /// Texts by their SHA-256 in hexadecimal digits.
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

    /// The position of a special message: it is one only where the context names its id and it stands in front.
    pub fn special(&self, kind: Special) -> Option<usize> {
        let id = self.fields.get(kind.id_key()).and_then(Value::as_str).filter(|id| !id.is_empty())?;
        let position = self.messages().take(kind.positions()).position(|message| message.id() == id)?;
        kind.may_have_type(self.messages[position].message.type_name()).then_some(position)
    }

    /// The positions of the special messages there are.
    pub fn specials(&self) -> [Option<usize>; 2] {
        let [system_prompt, tool_definitions] = Special::ALL.map(|kind| self.special(kind));
        // A message that is named as both is one.
        [system_prompt, tool_definitions.filter(|position| Some(*position) != system_prompt)]
    }

    /// How many messages are not special.
    pub fn others_count(&self) -> usize {
        self.messages.len() - self.specials().into_iter().flatten().count()
    }

    /// The positions of the messages that are not special, from the newest to the oldest by sequence number. One without
    /// a number came right after the one that is displayed before it. To begin with the newest costs the same however many
    /// there are, as long as none stands after one that is newer.
    pub fn newest_first(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        if self.in_order {
            let specials = self.specials();
            return Box::new((0..self.messages.len()).rev().filter(move |at| !specials.contains(&Some(*at))));
        }
        let mut ages: Vec<(Option<i64>, usize)> = self.ages().collect();
        ages.sort_unstable();
        Box::new(ages.into_iter().rev().map(|(_, position)| position))
    }

    /// When each message that is not special came, and its position.
    fn ages(&self) -> impl Iterator<Item = (Option<i64>, usize)> + '_ {
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
    /// An anchor that is not there.
    pub fn append(&mut self, message: Message, anchor: &str) -> Result<usize, Error> {
        let position = self.anchors.position(anchor)?;
        self.check_counters("message")?;
        self.anchors.clamp(self.messages.len() as u64);
        let index = self.anchors.open(position) as usize;
        let message = message.with_sequence(self.mutation_counter as i64);
        self.mutation_counter += 1;
        self.message_sequence += 1;
        let key = self.new_key();
        self.in_order &= index == self.messages.len();
        self.messages.insert(index, StoredMessage { key, message });
        self.touch();
        Ok(index)
    }

    /// Registers an anchor at a position of the message list, after those at the same position or before them.
    ///
    /// # Errors
    ///
    /// A name that is taken, or an index past the end.
    pub fn add_anchor(&mut self, name: &str, index: u64, after_existing: bool) -> Result<(), Error> {
        if self.anchors.contains(name) {
            return Err(Error::argument("name", format!("the anchor '{name}' exists already")));
        }
        let count = self.messages.len() as u64;
        if index > count {
            return Err(Error::argument("index", format!("{index} is past the end of {count} messages")));
        }
        self.check_counters("name")?;
        self.anchors.clamp(count);
        self.anchors.insert(Anchor { name: name.to_owned(), index }, after_existing);
        self.fields.entry(keys::ANCHOR_SEQUENCES).or_insert(Value::Null);
        self.take_anchor_sequence();
        self.touch();
        Ok(())
    }

    /// Changes fields of the message with this id; returns its position.
    ///
    /// # Errors
    ///
    /// An id that no message has, or a field of the wrong shape.
    pub fn update_message(&mut self, id: &str, changes: Value) -> Result<usize, Error> {
        let index = self
            .messages()
            .position(|message| message.id() == id)
            .ok_or_else(|| Error::argument("id", format!("the context has no message '{id}'")))?;
        let message = self.messages[index].message.changed(changes).map_err(ShapeError::in_message)?;
        self.put_message(index, message);
        Ok(index)
    }

    /// The dict with an empty list in place of the messages.
    pub fn dict_without_messages(&self) -> impl Serialize + '_ {
        Dict { context: self, messages: &[] }
    }

    /// Adds an anchor at the end of the list; for contexts in the making.
    pub(super) fn push_anchor(&mut self, name: &str, index: u64) {
        self.anchors.0.push(Anchor { name: name.to_owned(), index });
        self.take_anchor_sequence();
    }

    /// Adds a message at the end of the list, without moving an anchor; for contexts in the making.
    pub(super) fn push_message(&mut self, message: Message) {
        let message = message.with_sequence(self.mutation_counter as i64);
        self.mutation_counter += 1;
        self.message_sequence += 1;
        let key = self.new_key();
        self.messages.push(StoredMessage { key, message });
    }

    /// Appends a special message to its anchor and names it; for contexts in the making.
    pub(super) fn set_special(&mut self, kind: Special, message: Message) {
        self.fields.insert(kind.id_key().to_owned(), message.id().into());
        if !self.anchors.contains(kind.anchor()) {
            // The tools go after the system prompt, whose anchor is the first there can be.
            let system_prompt = self.anchors.0.iter().position(|anchor| anchor.name == SYSTEM_PROMPT);
            let position = system_prompt.map_or(0, |position| position + 1);
            let index = system_prompt.map_or(0, |position| self.anchors.0[position].index);
            self.anchors.0.insert(position, Anchor { name: kind.anchor().to_owned(), index });
            self.take_anchor_sequence();
        }
        // The anchor is there, so that this cannot fail.
        let _position = self.append(message, kind.anchor());
        // It need not stand where it counts as special.
        self.in_order = self.ages().is_sorted();
    }

    /// Puts a changed message in the place of the one there.
    pub(super) fn put_message(&mut self, index: usize, message: Message) {
        let key = self.new_key();
        self.in_order &= self.messages[index].message.sequence() == message.sequence();
        self.messages[index] = StoredMessage { key, message };
        self.touch();
    }

    /// Takes note of a change.
    pub(super) fn touch(&mut self) {
        self.revision += 1;
    }

    pub(super) fn add_child(&mut self, id: &ContextId) {
        if let Some(Value::Array(children)) = self.fields.get_mut(keys::CHILDREN) {
            children.push(id.as_str().into());
        }
        self.touch();
    }

    /// Refuses to count further than a file may say. Only a file can bring a counter there.
    fn check_counters(&self, argument: &str) -> Result<(), Error> {
        if self.mutation_counter.max(self.message_sequence) >= MAX_COUNTER {
            return Err(Error::argument(argument, "the counters of this context are at their end; fork it"));
        }
        Ok(())
    }

    fn take_anchor_sequence(&mut self) {
        self.anchor_sequences.push(self.mutation_counter);
        self.mutation_counter += 1;
    }

    fn new_key(&mut self) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        key
    }
}

impl Serialize for Context {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Dict { context: self, messages: &self.messages }.serialize(serializer)
    }
}

/// Writes the dict of a context straight from its parts.
struct Dict<'c> {
    context: &'c Context,
    messages: &'c [StoredMessage],
}

impl Serialize for Dict<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        let mut map = serializer.serialize_map(Some(context.fields.len()))?;
        for (key, value) in &context.fields {
            match key.as_str() {
                keys::MESSAGES => {
                    map.serialize_entry(key, &Sequence(|| self.messages.iter().map(|stored| &stored.message)))?
                }
                keys::ANCHOR_POINTS => {
                    map.serialize_entry(
                        key,
                        &Sequence(|| context.anchors.0.iter().map(|anchor| (&anchor.name, anchor.index))),
                    )?;
                }
                keys::MESSAGE_SEQUENCE => map.serialize_entry(key, &context.message_sequence)?,
                keys::MUTATION_COUNTER => map.serialize_entry(key, &context.mutation_counter)?,
                keys::ANCHOR_SEQUENCES => map.serialize_entry(key, &context.anchor_sequences)?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

/// Writes what an iterator gives, without a list in between.
struct Sequence<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Sequence<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0())
    }
}

/// Everything that [`Context::from_dict`] would refuse about the dict of a file: each field on its own, then each message.
pub(crate) fn shape_faults(dict: &Object) -> Vec<ShapeError> {
    let root = FieldPath::root();
    let mut faults: Vec<ShapeError> = Vec::new();
    let mut checked = vec![keys::MESSAGES, keys::ID, keys::CONTENT_MAP, keys::ANCHOR_POINTS, keys::MESSAGE_SEQUENCE];
    checked.extend([keys::MUTATION_COUNTER, keys::CHILDREN, keys::ANCHOR_SEQUENCES, keys::ORIGIN]);
    checked.extend(Special::ALL.map(Special::id_key));
    for (key, value) in dict.iter().filter(|(key, _)| checked.contains(&key.as_str())) {
        // What may be large is not copied: all that is asked of it here is that it is a list or an object.
        let value = match value {
            Value::Array(_) if key == keys::MESSAGES => Value::Array(Vec::new()),
            Value::Object(_) => Value::Object(Object::new()),
            other => other.clone(),
        };
        faults.extend(check_fields(&Object::from_iter([(key.clone(), value)])).err());
    }
    if let Some(Err(fault)) = dict.get(keys::ID).and_then(Value::as_str).map(ContextId::parse) {
        faults.push(ShapeError::new(root.key(keys::ID), fault));
    }
    for (index, message) in json::items(dict, keys::MESSAGES).iter().enumerate() {
        let fault = match message {
            Value::Object(message) => shape::check_stored(message).err(),
            other => Some(wrong(&root, "an object", other)),
        };
        let at = root.key(keys::MESSAGES).index(index);
        faults.extend(fault.map(|fault| ShapeError::new(fault.field.below(&at), fault.message)));
    }
    faults
}

fn check_fields(fields: &Object) -> Result<(), ShapeError> {
    let root = FieldPath::root();
    let is_counter = |value: &Value| value.as_u64().is_some_and(|counter| counter <= MAX_COUNTER);
    let is_counter_array = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(is_counter));
    let is_id = |value: &Value| value.is_null() || value.is_string();
    shape::optional(fields, &root, keys::MESSAGES, "an array", Value::is_array)?;
    shape::optional(fields, &root, keys::ID, "a string", Value::is_string)?;
    shape::optional(fields, &root, keys::CONTENT_MAP, "an object", Value::is_object)?;
    shape::optional(fields, &root, keys::ANCHOR_POINTS, "an array", Value::is_array)?;
    shape::optional(fields, &root, keys::MESSAGE_SEQUENCE, "a whole number from 0 up", is_counter)?;
    shape::optional(fields, &root, keys::MUTATION_COUNTER, "a whole number from 0 up", is_counter)?;
    shape::optional(fields, &root, keys::CHILDREN, "an array of strings", shape::is_string_array)?;
    shape::optional(fields, &root, keys::ANCHOR_SEQUENCES, "an array of whole numbers", is_counter_array)?;
    shape::optional(fields, &root, keys::ORIGIN, "a string or null", is_id)?;
    for kind in Special::ALL {
        shape::optional(fields, &root, kind.id_key(), "a string or null", is_id)?;
    }
    let anchors = json::items(fields, keys::ANCHOR_POINTS);
    anchors.iter().enumerate().try_for_each(|(index, anchor)| match anchor.as_array().map(Vec::as_slice) {
        Some([Value::String(_), position]) if is_counter(position) => Ok(()),
        _ => Err(wrong(&root.key(keys::ANCHOR_POINTS).index(index), "a name and a message index", anchor)),
    })
}

/// The anchors that the fields hold, which were checked; `None` where they hold none.
fn anchors_of(fields: &mut Object) -> Option<Anchors> {
    fields.get(keys::ANCHOR_POINTS)?;
    let pairs = take_array(fields, keys::ANCHOR_POINTS);
    let anchor = |pair: &Value| Anchor {
        name: pair[0].as_str().unwrap_or_default().to_owned(),
        index: pair[1].as_u64().unwrap_or_default(),
    };
    Some(Anchors(pairs.iter().map(anchor).collect()))
}

/// Takes a list out of the fields; its key stays in its place.
fn take_array(fields: &mut Object, key: &str) -> Vec<Value> {
    match fields.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}
