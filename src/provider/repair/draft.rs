//! A message while it is mended.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::super::Format;
use super::super::check::turn::Turn;
use super::super::part::Role;
use super::Mended;
use crate::conversation::Message;

/// A message that may still change.
#[derive(Clone, Debug)]
pub struct Draft {
    position: Option<usize>,
    message: Message,
    /// What replaces the role of the message.
    role: Option<&'static str>,
    /// What replaces the id of the message.
    id: Option<String>,
    pub parts: Vec<Value>,
    is_changed: bool,
}

impl Draft {
    /// A message of a context.
    pub fn of(message: &Message, position: usize) -> Self {
        let parts = message.parts().to_vec();
        Self { position: Some(position), message: message.clone(), role: None, id: None, parts, is_changed: false }
    }

    /// A message that the context does not have. Its id is the same each time.
    pub fn put_in(role: &'static str, id: &str, parts: Vec<Value>) -> Self {
        let dict = json!({"_type": "Message", "id": id, "role": role, "content": [], "_hook_ids": []});
        let message = Message::of_dict(dict.as_object().cloned().unwrap_or_default());
        Self { position: None, message, role: None, id: None, parts, is_changed: true }
    }

    /// A part of this message as one of its own.
    pub fn split_off(&self, role: Option<&'static str>, id: String, parts: Vec<Value>) -> Self {
        Self { role: role.or(self.role), id: Some(id), parts, is_changed: true, ..self.clone() }
    }

    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(self.message.id())
    }

    pub fn role(&self) -> Role {
        Role::of(self.role.unwrap_or(self.message.role()))
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What becomes of it in a format.
    pub fn turn(&self, format: Format) -> Turn<'_> {
        Turn::with_parts(self.role(), &self.parts, self.position.unwrap_or_default(), format)
    }

    pub fn set_role(&mut self, role: &'static str) {
        self.role = Some(role);
        self.is_changed = true;
    }

    pub fn set_parts(&mut self, parts: Vec<Value>) {
        self.parts = parts;
        self.is_changed = true;
    }

    pub fn put_before(&mut self, mut parts: Vec<Value>) {
        parts.append(&mut self.parts);
        self.set_parts(parts);
    }

    pub fn remove_parts(&mut self, removed: &HashSet<usize>) {
        if !removed.is_empty() {
            let parts = std::mem::take(&mut self.parts).into_iter().enumerate();
            self.set_parts(parts.filter(|(part, _)| !removed.contains(part)).map(|(_, value)| value).collect());
        }
    }

    pub fn set_field(&mut self, part: usize, key: &str, value: Value) {
        if let Some(Value::Object(fields)) = self.parts.get_mut(part) {
            fields.insert(key.to_owned(), value);
            self.is_changed = true;
        }
    }

    pub fn finish(self) -> Mended {
        let Self { position, mut message, role, id, parts, is_changed } = self;
        if is_changed {
            let mut dict = message.dict().clone();
            let role = role.map(|role| ("role", role.to_owned()));
            for (key, value) in role.into_iter().chain(id.map(|id| ("id", id))) {
                dict.insert(key.to_owned(), value.into());
            }
            message = Message::of_dict(dict).with_content(parts.into());
        }
        Mended { position, message }
    }
}
