//! A message: its dict, and what is cached about it.

use std::cell::{Cell, RefCell};

use serde_json::Value;

use super::part::{PartKinds, PartTokens};
use super::shape;
use super::special::Special;
use crate::environment::Environment;
use crate::error::ShapeError;
use crate::json::{FieldPath, MAX_DEPTH, MAX_SAFE_INTEGER, Object, field, items, keep_numbers};
use crate::tokens::Vocabulary;

pub(crate) const SEQUENCE_NUMBER: &str = "_sequence_number";
const HOOK_IDS: &str = "_hook_ids";
const CREATION_TIMESTAMP: &str = "creation_timestamp";

/// How deep a message may be nested: in the file of its context it stands in a list in an object.
pub const MAX_MESSAGE_DEPTH: usize = MAX_DEPTH - 2;

/// One message of a conversation. Its dict never changes: a changed message is another one.
#[derive(Clone, Debug)]
pub struct Message {
    pub(super) dict: Object,
    sequence: Option<i64>,
    pub(super) kinds: PartKinds,
    /// Tokens by vocabulary, once counted.
    pub(super) counts: [Cell<Option<u64>>; Vocabulary::COUNT],
    /// Tokens by part, once counted, in the vocabulary that was asked for last.
    pub(super) by_part: RefCell<Option<Box<(Vocabulary, PartTokens)>>>,
}

impl Message {
    /// A message that a caller hands in. What it lacks of `_type`, `id`, `_hook_ids` and `creation_timestamp` is added.
    ///
    /// # Errors
    ///
    /// The field of the wrong shape.
    pub fn given(dict: Value, environment: &dyn Environment) -> Result<Self, ShapeError> {
        Ok(GivenMessage::new(dict)?.complete(environment))
    }

    /// A system prompt or tool definitions that a caller hands in. As [`Message::given`]; the role may be absent, and so
    /// may the type of tools; a plain `Message` becomes one of the special type.
    ///
    /// # Errors
    ///
    /// The field of the wrong shape.
    pub fn given_special(kind: Special, dict: Value, environment: &dyn Environment) -> Result<Self, ShapeError> {
        let mut dict = object(dict)?;
        let role = dict.entry("role").or_insert_with(|| kind.role().into());
        if role != kind.role() {
            let message = format!("expected {:?} in {}, found {role}", kind.role(), kind.type_name());
            return Err(ShapeError::new(FieldPath::root().key("role"), message));
        }
        if kind == Special::ToolDefinitions {
            name_tools(&mut dict);
        }
        shape::check_given(&dict)?;
        if dict.get("_type").is_some_and(|name| name == "Message") {
            dict.insert("_type".to_owned(), kind.type_name().into());
        }
        add_defaults(&mut dict, kind.type_name(), Some(environment));
        Ok(Self::new(dict))
    }

    /// A message of a file. Tells whether something was added that is not the same at every reading (an id, a time).
    ///
    /// # Errors
    ///
    /// The field of the wrong shape.
    pub fn stored(dict: Value, environment: &dyn Environment) -> Result<(Self, bool), ShapeError> {
        let mut dict = object(dict)?;
        shape::check_stored(&dict)?;
        // The special classes of the Python package know their role.
        let kind = Special::ALL.into_iter().find(|kind| dict.get("_type").is_some_and(|name| name == kind.type_name()));
        if let Some(kind) = kind {
            dict.entry("role").or_insert_with(|| kind.role().into());
        }
        let generated = !dict.contains_key("id") || !dict.contains_key(CREATION_TIMESTAMP);
        add_defaults(&mut dict, "Message", Some(environment));
        Ok((Self::new(dict), generated))
    }

    /// A message of a dict of ours, which has all that it needs.
    pub(crate) fn of_dict(dict: Object) -> Self {
        Self::new(dict)
    }

    fn new(dict: Object) -> Self {
        let sequence = field(&dict, SEQUENCE_NUMBER)
            .and_then(Value::as_u64)
            .filter(|sequence| *sequence <= MAX_SAFE_INTEGER)
            .and_then(|sequence| i64::try_from(sequence).ok());
        let kinds = PartKinds::of(items(&dict, "content"));
        Self { dict, sequence, kinds, counts: Default::default(), by_part: RefCell::default() }
    }

    /// What the file holds of it.
    pub fn dict(&self) -> &Object {
        &self.dict
    }

    /// A uuid; empty where a file has something else.
    pub fn id(&self) -> &str {
        self.string("id")
    }

    /// Who says it; empty where a file does not tell.
    pub fn role(&self) -> &str {
        self.string("role")
    }

    /// `Message`, `SystemPromptMessage`, `ToolDefinitionsMessage` or the name of a subclass of the Python package.
    pub fn type_name(&self) -> &str {
        self.string("_type")
    }

