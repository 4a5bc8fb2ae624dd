//! Hooks: functions of the caller whose texts become the content of messages.

use serde_json::{Value, json};

use crate::context::Context;
use crate::digest::sha256_hex;
use crate::error::Error;
use crate::json::{self, ParseError};
use crate::keys;
use crate::message::{MAX_MESSAGE_DEPTH, Message};
use crate::special::Special;

/// The hook whose text is the JSON array of the tools.
const TOOL_LIST: &str = "tool_list";
/// The hook whose text is a JSON array of patterns; tools that match none of them are left out.
const TOOL_FILTER: &str = "tool_filter";

/// How deeply the array of a hook may be nested: its items become parts of a message.
const MAX_ARRAY_DEPTH: usize = MAX_MESSAGE_DEPTH - 1;

/// Whether a whole name matches a regular expression. The caller supplies the regular expression engine.
pub type FullMatch<'a> = &'a dyn Fn(&str, &str) -> Result<bool, Error>;

/// What the hooks returned.
pub struct HookOutputs(Vec<HookOutput>);

struct HookOutput {
    hook_id: String,
    text: String,
}

impl HookOutputs {
    /// Takes pairs of the id of a hook and the text that it returned.
    pub fn new(outputs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(outputs.into_iter().map(|(hook_id, text)| HookOutput { hook_id, text }).collect())
    }

    fn text(&self, hook_id: &str) -> Option<&str> {
        self.0.iter().find(|output| output.hook_id == hook_id).map(|output| output.text.as_str())
    }

    /// The JSON array that a hook returned; `None` if there is no such hook, or if a filter is empty.
    fn array(&self, name: &str) -> Result<Option<Vec<Value>>, Error> {
        let Some(text) = self.text(&hook_id(name)).filter(|text| name != TOOL_FILTER || !text.is_empty()) else {
            return Ok(None);
        };
        match json::parse_within(text.as_bytes(), MAX_ARRAY_DEPTH, usize::MAX) {
            Ok(Value::Array(items)) => Ok(Some(items)),
            Ok(_) => Err(Error::argument(name, "the hook must return a JSON array")),
            Err(ParseError { out_of_memory: Some(out_of_memory), .. }) => Err(out_of_memory.into()),
            Err(error) => {
                let fault = format!("{} at {}:{}", error.message, error.line, error.column);
                Err(Error::argument(name, format!("the hook must return a JSON array: {fault}")))
            }
        }
    }
}

/// The id of a hook: the SHA-256 of its name in hexadecimal digits.
pub fn hook_id(name: &str) -> String {
    sha256_hex(name.as_bytes())
}

impl Context {
    /// Adds a hook to a message, once; returns the hook's id.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the context does not have the message.
    pub fn add_hook(&mut self, message_id: &str, name: &str) -> Result<String, Error> {
        let missing = || Error::argument("message", format!("the active context has no message '{message_id}'"));
        let position = self.messages().position(|message| message.id() == message_id).ok_or_else(missing)?;
        let id = hook_id(name);
        let message = self.message(position).ok_or_else(missing)?;
        if !message.hook_ids().any(|known| known == id) {
            let message = message.with_hook(&id);
            self.file_size.add_message(&message);
            self.put_message(position, message);
        }
        Ok(id)
    }

    /// Stores the texts of the hooks in the content map and rebuilds the content of each message that has hooks: a
    /// system prompt becomes one text, its static text and those of its hooks, separated by blank lines; tool
    /// definitions become the tools of the hook `tool_list`, filtered to those whose name matches a pattern of
    /// the hook `tool_filter`, if that returned any.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if one of these two hooks did not return a JSON array of tools or patterns.
    pub fn materialize(&mut self, outputs: &HookOutputs, full_match: FullMatch) -> Result<(), Error> {
        let mut rebuilt = Vec::new();
        for (position, message) in
            self.messages().enumerate().filter(|(_, message)| message.hook_ids().next().is_some())
        {
            let content = match message.type_name() {
                name if name == Special::SystemPrompt.type_name() => system_prompt(message, outputs),
                name if name == Special::ToolDefinitions.type_name() => tool_definitions(outputs, full_match)?,
                _ => continue,
            };
            if message.dict().get("content") != Some(&content) {
                rebuilt.push((position, message.with_content(content)));
            }
        }
        for (position, message) in rebuilt {
            self.file_size.add_message(&message);
            self.put_message(position, message);
        }
        for HookOutput { text, .. } in &outputs.0 {
            self.put_content(sha256_hex(text.as_bytes()), text);
        }
        Ok(())
    }

    fn put_content(&mut self, hash: String, text: &str) {
        if let Some(Value::Object(map)) = self.fields.get_mut(keys::CONTENT_MAP) {
            if !map.contains_key(&hash) {
                map.insert(hash, text.into());
                self.touch();
            }
        }
    }
}

