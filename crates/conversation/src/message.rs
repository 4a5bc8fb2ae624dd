//! A message: its dict and cached facts about it.

use std::cell::{Cell, RefCell};

use serde_json::Value;

use crate::environment::Environment;
use crate::error::ShapeError;
use crate::json::{FieldPath, MAX_DEPTH, MAX_SAFE_INTEGER, Object, field, items, keep_numbers};
use crate::part::{PartKinds, PartTokens};
use crate::shape;
use crate::special::Special;
use crate::tokens::Vocabulary;

/// The field with the sequence number.
pub const SEQUENCE_NUMBER: &str = "_sequence_number";
const HOOK_IDS: &str = "_hook_ids";
const CREATION_TIMESTAMP: &str = "creation_timestamp";

/// How deeply a message may be nested. In the file of its context, it is in a list in an object.
pub const MAX_MESSAGE_DEPTH: usize = MAX_DEPTH - 2;

/// A message of a conversation. Its dict never changes: an edit makes another message.
#[derive(Clone, Debug)]
pub struct Message {
    pub(crate) dict: Object,
    sequence: Option<i64>,
    pub(crate) kinds: PartKinds,
    /// The tokens by vocabulary, once counted.
    pub(crate) counts: [Cell<Option<u64>>; Vocabulary::COUNT],
    /// The tokens by kind of part, once counted, in the last requested vocabulary.
    pub(crate) by_part: RefCell<Option<Box<(Vocabulary, PartTokens)>>>,
}

impl Message {
    /// A message from a caller. Adds `_type`, `id`, `_hook_ids` and `creation_timestamp` if they are missing.
    ///
    /// # Errors
    ///
    /// The field with the wrong shape.
    pub fn given(dict: Value, environment: &dyn Environment) -> Result<Self, ShapeError> {
        Ok(GivenMessage::new(dict)?.complete(environment))
    }

    /// A system prompt or tool definitions from a caller. As [`Message::given`], but the role and the type of tools may be
    /// absent, and a plain `Message` gets the special type.
    ///
    /// # Errors
    ///
    /// The field with the wrong shape.
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

    /// A message from a file, and whether something was added that differs at every reading: an id or a time.
    ///
    /// # Errors
    ///
    /// The field with the wrong shape.
    pub fn stored(dict: Value, environment: &dyn Environment) -> Result<(Self, bool), ShapeError> {
        let mut dict = object(dict)?;
        shape::check_stored(&dict)?;
        // The special classes of the Python package imply their role.
        let kind = Special::ALL.into_iter().find(|kind| dict.get("_type").is_some_and(|name| name == kind.type_name()));
        if let Some(kind) = kind {
            dict.entry("role").or_insert_with(|| kind.role().into());
        }
        let generated = !dict.contains_key("id") || !dict.contains_key(CREATION_TIMESTAMP);
        add_defaults(&mut dict, "Message", Some(environment));
        Ok((Self::new(dict), generated))
    }

    /// A message from a dict that this package made, which is complete.
    pub fn of_dict(dict: Object) -> Self {
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

    /// The dict, as saved in the file.
    pub fn into_dict(self) -> Object {
        self.dict
    }

    /// The dict, as saved in the file.
    pub fn dict(&self) -> &Object {
        &self.dict
    }

    /// The id, a uuid; empty if a file has something else.
    pub fn id(&self) -> &str {
        self.string("id")
    }

    /// The role; empty if a file has none.
    pub fn role(&self) -> &str {
        self.string("role")
    }

    /// `Message`, `SystemPromptMessage`, `ToolDefinitionsMessage` or the name of a subclass of the Python package.
    pub fn type_name(&self) -> &str {
        self.string("_type")
    }

    /// The sequence number: when it was appended, in the count of its context. `None` if a file has none.
    pub fn sequence(&self) -> Option<i64> {
        self.sequence
    }

    /// The parts of the content; empty if there is none.
    pub fn parts(&self) -> &[Value] {
        items(&self.dict, "content")
    }

    /// The kinds of the parts.
    pub fn kinds(&self) -> PartKinds {
        self.kinds
    }

    /// The ids of the hooks that contribute to the content.
    pub fn hook_ids(&self) -> impl Iterator<Item = &str> {
        let ids = items(&self.dict, HOOK_IDS);
        ids.iter().filter_map(Value::as_str)
    }

    /// This message with another hook.
    pub(crate) fn with_hook(&self, hook_id: &str) -> Self {
        let mut changed = self.clone();
        if let Some(Value::Array(ids)) = changed.dict.get_mut(HOOK_IDS) {
            ids.push(hook_id.into());
        }
        changed
    }

    /// This message with other content.
    pub fn with_content(&self, content: Value) -> Self {
        let mut dict = self.dict.clone();
        dict.insert("content".to_owned(), content);
        dict.shift_remove("token_count");
        Self::new(dict)
    }

    /// This message with a sequence number.
    pub fn with_sequence(mut self, sequence: i64) -> Self {
        self.dict.insert(SEQUENCE_NUMBER.to_owned(), sequence.into());
        self.sequence = Some(sequence);
        self
    }

    /// This message with the fields of `changes`. Its id and its place stay. A `token_count` that the changes may have made
    /// wrong is dropped unless they set it. A number that is equal to the previous one keeps its text.
    ///
    /// # Errors
    ///
    /// The field with the wrong shape.
    pub fn changed(&self, mut changes: Value) -> Result<Self, ShapeError> {
        self.keep_numbers(&mut changes);
        let changes = object(changes)?;
        // Unchanged fields may be from another program, and are not validated.
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
                let message = format!("the {key} of a stored message cannot be changed");
                return Err(ShapeError::new(FieldPath::root().key(&key), message));
            }
            dict.insert(key, value);
        }
        Ok(Self::new(dict))
    }

    /// Gives numbers of another dict the text of the equal ones in this message.
    pub(crate) fn keep_numbers(&self, dict: &mut Value) {
        let Value::Object(dict) = dict else { return };
        for (key, value) in dict {
            if let Some(old) = self.dict.get(key) {
                keep_numbers(old, value);
            }
        }
    }

    /// This message without its `thinking` parts; `None` if no part is left.
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

    /// Whether two messages are equal if numbers are compared as doubles.
    pub(crate) fn is_shown_as(&self, other: &Self) -> bool {
        let mut dict = Value::Object(other.dict.clone());
        self.keep_numbers(&mut dict);
        dict.as_object() == Some(&self.dict)
    }

    fn string(&self, key: &str) -> &str {
        field(&self.dict, key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A validated message from a caller whose missing fields have not been added yet.
pub struct GivenMessage(Object);

impl GivenMessage {
    /// # Errors
    ///
    /// The field with the wrong shape.
    pub fn new(dict: Value) -> Result<Self, ShapeError> {
        let dict = object(dict)?;
        shape::check_given(&dict)?;
        Ok(Self(dict))
    }

    /// The number of fields from the caller. Added fields come after them.
    pub fn field_count(&self) -> usize {
        self.0.len()
    }

    /// The message with its missing fields added.
    pub fn complete(self, environment: &dyn Environment) -> Message {
        self.completed(Some(environment))
    }

    /// As [`GivenMessage::complete`], but calls `environment` only if the id or the time is missing.
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

/// Sets the type of parts without one to `tool`.
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

/// Adds missing fields in the order of the Python package. Without an environment, adds neither id nor time.
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