    /// When it was appended, in the count of its context; `None` where the file does not say.
    pub fn sequence(&self) -> Option<i64> {
        self.sequence
    }

    /// The parts of its content; none where it has none.
    pub fn parts(&self) -> &[Value] {
        items(&self.dict, "content")
    }

    /// The kinds of its parts.
    pub fn kinds(&self) -> PartKinds {
        self.kinds
    }

    /// The ids of the hooks that its content is made of.
    pub fn hook_ids(&self) -> impl Iterator<Item = &str> {
        let ids = items(&self.dict, HOOK_IDS);
        ids.iter().filter_map(Value::as_str)
    }

    /// This message with one more hook.
    pub(super) fn with_hook(&self, hook_id: &str) -> Self {
        let mut changed = self.clone();
        if let Some(Value::Array(ids)) = changed.dict.get_mut(HOOK_IDS) {
            ids.push(hook_id.into());
        }
        changed
    }

    /// This message with other content.
    pub(crate) fn with_content(&self, content: Value) -> Self {
        let mut dict = self.dict.clone();
        dict.insert("content".to_owned(), content);
        dict.shift_remove("token_count");
        Self::new(dict)
    }

    /// This message as the `sequence`th mutation of a context.
    pub fn with_sequence(mut self, sequence: i64) -> Self {
        self.dict.insert(SEQUENCE_NUMBER.to_owned(), sequence.into());
        self.sequence = Some(sequence);
        self
    }

    /// This message with the fields of `changes` in place of its own. Its id and its place stay; a `token_count` that
    /// the changes do not name is dropped where they may have made it wrong. Numbers that are equal to those there keep
    /// their text.
    ///
    /// # Errors
    ///
    /// The field of the wrong shape.
    pub fn changed(&self, mut changes: Value) -> Result<Self, ShapeError> {
        self.keep_numbers(&mut changes);
        let changes = object(changes)?;
        // What is not changed may be of another program, and stays as it is.
        let mut changed = changes.clone();
        changed.entry("role").or_insert_with(|| shape::ROLES[0].into());
        shape::check_given(&changed)?;
        let mut dict = self.dict.clone();
        if changes.contains_key("role") || changes.contains_key("content") {
            dict.shift_remove("token_count");
        }
        for (key, value) in changes {
            let fixed = key == "id" || key == SEQUENCE_NUMBER;
            if fixed && dict.get(&key) != Some(&value) {
                let message = format!("a stored message keeps its {key}");
                return Err(ShapeError::new(FieldPath::root().key(&key), message));
            }
            dict.insert(key, value);
        }
        Ok(Self::new(dict))
    }

    /// Gives the numbers of another dict the text that equal ones have here.
    pub(super) fn keep_numbers(&self, dict: &mut Value) {
        let Value::Object(dict) = dict else { return };
        for (key, value) in dict {
            if let Some(old) = self.dict.get(key) {
                keep_numbers(old, value);
            }
        }
    }

    /// This message without its `thinking` parts; `None` where no part is left.
    pub fn without_thinking(&self) -> Option<Self> {
        let parts = self.dict.get("content").and_then(Value::as_array)?;
        let kept: Vec<Value> = parts.iter().filter(|part| part["type"] != "thinking").cloned().collect();
        if kept.is_empty() {
            return None;
        }
        if kept.len() == parts.len() {
            return Some(self.clone());
        }
        Some(self.with_content(kept.into()))
    }

    /// Whether another message is this one, if numbers are compared as doubles.
    pub(super) fn is_shown_as(&self, other: &Self) -> bool {
        let mut dict = Value::Object(other.dict.clone());
        self.keep_numbers(&mut dict);
        dict.as_object() == Some(&self.dict)
    }

