//! Functions that formats share to write a request.

use serde_json::Value;

use super::compose::Written;
use super::dict::dict;
use super::part::Tool;
use super::source::BETWEEN_TEXTS;
use peteos_json::Object;

/// The fields of an object, without those that are null.
pub fn request<const N: usize>(fields: [(&str, Value); N]) -> Object {
    let mut request = Object::new();
    for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        request.insert(key.to_owned(), value);
    }
    request
}

/// A list, or null if it is empty.
pub fn unless_empty(items: Vec<Value>) -> Value {
    if items.is_empty() { Value::Null } else { items.into() }
}

/// Joins texts, for a format that accepts only one.
pub fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.collect::<Vec<&str>>().join(BETWEEN_TEXTS)
}

/// The JSON schema of a tool's arguments. A schema without a type gets the type `object`; a tool without a schema gets one
/// that accepts any object.
pub fn object_schema(tool: &Tool) -> Value {
    let Some(parameters) = tool.parameters else { return dict! {"type": "object", "properties": Object::new()} };
    let mut schema = parameters.clone();
    if !schema.contains_key("type") {
        schema.shift_insert(0, "type".to_owned(), "object".into());
    }
    schema.into()
}

/// The entries themselves.
pub fn values(written: Vec<Written>) -> Vec<Value> {
    written.into_iter().map(|written| written.value).collect()
}

/// The fields of a value that is an object.
pub fn object(value: Value) -> Object {
    if let Value::Object(fields) = value { fields } else { Object::new() }
}

/// An entry whose content is a text if it is one text part of this type and nothing else.
pub fn with_single_text(mut entry: Object, kind: &str) -> Value {
    let text = match entry.get("content").and_then(Value::as_array).map(Vec::as_slice) {
        Some([Value::Object(part)]) if part.len() == 2 && part.get("type").is_some_and(|name| name == kind) => {
            part.get("text").filter(|text| text.is_string()).cloned()
        }
        _ => None,
    };
    if let Some(text) = text {
        entry.insert("content".to_owned(), text);
    }
    entry.into()
}
