//! Windows against their definition, over generated contexts.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::{CharacterCounter, TestEnvironment, dict};
use peteos_session::conversation::error::Error;
use peteos_session::conversation::{Context, Counting, MESSAGES, Message, Special};
use peteos_session::tokens::{Encoding, TokenCounter};
use peteos_session::window::{WindowOptions, Windows};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A step in the making of a context; positions are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Append { anchor: usize, length: usize },
    AddAnchor { index: usize, after_existing: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..2usize, 0..30usize).prop_map(|(_, length)| Step::Append { anchor: 2, length }),
        2 => (0..8usize, 0..30usize).prop_map(|(anchor, length)| Step::Append { anchor, length }),
        1 => (0..30usize, any::<bool>()).prop_map(|(index, after_existing)| Step::AddAnchor { index, after_existing }),
    ];
    prop::collection::vec(step, 0..40)
}

fn build(with_specials: (bool, bool), steps: &[Step], environment: &TestEnvironment) -> Context {
    let special = |kind, wanted: bool| {
        let value = json!({"content": [{"type": "text", "text": "special"}]});
        wanted.then(|| Message::given_special(kind, value, environment).unwrap())
    };
    let system = special(Special::SystemPrompt, with_specials.0);
    let tools = special(Special::ToolDefinitions, with_specials.1);
    let mut context = Context::create(system, tools, None, environment);
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Append { anchor, length } => {
                // Not in front of the special messages, which would be special no more.
                let names: Vec<String> = context.anchors()[1..]
                    .iter()
                    .map(|anchor| anchor.name.clone())
                    .filter(|name| name != "tools")
                    .collect();
                let name = names.get(anchor % names.len()).map_or(MESSAGES, String::as_str);
                context.append(common::text(&"x".repeat(*length), environment), name).unwrap();
            }
            Step::AddAnchor { index, after_existing } => {
                let first = context.specials().iter().flatten().count();
                let index = first + index % (context.messages().len() - first + 1);
                context.add_anchor(&format!("anchor {number}"), index as u64, *after_existing).unwrap();
            }
        }
    }
    context
}

/// The ids of the non-special messages by sequence number.
fn by_sequence(context: &Context) -> Vec<(String, u64)> {
    let counter = CharacterCounter(Encoding::O200kBase);
    let specials = context.specials();
    let mut messages: Vec<&Message> = context
        .messages()
        .enumerate()
        .filter(|(position, _)| !specials.contains(&Some(*position)))
        .map(|(_, message)| message)
        .collect();
    messages.sort_by_key(|message| message.sequence());
    messages.into_iter().map(|message| (message.id().to_owned(), message.tokens(&counter).unwrap())).collect()
}

fn sorted(ids: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut ids: Vec<String> = ids.into_iter().map(|id| id.as_ref().to_owned()).collect();
    ids.sort();
    ids
}

fn non_special_ids(context: &Context) -> Vec<String> {
    sorted(by_sequence(context).iter().map(|(id, _)| id))
}

