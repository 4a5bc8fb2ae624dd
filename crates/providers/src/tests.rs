use proptest::prelude::*;
use serde_json::{Value, json};

use super::formats::{FORMATS, OpenAiResponses, checkable};
use super::rules::{Rule, check};
use super::*;
use peteos_conversation::environment::fixed::Fixed;

/// A context whose first two messages are the special ones.
fn with_specials(dicts: &[Value]) -> Context {
    let mut messages = dicts.to_vec();
    for (message, (id, kind)) in
        messages.iter_mut().zip([("s", "SystemPromptMessage"), ("t", "ToolDefinitionsMessage")])
    {
        message["id"] = id.into();
        message["_type"] = kind.into();
    }
    let dict = json!({
        "messages": messages,
        "system_prompt_message_id": "s",
        "tool_definitions_message_id": "t",
    });
    Context::from_dict(dict, None, &Fixed::default()).unwrap()
}

fn any_context() -> impl Strategy<Value = Context> {
    let dicts = prop_oneof![samples::messy(), samples::unusual(), samples::ordinary()];
    (dicts, any::<bool>()).prop_map(
        |(dicts, has_specials)| {
            if has_specials { with_specials(&dicts) } else { samples::context(&dicts) }
        },
    )
}

/// What a conversion cannot take; every one of these rules stands for an error of it.
const REFUSED: [Rule; 4] = [Rule::InvalidPart, Rule::UnknownPart, Rule::UnsupportedMedia, Rule::InvalidArguments];

proptest! {
    #[test]
    fn a_repaired_conversation_is_converted_and_passes_the_check(context in any_context()) {
        let before = peteos_json::to_compact_text(&context.view()).unwrap();
        for format in FORMATS {
            let repaired = to_messages(&context, format, true, None).unwrap();
            prop_assert_eq!(&to_messages(&context, format, true, None).unwrap(), &repaired);
            let value = Value::from(repaired.clone());
            let back = from_messages(value.clone(), format, None).unwrap().into_context(&Fixed::default()).unwrap();
            prop_assert!(to_messages(&back, format, false, None).is_ok());
            if format.requirements().is_checkable {
                prop_assert_eq!(check(&back, format).unwrap(), [], "{} {}", format.name(), value);
            }
        }
        prop_assert_eq!(peteos_json::to_compact_text(&context.view()).unwrap(), before);
    }

    #[test]
    fn what_is_found_is_what_is_not_converted(context in any_context()) {
        for format in checkable() {
            let found: Vec<Rule> = check(&context, format).unwrap().iter().map(|finding| finding.rule).collect();
            let converted = to_messages(&context, format, false, None);
            // A result without its call may still be converted: where the name of its tool is not needed, or its own.
            if found.iter().any(|rule| REFUSED.contains(rule)) {
                prop_assert!(converted.is_err(), "{} {found:?}", format.name());
            } else if !found.contains(&Rule::OrphanResult) {
                prop_assert!(converted.is_ok(), "{} {found:?} {converted:?}", format.name());
            }
        }
    }
}

#[test]
fn special_messages_are_repaired() {
    let video = json!({"type": "video", "source": {"type": "url", "url": "https://x.org/y.mp4"}});
    let dicts = [
        json!({"content": [{"type": "text", "text": "Be brief."}, {"type": "text"}, {"type": "sticker"}, video]}),
        json!({"content": [
            {"type": "tool"},
            {"type": "text", "text": "look"},
            {"type": "tool", "name": "look", "description": 5, "parameters": "x"},
        ]}),
    ];
    let context = with_specials(&dicts);
    let repaired = to_messages(&context, &OpenAiResponses, true, None).unwrap();
    assert_eq!(repaired["instructions"], "Be brief.\n\n[video left out: the provider takes none]");
    let tool = json!({"type": "function", "name": "look", "parameters": null, "strict": false});
    assert_eq!(repaired["tools"], json!([tool]));
    let found = |position| {
        let findings = check(&context, &OpenAiResponses).unwrap();
        let of_message = findings.into_iter().filter(|finding| finding.path.starts_with(position));
        of_message.map(|finding| (finding.rule.name(), finding.path)).collect::<Vec<_>>()
    };
    let expected = [
        ("invalid-part", "messages[0].content[1].text"),
        ("unknown-part", "messages[0].content[2].type"),
        ("unsupported-media", "messages[0].content[3].source"),
    ];
    assert_eq!(found("messages[0]"), expected.map(|(rule, path)| (rule, path.to_owned())));
    let expected =
        [("invalid-part", "messages[1].content[0].name"), ("invalid-part", "messages[1].content[2].description")];
    assert_eq!(found("messages[1]"), expected.map(|(rule, path)| (rule, path.to_owned())));
}
