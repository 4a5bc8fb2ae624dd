use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::check::{CHECKED, check, judge};
use super::super::samples::{self, call, context, result, said, text};
use super::*;
use crate::conversation::Special;

/// Role and parts of what is sent.
fn mended(dicts: &[Value], format: Format) -> Vec<Value> {
    let mended = mend(&context(dicts), format);
    mended.iter().map(|mended| said(mended.message.role(), mended.message.parts().into())).collect()
}

fn interrupted(id: &str) -> Value {
    json!({"type": "tool_result", "call_id": id, "content": INTERRUPTED, "execution_status": "aborted", "is_error": true})
}

fn user() -> Value {
    said("user", json!([text("Look!")]))
}

#[test]
fn a_result_that_never_came_is_put_in() {
    let after = said("user", json!([text("Well?")]));
    let dicts = [
        user(),
        said("assistant", json!([call("a"), call("b")])),
        said("tool_result", json!([result("b")])),
        after.clone(),
    ];
    for format in Format::ALL {
        let expected = [
            user(),
            dicts[1].clone(),
            said("tool_result", json!([interrupted("a")])),
            said("tool_result", json!([result("b")])),
            after.clone(),
        ];
        assert_eq!(mended(&dicts, format), expected, "{}", format.name());
    }
    let ids: Vec<String> = mend(&context(&dicts), Format::Gemini).iter().map(|m| m.message.id().to_owned()).collect();
    assert_eq!(ids[2], "repair-result-a");
}

#[test]
fn results_are_put_after_their_calls_and_others_left_out() {
    let dicts = [
        user(),
        said("tool_result", json!([result("z")])),
        said("assistant", json!([call("a"), call("b")])),
        said("user", json!([text("Hurry!")])),
        said("tool_result", json!([result("b"), result("a"), result("a")])),
        said("assistant", json!([text("Seen.")])),
    ];
    for format in [Format::OpenAiChat, Format::Anthropic, Format::Gemini, Format::AiSdk] {
        let moved = said("tool_result", json!([result("a"), result("b")]));
        let expected = [user(), dicts[2].clone(), moved, dicts[3].clone(), dicts[5].clone()];
        assert_eq!(mended(&dicts, format), expected, "{}", format.name());
    }
    let expected = [
        user(),
        dicts[2].clone(),
        dicts[3].clone(),
        said("tool_result", json!([result("b"), result("a")])),
        dicts[5].clone(),
    ];
    assert_eq!(mended(&dicts, Format::OpenAiResponses), expected, "matched at any distance");
}

#[test]
fn an_orphan_alone_does_not_stand_between() {
    let dicts = [
        user(),
        said("assistant", json!([call("a")])),
        said("tool_result", json!([result("z")])),
        said("tool_result", json!([result("a")])),
    ];
    for format in Format::ALL {
        assert_eq!(mended(&dicts, format), [user(), dicts[1].clone(), dicts[3].clone()], "{}", format.name());
    }
}

#[test]
fn ids_that_two_calls_have() {
    let dicts = [
        user(),
        said("assistant", json!([call("a"), call("a")])),
        said("tool_result", json!([result("a"), result("a")])),
        said("assistant", json!([call("a-2")])),
        said("tool_result", json!([result("a-2")])),
        said("assistant", json!([call("a")])),
        said("tool_result", json!([result("a")])),
    ];
    let chat = mended(&dicts, Format::OpenAiChat);
    assert_eq!(chat[1], said("assistant", json!([call("a"), call("a-3")])));
    assert_eq!(chat[2], said("tool_result", json!([result("a"), result("a-3")])));
    assert_eq!(chat[5], dicts[5], "an id may be used again");
    let anthropic = mended(&dicts, Format::Anthropic);
    assert_eq!(anthropic[5], said("assistant", json!([call("a-4")])));
    assert_eq!(anthropic[6], said("tool_result", json!([result("a-4")])));
}

