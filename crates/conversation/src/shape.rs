//! The shape of a message.
//!
//! In a message from a caller, every known field must be valid. A message from a file must only be what the code relies on:
//! the file may come from a later version or another program, and its contents are kept.

use serde_json::Value;

use crate::error::ShapeError;
use crate::json::{self, FieldPath, MAX_SAFE_INTEGER, Object};

/// The roles of new messages. `tool` is the role of tool definitions and `tool_result` that of results: when it calls a
/// model, the Python package treats a message with the role `tool` as definitions.
pub const ROLES: [&str; 5] = ["user", "assistant", "system", "tool", "tool_result"];

/// Checks a message from a file.
pub fn check_stored(message: &Object) -> Result<(), ShapeError> {
    for key in ["id", "role", "_type"] {
        optional(message, key, "a string", Value::is_string)?;
    }
    optional(message, "_hook_ids", "an array of strings", is_string_array)?;
    match json::field(message, "content") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(parts)) => parts.iter().enumerate().try_for_each(|(index, part)| {
            match part.as_object() {
                Some(part) => required(part, "type", "a string", Value::is_string).map(drop),
                None => Err(wrong(&FieldPath::root(), "an object", part)),
            }
            .map_err(|error| error.below(&content_part(index)))
        }),
        Some(other) => Err(wrong(&FieldPath::root().key("content"), "an array of content parts", other)),
    }
}

/// Checks a message from a caller.
pub fn check_given(message: &Object) -> Result<(), ShapeError> {
    let root = FieldPath::root();
    let role = required(message, "role", "a string", Value::is_string)?;
    if !ROLES.iter().any(|known| role == known) {
        return Err(ShapeError::new(
            root.key("role"),
            format!("{role} is not a role; use one of {}", ROLES.join(", ")),
        ));
    }
    if let Some(text @ Value::String(_)) = json::field(message, "content") {
        let hint = format!("an array of content parts, for a text [{{\"type\":\"text\",\"text\":{}}}]", brief(text));
        return Err(wrong(&root.key("content"), &hint, text));
    }
    check_stored(message)?;
    optional(message, "id", "a non-empty string", |id| id != "")?;
    optional(message, "creation_timestamp", "a string", Value::is_string)?;
    optional(message, "metadata", "an object", Value::is_object)?;
    optional(message, "_static_text", "a string", Value::is_string)?;
    optional(message, "token_count", "a non-negative integer", |count| {
        count.as_u64().is_some_and(|count| count <= MAX_SAFE_INTEGER)
    })?;
    let parts = json::items(message, "content");
    parts.iter().enumerate().try_for_each(|(index, part)| match part.as_object() {
        Some(part) => check_part(part).map_err(|error| error.below(&content_part(index))),
        None => Ok(()),
    })
}

fn content_part(index: usize) -> FieldPath {
    FieldPath::root().key("content").index(index)
}

fn check_part(part: &Object) -> Result<(), ShapeError> {
    let string = |key: &str| required(part, key, "a string", Value::is_string).map(drop);
    match json::field(part, "type").and_then(Value::as_str).unwrap_or_default() {
        "text" | "thinking" => string("text"),
        "image" | "video" | "audio" | "pdf" => check_source(part),
        "tool_use" => {
            string("call_id")?;
            string("name")?;
            required(part, "arguments", "a string of JSON text", Value::is_string)?;
            optional(part, "approval_status", "a string", Value::is_string)
        }
        "tool_result" => {
            string("call_id")?;
            let content = required(part, "content", "a string, or an array of texts and media", |content| {
                content.is_string() || content.is_array()
            })?;
            let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
            for (index, part) in parts.iter().enumerate() {
                check_result_part(part).map_err(|error| error.below(&content_part(index)))?;
            }
            optional(part, "execution_status", "a string", Value::is_string)
        }
        "tool" => {
            string("name")?;
            optional(part, "description", "a string", Value::is_string)?;
            optional(part, "parameters", "an object with a JSON schema", Value::is_object)
        }
        // A type of a later version or another program.
        _ => Ok(()),
    }
}

/// Checks a part of what a tool returned.
fn check_result_part(part: &Value) -> Result<(), ShapeError> {
    let Some(fields) = part.as_object() else { return Err(wrong(&FieldPath::root(), "an object", part)) };
    let is_content = |kind: &Value| matches!(kind.as_str(), Some("text" | "image" | "video" | "audio" | "pdf"));
    required(fields, "type", "text, image, video, audio or pdf", is_content)?;
    check_part(fields)
}

