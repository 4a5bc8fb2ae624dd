//! Files damaged in any way, as fuzzing finds them: loading works or says where the fault is, checks and repairs keep
//! their promises. `PROPTEST_CASES` says how often; a release build is several times faster.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::sync::LazyLock;

use common::TestEnvironment;
use common::storage::{Disk, Files};
use peteos_session::conversation::{MESSAGES, Message, Special};
use peteos_session::error::Error;
use peteos_session::integrity::{self, Action, SessionCheck, Severity};
use peteos_session::json;
use peteos_session::layout::Layout;
use peteos_session::limits::Limits;
use peteos_session::session::{Session, StoredSession};
use peteos_session::window::WindowOptions;
use pollster::block_on;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// A session of every kind of thing that files hold.
struct Sample {
    files: Files,
    layout: Layout,
    /// `session.json` and those of the contexts.
    paths: Vec<String>,
}

static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    let environment = TestEnvironment::default();
    let special = |kind, dict| Some(Message::given_special(kind, dict, &environment).unwrap());
    let system = special(Special::SystemPrompt, json!({"content": [{"type": "text", "text": "Be \u{1f600}"}]}));
    let tools = special(Special::ToolDefinitions, json!({"content": [{"name": "f", "parameters": {"a": [1.0]}}]}));
    let mut session = Session::create("a", system, tools, &environment);
    let context = session.active_context().unwrap().clone();
    let messages = [
        json!({"role": "user", "content": [{"type": "text", "text": "é\n\"x\""}], "metadata": {"n": 1e16}}),
        json!({"role": "assistant", "content": [
            {"type": "tool_use", "call_id": "1", "name": "f", "arguments": "{}"}]}),
        json!({"role": "tool_result", "content": [{"type": "tool_result", "call_id": "1", "content": ""}]}),
        json!({"role": "assistant"}),
    ];
    for message in messages {
        context.change(|context| context.append(Message::given(message, &environment).unwrap(), MESSAGES)).unwrap();
    }
    context.change(|context| context.add_anchor("here", 3, true)).unwrap();
    session.rolling_sequence_window(3, &WindowOptions::default(), &environment).unwrap().unwrap();
    session.create_state("k", "v".to_owned()).unwrap();
    session.set_auto_approve_tools(vec!["f".to_owned()]);
    let layout = session.layout().clone();
    let disk = Disk::default();
    common::save(&StoredSession::new(session, disk.clone()), &disk).unwrap();
    assert_eq!(common::check(&disk, &layout).findings, []);
    let files = disk.files();
    Sample { paths: files.keys().cloned().collect(), files, layout }
});

#[derive(Clone, Debug)]
enum Damage {
    Flip(Index, u8),
    Cut(Index),
    Remove(Index, usize),
    Repeat(Index, usize),
    Insert(Index, Vec<u8>),
    Token(Index, &'static str),
    Nest(Index, usize, bool),
    Nul(Index, usize),
    Swap(Index, Index),
}

const TOKENS: &[&str] = &[
    "\"",
    "\\",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "null",
    "true",
    "-1",
    "0",
    "9007199254740993",
    "1e400",
    "NaN",
    "-Infinity",
    "\\ud83d",
    "\\u0000",
    "\u{feff}",
    "{}",
    "[]",
    "\"id\":",
    "\"messages\":[",
    "\"messages\":[{}],",
    "\"id\":7,",
    "\0",
    "\"anchor_points\":[[\"a\",99]],",
    "\"children\":[\"x\"],",
    "\"_mutation_counter\":0,",
    "\"_sequence_number\":3,",
    "\"system_prompt_message_id\":\"x\",",
    "\"uuid\":\"x\",",
    "\"active_context_id\":\"x\",",
    "\r\n",
    "\t",
    "/*",
];

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>();
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        at.clone().prop_map(Damage::Cut),
        (at.clone(), 1_usize..40).prop_map(|(at, length)| Damage::Remove(at, length)),
        (at.clone(), 1_usize..400).prop_map(|(at, length)| Damage::Repeat(at, length)),
        (at.clone(), prop::collection::vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (at.clone(), prop::sample::select(TOKENS)).prop_map(|(at, token)| Damage::Token(at, token)),
        (at.clone(), 1_usize..1200, any::<bool>()).prop_map(|(at, depth, closed)| Damage::Nest(at, depth, closed)),
        (at.clone(), 1_usize..600).prop_map(|(at, length)| Damage::Nul(at, length)),
        (at.clone(), at).prop_map(|(one, other)| Damage::Swap(one, other)),
    ]
}

