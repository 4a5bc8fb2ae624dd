//! Forks in files: a context names a fork once the fork has a file, whatever is forked, saved, dropped and interrupted in
//! whatever order.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::collections::BTreeMap;

use common::storage::{Disk, Files};
use common::{TestEnvironment, check, load, save, text, texts};
use peteos_session::conversation::{Context, ForkOptions, MESSAGES};
use peteos_session::id::{ContextId, SessionId};
use peteos_session::integrity::{self, Rule};
use peteos_session::json;
use peteos_session::layout::Layout;
use peteos_session::session::{OnConflict, Session, SharedContext, StoredSession};
use peteos_session::window::{WindowOptions, Windows};
use pollster::block_on;
use proptest::prelude::*;
use serde_json::Value;

fn append(context: &SharedContext, content: &str, environment: &TestEnvironment) {
    context.change(|context| context.append(text(content, environment), MESSAGES)).unwrap();
}

fn fork(context: &SharedContext, environment: &TestEnvironment) -> SharedContext {
    context.fork(|context| Ok(context.fork(ForkOptions::default(), environment))).unwrap()
}

fn active(session: &StoredSession<Disk>) -> SharedContext {
    session.read(|session| session.active_context().unwrap().clone())
}

fn activate(session: &StoredSession<Disk>, context: &SharedContext) {
    session.update(|session| session.set_active_context(context)).unwrap();
}

/// The ids of the children of a context in its file.
fn children_in_file(disk: &Disk, session: &StoredSession<Disk>, id: &ContextId) -> Vec<String> {
    let path = session.read(|session| session.layout().context_file(id));
    let dict = json::parse(&disk.files()[&path]).unwrap();
    dict["children"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn children(context: &SharedContext) -> Vec<String> {
    context.read(|context| context.children().map(str::to_owned).collect())
}

fn session_with_message(disk: &Disk, environment: &TestEnvironment) -> StoredSession<Disk> {
    let session = StoredSession::new(Session::create("a", None, None, environment), disk.clone());
    append(&active(&session), "old", environment);
    session
}

#[test]
fn a_fork_that_nobody_saves_is_a_child_in_memory_only() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let session = session_with_message(&disk, &environment);
    let parent = active(&session);
    for _ in 0..5 {
        drop(fork(&parent, &environment));
        let window =
            |context: &mut Context| context.rolling_sequence_window(0, &WindowOptions::default(), &environment);
        drop(parent.window(window).unwrap().unwrap());
    }
    save(&session, &disk).unwrap();
    assert_eq!(children(&parent).len(), 10);
    assert!(children_in_file(&disk, &session, &parent.id()).is_empty());
    assert!(check(&disk, &session.read(|session| session.layout().clone())).ok);
    // There is nothing to write about another one.
    drop(fork(&parent, &environment));
    assert!(session.read(Session::has_changes));
    assert!(save(&session, &disk).unwrap().is_empty());
    assert!(!session.read(Session::has_changes));
}

#[test]
fn the_parent_names_a_fork_that_is_saved_later() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let session = session_with_message(&disk, &environment);
    let parent = active(&session);
    let (never, later) = (fork(&parent, &environment), fork(&parent, &environment));
    save(&session, &disk).unwrap();
    // Another context becomes active, and nobody holds the parent.
    let id = parent.id();
    activate(&session, &SharedContext::new(Context::create(None, None, None, &environment)));
    drop(parent);
    save(&session, &disk).unwrap();
    assert!(children_in_file(&disk, &session, &id).is_empty());
    activate(&session, &later);
    let written = save(&session, &disk).unwrap();
    assert_eq!(written, [format!("{}.json", later.id()), format!("{id}.json"), "session.json".to_owned()]);
    assert_eq!(children_in_file(&disk, &session, &id), [later.id().as_str()]);
    assert_ne!(never.id(), later.id());
    // A parent is not kept for forks that are not in use any more.
    drop((never, later));
    append(&active(&session), "more", &environment);
    save(&session, &disk).unwrap();
    assert!(session.read(|session| session.context_in_memory(id.as_str())).is_none());
}

#[test]
fn a_fork_comes_before_its_parent_in_whatever_order_they_join_the_session() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let session = session_with_message(&disk, &environment);
    let parent = SharedContext::new(Context::create(None, None, None, &environment));
    let child = fork(&parent, &environment);
    let grandchild = fork(&child, &environment);
    for context in [&grandchild, &child, &parent] {
        activate(&session, context);
    }
    let written = save(&session, &disk).unwrap();
    let place = |context: &SharedContext| written.iter().position(|name| *name == context.id().file_name());
    assert!(place(&grandchild) < place(&child) && place(&child) < place(&parent), "{written:?}");
    assert_eq!(children_in_file(&disk, &session, &parent.id()), [child.id().as_str()]);
    assert_eq!(children_in_file(&disk, &session, &child.id()), [grandchild.id().as_str()]);
}

