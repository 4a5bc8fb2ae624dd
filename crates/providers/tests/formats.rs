//! The formats of providers over whatever files and callers hold.
#![cfg(not(target_arch = "wasm32"))]

use peteos_conversation::environment::fixed::Fixed;
use peteos_conversation::error::Error;
use peteos_conversation::{Context, MESSAGES, Message, Special};
use peteos_json as json;
use peteos_providers::formats::{AiSdk, Anthropic, FORMATS, Gemini, OpenAiChat, OpenAiResponses, checkable};
use peteos_providers::rules::{Rule, check};
use peteos_providers::{ProviderFormat, from_messages, to_messages};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Values of every kind, among them those that the formats look for.
fn any_value() -> impl Strategy<Value = Value> {
    let known = [
        "user",
        "assistant",
        "system",
        "model",
        "text",
        "tool",
        "tool_use",
        "tool_result",
        "thinking",
        "image",
        "url",
        "base64",
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        "tool-call",
        "tool-result",
        "{}",
    ];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
        prop::sample::select(known.to_vec()).prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 48, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..5).prop_map(Value::from_iter),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "type",
        "role",
        "content",
        "text",
        "messages",
        "input",
        "contents",
        "parts",
        "id",
        "call_id",
        "name",
        "arguments",
        "tools",
        "system",
        "source",
        "data",
        "url",
        "media_type",
        "functionCall",
        "functionResponse",
        "tool_calls",
        "function",
        "output",
        "summary",
        "is_error",
        "config",
    ])
    .prop_map(str::to_owned)
}

/// A part of a file, which has a type and else what it will.
fn any_part() -> impl Strategy<Value = Value> {
    let kinds = vec![
        "text",
        "thinking",
        "redacted_thinking",
        "image",
        "audio",
        "video",
        "pdf",
        "tool_use",
        "tool_result",
        "tool",
        "?",
    ];
    (prop::sample::select(kinds), prop::collection::vec((any_key(), any_value()), 0..5)).prop_map(|(kind, fields)| {
        let mut part = Value::from_iter(fields);
        part["type"] = kind.into();
        part
    })
}

fn any_context() -> impl Strategy<Value = Value> {
    let roles = vec!["user", "assistant", "system", "developer", "tool", "tool_result", "robot"];
    let message = (prop::sample::select(roles), prop::collection::vec(any_part(), 0..5))
        .prop_map(|(role, content)| json!({"role": role, "content": content, "id": role}));
    let text = json!([{"type": "text", "text": "x"}]);
    let specials = prop::option::of(prop::collection::vec(any_part(), 0..5));
    (prop::collection::vec(message, 0..6), specials).prop_map(move |(mut messages, specials)| {
        let Some(mut parts) = specials else {
            // A system message in front would come back as the system prompt.
            messages.insert(0, json!({"role": "user", "content": text}));
            return json!({"messages": messages});
        };
        let tools = parts.split_off(parts.len() / 2);
        parts.insert(0, text[0].clone());
        messages.insert(0, json!({"role": "system", "content": parts, "id": "s", "_type": "SystemPromptMessage"}));
        messages.insert(1, json!({"role": "tool", "content": tools, "id": "t", "_type": "ToolDefinitionsMessage"}));
        json!({"messages": messages, "system_prompt_message_id": "s", "tool_definitions_message_id": "t"})
    })
}

fn context(dict: Value) -> Context {
    Context::from_dict(dict, None, &Fixed::default()).unwrap()
}

fn is_argument_error(error: &Error, beginning: &str) -> bool {
    matches!(error, Error::InvalidArgument { argument, .. } if argument.starts_with(beginning))
}

