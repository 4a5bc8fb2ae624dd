//! Other accepted forms of a Gemini request, brought to the one that the SDK uses: the names of the REST API in snake case,
//! and texts, parts and lists of these in place of contents.

use serde_json::Value;

use crate::dict::dict;
use peteos_json::Object;

/// Fields that hold objects of the API. The keys in others, such as the arguments of a call, may be data of the caller.
const NESTED: [&str; 12] = [
    "parts",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "videoMetadata",
    "mediaResolution",
    "functionDeclarations",
];
/// Fields that hold the conversation, in a body or in its `config`.
const CONVERSATION: [&str; 3] = ["contents", "systemInstruction", "tools"];

/// A request in the form of the SDK.
pub fn renamed(mut root: Value) -> Value {
    if root.is_array() {
        return contents(root);
    }
    settings(&mut root);
    if let Some(config) = root.get_mut("config") {
        settings(config);
    }
    root
}

fn settings(body: &mut Value) {
    let Value::Object(fields) = body else { return };
    camel_keys(fields);
    for name in CONVERSATION {
        let Some(value) = fields.get_mut(name).filter(|value| !value.is_null()) else { continue };
        *value = match name {
            "contents" => contents(value.take()),
            "systemInstruction" => instruction(value.take()),
            _ => in_camel_case(value.take()),
        };
    }
}

fn contents(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(content).collect::<Vec<Value>>().into(),
        Value::String(_) | Value::Object(_) => vec![content(value)].into(),
        other => other,
    }
}

/// A content; a text or a part alone is one of the user.
fn content(value: Value) -> Value {
    match in_camel_case(value) {
        Value::String(text) => dict! {"role": "user", "parts": vec![dict! {"text": text}]},
        Value::Object(fields) if !fields.contains_key("parts") && !fields.contains_key("role") => {
            dict! {"role": "user", "parts": vec![Value::Object(fields)]}
        }
        mut content => {
            texts_as_parts(&mut content);
            content
        }
    }
}

fn instruction(value: Value) -> Value {
    match in_camel_case(value) {
        Value::Object(fields) if fields.contains_key("parts") => {
            let mut content = Value::Object(fields);
            texts_as_parts(&mut content);
            content
        }
        parts => {
            let parts = if parts.is_array() { parts } else { vec![parts].into() };
            let mut content = dict! {"parts": parts};
            texts_as_parts(&mut content);
            content
        }
    }
}

fn texts_as_parts(content: &mut Value) {
    let parts = content.get_mut("parts").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten().filter(|part| part.is_string()) {
        *part = dict! {"text": part.take()};
    }
}

fn in_camel_case(mut value: Value) -> Value {
    let mut rest = vec![&mut value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                camel_keys(fields);
                rest.extend(
                    fields.iter_mut().filter(|(key, _)| NESTED.contains(&key.as_str())).map(|(_, value)| value),
                );
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    value
}

fn camel_keys(fields: &mut Object) {
    if !fields.keys().any(|key| key.contains('_')) {
        return;
    }
    let named = std::mem::take(fields);
    for (key, value) in named {
        let camel = camel(&key);
        let key = if fields.contains_key(&camel) { key } else { camel };
        fields.insert(key, value);
    }
}

fn camel(key: &str) -> String {
    let mut words = key.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