#[test]
fn a_fork_whose_write_fails_is_named_by_the_save_that_succeeds() {
    for has_effect in [false, true] {
        for call in 1..=6 {
            let (environment, disk) = (TestEnvironment::default(), Disk::default());
            let session = session_with_message(&disk, &environment);
            let parent = active(&session);
            save(&session, &disk).unwrap();
            let child = fork(&parent, &environment);
            activate(&session, &child);
            disk.fail_at(call, has_effect);
            let failed = block_on(session.save(OnConflict::Refuse)).is_err();
            assert!(disk.stop_failing() && failed, "{call}");
            save(&session, &disk).unwrap();
            assert_eq!(children_in_file(&disk, &session, &parent.id()), [child.id().as_str()], "{call}");
        }
    }
}

#[test]
fn children_of_another_writer_stay() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let session = session_with_message(&disk, &environment);
    let id = active(&session).id();
    save(&session, &disk).unwrap();
    let path = session.read(|session| session.layout().context_file(&id));
    let mut dict = json::parse(&disk.files()[&path]).unwrap();
    dict["children"] = serde_json::json!(["theirs", "x", "theirs"]);
    disk.insert(&path, &json::to_file_bytes(&(&dict).into()).unwrap());
    let uuid = session.read(|session| session.id().to_string());
    let loaded = load(&disk, "a", &uuid).unwrap();
    // Also when a context made from its dict replaces it.
    let parent = active(&loaded);
    let child = fork(&parent, &environment);
    let copy = Context::from_dict(parent.read(common::dict), None, &environment).unwrap();
    let copy = SharedContext::new(copy);
    activate(&loaded, &copy);
    append(&copy, "new", &environment);
    save(&loaded, &disk).unwrap();
    assert_eq!(children_in_file(&disk, &loaded, &id), ["theirs", "x", "theirs"]);
    activate(&loaded, &child);
    save(&loaded, &disk).unwrap();
    assert_eq!(children_in_file(&disk, &loaded, &id), ["theirs", "x", "theirs", child.id().as_str()]);
}

/// What an agent does. Contexts are taken modulo those that it holds.
#[derive(Clone, Debug)]
enum Step {
    Append(usize),
    Fork {
        of: usize,
        is_kept: bool,
    },
    Window {
        of: usize,
        is_kept: bool,
    },
    SessionWindow,
    Activate(usize),
    /// A context of no session.
    Create,
    /// Lets go of a context.
    Drop(usize),
    LoadContext(usize),
    Save,
    SaveSync,
    /// A save that fails at a call.
    SaveFailing {
        call: usize,
        has_effect: bool,
    },
    /// Loads the session from what an interruption after a write has left.
    Crash(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..9usize).prop_map(Step::Append),
        3 => (0..9usize, any::<bool>()).prop_map(|(of, is_kept)| Step::Fork { of, is_kept }),
        3 => (0..9usize, any::<bool>()).prop_map(|(of, is_kept)| Step::Window { of, is_kept }),
        2 => Just(Step::SessionWindow),
        3 => (0..9usize).prop_map(Step::Activate),
        1 => Just(Step::Create),
        2 => (0..9usize).prop_map(Step::Drop),
        1 => (0..9usize).prop_map(Step::LoadContext),
        3 => Just(Step::Save),
        1 => Just(Step::SaveSync),
        1 => (1..9usize, any::<bool>()).prop_map(|(call, has_effect)| Step::SaveFailing { call, has_effect }),
        1 => (0..9usize).prop_map(Step::Crash),
    ];
    prop::collection::vec(step, 1..40)
}

/// The texts of each context in its file.
fn contents(files: &Files) -> BTreeMap<String, Vec<String>> {
    let environment = TestEnvironment::default();
    let contexts = files.iter().filter(|(path, _)| !path.ends_with("/session.json"));
    let texts = contexts.map(|(path, bytes)| {
        let context = Context::from_dict(json::parse(bytes).unwrap(), None, &environment).unwrap();
        (path.clone(), texts(&context))
    });
    texts.collect()
}

/// Asserts that the files are healthy, and have everything that was acknowledged.
fn assert_healthy(files: &Files, acknowledged: &BTreeMap<String, Vec<String>>, layout: &Layout) {
    let disk = Disk::of(files.clone());
    let found = contents(files);
    for (path, texts) in acknowledged {
        assert!(found.get(path).is_some_and(|found| found.starts_with(texts)), "{path}: {texts:?}, {found:?}");
    }
    let is_created = files.contains_key(&layout.session_file());
    let report = check(&disk, layout);
    match is_created {
        true => assert!(report.ok, "{:?}", report.findings),
        // The first save makes two files, which nothing can do in one step: before the second there is no session.
        false => {
            assert!(acknowledged.is_empty());
            let faults = report.findings.iter().filter(|finding| finding.severity != integrity::Severity::Info);
            let faults: Vec<_> = faults.map(|finding| (finding.rule, finding.is_repairable())).collect();
            assert_eq!(faults, [(Rule::MissingSessionFile, true)]);
        }
    }
}