proptest! {
    #[test]
    fn whatever_a_context_holds(dict in any_context()) {
        let context = context(dict);
        let before = json::to_compact_text(&context.view()).unwrap();
        for format in FORMATS {
            let repaired = to_messages(&context, format, true, None).unwrap();
            let environment = Fixed::default();
            let back = from_messages(repaired.clone().into(), format, None).unwrap().into_context(&environment).unwrap();
            prop_assert_eq!(to_messages(&back, format, true, None).unwrap(), repaired.clone());
            prop_assert_eq!(to_messages(&back, format, false, None).unwrap(), repaired);
            if format.requirements().is_checkable {
                prop_assert_eq!(check(&back, format).unwrap(), []);
            }
            match to_messages(&context, format, false, None) {
                Ok(request) => {
                    let back = from_messages(request.clone().into(), format, None).unwrap().into_context(&environment).unwrap();
                    prop_assert_eq!(to_messages(&back, format, false, None).unwrap(), request);
                }
                Err(error) => prop_assert!(is_argument_error(&error, "messages["), "{error}"),
            }
        }
        prop_assert_eq!(json::to_compact_text(&context.view()).unwrap(), before);
    }

    #[test]
    fn a_check_finds_what_a_conversion_cannot_take(dict in any_context()) {
        let context = context(dict);
        for format in checkable() {
            let found: Vec<Rule> = check(&context, format).unwrap().iter().map(|finding| finding.rule).collect();
            let is_converted = to_messages(&context, format, false, None).is_ok();
            // A result without its call may still be converted: where the name of its tool is not needed, or its own.
            let refused = [Rule::InvalidPart, Rule::UnknownPart, Rule::UnsupportedMedia, Rule::InvalidArguments];
            if refused.iter().any(|rule| found.contains(rule)) {
                prop_assert!(!is_converted, "{} {found:?}", format.name());
            } else if !found.contains(&Rule::OrphanResult) {
                prop_assert!(is_converted, "{} {found:?}", format.name());
            }
        }
    }

    #[test]
    fn whatever_a_caller_hands_in(value in any_value(), is_body in any::<bool>()) {
        for (format, key) in FORMATS.into_iter().zip(["messages", "input", "messages", "contents", "prompt"]) {
            let value = if is_body { json!({key: [value.clone()]}) } else { value.clone() };
            match from_messages(value.clone(), format, None) {
                Ok(conversation) => {
                    let context = conversation.into_context(&Fixed::default()).unwrap();
                    for format in FORMATS {
                        to_messages(&context, format, true, None).unwrap();
                    }
                }
                Err(error) => prop_assert!(is_argument_error(&error, "value"), "{error}"),
            }
        }
    }
}

/// A context with a call of these arguments.
fn with_call(arguments: &str) -> Context {
    let environment = Fixed::default();
    let mut context = Context::create(None, None, None, &environment);
    let call = json!({"type": "tool_use", "call_id": "c", "name": "f", "arguments": arguments});
    for dict in [
        json!({"role": "user", "content": [{"type": "text", "text": "a"}]}),
        json!({"role": "assistant", "content": [call]}),
        json!({"role": "tool_result", "content": [{"type": "tool_result", "call_id": "c", "content": "1"}]}),
    ] {
        context.append(Message::given(dict, &environment).unwrap(), MESSAGES).unwrap();
    }
    context
}

#[test]
fn numbers_keep_their_text() {
    let arguments = r#"{"a":12345678901234567890,"b":1.50,"c":1E400}"#;
    for format in FORMATS {
        let request = to_messages(&with_call(arguments), format, false, None).unwrap();
        let written = json::to_compact_text(&(&request).into()).unwrap();
        let read = json::parse(written.as_bytes()).unwrap();
        let back = from_messages(read.clone(), format, None).unwrap().into_context(&Fixed::default()).unwrap();
        assert_eq!(back.message(1).unwrap().parts()[0]["arguments"], arguments, "{}", format.name());
    }
}

#[test]
fn an_object_with_a_private_key_of_serde_json_is_an_object() {
    let arguments = r#"{"x":{"$serde_json::private::Number":"5"}}"#;
    for format in [&Anthropic as &dyn ProviderFormat, &Gemini, &AiSdk] {
        let request = to_messages(&with_call(arguments), format, false, None).unwrap();
        assert!(json::to_compact_text(&(&request).into()).unwrap().contains(arguments), "{}", format.name());
    }
}

#[test]
fn special_messages_that_are_none_stay_in_place() {
    let environment = Fixed::default();
    let system = json!({"content": [{"type": "text", "text": "Be brief."}]});
    let system = Message::given_special(Special::SystemPrompt, system, &environment).unwrap();
    let mut context = Context::create(Some(system), None, None, &environment);
    let user = json!({"role": "user", "content": [{"type": "text", "text": "a"}]});
    context.append(Message::given(user, &environment).unwrap(), MESSAGES).unwrap();
    let request = to_messages(&context, &OpenAiChat, false, None).unwrap();
    assert_eq!(request["messages"][0], json!({"role": "system", "content": "Be brief."}));
    let mut dict = json::parse(&json::to_file_bytes(&context.view()).unwrap()).unwrap();
    dict["system_prompt_message_id"] = Value::Null;
    let context = self::context(dict);
    assert_eq!(to_messages(&context, &Anthropic, false, None).unwrap()["system"], "Be brief.");
    assert_eq!(to_messages(&context, &OpenAiResponses, false, None).unwrap()["input"][0]["role"], "system");
}
