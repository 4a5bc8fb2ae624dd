use serde_json::{Value, json};

use super::*;
use crate::formats::{AiSdk, Anthropic, Gemini, OpenAiChat, OpenAiResponses, checkable};
use peteos_conversation::MESSAGES;
use peteos_conversation::environment::fixed::Fixed;

/// A context with a system prompt and tool definitions, which come first.
fn context(messages: &[Value]) -> Context {
    let environment = Fixed::default();
    let special = |kind, content| Message::given_special(kind, json!({ "content": content }), &environment).ok();
    let prompt = special(Special::SystemPrompt, json!([{"type": "text", "text": "Be careful."}]));
    let tools = special(Special::ToolDefinitions, json!([{"name": "look"}]));
    let mut context = Context::create(prompt, tools, None, &environment);
    for message in messages {
        context.append(Message::stored(message.clone(), &environment).unwrap().0, MESSAGES).unwrap();
    }
    context
}

fn found(messages: &[Value], format: &dyn ProviderFormat) -> Vec<(&'static str, String)> {
    let findings = check(&context(messages), format).unwrap();
    findings.into_iter().map(|finding| (finding.rule.name(), finding.path)).collect()
}

fn user() -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": "Look!"}]})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "call_id": id, "name": "look", "arguments": "{}"})
}

fn result(id: &str) -> Value {
    json!({"role": "tool_result", "content": [{"type": "tool_result", "call_id": id, "content": "x"}]})
}

#[test]
fn positions_count_the_special_messages() {
    let messages = [user(), json!({"role": "assistant", "content": [call("a")]})];
    for format in checkable() {
        let expected = [("missing-result", "messages[3].content[0].call_id".to_owned())];
        assert_eq!(found(&messages, format), expected, "{}", format.name());
    }
}

#[test]
fn findings_are_sorted_by_place_then_by_rule() {
    let odd = json!({"type": "tool_use", "call_id": "a b", "name": "", "arguments": "[]"});
    let messages =
        [json!({"role": "assistant", "content": [odd, {"type": "sticker"}]}), result("z"), json!({"role": "robot"})];
    let expected = [
        ("wrong-first-role", "messages[2].role"),
        ("missing-result", "messages[2].content[0].call_id"),
        ("invalid-call-id", "messages[2].content[0].call_id"),
        ("invalid-name", "messages[2].content[0].name"),
        ("invalid-arguments", "messages[2].content[0].arguments"),
        ("unknown-part", "messages[2].content[1].type"),
        ("orphan-result", "messages[3].content[0].call_id"),
        ("unknown-role", "messages[4].role"),
        ("empty-content", "messages[4].content"),
    ];
    let expected: Vec<(&str, String)> = expected.iter().map(|(rule, path)| (*rule, (*path).to_owned())).collect();
    assert_eq!(found(&messages, &Anthropic), expected);
}

#[test]
fn a_result_that_may_still_come_is_asked_for() {
    let calls = json!({"role": "assistant", "content": [call("a")]});
    let fix = |messages: &[Value]| check(&context(messages), &Anthropic).unwrap()[0].fix;
    assert!(fix(&[user(), calls.clone()]).starts_with("Append"));
    let answer = json!({"role": "assistant", "content": [{"type": "text", "text": "Well."}]});
    assert!(fix(&[user(), calls, user(), answer]).starts_with("Put"));
}

#[test]
fn other_content_ends_the_results_where_each_is_a_message() {
    let first = json!({"role": "user", "content": [
        {"type": "tool_result", "call_id": "a", "content": "x"}, {"type": "text", "text": "Go on."}]});
    let messages = [user(), json!({"role": "assistant", "content": [call("a"), call("b")]}), first, result("b")];
    let expected = [("misplaced-result", "messages[5].content[0].call_id".to_owned())];
    assert_eq!(found(&messages, &OpenAiChat), expected);
    for format in [&OpenAiResponses as &dyn ProviderFormat, &Anthropic, &Gemini] {
        assert_eq!(found(&messages, format), [], "{}", format.name());
    }
}

#[test]
fn only_a_system_prompt_will_do_for_chat_completions() {
    assert_eq!(found(&[], &OpenAiChat), []);
    assert_eq!(found(&[], &OpenAiResponses), []);
    let expected = [("no-messages", "messages".to_owned())];
    assert_eq!(found(&[], &Anthropic), expected);
    assert_eq!(found(&[], &Gemini), expected);
    let empty = Context::create(None, None, None, &Fixed::default());
    assert_eq!(check(&empty, &OpenAiChat).unwrap()[0].rule, Rule::NoMessages);
}

#[test]
fn a_format_without_rules_of_its_own_is_refused() {
    let error = check(&context(&[]), &AiSdk).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument { .. }));
    assert!(error.to_string().starts_with("provider: 'ai-sdk' has no rules of its own"), "{error}");
}

#[test]
fn each_rule_has_a_name_and_its_place() {
    assert!(Rule::ALL.is_sorted());
    let names: std::collections::HashSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(Rule::ALL.iter().all(|rule| checkable().any(|format| rule.holds_for(format))));
}