#[test]
fn what_a_provider_does_not_take_is_named_or_left_out() {
    let video = json!({"type": "video", "source": {"type": "url", "url": "https://x.org/y.mp4"}});
    let odd = json!({"type": "tool_use", "call_id": "a", "name": "look", "arguments": "{oops"});
    let dicts = [
        said("user", json!([video, {"type": "sticker"}, text("Look!")])),
        said("assistant", json!([{"type": "thinking", "text": "Hm."}, odd])),
        said("tool_result", json!([result("a")])),
    ];
    let sent = mended(&dicts, Format::Anthropic);
    assert_eq!(sent[0], said("user", json!([text("[video left out: the provider takes none]"), text("Look!")])));
    assert_eq!(sent[1]["content"].as_array().unwrap().len(), 1, "without the thinking");
    assert_eq!(sent[1]["content"][0]["arguments"], r#"{"invalid_arguments":"{oops"}"#);
    let sent = mended(&dicts, Format::OpenAiChat);
    assert_eq!(sent[1]["content"][0], odd, "passed on as it is");
    assert_eq!(mended(&dicts, Format::Gemini)[0]["content"][0], video);
}

#[test]
fn a_conversation_begins_with_the_user() {
    let dicts = [said("assistant", json!([text("I am here. \n")]))];
    let put_in = said("user", json!([text(LEFT_OUT)]));
    assert_eq!(mended(&dicts, Format::Anthropic), [put_in.clone(), said("assistant", json!([text("I am here.")]))]);
    assert_eq!(mended(&dicts, Format::Gemini), dicts);
    let orphans = [said("tool_result", json!([result("a")]))];
    assert_eq!(mended(&orphans, Format::Gemini), [put_in]);
    assert_eq!(mended(&orphans, Format::OpenAiResponses), Vec::<Value>::new());
    assert_eq!(mended(&[], Format::Anthropic), [said("user", json!([text(NO_MESSAGES)]))]);
}

#[test]
fn a_system_prompt_alone_is_a_message_of_chat_completions() {
    let environment = crate::environment::fixed::Fixed::default();
    let prompt = json!({"content": [text("Be careful.")]});
    let prompt = Message::given_special(Special::SystemPrompt, prompt, &environment).unwrap();
    let context = Context::create(Some(prompt), None, None, &environment);
    for format in CHECKED {
        let put_in = matches!(format, Format::Anthropic | Format::Gemini);
        assert_eq!(mend(&context, format).len(), usize::from(put_in), "{}", format.name());
    }
}

#[test]
fn gemini_gets_its_calls_directly_after_the_user() {
    let mut signed = call("b");
    signed["thought_signature"] = "g".into();
    let dicts = [
        user(),
        said("assistant", json!([text("I look.")])),
        said("assistant", json!([call("a")])),
        said("tool_result", json!([result("a")])),
        said("assistant", json!([signed])),
        said("tool_result", json!([result("b")])),
    ];
    let sent = mended(&dicts, Format::Gemini);
    let mut first = call("a");
    first["thought_signature"] = NO_SIGNATURE.into();
    assert_eq!(sent[1], said("assistant", json!([text("I look."), first])));
    assert_eq!(sent[2..], dicts[3..]);
}

#[test]
fn a_call_of_the_user_becomes_one_of_the_assistant() {
    let dicts = [said("user", json!([text("Look!"), call("a"), result("a"), text("Well?")]))];
    for format in Format::ALL {
        let expected =
            [user(), said("assistant", json!([call("a")])), said("user", json!([result("a"), text("Well?")]))];
        assert_eq!(mended(&dicts, format), expected, "{}", format.name());
    }
}

fn without_thinking(message: &Message) -> Value {
    let is_thinking = |part: &&Value| matches!(Part::read(part), Part::Thinking(_));
    let parts = message.parts().iter().filter(|part| !is_thinking(part)).cloned().collect();
    said(message.role(), parts)
}

proptest! {
    #[test]
    fn what_is_mended_is_taken(dicts in prop_oneof![samples::messy(), samples::unusual()]) {
        let context = context(&dicts);
        for format in Format::ALL {
            let mended = mend(&context, format);
            let messages = mended.iter().map(|mended| &mended.message).enumerate();
            prop_assert_eq!(judge(messages, false, format), [], "{} {:?}", format.name(), mended);
        }
    }

    #[test]
    fn what_is_mended_for_the_ai_sdk_has_a_result_for_each_call(dicts in samples::messy()) {
        let mended = mend(&context(&dicts), Format::AiSdk);
        let mut open: Vec<String> = Vec::new();
        for Mended { message, .. } in &mended {
            for part in message.parts() {
                match Part::read(part) {
                    Part::Call(call) => {
                        prop_assert_eq!(message.role(), "assistant");
                        open.push(call.call_id.to_owned());
                    }
                    Part::Result { call_id, .. } => {
                        let index = open.iter().position(|id| id == call_id);
                        prop_assert!(index.is_some(), "{:?}", mended);
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
        for format in CHECKED {
            if !check(&context, format).unwrap().is_empty() {
                continue;
            }
            let mended = mend(&context, format);
            let sent: Vec<(usize, &Message)> = super::super::check::said(&context)
                .filter(|(_, message)| mended.iter().any(|mended| mended.message.id() == message.id()))
                .collect();
            prop_assert_eq!(sent.len(), mended.len(), "nothing is put in");
            for ((position, message), mended) in sent.iter().zip(&mended) {
                prop_assert_eq!(mended.position, Some(*position));
                prop_assert_eq!(without_thinking(&mended.message), without_thinking(message));
            }
        }
    }

    #[test]
    fn mending_is_the_same_each_time(dicts in samples::messy()) {
        let context = context(&dicts);
        for format in Format::ALL {
            let dicts = || -> Vec<_> {
                mend(&context, format).iter().map(|mended| mended.message.dict().clone()).collect()
            };
            prop_assert_eq!(dicts(), dicts());
        }
    }
}