fn check_source(part: &Object) -> Result<(), ShapeError> {
    let source = required(part, "source", "an object", Value::is_object)?;
    let Some(source) = source.as_object() else { return Ok(()) };
    let string = |key: &str, expected: &str| {
        let value = required(source, key, expected, Value::is_string);
        value.map_err(|error| error.below(&FieldPath::root().key("source")))
    };
    let needed: &[&str] = match string("type", "\"base64\" or \"url\"")?.as_str() {
        Some("base64") => &["data", "media_type"],
        Some("url") => &["url"],
        _ => &[],
    };
    needed.iter().try_for_each(|key| string(key, "a string").map(drop))
}

/// A field that must be there; the path of the error begins at the object.
fn required<'v>(
    object: &'v Object,
    key: &str,
    expected: &str,
    is_right: fn(&Value) -> bool,
) -> Result<&'v Value, ShapeError> {
    match json::field(object, key) {
        Some(value) if is_right(value) => Ok(value),
        Some(value) => Err(wrong(&FieldPath::root().key(key), expected, value)),
        None => Err(ShapeError::new(FieldPath::root().key(key), format!("is missing; expected {expected}"))),
    }
}

/// Checks a field if it is present.
pub fn optional(object: &Object, key: &str, expected: &str, is_right: fn(&Value) -> bool) -> Result<(), ShapeError> {
    match json::field(object, key) {
        Some(value) if !is_right(value) => Err(wrong(&FieldPath::root().key(key), expected, value)),
        _ => Ok(()),
    }
}

/// Whether a value is an array of strings.
pub fn is_string_array(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

/// The error that says what was expected and what was found.
pub fn wrong(field: &FieldPath, expected: &str, found: &Value) -> ShapeError {
    ShapeError::new(field.clone(), format!("expected {expected}, found {}", brief(found)))
}

/// A short form of a value, for an error.
fn brief(value: &Value) -> String {
    const LONGEST: usize = 40;
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().count() > LONGEST => {
            format!("{:?}…", text.chars().take(LONGEST).collect::<String>())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(message: Value) -> String {
        let error = check_given(message.as_object().unwrap()).expect_err(&message.to_string());
        format!("{}: {}", error.field, error.message)
    }

    #[test]
    fn names_the_field() {
        let part = |part: Value| json!({"role": "user", "content": [{"type": "text", "text": ""}, part]});
        let cases = [
            (json!({}), "role: is missing"),
            (json!({"role": 7}), "role: expected a string, found 7"),
            (json!({"role": "robot"}), "role: \"robot\" is not a role"),
            (json!({"role": "user", "content": "Hi"}), "content: expected an array of content parts"),
            (json!({"role": "user", "content": {}}), "content: expected an array of content parts, found an object"),
            (json!({"role": "user", "id": ""}), "id: expected a non-empty string"),
            (json!({"role": "user", "metadata": []}), "metadata: expected an object"),
            (json!({"role": "user", "_hook_ids": [1]}), "_hook_ids: expected an array of strings"),
            (json!({"role": "user", "token_count": -1}), "token_count: expected a non-negative integer"),
            (part(json!("x")), "content[1]: expected an object"),
            (part(json!({})), "content[1].type: is missing"),
            (part(json!({"type": "text"})), "content[1].text: is missing"),
            (part(json!({"type": "image"})), "content[1].source: is missing"),
            (part(json!({"type": "image", "source": {"type": "url"}})), "content[1].source.url: is missing"),
            (part(json!({"type": "pdf", "source": {"type": "base64", "data": ""}})), "content[1].source.media_type"),
            (part(json!({"type": "tool_use", "call_id": "1", "name": "f", "arguments": {}})), "content[1].arguments"),
            (part(json!({"type": "tool_result", "call_id": 1, "content": ""})), "content[1].call_id"),
            (part(json!({"type": "tool", "name": "f", "parameters": []})), "content[1].parameters"),
        ];
        for (message, expected) in cases {
            let fault = fault(message.clone());
            assert!(fault.starts_with(expected), "{message}: {fault}");
        }
    }

    #[test]
    fn unknown_fields_and_types_are_accepted() {
        let message = json!({"role": "user", "mood": 1, "content": [{"type": "hologram", "data": 7}]});
        assert_eq!(check_given(message.as_object().unwrap()), Ok(()));
        let stored = json!({"role": "developer", "content": [{"type": "text", "text": 7}]});
        assert_eq!(check_stored(stored.as_object().unwrap()), Ok(()));
    }
}
