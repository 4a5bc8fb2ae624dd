//! Tests: how a cut to the end of a conversation changes its findings.

use proptest::prelude::*;
use serde_json::Value;

use super::findings_in;
use crate::format::ProviderFormat;
use crate::formats::checkable;
use crate::samples;
use peteos_conversation::{Exchanges, Message};

fn findings(messages: &[(usize, &Message)], format: &dyn ProviderFormat) -> Vec<super::Finding> {
    findings_in(messages.iter().copied(), false, format)
}

/// Whether a window may begin here: at a message of the user with content other than results.
fn is_prompt(message: &Message) -> bool {
    message.role() == "user" && message.parts().iter().any(|part| part["type"] != "tool_result")
}

/// The windows of a conversation that keep exchanges whole: those to its end that begin with a prompt, and those from
/// the last prompt to any later end.
fn windows(dicts: &[Value]) -> Vec<Vec<usize>> {
    let context = samples::context(dicts);
    let exchanges = Exchanges::of(&context);
    let messages: Vec<&Message> = context.messages().collect();
    let count = messages.len();
    let is_whole = |kept: &[usize]| {
        let firsts: Vec<usize> = kept.iter().map(|&position| exchanges.first(position)).collect();
        (0..count).all(|position| kept.contains(&position) || !firsts.contains(&exchanges.first(position)))
    };
    let to_end = (0..count).filter(|&start| is_prompt(messages[start])).map(|start| (start..count).collect());
    let after_last = messages.iter().rposition(|message| is_prompt(message)).into_iter().flat_map(|last| {
        (last + 1..=count).map(move |start| std::iter::once(last).chain(start..count).collect::<Vec<usize>>())
    });
    to_end.chain(after_last).filter(|kept: &Vec<usize>| is_whole(kept)).collect()
}

proptest! {
    #[test]
    fn ordinary_conversations_are_taken_by_all(dicts in samples::ordinary()) {
        let messages = samples::messages(&dicts);
        let messages: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
        for format in checkable() {
            prop_assert_eq!(findings(&messages, format), []);
        }
    }

    #[test]
    fn windows_of_what_is_taken_are_taken(
        dicts in prop_oneof![samples::ordinary(), samples::unusual(), samples::messy()]
    ) {
        let messages = samples::messages(&dicts);
        let all: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
        for format in checkable() {
            if !findings(&all, format).is_empty() {
                continue;
            }
            for kept in windows(&dicts) {
                let window: Vec<(usize, &Message)> = kept.iter().map(|&position| all[position]).collect();
                prop_assert_eq!(findings(&window, format), [], "{} {:?}", format.name(), kept);
            }
        }
    }

    #[test]
    fn anything_can_be_judged(dicts in samples::messy()) {
        let context = samples::context(&dicts);
        for format in checkable() {
            let findings = super::check(&context, format).unwrap();
            for finding in &findings {
                prop_assert!(finding.rule.holds_for(format));
                prop_assert!(!finding.message.is_empty() && !finding.fix.is_empty());
            }
        }
    }
}

/// Guards against a vacuous property: enough conversations are accepted before they are cut.
#[test]
fn unusual_conversations_are_often_taken() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for format in checkable() {
        let mut taken = 0;
        for _ in 0..200 {
            let dicts = samples::unusual().new_tree(&mut runner).unwrap().current();
            let messages = samples::messages(&dicts);
            let messages: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
            taken += usize::from(findings(&messages, format).is_empty() && windows(&dicts).len() > 1);
        }
        assert!(taken > 20, "{}: {taken} of 200", format.name());
    }
}
