//! A session from its creation over saves and loads, on a storage in memory.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::storage::{Disk, polls};
use common::{TestEnvironment, load, save, text, texts};
use futures_util::future::join;
use peteos_session::conversation::{Context, MESSAGES};
use peteos_session::error::Error;
use peteos_session::id::ContextId;
use peteos_session::session::{OnConflict, Session, SharedContext, StoredSession};
use peteos_session::window::WindowOptions;
use pollster::block_on;
use serde_json::json;

fn append(context: &SharedContext, texts: &[&str], environment: &TestEnvironment) {
    for content in texts {
        context.change(|context| context.append(text(content, environment), MESSAGES)).unwrap();
    }
}

fn file_name(context: &SharedContext) -> String {
    context.id().file_name()
}

fn new_session(disk: &Disk, environment: &TestEnvironment) -> (StoredSession<Disk>, SharedContext) {
    let session = Session::create("agents", None, None, environment);
    let context = session.active_context().unwrap().clone();
    (StoredSession::new(session, disk.clone()), context)
}

fn uuid(session: &StoredSession<Disk>) -> String {
    session.read(|session| session.id().to_string())
}

fn active(session: &StoredSession<Disk>) -> SharedContext {
    session.read(|session| session.active_context().unwrap().clone())
}

fn window(session: &StoredSession<Disk>, count: u64, environment: &TestEnvironment) -> SharedContext {
    let window =
        session.change(|session| session.rolling_sequence_window(count, &WindowOptions::default(), environment));
    window.unwrap().unwrap()
}

fn load_context(session: &StoredSession<Disk>, id: &ContextId) -> SharedContext {
    block_on(session.load_context(id, &TestEnvironment::default())).unwrap()
}

#[test]
fn a_save_writes_what_changed_and_the_session_last() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (session, context) = new_session(&disk, &environment);
    append(&context, &["a", "b", "c"], &environment);
    assert_eq!(save(&session, &disk).unwrap(), [file_name(&context), "session.json".to_owned()]);
    assert!(save(&session, &disk).unwrap().is_empty(), "nothing changed");

    append(&context, &["d"], &environment);
    assert_eq!(save(&session, &disk).unwrap(), [file_name(&context), "session.json".to_owned()]);

    let window = window(&session, 2, &environment);
    let expected = [file_name(&window), file_name(&context), "session.json".to_owned()];
    assert_eq!(save(&session, &disk).unwrap(), expected, "the child before the parent that names it");

    let loaded = load(&disk, "agents", &uuid(&session)).unwrap();
    assert_eq!(active(&loaded).read(texts), ["c", "d"]);
    assert_eq!(loaded.read(|loaded| loaded.dict().clone()), session.read(|session| session.dict().clone()));
    assert!(save(&loaded, &disk).unwrap().is_empty());
}

#[test]
fn contexts_without_a_handle_are_saved_once_and_dropped() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (session, context) = new_session(&disk, &environment);
    append(&context, &["a", "b"], &environment);
    let id = context.id();
    window(&session, 1, &environment);
    drop(context);
    let is_in_memory = || session.read(|session| session.context_in_memory(id.as_str()).is_some());
    assert!(is_in_memory(), "it is still to be saved");
    save(&session, &disk).unwrap();
    assert!(!is_in_memory());

    let context = load_context(&session, &id);
    assert!(context.is(&load_context(&session, &id)), "there is one of each");
    append(&context, &["late"], &environment);
    drop(context);
    assert_eq!(save(&session, &disk).unwrap()[0], id.file_name(), "a change is not lost with the last handle");
}

#[test]
fn a_change_during_a_save_is_for_the_next_one() {
    for seed in 0..50 {
        let (environment, disk) = (TestEnvironment::default(), Disk::default());
        let (session, context) = new_session(&disk, &environment);
        disk.answer_late(seed);
        block_on(join(session.save(OnConflict::Refuse), async {
            polls(seed % 8).await;
            append(&context, &["during"], &environment);
            session.update(|session| session.set_is_active(true)).unwrap();
        }))
        .0
        .unwrap();
        save(&session, &disk).unwrap();
        let loaded = load(&disk, "agents", &uuid(&session)).unwrap();
        assert!(loaded.read(Session::is_active), "{seed}");
        assert_eq!(active(&loaded).read(texts), ["during"], "{seed}");
    }
}

