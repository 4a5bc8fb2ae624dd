//! The parts that a context stores.

use serde_json::Value;

use super::dict::{dict, set};
use super::entry::Target;
use peteos_conversation::OPAQUE;
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

/// A result whose content is a list of texts and media: a text if there are only texts, which are joined.
pub fn result_of_parts(call_id: &str, mut parts: Vec<Value>, is_error: bool) -> Value {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    if texts.len() == parts.len() {
        return result(call_id, &texts.join("\n"), is_error);
    }
    for part in &mut parts {
        if part["type"] == "text" {
            *part = text(part["text"].as_str().unwrap_or_default());
        }
    }
    let mut result = result(call_id, "", is_error);
    set(&mut result, "content", parts.into());
    result
}

/// What a provider sent and the model has no word for, to go to this place of an entry.
pub fn opaque(provider: &str, target: Target, value: &Value) -> Value {
    let mut part = dict! {"type": OPAQUE, "provider": provider};
    if let Some(place) = target.name() {
        set(&mut part, "place", place.into());
    }
    if let Some((key, id)) = pair(value) {
        set(&mut part, key, id.into());
    }
    set(&mut part, "value", value.clone());
    part
}

/// Whether such a value calls a tool or answers a call, and the id of the call. Formats mark both in the same few ways, so
/// that this holds for tools that do not exist yet.
fn pair(value: &Value) -> Option<(&'static str, &str)> {
    const CALLS: &str = "calls";
    const ANSWERS: &str = "answers";
    // The id of executed code that has none: a result answers the code before it.
    const CODE: &str = "code";
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or_default();
    if let Some(id) =
        text("tool_use_id").or_else(|| text("approval_request_id").filter(|_| kind.ends_with("_response")))
    {
        return Some((ANSWERS, id));
    }
    match text("call_id") {
        Some(id) if kind.ends_with("_output") => return Some((ANSWERS, id)),
        Some(id) if kind.ends_with("_call") => return Some((CALLS, id)),
        _ => {}
    }
    if kind.ends_with("tool_use") || kind.ends_with("_request") {
        return text("id").or_else(|| text("approvalId")).map(|id| (CALLS, id));
    }
    if kind.ends_with("-response") || kind.ends_with("-request") {
        let key = if kind.ends_with("-request") { CALLS } else { ANSWERS };
        return text("approvalId").map(|id| (key, id));
    }
    // Gemini names the part by its key, and does not always give an id.
    let named = |key: &str| Some(value.get(key)?.get("id").and_then(Value::as_str).unwrap_or(CODE));
    named("executableCode")
        .or_else(|| named("toolCall"))
        .map(|id| (CALLS, id))
        .or_else(|| named("codeExecutionResult").or_else(|| named("toolResponse")).map(|id| (ANSWERS, id)))
}
