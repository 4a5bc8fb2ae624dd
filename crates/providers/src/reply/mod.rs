//! What the call of an API returned, as messages to be stored.
//!
//! [`replies`] finds the messages and what else is worth keeping in the reply of each provider. The messages are read like
//! those of a request of the same provider.

pub mod replies;
mod usage;

pub use usage::Usage;

use serde_json::Value;

use super::dict::set;
use super::field::Field;
use super::{ProviderFormat, from_messages};
use peteos_conversation::NewConversation;
use peteos_conversation::error::{Error, ShapeError};
use peteos_json::{FieldPath, Object};

/// The parts of a provider's reply.
pub struct Reply<'v> {
    /// The messages or items, in the form in which a request of the provider takes them.
    pub messages: Vec<Value>,
    /// Where they are in the reply: the list of them, or the only one.
    pub place: Place,
    /// The name of the model.
    pub model: Option<&'v str>,
    /// The provider's id of the reply.
    pub response_id: Option<&'v str>,
    /// Why the model stopped, in the provider's word.
    pub stop_reason: Option<Field<'v>>,
    /// Whether the model was not kept from finishing.
    pub is_finished: bool,
    /// The tokens that the call used.
    pub usage: Option<Usage<'v>>,
}

/// Where the messages are in a reply.
pub enum Place {
    /// At the path there is a list of messages.
    List(FieldPath),
    /// At the path there is a single message.
    Single(FieldPath),
}

/// The messages of a reply as dicts, without the fields that a context adds. `seed` makes the ids of calls unique that have
/// none. Empty if the model finished without saying anything.
///
/// # Errors
///
/// [`Error::InvalidArgument`] with the path of a field that is missing or has the wrong type, or that says why there is no
/// message.
pub fn read_reply(value: &Value, format: &dyn ProviderFormat, seed: &str) -> Result<Vec<Value>, Error> {
    let root = Field::root(value);
    let reply = open(&root, format).map_err(|error| error.in_argument("reply"))?;
    let metadata = metadata(format, &reply);
    let Reply { mut messages, place, stop_reason, is_finished, .. } = reply;
    name_calls(&mut messages, seed);
    let NewConversation { mut messages, .. } =
        from_messages(Value::Array(messages), format, None).map_err(|error| in_reply(error, &place))?;
    messages.retain(|message| message["content"].as_array().is_some_and(|parts| parts.iter().any(says_something)));
    if messages.is_empty() && !is_finished {
        let (Place::List(path) | Place::Single(path)) = place;
        let reason = stop_reason.map_or(ShapeError::new(path, "has no content"), |reason| {
            reason.fault(format!("the reply has no content, because of {}; nothing was appended", reason.value))
        });
        return Err(reason.in_argument("reply"));
    }
    if let Some(last) = messages.iter_mut().rev().find(|message| message["role"] == "assistant") {
        set(last, "metadata", metadata.into());
    }
    Ok(messages)
}

/// An error about a list of messages, with its path in the reply.
fn in_reply(error: Error, place: &Place) -> Error {
    let Error::InvalidArgument { argument, message } = error else { return error };
    let rest = argument.strip_prefix("value").unwrap_or(&argument);
    let (path, rest) = match place {
        Place::List(path) => (path, rest),
        Place::Single(path) => (path, rest.strip_prefix("[0]").unwrap_or(rest)),
    };
    Error::InvalidArgument { argument: format!("{}{rest}", path.below(&FieldPath::root().key("reply"))), message }
}

/// Whether a part is more than an empty text. An empty text of Gemini may carry a signature.
fn says_something(part: &Value) -> bool {
    part["type"] != "text" || part["text"] != "" || part.get("thought_signature").is_some()
}

fn open<'v>(root: &Field<'v>, format: &dyn ProviderFormat) -> Result<Reply<'v>, ShapeError> {
    if let Some(error) = root.get("error")? {
        let message = error.value.get("message").and_then(Value::as_str).map_or(error.value.to_string(), str::to_owned);
        return Err(error.fault(format!("the provider returned an error instead of a message: {message}")));
    }
    format.read_reply(root)
}

fn metadata(format: &dyn ProviderFormat, reply: &Reply) -> Object {
    let mut metadata = Object::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            metadata.insert(key.to_owned(), value);
        }
    };
    put("provider", Some(format.name().into()));
    put("model", reply.model.map(Value::from));
    put("response_id", reply.response_id.map(Value::from));
    put("stop_reason", reply.stop_reason.as_ref().map(|reason| reason.value.clone()));
    put("usage", reply.usage.as_ref().map(Usage::to_value));
    metadata
}

/// Gives an id to Gemini's calls that have none: the ids that its reader derives from the position would be the same in the
/// next reply.
fn name_calls(messages: &mut [Value], seed: &str) {
    let parts = messages.iter_mut().filter_map(|message| message.get_mut("parts")?.as_array_mut()).flatten();
    let calls = parts.filter_map(|part| part.get_mut("functionCall"));
    for (number, call) in calls.filter(|call| call.get("id").is_none_or(Value::is_null)).enumerate() {
        set(call, "id", format!("{seed}_{number}").into());
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats;

    #[test]
    fn a_reply_becomes_messages() {
        let reply = json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
            "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "thoughtsTokenCount": 2}});
        let gemini = formats::find("gemini").unwrap();
        let messages = read_reply(&reply, gemini, "seed").unwrap();
        assert_eq!(messages[0]["content"][0]["call_id"], "seed_0");
        assert_eq!(messages[0]["metadata"]["stop_reason"], "STOP");
        assert_eq!(messages[0]["metadata"]["usage"]["output_tokens"], 2);
    }

    #[test]
    fn an_error_has_the_path_in_the_reply() {
        let reply = json!({"choices": [{"message": {"role": "assistant", "content": [{"type": "text"}]}}]});
        let chat = formats::find("openai-chat").unwrap();
        let error = read_reply(&reply, chat, "").unwrap_err().to_string();
        assert_eq!(error, "reply.choices[0].message.content[0].text: is missing");
    }
}