#[test]
fn a_failed_save_is_continued_by_the_next_one() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (session, _context) = new_session(&disk, &environment);
    // Two digests and the write of the context come before.
    disk.fail_at(4, false);
    assert!(matches!(save(&session, &disk), Err(Error::Storage(_))));
    assert_eq!(save(&session, &disk).unwrap(), ["session.json"], "the context is written already");
}

#[test]
fn a_save_over_a_change_of_another_writer_is_refused() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (one, context) = new_session(&disk, &environment);
    append(&context, &["a"], &environment);
    save(&one, &disk).unwrap();
    let other = load(&disk, "agents", &uuid(&one)).unwrap();
    append(&active(&other), &["b"], &environment);
    save(&other, &disk).unwrap();
    let files = disk.files();

    append(&context, &["c"], &environment);
    for refused in [save(&one, &disk).map(drop), one.save_sync()] {
        let path = one.read(|one| one.layout().context_file(&context.id()));
        let Err(Error::FileConflict { path: found_path, expected: Some(expected), found: Some(found) }) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(found_path, path);
        assert_ne!(expected, found, "both revisions are named");
        assert_eq!(disk.files(), files, "nothing was written");
    }
    append(&active(&other), &["d"], &environment);
    save(&other, &disk).unwrap();
}

#[test]
fn a_file_that_was_removed_is_a_conflict() {
    let environment = TestEnvironment::default();
    let saved = || {
        let disk = Disk::default();
        let (session, context) = new_session(&disk, &environment);
        append(&context, &["a", "b"], &environment);
        let child = window(&session, 1, &environment);
        save(&session, &disk).unwrap();
        (disk, session, context, child)
    };
    type Change<'c> = &'c dyn Fn(&StoredSession<Disk>, &SharedContext);
    let changes: [Change; 2] =
        [&|session, _| session.change(|session| session.create_state("k", "v".to_owned())).unwrap(), &|_, child| {
            append(child, &["c"], &environment)
        }];
    for (change, removed) in
        changes.into_iter().flat_map(|change| ["all", "session", "active"].map(|kind| (change, kind)))
    {
        let (disk, session, context, child) = saved();
        let mut files = disk.files();
        files.retain(|path, _| match removed {
            "all" => false,
            "session" => !path.ends_with("session.json"),
            _ => !path.ends_with(&file_name(&child)),
        });
        disk.clear();
        files.iter().for_each(|(path, contents)| disk.insert(path, contents));
        change(&session, &child);
        for refused in [save(&session, &disk).map(drop), session.save_sync(), save(&session, &disk).map(drop)] {
            let Err(error @ Error::FileConflict { expected: Some(_), found: None, .. }) = refused else {
                panic!("{removed}: {refused:?}");
            };
            assert!(error.to_string().contains("was removed"), "{error}");
            assert_eq!(disk.files(), files, "{removed}: nothing was written");
        }
        let forks = block_on(session.save(OnConflict::Fork(&environment))).unwrap();
        assert!(forks.is_empty(), "{removed}");
        let loaded = load(&disk, "agents", &uuid(&session)).unwrap();
        assert_eq!(active(&loaded).read(texts), child.read(texts), "{removed}");
        assert_eq!(
            load_context(&loaded, &context.id()).read(texts),
            ["a", "b"],
            "{removed}: the parent is written as well"
        );
        append(&child, &["d"], &environment);
        save(&session, &disk).unwrap();
    }
}

#[test]
fn a_first_write_that_failed_may_be_repeated() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (session, _context) = new_session(&disk, &environment);
    for (call, has_effect) in [(3, true), (3, false), (4, true)] {
        disk.fail_at(call, has_effect);
        assert!(matches!(save(&session, &disk), Err(Error::Storage(_))));
        disk.stop_failing();
        disk.clear();
        session.update(|session| session.set_is_active(call == 3 && has_effect)).unwrap();
        if call == 4 {
            break;
        }
    }
    assert!(matches!(save(&session, &disk), Err(Error::FileConflict { found: None, .. })), "the context was written");
    block_on(session.save(OnConflict::Fork(&environment))).unwrap();
    assert!(load(&disk, "agents", &uuid(&session)).is_ok());
}

