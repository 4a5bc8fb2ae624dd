use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::formats::{AiSdk, Anthropic, FORMATS, Gemini, OpenAiChat, OpenAiResponses, checkable};
use crate::rules::{check, findings_in};
use crate::samples::{self, call, context, message, result, text};
use peteos_conversation::Special;

/// Role and parts of what is sent.
fn repaired(dicts: &[Value], format: &dyn ProviderFormat) -> Vec<Value> {
    let repaired = repair(&context(dicts), format);
    repaired.iter().map(|repaired| message(repaired.message.role(), repaired.message.parts().into())).collect()
}

fn interrupted(id: &str) -> Value {
    json!({"type": "tool_result", "call_id": id, "content": INTERRUPTED, "execution_status": "aborted", "is_error": true})
}

fn user() -> Value {
    message("user", json!([text("Look!")]))
}

#[test]
fn a_result_that_never_came_is_put_in() {
    let after = message("user", json!([text("Well?")]));
    let dicts = [
        user(),
        message("assistant", json!([call("a"), call("b")])),
        message("tool_result", json!([result("b")])),
        after.clone(),
    ];
    for format in FORMATS {
        let expected = [
            user(),
            dicts[1].clone(),
            message("tool_result", json!([interrupted("a")])),
            message("tool_result", json!([result("b")])),
            after.clone(),
        ];
        assert_eq!(repaired(&dicts, format), expected, "{}", format.name());
    }
    let ids: Vec<String> = repair(&context(&dicts), &Gemini).iter().map(|m| m.message.id().to_owned()).collect();
    assert_eq!(ids[2], "repair-result-a");
}

#[test]
fn results_are_put_after_their_calls_and_others_left_out() {
    let dicts = [
        user(),
        message("tool_result", json!([result("z")])),
        message("assistant", json!([call("a"), call("b")])),
        message("user", json!([text("Hurry!")])),
        message("tool_result", json!([result("b"), result("a"), result("a")])),
        message("assistant", json!([text("Seen.")])),
    ];
    for format in [&OpenAiChat as &dyn ProviderFormat, &Anthropic, &Gemini, &AiSdk] {
        let moved = message("tool_result", json!([result("a"), result("b")]));
        let expected = [user(), dicts[2].clone(), moved, dicts[3].clone(), dicts[5].clone()];
        assert_eq!(repaired(&dicts, format), expected, "{}", format.name());
    }
    let expected = [
        user(),
        dicts[2].clone(),
        dicts[3].clone(),
        message("tool_result", json!([result("b"), result("a")])),
        dicts[5].clone(),
    ];
    assert_eq!(repaired(&dicts, &OpenAiResponses), expected, "matched at any distance");
}

#[test]
fn an_orphan_alone_does_not_stand_between() {
    let dicts = [
        user(),
        message("assistant", json!([call("a")])),
        message("tool_result", json!([result("z")])),
        message("tool_result", json!([result("a")])),
    ];
    for format in FORMATS {
        assert_eq!(repaired(&dicts, format), [user(), dicts[1].clone(), dicts[3].clone()], "{}", format.name());
    }
}

#[test]
fn ids_that_two_calls_have() {
    let dicts = [
        user(),
        message("assistant", json!([call("a"), call("a")])),
        message("tool_result", json!([result("a"), result("a")])),
        message("assistant", json!([call("a-2")])),
        message("tool_result", json!([result("a-2")])),
        message("assistant", json!([call("a")])),
        message("tool_result", json!([result("a")])),
    ];
    let chat = repaired(&dicts, &OpenAiChat);
    assert_eq!(chat[1], message("assistant", json!([call("a"), call("a-3")])));
    assert_eq!(chat[2], message("tool_result", json!([result("a"), result("a-3")])));
    assert_eq!(chat[5], dicts[5], "an id may be used again");
    let anthropic = repaired(&dicts, &Anthropic);
    assert_eq!(anthropic[5], message("assistant", json!([call("a-4")])));
    assert_eq!(anthropic[6], message("tool_result", json!([result("a-4")])));
}

