//! A session from its creation over saves and loads, on a disk in memory.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::{Disk, TestEnvironment, text, texts};
use peteos_session::conversation::{Context, MESSAGES};
use peteos_session::error::Error;
use peteos_session::session::{Session, SharedContext};
use peteos_session::window::WindowOptions;
use serde_json::json;

fn append(context: &SharedContext, texts: &[&str], environment: &TestEnvironment) {
    for content in texts {
        context.change(|context| context.append(text(content, environment), MESSAGES)).unwrap();
    }
}

fn file_name(context: &SharedContext) -> String {
    context.id().file_name()
}

fn new_session(environment: &TestEnvironment) -> (Session, SharedContext) {
    let session = Session::create("agents", None, None, environment);
    let context = session.active_context().unwrap().clone();
    (session, context)
}

#[test]
fn a_save_writes_what_changed_and_the_session_last() {
    let environment = TestEnvironment::default();
    let mut disk = Disk::default();
    let (mut session, context) = new_session(&environment);
    append(&context, &["a", "b", "c"], &environment);
    assert_eq!(disk.save(&mut session), [file_name(&context), "session.json".to_owned()]);
    assert!(disk.save(&mut session).is_empty(), "nothing changed");

    append(&context, &["d"], &environment);
    assert_eq!(disk.save(&mut session), [file_name(&context), "session.json".to_owned()]);

    let window = session.rolling_sequence_window(2, &WindowOptions::default(), &environment).unwrap().unwrap();
    let expected = [file_name(&window), file_name(&context), "session.json".to_owned()];
    assert_eq!(disk.save(&mut session), expected, "the child before the parent that names it");

    let loaded = disk.load("agents", session.id().as_str()).unwrap();
    assert_eq!(loaded.active_context().unwrap().read(texts), ["c", "d"]);
    assert_eq!(loaded.dict(), session.dict());
    assert!(loaded.save_plan().unwrap().writes.is_empty());
}

#[test]
fn contexts_that_nobody_holds_are_saved_once_and_let_go() {
    let environment = TestEnvironment::default();
    let mut disk = Disk::default();
    let (mut session, context) = new_session(&environment);
    append(&context, &["a", "b"], &environment);
    let id = context.id();
    session.rolling_sequence_window(1, &WindowOptions::default(), &environment).unwrap().unwrap();
    drop(context);
    assert!(session.context_in_memory(id.as_str()).is_some(), "it is still to be saved");
    disk.save(&mut session);
    assert!(session.context_in_memory(id.as_str()).is_none());

    let context = disk.load_context(&mut session, id.as_str()).unwrap();
    assert!(context.is(&disk.load_context(&mut session, id.as_str()).unwrap()), "there is one of each");
    append(&context, &["late"], &environment);
    drop(context);
    assert_eq!(disk.save(&mut session)[0], id.file_name(), "a change is not lost with the last handle");
}

