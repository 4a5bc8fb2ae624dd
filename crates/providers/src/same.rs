//! The normal form in which a request that comes back is the one that was read.

use serde_json::Value;

use super::format::ProviderFormat;

/// Whether two values of a request say the same: a text as content is one text part, and an absent field, null and the
/// default of the format are one. Only `content` that is null is not absent, because OpenAI treats them differently.
pub fn is_same(one: &Value, other: &Value, format: &dyn ProviderFormat) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.iter().all(|(key, value)| match other.get(key) {
                Some(other) if key == "content" => is_same_content(value, other, format),
                Some(other) => is_same(value, other, format),
                None => is_absent(key, value, format),
            }) && other.iter().all(|(key, value)| one.contains_key(key) || is_absent(key, value, format))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other, format))
        }
        (Value::String(text), Value::Object(_)) => only_text(other, format) == Some(text),
        (Value::Object(_), Value::String(text)) => only_text(one, format) == Some(text),
        _ => one == other,
    }
}

/// Whether a field may as well be absent.
pub fn is_absent(key: &str, value: &Value, format: &dyn ProviderFormat) -> bool {
    value.is_null() && key != "content" || format.is_default(key, value)
}

fn is_same_content(one: &Value, other: &Value, format: &dyn ProviderFormat) -> bool {
    let text = |value: &'_ Value| match value {
        Value::Array(parts) => match parts.as_slice() {
            [part] => only_text(part, format).map(str::to_owned),
            _ => None,
        },
        text => text.as_str().map(str::to_owned),
    };
    match (text(one), text(other)) {
        (Some(one), Some(other)) => one == other,
        _ => is_same(one, other, format),
    }
}

/// The text of a part that has nothing else.
fn only_text<'v>(part: &'v Value, format: &dyn ProviderFormat) -> Option<&'v str> {
    let fields = part.as_object()?;
    let is_plain = |(key, value): (&String, &Value)| match key.as_str() {
        "text" => true,
        "type" => matches!(value.as_str(), Some("text" | "input_text" | "output_text")),
        _ => is_absent(key, value, format),
    };
    fields.iter().all(is_plain).then(|| fields.get("text")?.as_str()).flatten()
}