    fn string(&self, key: &str) -> &str {
        field(&self.dict, key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A message that a caller hands in, checked; what it lacks is still to be added.
pub struct GivenMessage(Object);

impl GivenMessage {
    /// # Errors
    ///
    /// The field of the wrong shape.
    pub fn new(dict: Value) -> Result<Self, ShapeError> {
        let dict = object(dict)?;
        shape::check_given(&dict)?;
        Ok(Self(dict))
    }

    /// The number of fields given, which stand before those that are added.
    pub fn field_count(&self) -> usize {
        self.0.len()
    }

    /// The message with what was missing.
    pub fn complete(self, environment: &dyn Environment) -> Message {
        self.completed(Some(environment))
    }

    /// As [`GivenMessage::complete`]; `environment` is only asked for where the id or the time is missing.
    ///
    /// # Errors
    ///
    /// Those of `environment`.
    pub fn complete_with<V: Environment, E>(self, environment: impl FnOnce() -> Result<V, E>) -> Result<Message, E> {
        if field(&self.0, "id").is_some() && field(&self.0, CREATION_TIMESTAMP).is_some() {
            return Ok(self.completed(None));
        }
        Ok(self.complete(&environment()?))
    }

    fn completed(self, environment: Option<&dyn Environment>) -> Message {
        let Self(mut dict) = self;
        add_defaults(&mut dict, "Message", environment);
        Message::new(dict)
    }
}

fn object(value: Value) -> Result<Object, ShapeError> {
    match value {
        Value::Object(dict) => Ok(dict),
        other => Err(shape::wrong(&FieldPath::root(), "an object", &other)),
    }
}

/// Makes parts that do not say what they are tools.
fn name_tools(dict: &mut Object) {
    let Some(Value::Array(parts)) = dict.get_mut("content") else { return };
    for part in parts {
        if let Value::Object(fields) = part {
            if !fields.contains_key("type") {
                fields.shift_insert(0, "type".to_owned(), "tool".into());
            }
        }
    }
}

/// Adds what is missing, in the order of the reference. Without an environment no id and no time are added.
fn add_defaults(dict: &mut Object, type_name: &str, environment: Option<&dyn Environment>) {
    let mut default = |key: &str, value: &dyn Fn() -> Option<Value>| {
        if field(dict, key).is_none() {
            if let Some(value) = value() {
                dict.insert(key.to_owned(), value);
            }
        }
    };
    default("_type", &|| Some(type_name.into()));
    default("id", &|| environment.map(|environment| environment.uuid().to_string().into()));
    default(HOOK_IDS, &|| Some(Value::Array(Vec::new())));
    default(CREATION_TIMESTAMP, &|| environment.map(|environment| environment.now().timestamp().into()));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::environment::fixed::Fixed;

    fn given(value: Value) -> Message {
        Message::given(value, &Fixed::default()).unwrap()
    }

    #[test]
    fn defaults_stand_in_the_order_of_the_reference() {
        let message = given(json!({"role": "user", "content": [], "mood": 1.5}));
        let keys: Vec<&str> = message.dict().keys().map(String::as_str).collect();
        assert_eq!(keys, ["role", "content", "mood", "_type", "id", "_hook_ids", "creation_timestamp"]);
        assert_eq!(message.dict()["creation_timestamp"], "2026-01-02T03:04:05.000006");
    }

    #[test]
    fn a_change_keeps_identity_and_drops_a_stale_count() {
        let message = given(json!({"role": "user", "id": "a", "token_count": 7, "content": []})).with_sequence(4);
        let changed = message.changed(json!({"content": [{"type": "text", "text": "x"}]})).unwrap();
        assert_eq!((changed.id(), changed.sequence()), ("a", Some(4)));
        assert!(!changed.dict().contains_key("token_count"));
        assert!(message.changed(json!({"metadata": {}})).unwrap().dict().contains_key("token_count"));
        assert_eq!(message.changed(json!({"id": "b"})).unwrap_err().field.to_string(), "id");
        assert!(message.changed(json!({"content": "x"})).is_err());
        let (foreign, _) =
            Message::stored(json!({"role": "developer", "content": [{"type": "text"}]}), &Fixed::default()).unwrap();
        assert_eq!(foreign.changed(json!({"metadata": {}})).unwrap().role(), "developer");
        assert!(foreign.changed(json!({"role": "robot"})).is_err());
    }

    #[test]
    fn thinking_is_stripped() {
        let message = given(json!({"role": "assistant", "token_count": 9, "content": [
            {"type": "thinking", "text": "hm"}, {"type": "text", "text": "yes"}]}));
        let stripped = message.without_thinking().unwrap();
        assert_eq!(stripped.dict()["content"], json!([{"type": "text", "text": "yes"}]));
        assert!(!stripped.dict().contains_key("token_count"));
        assert!(
            given(json!({"role": "user", "content": [{"type": "thinking", "text": ""}]})).without_thinking().is_none()
        );
        assert!(given(json!({"role": "user"})).without_thinking().is_none());
    }

    #[test]
    fn special_messages_have_their_role_and_type() {
        let special = |value| Message::given_special(Special::SystemPrompt, value, &Fixed::default());
        let message = special(json!({"content": [{"type": "text", "text": "x"}]})).unwrap();
        assert_eq!((message.role(), message.type_name()), ("system", "SystemPromptMessage"));
        assert_eq!(special(json!({"role": "system", "_type": "Message"})).unwrap().type_name(), "SystemPromptMessage");
        assert_eq!(special(json!({"role": "system", "_type": "Persona"})).unwrap().type_name(), "Persona");
        assert_eq!(special(json!({"role": "user"})).unwrap_err().field.to_string(), "role");
    }
}
