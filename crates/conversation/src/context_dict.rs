//! The dict of a context: reading it, replacing it, writing it.

use std::collections::{HashMap, VecDeque};

use peteos_memory::{check, try_reserve};
use serde_json::Value;

use crate::anchors::{Anchor, Anchors, MESSAGES, SYSTEM_PROMPT, TOOLS};
use crate::context::{Context, StoredMessage};
use crate::context_shape::{MAX_COUNTER, check_fields};
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::file_size::FileSize;
use crate::id::ContextId;
use crate::json::{self, FieldPath, Object, View};
use crate::keys;
use crate::limits::Limits;
use crate::message::Message;
use crate::shape::wrong;
use crate::special::Special;

/// What the memory is for, in errors.
const PURPOSE: &str = "a context";
/// The memory that a message takes beyond its dict, with the fields that are added to it.
const MESSAGE: usize = 1 << 11;

/// The messages of a context by id. Messages with the same id are in display order.
struct MessagesById<'c>(HashMap<&'c str, VecDeque<&'c StoredMessage>>);

impl<'c> MessagesById<'c> {
    /// Takes the next message with this id.
    fn take(&mut self, id: &str) -> Option<&'c StoredMessage> {
        self.0.get_mut(id)?.pop_front()
    }
}

impl Context {
    /// A context from the dict of a file or a caller. Adds missing fields: `fallback_id` or a new id, and the three default
    /// anchors around the messages.
    ///
    /// # Errors
    ///
    /// The field with the wrong shape.
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
        let given = take_array(&mut fields, keys::MESSAGES);
        try_reserve(&mut messages, given.len(), PURPOSE)?;
        for (index, message) in given.into_iter().enumerate() {
            let (message, added) = Message::stored(message, environment)
                .map_err(|fault| fault.below(&FieldPath::root().key(keys::MESSAGES).index(index)))?;
            generated |= added;
            check(MESSAGE, PURPOSE)?;
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
            limits: Limits::default(),
            file_size: FileSize::of_fields(&fields),
            fields,
            in_order: false,
            next_key: count,
            revision: u64::from(generated),
        };
        context.anchors = anchors.unwrap_or_else(|| context.usual_anchors());
        // A counter that is too low would assign a number twice.
        context.mutation_counter =
            context.mutation_counter.max(highest.map_or(0, |highest| (highest as u64 + 1).min(MAX_COUNTER)));
        context.add_missing_fields();
        context.messages.iter().for_each(|stored| context.file_size.add_message(&stored.message));
        context.anchors.0.iter().for_each(|anchor| context.file_size.add_name(&anchor.name));
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

    /// The anchors that a new context would have if the messages of this one were appended to it.
    fn usual_anchors(&self) -> Anchors {
        let system = self.special(Special::SystemPrompt).map_or(0, |_| 1);
        let tools = self.special(Special::ToolDefinitions).map_or(system, |index| index as u64 + 1);
        let count = self.messages.len() as u64;
        let anchor = |name: &str, index| Anchor { name: name.to_owned(), index };
        Anchors(vec![anchor(SYSTEM_PROMPT, system), anchor(TOOLS, tools), anchor(MESSAGES, count)])
    }

    /// Replaces the dict. Messages that are equal in both keep their identity. A number that is equal to the previous one as
    /// a double keeps its text (`1.0`, 2⁶³).
    ///
    /// # Errors
    ///
    /// The field with the wrong shape, or `id` if it differs, in the argument `raw_dict`. [`Error::FileTooLarge`] if the file
    /// would exceed a limit.
    pub fn replace_dict(&mut self, mut dict: Value, environment: &dyn Environment) -> Result<(), Error> {
        let in_dict = |fault: ShapeError| fault.in_argument("raw_dict");
        self.keep_numbers(&mut dict);
        let mut new = Self::from_dict(dict, Some(&self.id), environment).map_err(in_dict)?;
        if new.id != self.id {
            let message = format!("the id '{}' of a context cannot be changed", self.id);
            return Err(in_dict(ShapeError::new(FieldPath::root().key(keys::ID), message)));
        }
        new.limits = self.limits;
        new.check_limits()?;
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

    /// Gives numbers of another dict the text of the equal ones in this context.
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

    /// The dict to be written.
    pub fn view(&self) -> View<'_> {
        self.view_with(&self.messages)
    }

    /// The dict without some of the children; their ids are in ascending order.
    pub fn view_without_children(&self, left_out: &[ContextId]) -> View<'_> {
        let mut view = self.view();
        let is_kept = |child: &&Value| {
            let id = child.as_str().unwrap_or_default();
            left_out.binary_search_by(|left_out| left_out.as_str().cmp(id)).is_err()
        };
        if let View::Fields(fields) = &mut view {
            if let Some((_, children)) =
                fields.iter_mut().find(|(key, _)| !left_out.is_empty() && *key == keys::CHILDREN)
            {
                let kept = json::items(&self.fields, keys::CHILDREN).iter().filter(is_kept);
                *children = View::Array(kept.map(View::Value).collect());
            }
        }
        view
    }

    /// The dict with an empty list in place of the messages.
    pub fn view_without_messages(&self) -> View<'_> {
        self.view_with(&[])
    }

    /// The dict with only what the messages are: the id, the ids of the special messages, and all messages.
    pub fn conversation_view(&self) -> View<'_> {
        let [system_prompt, tool_definitions] = Special::ALL.map(Special::id_key);
        let View::Fields(fields) = self.view() else { return View::Fields(Vec::new()) };
        let kept = [keys::MESSAGES, keys::ID, system_prompt, tool_definitions];
        View::Fields(fields.into_iter().filter(|(key, _)| kept.contains(key)).collect())
    }

    fn view_with<'c>(&'c self, messages: &'c [StoredMessage]) -> View<'c> {
        let numbers = |numbers: &[u64]| View::Array(numbers.iter().copied().map(View::Number).collect());
        let field = |(key, value): (&'c String, &'c Value)| {
            let view = match key.as_str() {
                keys::MESSAGES => View::Array(messages.iter().map(|stored| stored.message.dict().into()).collect()),
                keys::ANCHOR_POINTS => View::Array(self.anchors.0.iter().map(Anchor::view).collect()),
                keys::MESSAGE_SEQUENCE => View::Number(self.message_sequence),
                keys::MUTATION_COUNTER => View::Number(self.mutation_counter),
                keys::ANCHOR_SEQUENCES => numbers(&self.anchor_sequences),
                _ => View::Value(value),
            };
            (key.as_str(), view)
        };
        View::Fields(self.fields.iter().map(field).collect())
    }
}

impl Anchor {
    fn view(&self) -> View<'_> {
        View::Array(vec![View::Text(&self.name), View::Number(self.index)])
    }
}

/// The anchors in validated fields; `None` if there is no such field.
fn anchors_of(fields: &mut Object) -> Option<Anchors> {
    fields.get(keys::ANCHOR_POINTS)?;
    let pairs = take_array(fields, keys::ANCHOR_POINTS);
    let anchor = |pair: &Value| Anchor {
        name: pair[0].as_str().unwrap_or_default().to_owned(),
        index: pair[1].as_u64().unwrap_or_default(),
    };
    Some(Anchors(pairs.iter().map(anchor).collect()))
}

/// Takes an array out of the fields; its key keeps its place.
fn take_array(fields: &mut Object, key: &str) -> Vec<Value> {
    match fields.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}
