//! Builds a conversation from the messages that a format reads.

use serde_json::Value;

use super::dict::{dict, set};
use super::source::BETWEEN_TEXTS;
use peteos_conversation::{CallState, NewConversation, PairedCall, PairedMessage, Pairing, Place, ResultState};

/// Collects the messages of a request for a conversation.
#[derive(Default)]
pub struct ConversationBuilder {
    /// The parts of the system prompt.
    pub system: Vec<Value>,
    /// The definitions of the tools.
    pub tools: Vec<Value>,
    messages: Vec<NewMessage>,
}

/// A message to be added.
struct NewMessage {
    role: &'static str,
    parts: Vec<Value>,
}

impl NewMessage {
    fn paired(&self) -> PairedMessage<'_> {
        PairedMessage { is_assistant: self.role == "assistant", parts: &self.parts }
    }
}

impl ConversationBuilder {
    /// Adds a message.
    pub fn push(&mut self, role: &'static str, parts: Vec<Value>) {
        self.messages.push(NewMessage { role, parts });
    }

    /// Adds parts to the last message if it has this role and content; otherwise adds a message.
    pub fn join(&mut self, role: &'static str, parts: Vec<Value>) {
        match self.messages.last_mut() {
            Some(last) if last.role == role && !last.parts.is_empty() && !parts.is_empty() => last.parts.extend(parts),
            _ => self.push(role, parts),
        }
    }

    /// Adds a message of the user, or of the role `tool_result` if it has results.
    pub fn push_user(&mut self, parts: Vec<Value>) {
        let has_results = parts.iter().any(|part| part["type"] == "tool_result");
        self.push(if has_results { "tool_result" } else { "user" }, parts);
    }

    /// Adds a system message; the first one, if nothing precedes it, is the system prompt.
    pub fn push_system(&mut self, parts: Vec<Value>) {
        if self.messages.is_empty() && self.system.is_empty() && !parts.is_empty() {
            self.system = parts;
        } else {
            self.push("system", parts);
        }
    }

    /// The conversation.
    pub fn into_conversation(mut self) -> NewConversation {
        self.match_results();
        let system_prompt = (!self.system.is_empty()).then(|| {
            let texts: Vec<&str> = self.system.iter().filter_map(|part| part["text"].as_str()).collect();
            let text = texts.join(BETWEEN_TEXTS);
            dict! {"_static_text": text, "role": "system", "content": self.system}
        });
        let tool_definitions = (!self.tools.is_empty()).then(|| dict! {"role": "tool", "content": self.tools});
        let message = |NewMessage { role, parts }| dict! {"role": role, "content": parts};
        let messages = self.messages.into_iter().map(message).collect();
        NewConversation { system_prompt, tool_definitions, messages }
    }

    /// Marks calls with a result as approved, and removes the name of the tool from results whose call has it.
    fn match_results(&mut self) {
        let pairing = Pairing::of(self.messages.iter().map(NewMessage::paired));
        let name = |(message, part): Place| self.messages.get(message)?.parts.get(part)?.get("name");
        let is_answered = |call: &&PairedCall| matches!(call.state, CallState::Answered(_));
        let answered: Vec<Place> = pairing.calls.iter().filter(is_answered).map(|call| call.place).collect();
        let named_as_call: Vec<Place> = pairing
            .results
            .iter()
            .filter_map(|result| match result.state {
                ResultState::Answers(call) | ResultState::Second(call) => {
                    let named = name(result.place)?;
                    (name(pairing.calls.get(call)?.place)? == named).then_some(result.place)
                }
                ResultState::Orphan => None,
            })
            .collect();
        for place in answered {
            if let Some(part) = self.part_mut(place) {
                set(part, "approval_status", "approved".into());
            }
        }
        for place in named_as_call {
            if let Some(Value::Object(fields)) = self.part_mut(place) {
                fields.shift_remove("name");
            }
        }
    }

    fn part_mut(&mut self, (message, part): Place) -> Option<&mut Value> {
        self.messages.get_mut(message)?.parts.get_mut(part)
    }
}
