//! The messages of a list one by one, each read alone, for callers who keep the list and ask only which of them fit.

use serde_json::Value;

use super::dict::{dict, set};
use super::{ProviderFormat, from_messages, stored};
use peteos_conversation::NewConversation;

/// The mark in front of the name of a tool that stands for the id of a call or a result that has none.
const UNNAMED: char = '\u{1}';

/// One stored message for each message or item. What the format cannot read is a text: its JSON.
pub fn read_items(items: Vec<Value>, format: &dyn ProviderFormat) -> Vec<Value> {
    items.into_iter().map(|item| read_item(item, format)).collect()
}

fn read_item(mut item: Value, format: &dyn ProviderFormat) -> Value {
    mark_unnamed(&mut item);
    let list = Value::Array(vec![item]);
    if let Some(message) = read_alone(&list, format) {
        return message;
    }
    let item = &list[0];
    let role = match item["role"].as_str() {
        Some("user") => "user",
        Some("system" | "developer") => "system",
        Some("tool" | "function") => "tool_result",
        _ if is_output(item) => "tool_result",
        _ => "assistant",
    };
    let content = readable_parts(item, format);
    let has_result = content.iter().any(|part| part["type"] == "tool_result");
    dict! {"role": if has_result && role == "user" { "tool_result" } else { role }, "content": content}
}

/// The message of a list with one item, if the format can read it.
fn read_alone(list: &Value, format: &dyn ProviderFormat) -> Option<Value> {
    let NewConversation { system_prompt, messages, .. } = from_messages(list.clone(), format, None).ok()?;
    let mut messages = system_prompt.into_iter().chain(messages);
    let mut first = messages.next()?;
    for mut other in messages {
        if let (Some(content), Value::Array(more)) = (first["content"].as_array_mut(), other["content"].take()) {
            content.extend(more);
        }
    }
    Some(first)
}

/// The parts of an item that cannot be read as a whole: each that can be read alone, and the JSON of the others.
fn readable_parts(item: &Value, format: &dyn ProviderFormat) -> Vec<Value> {
    let id = |key: &str| item[key].as_str();
    if let Some(result) = id("tool_call_id") {
        return vec![stored::result(result, &item["content"].to_string(), false)];
    }
    if let Some(call) = id("call_id") {
        let kind = id("type").unwrap_or_default();
        let text = item.to_string();
        return vec![if is_output(item) {
            stored::result(call, &text, false)
        } else {
            stored::call(call, kind, &text)
        }];
    }
    let Some((key, parts)) = ["content", "parts"].into_iter().find_map(|key| Some((key, item[key].as_array()?))) else {
        return [text_of(item)].into_iter().chain(tool_calls(item)).collect();
    };
    let mut one = item.clone();
    if let Some(fields) = one.as_object_mut() {
        fields.shift_remove("tool_calls");
    }
    let mut content = Vec::new();
    for part in parts {
        set(&mut one, key, vec![part.clone()].into());
        match read_alone(&Value::Array(vec![one.clone()]), format) {
            Some(mut message) => {
                content.extend(message["content"].as_array_mut().map(std::mem::take).into_iter().flatten())
            }
            None => content.push(text_of(part)),
        }
    }
    content.extend(tool_calls(item));
    content
}

/// The calls of a message of Chat Completions.
fn tool_calls(item: &Value) -> impl Iterator<Item = Value> + '_ {
    item["tool_calls"].as_array().into_iter().flatten().map(|call| match call["id"].as_str() {
        Some(id) => stored::call(id, call["function"]["name"].as_str().unwrap_or_default(), &call.to_string()),
        None => text_of(call),
    })
}

fn text_of(value: &Value) -> Value {
    stored::text(&value.to_string())
}

/// Whether an item of Responses is the output of a call.
fn is_output(item: &Value) -> bool {
    item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"))
}

/// Gemini's calls and responses may have no id. They are matched by name later, by whoever sees all messages.
fn mark_unnamed(item: &mut Value) {
    for part in item.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
        for key in ["functionCall", "functionResponse"] {
            let Some(call) = part.get_mut(key).filter(|call| call.get("id").is_none_or(Value::is_null)) else {
                continue;
            };
            let id = format!("{UNNAMED}{}", call["name"].as_str().unwrap_or_default());
            set(call, "id", id.into());
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats;

    #[test]
    fn each_item_is_a_message() {
        let chat = formats::find("openai-chat").unwrap();
        let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let items = vec![
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "tool", "tool_call_id": "c", "content": "one"}),
            json!({"role": "tool", "tool_call_id": "d", "content": [{"type": "new"}]}),
            json!({"role": "assistant", "content": [{"type": "new"}], "tool_calls": [call]}),
            json!(5),
        ];
        let messages = read_items(items, chat);
        let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
        assert_eq!(roles, ["system", "tool_result", "tool_result", "assistant", "assistant"]);
        assert_eq!(messages[2]["content"][0]["call_id"], "d");
        assert_eq!(messages[3]["content"][1]["call_id"], "c");
        assert_eq!(messages[4]["content"][0]["text"], "5");
    }
}
