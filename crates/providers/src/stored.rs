//! The parts that a context stores.

use serde_json::Value;

use super::dict::{dict, set};
use peteos_json::Object;

/// A text.
pub fn text(text: &str) -> Value {
    dict! {"type": "text", "text": text}
}

/// A tool call, which is pending until [`ConversationBuilder`](super::builder::ConversationBuilder) finds its result.
pub fn call(call_id: &str, name: &str, arguments: &str) -> Value {
    dict! {"type": "tool_use", "call_id": call_id, "name": name, "arguments": arguments, "approval_status": "pending"}
}

/// The result of a tool call.
pub fn result(call_id: &str, content: &str, is_error: bool) -> Value {
    let mut part =
        dict! {"type": "tool_result", "call_id": call_id, "content": content, "execution_status": "executed"};
    if is_error {
        set(&mut part, "is_error", true.into());
    }
    part
}

/// The definition of a tool.
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

/// A result whose content is a list of parts: its texts are joined, and media follow the result, because a stored result
/// holds only text.
pub fn result_of_parts(call_id: &str, parts: Vec<Value>, is_error: bool) -> Vec<Value> {
    let (texts, media): (Vec<Value>, Vec<Value>) = parts.into_iter().partition(|part| part["type"] == "text");
    let texts: Vec<&str> = texts.iter().filter_map(|part| part["text"].as_str()).collect();
    let mut result = vec![result(call_id, &texts.join("\n"), is_error)];
    result.extend(media);
    result
}