#[test]
fn a_save_that_loses_its_lock_writes_no_more() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (session, context) = new_session(&disk, &environment);
    append(&context, &["a"], &environment);
    save(&session, &disk).unwrap();
    append(&context, &["b"], &environment);
    // Two digests, then the writes of the context and of the session.
    for (call, written) in [(3, 0), (4, 1)] {
        disk.lose_lock_at(call);
        let refused = block_on(session.save_to(&disk, OnConflict::Refuse));
        assert!(matches!(refused, Err(Error::LockLost { .. })));
        assert!(disk.stop_failing());
        assert_eq!(disk.take_written().len(), written);
    }
    append(&context, &["c"], &environment);
    disk.lose_lock_at(3);
    let forks = block_on(session.save_to(&disk, OnConflict::Fork(&environment))).unwrap();
    assert!(forks.is_none(), "it must be saved under the lock again");
    disk.stop_failing();
    assert!(
        block_on(session.save_to(&disk, OnConflict::Fork(&environment))).unwrap().is_some_and(|forks| forks.is_empty())
    );
    let loaded = load(&disk, "agents", &uuid(&session)).unwrap();
    assert_eq!(active(&loaded).read(texts), ["a", "b", "c"]);
}

#[test]
fn a_save_that_loses_its_lock_to_a_synchronous_one_of_its_session_is_overtaken() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (session, context) = new_session(&disk, &environment);
    append(&context, &["a"], &environment);
    disk.answer_late(7);
    disk.lose_lock_at(3);
    let saving = session.save_to(&disk, OnConflict::Refuse);
    let overtaking = async {
        // The third call is the first write, which answers late.
        while disk.calls() < 3 {
            polls(1).await;
        }
        append(&context, &["b"], &environment);
        session.save_sync().unwrap();
    };
    let (saved, ()) = block_on(join(saving, overtaking));
    assert!(saved.unwrap().is_none());
    let loaded = load(&disk, "agents", &uuid(&session)).unwrap();
    assert_eq!(active(&loaded).read(texts), ["a", "b"]);
}

#[test]
fn a_context_object_can_take_the_place_of_another() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (session, old) = new_session(&disk, &environment);
    save(&session, &disk).unwrap();
    let copy = Context::from_dict(old.read(common::dict), None, &environment).unwrap();
    let copy = SharedContext::new(copy);
    append(&copy, &["copy"], &environment);
    session.update(|session| session.set_active_context(&copy)).unwrap();
    append(&old, &["old"], &environment);
    assert_eq!(save(&session, &disk).unwrap(), [file_name(&copy), "session.json".to_owned()]);
    let loaded = load(&disk, "agents", &uuid(&session)).unwrap();
    assert_eq!(active(&loaded).read(texts), ["copy"]);
}

#[test]
fn two_sessions_share_a_context() {
    let (environment, disk) = (TestEnvironment::default(), Disk::default());
    let (one, context) = new_session(&disk, &environment);
    let (other, _) = new_session(&disk, &environment);
    save(&one, &disk).unwrap();
    other.update(|other| other.set_active_context(&context)).unwrap();
    assert!(save(&other, &disk).unwrap().contains(&file_name(&context)), "it is new in this directory");
    append(&context, &["a"], &environment);
    assert_eq!(save(&one, &disk).unwrap()[0], file_name(&context));
    assert_eq!(save(&other, &disk).unwrap()[0], file_name(&context));
}

#[test]
fn files_of_the_wrong_shape_name_the_place() {
    let corrupt = |file: &str| {
        let disk = Disk::default();
        disk.insert("agents/s/session.json", file.as_bytes());
        match load(&disk, "agents", "s").err() {
            Some(Error::CorruptSession { path, position, field, .. }) => {
                assert_eq!(path, "agents/s/session.json");
                (position.line, position.column, field.to_string())
            }
            other => panic!("{file}: {other:?}"),
        }
    };
    assert_eq!(corrupt(""), (1, 1, String::new()));
    assert_eq!(corrupt("{\n  \"uuid\": \"s"), (2, 13, String::new()));
    assert_eq!(corrupt("[]"), (1, 1, String::new()));
    assert_eq!(corrupt("\0\0\0"), (1, 1, String::new()));
    assert_eq!(corrupt("{\"uuid\": 7}"), (1, 10, "uuid".to_owned()));
    assert_eq!(corrupt("{\"uuid\": \"other\"}"), (1, 10, "uuid".to_owned()));
    assert_eq!(corrupt("{\n\"active_context_id\": \"../x\"}"), (2, 22, "active_context_id".to_owned()));
    assert_eq!(corrupt("{\"active_context_id\": \"session\"}"), (1, 23, "active_context_id".to_owned()));
    assert_eq!(corrupt("{\"auto_approve_tools\": [1]}"), (1, 24, "auto_approve_tools".to_owned()));
    assert_eq!(corrupt("{\"state_data\": []}"), (1, 16, "state_data".to_owned()));
    assert_eq!(corrupt("{\"is_active\": 1}"), (1, 15, "is_active".to_owned()));
}