fn system_prompt(message: &Message, outputs: &HookOutputs) -> Value {
    let fixed = message.dict().get("_static_text").and_then(Value::as_str).filter(|text| !text.is_empty());
    let texts: Vec<&str> = fixed.into_iter().chain(message.hook_ids().filter_map(|id| outputs.text(id))).collect();
    json!([{"type": "text", "text": texts.join("\n\n")}])
}

fn tool_definitions(outputs: &HookOutputs, full_match: FullMatch) -> Result<Value, Error> {
    let tools = outputs.array(TOOL_LIST)?.unwrap_or_default();
    let patterns = outputs.array(TOOL_FILTER)?.unwrap_or_default();
    let mut kept = Vec::new();
    for tool in &tools {
        let Value::Object(tool) = tool else {
            return Err(Error::argument(
                TOOL_LIST,
                "each tool must be an object with name, description and parameters",
            ));
        };
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if patterns.is_empty() || matches_any(name, &patterns, full_match)? {
            let field = |key: &str, default: Value| tool.get(key).cloned().unwrap_or(default);
            kept.push(json!({
                "type": "tool",
                "name": field("name", "".into()),
                "description": field("description", "".into()),
                "parameters": field("parameters", json!({})),
            }));
        }
    }
    Ok(kept.into())
}

fn matches_any(name: &str, patterns: &[Value], full_match: FullMatch) -> Result<bool, Error> {
    for pattern in patterns {
        let Value::String(pattern) = pattern else {
            return Err(Error::argument(TOOL_FILTER, format!("expected a string for each pattern, found {pattern}")));
        };
        if full_match(pattern, name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixed::Fixed;

    fn equal(pattern: &str, name: &str) -> Result<bool, Error> {
        Ok(pattern == name)
    }

    fn outputs(pairs: &[(&str, &str)]) -> HookOutputs {
        HookOutputs::new(pairs.iter().map(|(name, text)| (hook_id(name), (*text).to_owned())))
    }

    fn special(kind: Special, dict: Value) -> Option<Message> {
        Some(Message::given_special(kind, dict, &Fixed::default()).unwrap())
    }

    #[test]
    fn a_system_prompt_is_made_of_its_texts() {
        let system = special(Special::SystemPrompt, json!({"id": "s", "_static_text": "Fixed.", "token_count": 9}));
        let mut context = Context::create(system, None, None, &Fixed::default());
        let id = context.add_hook("s", "mood").unwrap();
        assert_eq!(id, hook_id("mood"));
        context.add_hook("s", "unheard").unwrap();
        context.add_hook("s", "mood").unwrap();
        assert_eq!(context.message(0).unwrap().hook_ids().count(), 2, "a hook is added once");
        context.materialize(&outputs(&[("mood", "Be kind."), ("other", "x")]), &equal).unwrap();
        let message = context.message(0).unwrap();
        assert_eq!(message.dict()["content"], json!([{"type": "text", "text": "Fixed.\n\nBe kind."}]));
        assert!(!message.dict().contains_key("token_count"));
        assert_eq!(context.content_map()[&sha256_hex(b"Be kind.")], "Be kind.");
        let revision = context.revision();
        context.materialize(&outputs(&[("mood", "Be kind.")]), &equal).unwrap();
        assert_eq!(context.revision(), revision, "the same texts are not a change");
    }

    #[test]
    fn tools_come_from_one_hook_and_are_filtered_by_another() {
        let tools = special(Special::ToolDefinitions, json!({"id": "t"}));
        let mut context = Context::create(None, tools, None, &Fixed::default());
        context.add_hook("t", TOOL_LIST).unwrap();
        let list = r#"[{"name":"a","description":"A","parameters":{"x":1.0},"extra":1},{"name":"b"}]"#;
        context.materialize(&outputs(&[(TOOL_LIST, list)]), &equal).unwrap();
        let all = context.message(0).unwrap().dict()["content"].clone();
        assert_eq!(all[1], json!({"type": "tool", "name": "b", "description": "", "parameters": {}}));
        context.materialize(&outputs(&[(TOOL_LIST, list), (TOOL_FILTER, r#"["a"]"#)]), &equal).unwrap();
        assert_eq!(context.message(0).unwrap().dict()["content"], json!([all[0]]));
        context.materialize(&outputs(&[(TOOL_LIST, list), (TOOL_FILTER, "")]), &equal).unwrap();
        let before = context.message(0).unwrap().dict().clone();
        assert_eq!(before["content"], all, "no filter");
        for bad in [&[(TOOL_LIST, "no")], &[(TOOL_LIST, "{}")], &[(TOOL_LIST, "[7]")]] {
            assert!(context.materialize(&outputs(bad), &equal).is_err());
            assert_eq!(context.message(0).unwrap().dict(), &before);
        }
        assert!(context.add_hook("unknown", "x").is_err());
    }
}
