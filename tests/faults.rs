//! The loops of load, save, list, check and repair over a storage that fails at any call, answers late, or loses what comes
//! after any write.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::storage::{Disk, Files, polls};
use common::{TestEnvironment, check, load, save, text, texts};
use futures_util::future::join;
use peteos_session::conversation::MESSAGES;
use peteos_session::error::Error;
use peteos_session::id::ContextId;
use peteos_session::integrity;
use peteos_session::layout::Layout;
use peteos_session::session::{ListOptions, OnConflict, Session, SessionList, SharedContext, StoredSession};
use peteos_session::window::WindowOptions;
use pollster::block_on;
use serde_json::Value;

fn append(context: &SharedContext, content: &str, environment: &TestEnvironment) {
    context.change(|context| context.append(text(content, environment), MESSAGES)).unwrap();
}

fn active(session: &StoredSession<Disk>) -> SharedContext {
    session.read(|session| session.active_context().unwrap().clone())
}

fn uuid(session: &StoredSession<Disk>) -> String {
    session.read(|session| session.id().to_string())
}

fn layout(session: &StoredSession<Disk>) -> Layout {
    session.read(|session| session.layout().clone())
}

/// A saved session with the message `old`, and unsaved changes: the message `new`, a window, a variable.
fn changed_session(disk: &Disk, environment: &TestEnvironment) -> StoredSession<Disk> {
    let session = StoredSession::new(Session::create("a", None, None, environment), disk.clone());
    append(&active(&session), "old", environment);
    save(&session, disk).unwrap();
    append(&active(&session), "new", environment);
    let window = |session: &mut Session| session.rolling_sequence_window(1, &WindowOptions::default(), environment);
    session.change(window).unwrap().unwrap();
    session.change(|session| session.create_state("k", "v".to_owned())).unwrap();
    session
}

/// What the session holds: its dict, and the dict of its active context.
fn snapshot(session: &StoredSession<Disk>) -> (Value, Value) {
    (session.read(|session| session.dict().clone().into()), active(session).read(common::dict))
}

/// Asserts that the files are those of a whole session: the one before the save or the one after it.
fn assert_whole(files: Files, uuid: &str) {
    let disk = Disk::of(files);
    let loaded = load(&disk, "a", uuid).unwrap();
    let contents = active(&loaded).read(texts);
    match loaded.read(|session| session.state_value("k").is_some()) {
        true => assert_eq!(contents, ["new"]),
        false => assert!(contents == ["old"] || contents == ["old", "new"], "{contents:?}"),
    }
    let found = check(&disk, &layout(&loaded));
    assert!(found.findings.iter().all(|finding| finding.severity != integrity::Severity::Error), "{found:?}");
}

#[test]
fn a_save_that_fails_at_any_call_is_completed_by_the_next_one() {
    for has_effect in [false, true] {
        for call in 1.. {
            let (environment, disk) = (TestEnvironment::default(), Disk::default());
            let session = changed_session(&disk, &environment);
            let before = snapshot(&session);
            disk.fail_at(call, has_effect);
            let result = block_on(session.save(OnConflict::Refuse));
            if !disk.stop_failing() {
                result.unwrap();
                assert!(call > 6, "three digests and three writes");
                break;
            }
            let Err(Error::Storage(error)) = result else { panic!("{call}: {result:?}", result = result.is_ok()) };
            assert!(error.cause.unwrap().downcast_ref::<usize>().is_some());
            assert_eq!(snapshot(&session), before, "{call}: the session is unchanged");
            assert_whole(disk.files(), &uuid(&session));
            save(&session, &disk).unwrap();
            assert_eq!(snapshot(&load(&disk, "a", &uuid(&session)).unwrap()), before, "{call}");
            assert!(save(&session, &disk).unwrap().is_empty(), "{call}: nothing is left to write");
        }
    }
}

#[test]
fn a_synchronous_save_that_fails_at_any_call_is_completed_by_the_next_one() {
    for call in 1..=3 {
        let (environment, disk) = (TestEnvironment::default(), Disk::default());
        let session = changed_session(&disk, &environment);
        let before = snapshot(&session);
        disk.fail_at(call, call == 2);
        assert!(matches!(session.save_sync(), Err(Error::Storage(_))));
        assert!(disk.stop_failing());
        assert_whole(disk.files(), &uuid(&session));
        session.save_sync().unwrap();
        assert_eq!(snapshot(&load(&disk, "a", &uuid(&session)).unwrap()), before);
        assert!(!session.read(Session::has_changes));
    }
}

#[test]
fn a_save_that_keeps_both_fails_at_any_call_and_loses_nothing() {
    for call in 1.. {
        let (environment, disk) = (TestEnvironment::default(), Disk::default());
        let ours = StoredSession::new(Session::create("a", None, None, &environment), disk.clone());
        append(&active(&ours), "base", &environment);
        save(&ours, &disk).unwrap();
        let theirs = load(&disk, "a", &uuid(&ours)).unwrap();
        append(&active(&theirs), "theirs", &environment);
        theirs.change(|session| session.create_state("theirs", String::new())).unwrap();
        save(&theirs, &disk).unwrap();
        append(&active(&ours), "ours", &environment);
        ours.change(|session| session.create_state("ours", String::new())).unwrap();

        disk.fail_at(call, false);
        let result = block_on(ours.save(OnConflict::Fork(&environment)));
        let has_failed = disk.stop_failing();
        assert_eq!(has_failed, result.is_err(), "{call}");
        let forks =
            if has_failed { block_on(ours.save(OnConflict::Fork(&environment))).unwrap() } else { result.unwrap() };
        assert_eq!(forks.len(), 1, "{call}: a fork is returned, also by the save after a failed one");
        let loaded = load(&disk, "a", &uuid(&ours)).unwrap();
        assert_eq!(active(&loaded).read(texts), ["base", "ours"]);
        assert_eq!(active(&loaded).id(), forks[0].fork);
        let origin = block_on(loaded.load_context(&forks[0].origin, &environment)).unwrap();
        assert_eq!(origin.read(texts), ["base", "theirs"], "{call}");
        assert_eq!(loaded.read(|session| session.state_names().len()), 2, "{call}");
        if !has_failed {
            assert!(call > 8);
            break;
        }
    }
}

