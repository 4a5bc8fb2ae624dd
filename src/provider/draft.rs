//! A context in the making: what the messages of a provider say, until all of them are read.

use serde_json::Value;

use super::request::set;
use super::source::BETWEEN_TEXTS;
use crate::conversation::{
    CallState, Context, MESSAGES, Message, PairedCall, PairedMessage, Pairing, Place, ResultState, Special,
};
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::json::Object;

/// The parts that are read, in the order of the messages.
#[derive(Default)]
pub struct Draft {
    pub system: Vec<Value>,
    pub tools: Vec<Value>,
    pub messages: Vec<DraftMessage>,
}

pub struct DraftMessage {
    pub role: &'static str,
    pub parts: Vec<Value>,
}

impl DraftMessage {
    fn paired(&self) -> PairedMessage<'_> {
        PairedMessage { is_assistant: self.role == "assistant", parts: &self.parts }
    }
}

impl Draft {
    pub fn push(&mut self, role: &'static str, parts: Vec<Value>) {
        self.messages.push(DraftMessage { role, parts });
    }

    /// Adds parts to the last message where it has this role and content, as these have; else it is a new message.
    pub fn join(&mut self, role: &'static str, parts: Vec<Value>) {
        match self.messages.last_mut() {
            Some(last) if last.role == role && !last.parts.is_empty() && !parts.is_empty() => last.parts.extend(parts),
            _ => self.push(role, parts),
        }
    }

    /// Adds a message whose results decide the role.
    pub fn push_user(&mut self, parts: Vec<Value>) {
        let has_results = parts.iter().any(|part| part["type"] == "tool_result");
        self.push(if has_results { "tool_result" } else { "user" }, parts);
    }

    /// Takes the text of a system prompt where nothing else was said before it, else a message of its own.
    pub fn push_system(&mut self, parts: Vec<Value>) {
        if self.messages.is_empty() && self.system.is_empty() && !parts.is_empty() {
            self.system = parts;
        } else {
            self.push("system", parts);
        }
    }

    /// The context of it.
    ///
    /// # Errors
    ///
    /// None that a value can cause.
    pub fn into_context(mut self, environment: &dyn Environment) -> Result<Context, Error> {
        self.match_results();
        let special = |kind: Special, dict: Value| {
            Message::given_special(kind, dict, environment).map_err(ShapeError::in_message)
        };
        let system = if self.system.is_empty() {
            None
        } else {
            let texts: Vec<&str> = self.system.iter().filter_map(|part| part["text"].as_str()).collect();
            let text = texts.join(BETWEEN_TEXTS);
            let dict = dict! {"_static_text": text, "role": "system", "content": self.system};
            Some(special(Special::SystemPrompt, dict)?)
        };
        let tools = if self.tools.is_empty() {
            None
        } else {
            Some(special(Special::ToolDefinitions, dict! {"role": "tool", "content": self.tools})?)
        };
        let mut context = Context::create(system, tools, None, environment);
        for DraftMessage { role, parts } in self.messages {
            let dict = dict! {"role": role, "content": parts};
            let message = Message::given(dict, environment).map_err(ShapeError::in_message)?;
            context.append(message, MESSAGES)?;
        }
        Ok(context)
    }

    /// Says of each call whether it was approved, which it was if it has a result; takes the name from results whose
    /// call says it.
    fn match_results(&mut self) {
        let pairing = Pairing::of(self.messages.iter().map(DraftMessage::paired));
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

pub fn text(text: &str) -> Value {
    dict! {"type": "text", "text": text}
}

/// A call whose result decides later whether it was approved.
pub fn call(call_id: &str, name: &str, arguments: &str) -> Value {
    dict! {"type": "tool_use", "call_id": call_id, "name": name, "arguments": arguments, "approval_status": "pending"}
}

pub fn result(call_id: &str, content: &str, is_error: bool) -> Value {
    let mut part =
        dict! {"type": "tool_result", "call_id": call_id, "content": content, "execution_status": "executed"};
    if is_error {
        set(&mut part, "is_error", true.into());
    }
    part
}

/// A tool; what is absent stays so.
pub fn tool(name: &str, description: Option<&str>, parameters: Option<&Object>) -> Value {
    let mut part = dict! {"type": "tool", "name": name};
    if let Some(description) = description {
        set(&mut part, "description", description.into());
    }
    if let Some(parameters) = parameters {
        set(&mut part, "parameters", parameters.clone().into());
    }
    part
}

/// A result whose content is a list of parts: its texts are joined, and media stand beside it, because a result here
/// holds text alone.
pub fn result_of_parts(call_id: &str, parts: Vec<Value>, is_error: bool) -> Vec<Value> {
    let (texts, media): (Vec<Value>, Vec<Value>) = parts.into_iter().partition(|part| part["type"] == "text");
    let texts: Vec<&str> = texts.iter().filter_map(|part| part["text"].as_str()).collect();
    let mut result = vec![result(call_id, &texts.join("\n"), is_error)];
    result.extend(media);
    result
}