#[test]
fn a_change_during_a_save_is_for_the_next_one() {
    let environment = TestEnvironment::default();
    let (mut session, context) = new_session(&environment);
    let plan = session.save_plan().unwrap();
    append(&context, &["during"], &environment);
    session.set_is_active(true);
    plan.writes.iter().for_each(|write| session.written(write));
    let names: Vec<_> = session.save_plan().unwrap().writes.into_iter().map(|write| write.path).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_failed_save_is_taken_up_again() {
    let environment = TestEnvironment::default();
    let mut disk = Disk::default();
    let (mut session, context) = new_session(&environment);
    let plan = session.save_plan().unwrap();
    session.written(&plan.writes[0]);
    assert_eq!(disk.save(&mut session), ["session.json"], "the context is written already");
    append(&context, &["a"], &environment);
    let _failed_at_the_first_write = session.save_plan().unwrap();
    assert_eq!(disk.save(&mut session)[0], file_name(&context));
}

#[test]
fn a_save_over_a_change_of_somebody_else_is_refused() {
    let environment = TestEnvironment::default();
    let mut disk = Disk::default();
    let (mut one, context) = new_session(&environment);
    append(&context, &["a"], &environment);
    disk.save(&mut one);
    let mut other = disk.load("agents", one.id().as_str()).unwrap();
    append(other.active_context().unwrap(), &["b"], &environment);
    disk.save(&mut other);
    let files = disk.files.clone();

    append(&context, &["c"], &environment);
    let refused = disk.try_save(&mut one);
    let path = one.layout().context_file(&context.id());
    let Err(Error::FileConflict { path: found_path, expected: Some(expected), found: Some(found) }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(found_path, path);
    assert_ne!(expected, found, "both revisions are named");
    assert_eq!(disk.files, files, "nothing was written");
    assert!(disk.try_save(&mut one).is_err(), "and it stays so");
    append(other.active_context().unwrap(), &["d"], &environment);
    disk.save(&mut other);

    disk.files.clear();
    assert_eq!(disk.save(&mut one).len(), 2, "where there is no file none is lost");
}

#[test]
fn a_write_that_failed_may_have_been_done() {
    let environment = TestEnvironment::default();
    let mut disk = Disk::default();
    let (mut session, context) = new_session(&environment);
    disk.save(&mut session);
    for was_done in [false, true] {
        append(&context, &["x"], &environment);
        let plan = session.save_plan().unwrap();
        session.begin_write(&plan.writes[0]);
        if was_done {
            disk.files.insert(plan.writes[0].path.clone(), plan.writes[0].bytes.clone());
        }
        append(&context, &["y"], &environment);
        assert_eq!(disk.save(&mut session).len(), 2);
    }
}

#[test]
fn a_context_object_can_take_the_place_of_another() {
    let environment = TestEnvironment::default();
    let mut disk = Disk::default();
    let (mut session, old) = new_session(&environment);
    disk.save(&mut session);
    let copy = Context::from_dict(old.read(common::dict), None, &environment).unwrap();
    let copy = SharedContext::new(copy);
    append(&copy, &["copy"], &environment);
    session.set_active_context(&copy);
    append(&old, &["old"], &environment);
    assert_eq!(disk.save(&mut session), [file_name(&copy), "session.json".to_owned()]);
    let loaded = disk.load("agents", session.id().as_str()).unwrap();
    assert_eq!(loaded.active_context().unwrap().read(texts), ["copy"]);
}

#[test]
fn two_sessions_share_a_context() {
    let environment = TestEnvironment::default();
    let mut disk = Disk::default();
    let (mut one, context) = new_session(&environment);
    let mut other = Session::create("agents", None, None, &environment);
    disk.save(&mut one);
    other.set_active_context(&context);
    assert!(disk.save(&mut other).contains(&file_name(&context)), "it is new in this directory");
    append(&context, &["a"], &environment);
    assert_eq!(disk.save(&mut one)[0], file_name(&context));
    assert_eq!(disk.save(&mut other)[0], file_name(&context));
}

#[test]
fn files_of_the_wrong_shape_name_the_place() {
    let corrupt = |file: &str| {
        let mut disk = Disk::default();
        disk.files.insert("agents/s/session.json".to_owned(), file.as_bytes().to_vec());
        match disk.load("agents", "s").err() {
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
        let mut disk = Disk::default();
        disk.files.insert("agents/s/session.json".to_owned(), br#"{"active_context_id": "c"}"#.to_vec());
        disk.files.insert("agents/s/c.json".to_owned(), file.as_bytes().to_vec());
        match disk.load("agents", "s").err() {
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
    let mut disk = Disk::default();
    disk.files.insert("agents/s/session.json".to_owned(), br#"{"active_context_id": "c", "x": 1.0}"#.to_vec());
    disk.files
        .insert("agents/s/c.json".to_owned(), br#"{"messages": [{"id": "m", "creation_timestamp": ""}]}"#.to_vec());
    let session = disk.load("agents", "s").unwrap();
    let expected = json!({"active_context_id": "c", "x": session.dict()["x"], "uuid": "s", "auto_approve_tools": [],
        "state_data": {}, "is_active": false});
    assert_eq!(serde_json::to_value(session.dict()).unwrap(), expected);
    assert!(session.save_plan().unwrap().writes.is_empty(), "defaults are no change");
    let dict = session.active_context().unwrap().read(common::dict);
    assert_eq!(dict["anchor_points"], json!([["system_prompt", 0], ["tools", 0], ["messages", 1]]));
    assert_eq!(dict["id"], "c");
}

#[test]
fn the_dict_is_replaced_as_a_whole_or_not_at_all() {
    let environment = TestEnvironment::default();
    let (mut session, _context) = new_session(&environment);
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
    let (mut session, _context) = new_session(&environment);
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