#[test]
fn a_crash_after_any_write_leaves_a_whole_session() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let session = changed_session(&disk, &environment);
    let mut files = disk.files();
    disk.take_written();
    block_on(session.save(OnConflict::Refuse)).unwrap();
    let order = disk.take_written();
    assert_eq!(order.len(), 3);
    for path in order {
        assert_whole(files.clone(), &uuid(&session));
        files.insert(path.clone(), disk.files()[&path].clone());
    }
    assert_whole(files, &uuid(&session));
}

#[test]
fn a_load_that_fails_at_any_call_says_so() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let session = changed_session(&disk, &environment);
    save(&session, &disk).unwrap();
    for call in [1, 2] {
        disk.fail_at(call, false);
        assert!(matches!(load(&disk, "a", &uuid(&session)), Err(Error::Storage(_))), "{call}");
        assert!(disk.stop_failing());
    }
    load(&disk, "a", &uuid(&session)).unwrap();
}

#[test]
fn a_list_has_what_can_be_read() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    for _ in 0..3 {
        save(&StoredSession::new(Session::create("a", None, None, &environment), disk.clone()), &disk).unwrap();
    }
    disk.insert("a/no-session/notes.txt", b"");
    disk.insert("a/damaged/session.json", b"{");
    for is_page in [false, true] {
        let list = || {
            let mut errors = Vec::new();
            let options = ListOptions { is_page, ..Default::default() };
            let mut list = block_on(SessionList::open("a", &disk, options))?;
            let summaries = block_on(list.next(usize::MAX, &mut errors));
            Ok::<_, Error>((summaries.len(), errors))
        };
        let (count, errors) = list().unwrap();
        assert_eq!((count, errors.len()), (3, 1));
        disk.fail_at(1, false);
        assert!(matches!(list(), Err(Error::Storage(_))));
        disk.fail_at(2, false);
        let (count, errors) = list().unwrap();
        assert_eq!((count, errors.len()), (2, 2));
        assert!(errors.iter().any(|error| matches!(error, Error::Storage(_))));
    }
}

#[test]
fn a_repair_that_fails_at_any_call_is_completed_by_the_next_one() {
    for has_effect in [false, true] {
        for call in 1.. {
            let (environment, disk) = (TestEnvironment::default(), Disk::default());
            let session = changed_session(&disk, &environment);
            save(&session, &disk).unwrap();
            let layout = layout(&session);
            let whole = disk.files();
            let context = layout.context_file(&active(&session).id());
            disk.insert(&context, &[whole[&context].as_slice(), b"\0\0"].concat());
            disk.insert(&layout.session_file(), b"");
            disk.insert(&layout.file(".c.json.1.tmp"), b"{}");
            let damaged = disk.files();
            disk.fail_at(call, has_effect);
            // A context that cannot be read is a finding, so that not every failure is an error.
            let _ = block_on(integrity::repair(&layout, &disk, &environment, 3));
            let has_failed = disk.stop_failing();
            let repair = block_on(integrity::repair(&layout, &disk, &environment, 3)).unwrap();
            assert!(repair.check.ok, "{call}: {:?}", repair.check.findings);
            let kept = disk.files();
            assert!(damaged.values().all(|contents| contents.is_empty() || kept.values().any(|copy| copy == contents)));
            if !has_failed {
                assert!(call > 12);
                break;
            }
        }
    }
}

#[test]
fn a_late_storage_saves_what_there_is_at_the_end() {
    for seed in 0..200 {
        let (environment, disk) = (TestEnvironment::default(), Disk::default());
        let session = changed_session(&disk, &environment);
        disk.answer_late(seed);
        // A save, which a synchronous one overtakes somewhere, and changes in between.
        let (saved, ()) = block_on(join(session.save(OnConflict::Refuse), async {
            polls(seed % 16).await;
            append(&active(&session), "later", &environment);
            polls(seed % 7).await;
            session.save_sync().unwrap();
        }));
        saved.unwrap();
        assert_eq!(snapshot(&load(&disk, "a", &uuid(&session)).unwrap()), snapshot(&session), "{seed}");
        assert!(!session.read(Session::has_changes), "{seed}");
    }
}

#[test]
fn loads_during_a_save_find_a_whole_session_and_one_object_of_each_context() {
    for seed in 0..200 {
        let (environment, disk) = (TestEnvironment::default(), Disk::default());
        let session = changed_session(&disk, &environment);
        let origin = active(&session).read(|context| context.origin().unwrap().to_owned());
        let origin = ContextId::parse(&origin).unwrap();
        disk.answer_late(seed);
        let other = StoredSession::load(layout(&session), disk.clone(), Default::default(), &environment);
        let (saved, other) = block_on(join(session.save(OnConflict::Refuse), other));
        saved.unwrap();
        let other = other.unwrap();
        assert!(["old", "new"].contains(&active(&other).read(texts)[0].as_str()), "{seed}");
        let (one, two) =
            block_on(join(other.load_context(&origin, &environment), other.load_context(&origin, &environment)));
        assert!(one.unwrap().is(&two.unwrap()), "{seed}");
    }
}