proptest! {
    #[test]
    fn a_sequence_window_keeps_the_last(specials: (bool, bool), steps in steps(), count in 0..40u64) {
        let environment = TestEnvironment::default();
        let mut context = build(specials, &steps, &environment);
        let all = by_sequence(&context);
        let before = dict(&context);
        let plan = context.plan_sequence_window(count, &WindowOptions::default()).unwrap();
        prop_assert_eq!(dict(&context), before.clone(), "a plan changes nothing");
        let window = context.rolling_sequence_window(count, &WindowOptions::default(), &environment).unwrap();
        let kept = &all[all.len().saturating_sub(count as usize)..];
        prop_assert_eq!(sorted(plan.kept()), sorted(kept.iter().map(|(id, _)| id)));
        prop_assert_eq!(plan.kept().len() + plan.dropped().len(), all.len());
        match window {
            None => {
                prop_assert!(count >= all.len() as u64);
                prop_assert_eq!(dict(&context), before);
            }
            Some(mut window) => {
                prop_assert!(count < all.len() as u64);
                prop_assert_eq!(non_special_ids(&window), sorted(plan.kept()));
                check_child(&context, &window, &before);
                prop_assert!(window.rolling_sequence_window(count, &WindowOptions::default(), &environment).unwrap().is_none());
            }
        }
    }

    #[test]
    fn a_token_window_keeps_what_fits(specials: (bool, bool), steps in steps(), budget in 0..2500u64) {
        let environment = TestEnvironment::default();
        let counter = CharacterCounter(Encoding::O200kBase);
        let mut context = build(specials, &steps, &environment);
        let all = by_sequence(&context);
        let before = dict(&context);
        let total = common::total(&context, &counter);
        let special = total - all.iter().map(|(_, tokens)| tokens).sum::<u64>();
        let plan = context.plan_token_window(budget.into(), &Counting::reference(&counter), &WindowOptions::default()).unwrap();
        let window = context
            .rolling_token_window(budget.into(), &Counting::reference(&counter), &WindowOptions::default(), &environment)
            .unwrap();

        // The definition: from the newest back, up to the first that does not fit.
        let mut running = special;
        let fitting = all.iter().rev().take_while(|(_, tokens)| { running += tokens; running <= budget }).count();
        let kept = &all[all.len() - fitting..];
        prop_assert_eq!(sorted(plan.kept()), sorted(kept.iter().map(|(id, _)| id)));
        prop_assert_eq!(plan.tokens_before, Some(total));
        prop_assert_eq!(plan.special_tokens, Some(special));
        prop_assert_eq!(plan.tokens_after, Some(special + kept.iter().map(|(_, tokens)| tokens).sum::<u64>()));
        prop_assert_eq!(plan.tokens.iter().flatten().sum::<u64>(), total);
        match window {
            None => {
                prop_assert!(all.is_empty() || total <= budget);
                prop_assert_eq!(dict(&context), before);
            }
            Some(window) => {
                prop_assert!(total > budget);
                prop_assert_eq!(non_special_ids(&window), sorted(plan.kept()));
                check_child(&context, &window, &before);
                let after = common::total(&window, &counter);
                prop_assert_eq!(Some(after), plan.tokens_after);
                prop_assert!(after <= budget || fitting == 0);
            }
        }
    }

    #[test]
    fn a_context_is_what_its_file_is(specials: (bool, bool), steps in steps()) {
        let environment = TestEnvironment::default();
        let mut context = build(specials, &steps, &environment);
        let before = dict(&context);
        let copy = Context::from_dict(before.clone(), None, &environment).unwrap();
        prop_assert_eq!(dict(&copy), before.clone());
        prop_assert_eq!(copy.revision(), 0);
        prop_assert_eq!(copy.specials(), context.specials());

        let fork = context.fork(Default::default(), &environment);
        let ids = |context: &Context| context.messages().map(|message| message.id().to_owned()).collect::<Vec<_>>();
        prop_assert_eq!(ids(&fork), ids(&context));
        check_child(&context, &fork, &before);
    }
}

/// What holds for every fork: messages in the parent's order and partitions, anchors that fit, a parent that only got a
/// child.
fn check_child(parent: &Context, child: &Context, parent_before: &Value) {
    let position = |id: &str| parent.messages().position(|message| message.id() == id).unwrap();
    let positions: Vec<usize> = child.messages().map(|message| position(message.id())).collect();
    assert!(positions.is_sorted(), "display order");
    let home = |context: &Context, position: usize| {
        context.anchors().iter().find(|anchor| anchor.index > position as u64).map(|anchor| anchor.name.clone())
    };
    for (index, &position) in positions.iter().enumerate() {
        assert_eq!(home(child, index), home(parent, position), "home anchor");
    }
    assert!(child.anchors().is_sorted_by_key(|anchor| anchor.index));
    assert_eq!(child.anchors().last().unwrap().index, child.messages().len() as u64);
    let sequences: Vec<i64> = child.messages().map(|message| message.sequence().unwrap()).collect();
    let anchors = child.anchors().len() as i64;
    assert_eq!(sequences, (anchors..anchors + sequences.len() as i64).collect::<Vec<_>>());
    assert_eq!(child.mutation_counter(), (anchors as usize + sequences.len()) as u64);
    let mut after = dict(parent);
    let children = after["children"].as_array_mut().unwrap();
    assert_eq!(children.pop(), Some(child.id().as_str().into()));
    assert_eq!(&after, parent_before, "of the parent only the children changed");
}

