//! A message during a repair.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::RepairedMessage;
use crate::format::ProviderFormat;
use crate::part::Role;
use crate::rules::turn::Turn;
use peteos_conversation::Message;

/// A message that is being repaired.
#[derive(Clone, Debug)]
pub struct Draft {
    position: Option<usize>,
    message: Message,
    /// The new role of the message, if it changes.
    role: Option<&'static str>,
    /// The new id of the message, if it changes.
    id: Option<String>,
    /// The parts, as repaired so far.
    pub parts: Vec<Value>,
    is_changed: bool,
}

impl Draft {
    /// A message of a context.
    pub fn of(message: &Message, position: usize) -> Self {
        let parts = message.parts().to_vec();
        Self { position: Some(position), message: message.clone(), role: None, id: None, parts, is_changed: false }
    }

    /// A message with a fixed id that is not in the context.
    pub fn inserted(role: &'static str, id: &str, parts: Vec<Value>) -> Self {
        let dict = json!({"_type": "Message", "id": id, "role": role, "content": [], "_hook_ids": []});
        let message = Message::of_dict(dict.as_object().cloned().unwrap_or_default());
        Self { position: None, message, role: None, id: None, parts, is_changed: true }
    }

    /// A part of this message as a separate message.
    pub fn split_off(&self, role: Option<&'static str>, id: String, parts: Vec<Value>) -> Self {
        Self { role: role.or(self.role), id: Some(id), parts, is_changed: true, ..self.clone() }
    }

    /// The id of the message.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(self.message.id())
    }

    /// The role of the message.
    pub fn role(&self) -> Role {
        Role::of(self.role.unwrap_or(self.message.role()))
    }

    /// Whether no part is left.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its turn in a format.
    pub fn turn(&self, format: &dyn ProviderFormat) -> Turn<'_> {
        Turn::with_parts(self.role(), &self.parts, self.position.unwrap_or_default(), format)
    }

    /// Changes the role.
    pub fn set_role(&mut self, role: &'static str) {
        self.role = Some(role);
        self.is_changed = true;
    }

    /// Replaces the parts.
    pub fn set_parts(&mut self, parts: Vec<Value>) {
        self.parts = parts;
        self.is_changed = true;
    }

    /// Puts parts before those of the message.
    pub fn prepend(&mut self, mut parts: Vec<Value>) {
        parts.append(&mut self.parts);
        self.set_parts(parts);
    }

    /// Removes the parts with these indices.
    pub fn remove_parts(&mut self, removed: &HashSet<usize>) {
        if !removed.is_empty() {
            let parts = std::mem::take(&mut self.parts).into_iter().enumerate();
            self.set_parts(parts.filter(|(part, _)| !removed.contains(part)).map(|(_, value)| value).collect());
        }
    }

    /// Sets a field of a part.
    pub fn set_field(&mut self, part: usize, key: &str, value: Value) {
        if let Some(Value::Object(fields)) = self.parts.get_mut(part) {
            fields.insert(key.to_owned(), value);
            self.is_changed = true;
        }
    }

    /// The repaired message.
    pub fn finish(self) -> RepairedMessage {
        let Self { position, mut message, role, id, parts, is_changed } = self;
        if is_changed {
            let mut dict = message.dict().clone();
            let role = role.map(|role| ("role", role.to_owned()));
            for (key, value) in role.into_iter().chain(id.map(|id| ("id", id))) {
                dict.insert(key.to_owned(), value.into());
            }
            message = Message::of_dict(dict).with_content(parts.into());
        }
        RepairedMessage { position, message }
    }
}