fn run(steps: &[Step]) {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let mut session = session_with_message(&disk, &environment);
    let layout = session.read(|session| session.layout().clone());
    let mut held = vec![active(&session)];
    let mut acknowledged = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        let pick = |index: usize| held.get(index % held.len().max(1)).cloned().unwrap_or_else(|| active(&session));
        disk.take_states();
        let mut is_acknowledged = false;
        match *step {
            Step::Append(index) => append(&pick(index), &number.to_string(), &environment),
            Step::Fork { of, is_kept } => {
                let fork = fork(&pick(of), &environment);
                held.extend(is_kept.then_some(fork));
            }
            Step::Window { of, is_kept } => {
                let window = pick(of)
                    .window(|context| context.rolling_sequence_window(1, &WindowOptions::default(), &environment));
                held.extend(window.unwrap().filter(|_| is_kept));
            }
            Step::SessionWindow => {
                let window =
                    |session: &mut Session| session.rolling_sequence_window(2, &WindowOptions::default(), &environment);
                session.change(window).unwrap();
            }
            Step::Activate(index) => activate(&session, &pick(index)),
            Step::Create => held.push(SharedContext::new(Context::create(None, None, None, &environment))),
            Step::Drop(index) if !held.is_empty() => drop(held.swap_remove(index % held.len())),
            Step::Drop(_) => {}
            Step::LoadContext(index) => {
                let ids = block_on(session.list_contexts()).unwrap();
                held.push(block_on(session.load_context(&ids[index % ids.len()], &environment)).unwrap());
            }
            Step::Save => {
                save(&session, &disk).unwrap();
                is_acknowledged = true;
            }
            Step::SaveSync => {
                session.save_sync().unwrap();
                is_acknowledged = true;
            }
            Step::SaveFailing { call, has_effect } => {
                disk.fail_at(call, has_effect);
                is_acknowledged = block_on(session.save(OnConflict::Refuse)).is_ok();
                disk.stop_failing();
            }
            Step::Crash(index) => {
                block_on(session.save(OnConflict::Refuse)).unwrap();
                let states = disk.take_states();
                states.iter().for_each(|files| assert_healthy(files, &acknowledged, &layout));
                let files = states.get(index % states.len().max(1)).cloned().unwrap_or_else(|| disk.files());
                if files.contains_key(&layout.session_file()) {
                    disk.clear();
                    files.iter().for_each(|(path, contents)| disk.insert(path, contents));
                    session = load(&disk, "a", layout.id().as_str()).unwrap();
                    held.clear();
                } else {
                    is_acknowledged = true;
                }
            }
        }
        disk.take_states().iter().for_each(|files| assert_healthy(files, &acknowledged, &layout));
        if is_acknowledged {
            acknowledged = contents(&disk.files());
            assert_names_its_forks(&disk, &session);
        }
    }
}

/// Asserts that the file of each context in memory has the children in memory, but for those without a file.
fn assert_names_its_forks(disk: &Disk, session: &StoredSession<Disk>) {
    let layout = session.read(|session| session.layout().clone());
    for path in disk.files().keys() {
        let Some(id) = Layout::context_id(path.rsplit('/').next().unwrap()) else { continue };
        let Some(context) = session.read(|session| session.context_in_memory(id.as_str())) else { continue };
        let has_file = |child: &String| {
            let child = ContextId::parse(child).unwrap();
            disk.files().contains_key(&layout.context_file(&child))
        };
        let expected: Vec<String> = children(&context).into_iter().filter(has_file).collect();
        assert_eq!(children_in_file(disk, session, &id), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_prefix_of_the_writes_is_healthy_and_nothing_is_lost(steps in steps()) {
        run(&steps);
    }
}

#[test]
fn a_cycle_of_origins_is_saved() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let session = session_with_message(&disk, &environment);
    for (id, origin) in [("x", "y"), ("y", "x"), ("z", "z")] {
        let dict: Value = serde_json::json!({"id": id, "origin_context_id": origin});
        activate(&session, &SharedContext::new(Context::from_dict(dict, None, &environment).unwrap()));
    }
    assert_eq!(save(&session, &disk).unwrap().len(), 5);
    let layout = Layout::new("a", SessionId::parse(&session.read(|session| session.id().to_string())).unwrap());
    assert!(check(&disk, &layout).ok);
}