fn apply(damage: &Damage, text: &mut Vec<u8>) {
    if text.is_empty() {
        return;
    }
    let length = text.len();
    let range = |at: &Index, size: usize| {
        let start = at.index(length);
        start..(start + size).min(length)
    };
    let mut insert = |at: &Index, bytes: &[u8]| drop(text.splice(at.index(length)..at.index(length), bytes.to_vec()));
    match damage {
        Damage::Flip(at, byte) => text[at.index(length)] = *byte,
        Damage::Cut(at) => text.truncate(at.index(length)),
        Damage::Remove(at, size) => drop(text.drain(range(at, *size))),
        Damage::Repeat(at, size) => {
            let piece = text[range(at, *size)].to_vec();
            let start = at.index(length);
            text.splice(start..start, piece);
        }
        Damage::Insert(at, bytes) => insert(at, bytes),
        Damage::Token(at, token) => insert(at, token.as_bytes()),
        Damage::Nest(at, depth, closed) => {
            insert(at, ("[".repeat(*depth) + &"]".repeat(if *closed { *depth } else { 0 })).as_bytes());
        }
        Damage::Nul(at, size) => text[range(at, *size)].fill(0),
        Damage::Swap(one, other) => text.swap(one.index(length), other.index(length)),
    }
}

/// The sample with one of its files as given.
fn with_file(path: &str, text: Vec<u8>) -> Files {
    let mut files = SAMPLE.files.clone();
    files.insert(path.to_owned(), text);
    files
}

fn check(disk: &Disk) -> SessionCheck {
    common::check(disk, &SAMPLE.layout)
}

/// Repairs the session; returns what was done.
fn repair(disk: &Disk) -> Vec<Action> {
    block_on(integrity::repair(&SAMPLE.layout, disk, &TestEnvironment::default(), 3)).unwrap().actions
}

/// The messages of a context, if its file can be loaded.
fn messages(files: &Files, path: &str) -> Result<Vec<Value>, Error> {
    let layout = &SAMPLE.layout;
    // A new session, so that a damaged session.json does not matter.
    let mut session = Session::from_file(layout.clone(), b"{}", Limits::default())?;
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some(id) = Layout::context_id(name) else { return Ok(Vec::new()) };
    let context = session.adopt_stored(&id, &files[path], &TestEnvironment::default())?;
    Ok(context.read(|context| context.messages().map(|message| message.dict().clone().into()).collect()))
}

/// Loads the file as its name says.
fn load(files: &Files, path: &str) -> Result<Vec<Value>, Error> {
    if path == SAMPLE.layout.session_file() {
        Session::from_file(SAMPLE.layout.clone(), &files[path], Limits::default())?;
    }
    messages(files, path)
}

fn expect_place(error: &Error, text: &[u8]) {
    let Error::CorruptSession { position, message, .. } = error else { panic!("{error:?}") };
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    assert!((1..=lines).contains(&position.line) && (1..=text.len() + 1).contains(&position.column), "{error:?}");
    assert!(!message.is_empty());
}

