//! A conversation that is not a context yet: its messages have no ids and times.

use serde_json::Value;

use crate::anchors::MESSAGES;
use crate::context::Context;
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::json::Object;
use crate::keys;
use crate::limits::Limits;
use crate::message::Message;
use crate::special::Special;

const SYSTEM_PROMPT: &str = "system_prompt";
const TOOL_DEFINITIONS: &str = "tool_definitions";

/// The messages of a new context as dicts, without the fields that a context adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewConversation {
    /// The system prompt.
    pub system_prompt: Option<Value>,
    /// The tool definitions.
    pub tool_definitions: Option<Value>,
    /// The other messages in order.
    pub messages: Vec<Value>,
}

impl NewConversation {
    /// Creates the context, with new ids and the current time.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidMessage`] for a message of the wrong shape.
    pub fn into_context(self, environment: &dyn Environment) -> Result<Context, Error> {
        let special = |kind: Special, dict: Option<Value>| {
            dict.map(|dict| Message::given_special(kind, dict, environment).map_err(ShapeError::in_message)).transpose()
        };
        let system_prompt = special(Special::SystemPrompt, self.system_prompt)?;
        let tool_definitions = special(Special::ToolDefinitions, self.tool_definitions)?;
        let mut context = Context::create(system_prompt, tool_definitions, None, environment);
        // The caller checks the whole.
        context.set_limits(Limits::NONE);
        for dict in self.messages {
            let message = Message::given(dict, environment).map_err(ShapeError::in_message)?;
            context.append(message, MESSAGES)?;
        }
        Ok(context)
    }

    /// This conversation as a JSON object, to be read with [`NewConversation::from_value`].
    pub fn into_value(self) -> Value {
        let special = |dict: Option<Value>| dict.unwrap_or_default();
        let fields = [
            (SYSTEM_PROMPT, special(self.system_prompt)),
            (TOOL_DEFINITIONS, special(self.tool_definitions)),
            (keys::MESSAGES, self.messages.into()),
        ];
        fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Object>().into()
    }

    /// The conversation of a JSON object that [`NewConversation::into_value`] made.
    pub fn from_value(mut value: Value) -> Self {
        let mut take = |key: &str| value.get_mut(key).map(Value::take).filter(|dict| !dict.is_null());
        let system_prompt = take(SYSTEM_PROMPT);
        let tool_definitions = take(TOOL_DEFINITIONS);
        let messages = match take(keys::MESSAGES) {
            Some(Value::Array(messages)) => messages,
            _ => Vec::new(),
        };
        Self { system_prompt, tool_definitions, messages }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::environment::fixed::Fixed;

    #[test]
    fn a_conversation_becomes_a_context() {
        let text = |text| json!([{"type": "text", "text": text}]);
        let conversation = NewConversation {
            system_prompt: Some(json!({"role": "system", "content": text("Be brief.")})),
            tool_definitions: None,
            messages: vec![json!({"role": "user", "content": text("Hi")})],
        };
        assert_eq!(NewConversation::from_value(conversation.clone().into_value()), conversation);
        let context = conversation.into_context(&Fixed::default()).unwrap();
        assert_eq!(context.specials(), [Some(0), None]);
        assert_eq!(context.message(1).map(Message::role), Some("user"));
        let refused = NewConversation { messages: vec![json!({"role": "robot"})], ..Default::default() };
        assert!(matches!(refused.into_context(&Fixed::default()), Err(Error::InvalidMessage { .. })));
    }
}