fn context_of(messages: Value) -> Context {
    Context::from_dict(json!({"messages": messages}), None, &TestEnvironment::default()).unwrap()
}

fn kept(context: &Context, count: u64) -> String {
    context.plan_sequence_window(count, &WindowOptions::default()).unwrap().kept().join(" ")
}

#[test]
fn messages_without_a_number_rank_by_position() {
    let context = context_of(json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]));
    assert_eq!((kept(&context, 2), kept(&context, 0)), ("b c".to_owned(), String::new()));
    // One without stands right after the one displayed before it.
    let context = context_of(json!([
        {"id": "a"}, {"id": "b", "_sequence_number": 9}, {"id": "c"}, {"id": "d", "_sequence_number": 4}, {"id": "e"}]));
    assert_eq!(kept(&context, 1), "c");
    assert_eq!(kept(&context, 2), "b c");
    assert_eq!(kept(&context, 4), "b c d e");
    // A value that is not a number counts as absent.
    let context = context_of(json!([{"id": "a", "_sequence_number": "7"}, {"id": "b", "_sequence_number": -1}]));
    assert_eq!(kept(&context, 1), "b");
}

#[test]
fn a_stored_count_holds_for_its_encoding_alone() {
    let message = |count: Value| {
        let value = json!({"role": "user", "content": [], "token_count": count, "id": "a"});
        let context = context_of(json!([value]));
        let tokens = |encoding| common::total(&context, &CharacterCounter(encoding));
        (tokens(Encoding::Cl100kBase), tokens(Encoding::O200kBase))
    };
    assert_eq!(message(json!(100)), (100, 6));
    for unusable in [json!(-1), json!("9"), json!(1.5), json!(null)] {
        assert_eq!(message(unusable), (6, 6));
    }
}

#[test]
fn each_message_is_counted_once() {
    struct Counted(std::cell::Cell<u32>);
    impl TokenCounter for Counted {
        fn encoding(&self) -> Encoding {
            Encoding::O200kBase
        }
        fn count(&self, _text: &str) -> Result<u64, Error> {
            self.0.set(self.0.get() + 1);
            Ok(10)
        }
        fn count_sections(&self, _text: &str, _ends: &[usize]) -> Result<Vec<u64>, Error> {
            unreachable!("no report is made")
        }
    }
    let environment = TestEnvironment::default();
    let counter = Counted(0.into());
    let mut context = Context::create(None, None, None, &environment);
    for _ in 0..100 {
        context.append(common::text("x", &environment), MESSAGES).unwrap();
    }
    let counting = Counting::reference(&counter);
    let window = |context: &mut Context| {
        context.rolling_token_window(50.into(), &counting, &WindowOptions::default(), &environment)
    };
    let mut child = window(&mut context).unwrap().unwrap();
    assert_eq!(counter.0.get(), 6, "it stops at the first that does not fit");
    assert!(window(&mut child).unwrap().is_none());
    assert_eq!(counter.0.get(), 6, "the counts went along");
    child.append(common::text("x", &environment), MESSAGES).unwrap();
    assert!(window(&mut child).unwrap().is_some());
    assert_eq!(counter.0.get(), 7, "only the new one was counted");
    let id = child.message(0).unwrap().id().to_owned();
    child.update_message(&id, json!({"content": []})).unwrap();
    common::total(&child, &counter);
    assert_eq!(counter.0.get(), 8, "a changed one is counted again");
}