#[test]
fn context_files_of_the_wrong_shape_name_the_place() {
    let corrupt = |file: &str| {
        let disk = Disk::default();
        disk.insert("agents/s/session.json", br#"{"active_context_id": "c"}"#);
        disk.insert("agents/s/c.json", file.as_bytes());
        match load(&disk, "agents", "s").err() {
            Some(Error::CorruptSession { path, position, field, .. }) => {
                assert_eq!(path, "agents/s/c.json");
                format!("{}:{} {field}", position.line, position.column)
            }
            other => panic!("{file}: {other:?}"),
        }
    };
    assert_eq!(corrupt("7"), "1:1 ");
    assert_eq!(corrupt("{\"id\": \"d\"}"), "1:8 id");
    assert_eq!(corrupt("{\"id\": \"a/b\"}"), "1:8 id");
    assert_eq!(corrupt("{\"messages\": {}}"), "1:14 messages");
    assert_eq!(corrupt("{\"messages\": [7]}"), "1:15 messages[0]");
    assert_eq!(corrupt("{\"messages\": [\n{\"content\": [{}]}]}"), "2:14 messages[0].content[0].type");
    assert_eq!(corrupt("{\"anchor_points\": [[\"a\", -1]]}"), "1:20 anchor_points[0]");
    assert_eq!(corrupt("{\"_mutation_counter\": 1.5}"), "1:23 _mutation_counter");
    assert_eq!(corrupt("{\"_mutation_counter\": 9007199254740992}"), "1:23 _mutation_counter");
    assert_eq!(corrupt("{\"children\": [null]}"), "1:14 children");
    assert_eq!(corrupt("{\"content_map\": null}"), "1:17 content_map");
}

#[test]
fn what_a_file_lacks_gets_its_default() {
    let disk = Disk::default();
    disk.insert("agents/s/session.json", br#"{"active_context_id": "c", "x": 1.0}"#);
    disk.insert("agents/s/c.json", br#"{"messages": [{"id": "m", "creation_timestamp": ""}]}"#);
    let session = load(&disk, "agents", "s").unwrap();
    let found = session.read(|session| session.dict().clone());
    let expected = json!({"active_context_id": "c", "x": found["x"], "uuid": "s", "auto_approve_tools": [],
        "state_data": {}, "is_active": false});
    assert_eq!(serde_json::to_value(found).unwrap(), expected);
    assert!(!session.read(Session::has_changes), "defaults are no change");
    let dict = active(&session).read(common::dict);
    assert_eq!(dict["anchor_points"], json!([["system_prompt", 0], ["tools", 0], ["messages", 1]]));
    assert_eq!(dict["id"], "c");
}

#[test]
fn the_dict_is_replaced_as_a_whole_or_not_at_all() {
    let environment = TestEnvironment::default();
    let mut session = Session::create("agents", None, None, &environment);
    let before = session.dict().clone();
    for bad in [json!(7), json!({"uuid": "other"}), json!({"is_active": 0}), json!({"active_context_id": "unknown"})] {
        assert!(session.replace_dict(bad).is_err());
        assert_eq!(session.dict(), &before);
    }
    session.replace_dict(json!({"active_context_id": null, "mood": "good"})).unwrap();
    assert!(session.active_context().is_none());
    assert_eq!(session.dict()["mood"], "good");
    assert_eq!(
        session.rolling_sequence_window(0, &WindowOptions::default(), &environment).map(|window| window.is_none()),
        Ok(true)
    );
}

#[test]
fn the_state_is_a_store_of_strings() {
    let environment = TestEnvironment::default();
    let mut session = Session::create("agents", None, None, &environment);
    session.create_state("b", "1".to_owned()).unwrap();
    session.create_state("a", "2".to_owned()).unwrap();
    assert_eq!(session.state_names(), ["b", "a"]);
    assert!(matches!(session.create_state("a", String::new()), Err(Error::InvalidArgument { .. })));
    assert!(matches!(session.update_state("c", "", String::new()), Err(Error::InvalidArgument { .. })));
    assert!(matches!(session.update_state("a", "1", String::new()), Err(Error::StateConflict { .. })));
    session.update_state("a", "2", "3".to_owned()).unwrap();
    assert_eq!(session.state_value("a"), Some("3"));
    session.delete_state("b").unwrap();
    assert!(session.delete_state("b").is_err());
    assert_eq!(session.dict()["state_data"], json!({"a": "3"}));
}