/// Asserts what must hold for a session of which one file is damaged.
fn examine(path: &str, text: Vec<u8>) {
    let before = with_file(path, text.clone());
    let disk = Disk::of(before.clone());
    let loaded = load(&before, path);
    if let Err(error) = &loaded {
        expect_place(error, &text);
    }
    let found = check(&disk);
    assert_eq!(found, check(&disk));
    let has_error = found.findings.iter().any(|finding| {
        finding.path == path && finding.severity == Severity::Error && finding.rule.name() != "dangling-active-context"
    });
    assert_eq!(has_error, loaded.is_err(), "{loaded:?} {:?}", found.findings);
    if loaded != load(&SAMPLE.files, path) {
        assert!(!found.findings.is_empty() || loaded.is_ok());
    }

    let actions = repair(&disk);
    let after = check(&disk);
    assert!(repair(&disk).is_empty(), "nothing is left to do: {:?}", after.findings);
    assert!(after.findings.iter().all(|finding| !finding.is_repairable()));
    let files = disk.files();
    for (other, contents) in &before {
        let is_changed = files.get(other) != Some(contents);
        let copy = actions.iter().filter(|action| action.path == *other).find_map(|action| action.copy.as_ref());
        assert_eq!(is_changed, copy.is_some(), "{other}");
        assert!(copy.is_none_or(|copy| files[copy] == *contents));
    }
    if let Ok(messages) = loaded {
        assert_eq!(load(&files, path).as_ref(), Ok(&messages), "a repair loses no message");
    }
    assert_eq!(found.findings.iter().filter(|finding| finding.is_repairable()).count(), actions.len());
}

proptest! {
    #[test]
    fn a_damaged_file_loads_or_says_where_it_does_not(
        file in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let path = file.get::<String>(&SAMPLE.paths);
        let mut text = SAMPLE.files[path].clone();
        damages.iter().for_each(|damage| apply(damage, &mut text));
        if path == &SAMPLE.layout.session_file() {
            if let Err(error) = Session::from_file(SAMPLE.layout.clone(), &text, Limits::default()) {
                expect_place(&error, &text);
            }
        } else {
            let id = Layout::context_id(path.rsplit('/').next().unwrap()).unwrap();
            let mut session = Session::from_file(SAMPLE.layout.clone(), b"{}", Limits::default()).unwrap();
            if let Err(error) = session.adopt_stored(&id, &text, &TestEnvironment::default()) {
                expect_place(&error, &text);
            }
        }
    }

    #[test]
    fn checks_and_repairs_of_a_damaged_file_keep_their_promises(
        file in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let path = file.get::<String>(&SAMPLE.paths);
        let mut text = SAMPLE.files[path].clone();
        damages.iter().for_each(|damage| apply(damage, &mut text));
        examine(path, text);
    }

    #[test]
    fn any_bytes_are_survived(file in any::<Index>(), text in prop::collection::vec(any::<u8>(), 0..64)) {
        examine(file.get::<String>(&SAMPLE.paths), text);
    }

    #[test]
    fn any_text_of_json_tokens_is_survived(
        file in any::<Index>(),
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..12),
    ) {
        let text = format!("{{{}", tokens.concat());
        examine(file.get::<String>(&SAMPLE.paths), text.into_bytes());
    }
}

#[test]
fn every_cut_of_every_file_is_found_and_no_whole_message_is_lost() {
    for path in &SAMPLE.paths {
        let whole = &SAMPLE.files[path];
        let all = load(&SAMPLE.files, path).unwrap();
        for end in 0..whole.len() {
            let disk = Disk::of(with_file(path, whole[..end].to_vec()));
            assert!(!check(&disk).ok, "{end}");
            if end % 7 == 0 {
                examine(path, whole[..end].to_vec());
            }
            repair(&disk);
            // As many messages as the text holds the end of, with which a line of this indent begins.
            let kept = whole[..end].windows(6).filter(|line| line == b"\n    }").count();
            let is_context = Layout::context_id(path.rsplit('/').next().unwrap()).is_some();
            if is_context && kept > 0 {
                assert_eq!(load(&disk.files(), path).unwrap(), all[..kept.min(all.len())], "{end}");
            }
        }
    }
}

#[test]
fn depth_and_values_are_bounded() {
    let path = &SAMPLE.paths[0];
    let deep = |depth: usize| format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
    assert!(load(&with_file(path, deep(json::MAX_DEPTH - 1)), path).is_ok());
    examine(path, deep(json::MAX_DEPTH - 1));
    examine(path, deep(json::MAX_DEPTH));
    examine(path, deep(1_000_000));
}