#[test]
fn what_a_provider_does_not_take_is_named_or_left_out() {
    let video = json!({"type": "video", "source": {"type": "url", "url": "https://x.org/y.mp4"}});
    let odd = json!({"type": "tool_use", "call_id": "a", "name": "look", "arguments": "{oops"});
    let dicts = [
        message("user", json!([video, {"type": "sticker"}, text("Look!")])),
        message("assistant", json!([{"type": "thinking", "text": "Hm."}, odd])),
        message("tool_result", json!([result("a")])),
    ];
    let sent = repaired(&dicts, &Anthropic);
    assert_eq!(sent[0], message("user", json!([text("[video left out: the provider takes none]"), text("Look!")])));
    assert_eq!(sent[1]["content"].as_array().unwrap().len(), 1, "without the thinking");
    assert_eq!(sent[1]["content"][0]["arguments"], r#"{"invalid_arguments":"{oops"}"#);
    let sent = repaired(&dicts, &OpenAiChat);
    assert_eq!(sent[1]["content"][0], odd, "passed on as it is");
    assert_eq!(repaired(&dicts, &Gemini)[0]["content"][0], video);
}

#[test]
fn a_conversation_begins_with_the_user() {
    let dicts = [message("assistant", json!([text("I am here. \n")]))];
    let put_in = message("user", json!([text(LEFT_OUT)]));
    assert_eq!(repaired(&dicts, &Anthropic), [put_in.clone(), message("assistant", json!([text("I am here.")]))]);
    assert_eq!(repaired(&dicts, &Gemini), dicts);
    let orphans = [message("tool_result", json!([result("a")]))];
    assert_eq!(repaired(&orphans, &Gemini), [put_in]);
    assert_eq!(repaired(&orphans, &OpenAiResponses), Vec::<Value>::new());
    assert_eq!(repaired(&[], &Anthropic), [message("user", json!([text(NO_MESSAGES)]))]);
}

#[test]
fn a_system_prompt_alone_is_a_message_of_chat_completions() {
    let environment = peteos_conversation::environment::fixed::Fixed::default();
    let prompt = json!({"content": [text("Be careful.")]});
    let prompt = Message::given_special(Special::SystemPrompt, prompt, &environment).unwrap();
    let context = Context::create(Some(prompt), None, None, &environment);
    for format in checkable() {
        let put_in = ["anthropic", "gemini"].contains(&format.name());
        assert_eq!(repair(&context, format).len(), usize::from(put_in), "{}", format.name());
    }
}

#[test]
fn gemini_gets_its_calls_directly_after_the_user() {
    let mut signed = call("b");
    signed["thought_signature"] = "g".into();
    let dicts = [
        user(),
        message("assistant", json!([text("I look.")])),
        message("assistant", json!([call("a")])),
        message("tool_result", json!([result("a")])),
        message("assistant", json!([signed])),
        message("tool_result", json!([result("b")])),
    ];
    let sent = repaired(&dicts, &Gemini);
    let mut first = call("a");
    first["thought_signature"] = "skip_thought_signature_validator".into();
    assert_eq!(sent[1], message("assistant", json!([text("I look."), first])));
    assert_eq!(sent[2..], dicts[3..]);
}

#[test]
fn a_call_of_the_user_becomes_one_of_the_assistant() {
    let dicts = [message("user", json!([text("Look!"), call("a"), result("a"), text("Well?")]))];
    for format in FORMATS {
        let expected =
            [user(), message("assistant", json!([call("a")])), message("user", json!([result("a"), text("Well?")]))];
        assert_eq!(repaired(&dicts, format), expected, "{}", format.name());
    }
}

fn without_thinking(message: &Message) -> Value {
    let is_thinking = |part: &&Value| matches!(Part::read(part), Part::Thinking(_));
    let parts = message.parts().iter().filter(|part| !is_thinking(part)).cloned().collect();
    samples::message(message.role(), parts)
}

proptest! {
    #[test]
    fn a_repaired_conversation_is_accepted(dicts in prop_oneof![samples::messy(), samples::unusual()]) {
        let context = context(&dicts);
        for format in FORMATS {
            let repaired = repair(&context, format);
            let messages = repaired.iter().map(|repaired| &repaired.message).enumerate();
            prop_assert_eq!(findings_in(messages, false, format), [], "{} {:?}", format.name(), repaired);
        }
    }

    #[test]
    fn a_repair_for_the_ai_sdk_gives_each_call_a_result(dicts in samples::messy()) {
        let repaired = repair(&context(&dicts), &AiSdk);
        let mut open: Vec<String> = Vec::new();
        for RepairedMessage { message, .. } in &repaired {
            for part in message.parts() {
                match Part::read(part) {
                    Part::Call(call) => {
                        prop_assert_eq!(message.role(), "assistant");
                        open.push(call.call_id.to_owned());
                    }
                    Part::Result { call_id, .. } => {
                        let index = open.iter().position(|id| id == call_id);
                        prop_assert!(index.is_some(), "{:?}", repaired);
                        open.remove(index.unwrap());
                    }
                    Part::Unknown(_) | Part::Invalid { .. } => prop_assert!(false, "{:?}", part),
                    _ => {}
                }
            }
        }
        prop_assert!(open.is_empty());
    }

    #[test]
    fn what_is_taken_stays_as_it_is(dicts in prop_oneof![samples::ordinary(), samples::unusual(), samples::messy()]) {
        let context = context(&dicts);
        for format in checkable() {
            if !check(&context, format).unwrap().is_empty() {
                continue;
            }
            let repaired = repair(&context, format);
            let sent: Vec<(usize, &Message)> = super::super::rules::ordinary_messages(&context)
                .filter(|(_, message)| repaired.iter().any(|repaired| repaired.message.id() == message.id()))
                .collect();
            prop_assert_eq!(sent.len(), repaired.len(), "nothing is put in");
            for ((position, message), repaired) in sent.iter().zip(&repaired) {
                prop_assert_eq!(repaired.position, Some(*position));
                prop_assert_eq!(without_thinking(&repaired.message), without_thinking(message));
            }
        }
    }

    #[test]
    fn a_repair_is_deterministic(dicts in samples::messy()) {
        let context = context(&dicts);
        for format in FORMATS {
            let dicts = || -> Vec<_> {
                repair(&context, format).iter().map(|repaired| repaired.message.dict().clone()).collect()
            };
            prop_assert_eq!(dicts(), dicts());
        }
    }
}
