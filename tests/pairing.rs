//! Windows, the check of files and the rules of providers agree on which tool calls and tool results are unpaired.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::TestEnvironment;
use common::storage::Disk;
use peteos_providers::ProviderFormat;
use peteos_providers::formats::checkable;
use peteos_providers::rules::{self, Rule};
use peteos_session::conversation::{Context, MESSAGES, Message};
use peteos_session::error::Error;
use peteos_session::integrity;
use peteos_session::session::{Session, StoredSession};
use peteos_session::window::{WindowOptions, WindowProblem, Windows};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Pending,
    Unanswered,
    Orphan,
}

/// A call or result without its counterpart: what it is, the position of its message, and the id of the call.
type Unpaired = (Kind, usize, String);

/// The messages of words: `u` user, `a` assistant, `s` system; `c1` a call of the assistant, `r1` a result; `+` joins parts.
fn messages(words: &str) -> Vec<Value> {
    let part = |word: &str| match word.split_at(1) {
        ("c", id) => json!({"type": "tool_use", "call_id": id, "name": "f", "arguments": "{}"}),
        ("r", id) => json!({"type": "tool_result", "call_id": id, "content": ""}),
        _ => json!({"type": "text", "text": "x"}),
    };
    let message = |(position, word): (usize, &str)| {
        let role = match &word[..1] {
            "u" => "user",
            "s" => "system",
            "r" => "tool_result",
            _ => "assistant",
        };
        json!({"id": position.to_string(), "role": role, "content": word.split('+').map(part).collect::<Vec<Value>>()})
    };
    words.split_whitespace().enumerate().map(message).collect()
}

fn append_all(context: &mut Context, words: &str, environment: &TestEnvironment) {
    for message in messages(words) {
        context.append(Message::given(message, environment).unwrap(), MESSAGES).unwrap();
    }
}

/// What a window reports.
fn of_window(words: &str) -> Vec<Unpaired> {
    let environment = TestEnvironment::default();
    let mut context = Context::create(None, None, None, &environment);
    append_all(&mut context, words, &environment);
    let report = context.plan_sequence_window(1000, &WindowOptions::default()).unwrap();
    let pending = report.pending.into_iter().map(|call| (Kind::Pending, call.position, call.call_id));
    let broken = report.broken.into_iter().map(|broken| match broken.problem {
        WindowProblem::CallWithoutResult => (Kind::Unanswered, broken.position, broken.call_id),
        WindowProblem::ResultWithoutCall => (Kind::Orphan, broken.position, broken.call_id),
    });
    sorted(pending.chain(broken))
}

/// What the check of a saved session reports; a pending call is not a finding.
fn of_file(words: &str) -> Vec<Unpaired> {
    let environment = TestEnvironment::default();
    let session = Session::create("a", None, None, &environment);
    let (layout, context) = (session.layout().clone(), session.active_context().unwrap().clone());
    let append = |context: &mut _| {
        append_all(context, words, &environment);
        Ok::<_, Error>(())
    };
    context.change(append).unwrap();
    let disk = Disk::default();
    common::save(&StoredSession::new(session, disk.clone()), &disk).unwrap();
    let findings = common::check(&disk, &layout).findings;
    sorted(findings.into_iter().map(|finding| {
        let kind = match finding.rule {
            integrity::Rule::CallWithoutResult => Kind::Unanswered,
            integrity::Rule::ResultWithoutCall => Kind::Orphan,
            other => panic!("{}", other.name()),
        };
        at(kind, &finding.field.unwrap().to_string(), words)
    }))
}

/// What the rules of a provider report. They tell a pending call by what is to be done about it.
fn of_provider(words: &str, format: &dyn ProviderFormat) -> Vec<Unpaired> {
    let environment = TestEnvironment::default();
    let mut context = Context::create(None, None, None, &environment);
    append_all(&mut context, words, &environment);
    let findings = rules::check(&context, format).unwrap().into_iter();
    sorted(findings.filter_map(|finding| {
        let kind = match finding.rule {
            Rule::MissingResult if finding.fix.starts_with("Append") => Kind::Pending,
            Rule::MissingResult => Kind::Unanswered,
            Rule::OrphanResult => Kind::Orphan,
            _ => return None,
        };
        Some(at(kind, &finding.path, words))
    }))
}

/// The message and the call id of a path such as `messages[3].content[0].call_id`.
fn at(kind: Kind, path: &str, words: &str) -> Unpaired {
    let mut numbers = path.split(['[', ']']).filter_map(|text| text.parse::<usize>().ok());
    let (message, part) = (numbers.next().unwrap(), numbers.next().unwrap());
    let call_id = messages(words)[message]["content"][part]["call_id"].as_str().unwrap().to_owned();
    (kind, message, call_id)
}

fn sorted(unpaired: impl Iterator<Item = Unpaired>) -> Vec<Unpaired> {
    let mut unpaired: Vec<Unpaired> = unpaired.collect();
    unpaired.sort();
    unpaired
}

fn all_agree(words: &str) -> Vec<Unpaired> {
    let expected = of_window(words);
    for format in checkable() {
        assert_eq!(of_provider(words, format), expected, "{words}: {}", format.name());
    }
    let without_pending: Vec<Unpaired> = expected.iter().filter(|(kind, ..)| *kind != Kind::Pending).cloned().collect();
    assert_eq!(of_file(words), without_pending, "{words}: file");
    expected
}

/// What is unpaired: its kind, the position of its message and the id of the call.
type Case<'c> = (Kind, usize, &'c str);

#[test]
fn conversations_on_which_the_three_once_differed() {
    use Kind::{Orphan, Pending, Unanswered};
    let cases: [(&str, &[Case]); 10] = [
        // The file check took any later message for the end of the wait.
        ("u c1 u", &[(Pending, 1, "1")]),
        ("u c1 s", &[(Pending, 1, "1")]),
        ("u c1 u a", &[(Unanswered, 1, "1")]),
        // It looked for results anywhere, also before their calls and of other calls with the same id.
        ("r1 c1", &[(Orphan, 0, "1"), (Pending, 1, "1")]),
        ("r1 c1 r1", &[(Orphan, 0, "1")]),
        ("c1 u c1 r1", &[(Unanswered, 0, "1")]),
        ("c1 r1 a c1 u a", &[(Unanswered, 3, "1")]),
        // Windows gave the result to the last call of a message with a repeated id, providers to the first.
        ("u c1+c1 r1", &[(Unanswered, 1, "1")]),
        ("u c1+c1 r1 a", &[(Unanswered, 1, "1")]),
        ("u c1+c1 r1 r1", &[]),
    ];
    for (words, expected) in cases {
        let expected = sorted(expected.iter().map(|(kind, at, id)| (*kind, *at, (*id).to_owned())));
        assert_eq!(all_agree(words), expected, "{words}");
    }
}

proptest! {
    #[test]
    fn all_agree_on_any_conversation(words in prop::collection::vec("[us]|a(\\+c[12])?|c[123]|c[12]\\+c[12]|r[123]|r[12]\\+r[12]", 0..12)) {
        all_agree(&words.join(" "));
    }
}
