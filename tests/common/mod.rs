//! What the tests of the core share: a clock that stands still, ids that count, a map for a disk.
#![allow(dead_code, reason = "each test crate uses a part of it")]

use std::cell::Cell;
use std::collections::BTreeMap;

use peteos_session::check::{Action, Contents, Examination, RepairPlan, SessionCheck, keeps_copy};
use peteos_session::conversation::{Context, Counting, Message};
use peteos_session::digest::sha256_hex;
use peteos_session::environment::{Environment, LocalTime};
use peteos_session::error::Error;
use peteos_session::id::{ContextId, SessionId};
use peteos_session::json;
use peteos_session::session::{Session, SharedContext};
use peteos_session::storage::Layout;
use peteos_session::tokens::{Encoding, TokenCounter};
use serde_json::{Value, json};
use uuid::Uuid;

/// A clock that stands still, and uuids that count.
#[derive(Default)]
pub struct TestEnvironment(Cell<u128>);

impl Environment for TestEnvironment {
    fn now(&self) -> LocalTime {
        LocalTime { year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, microsecond: 6 }
    }

    fn uuid(&self) -> Uuid {
        self.0.set(self.0.get() + 1);
        Uuid::from_u128(self.0.get())
    }
}

/// Counts characters, so that the tests of windows need no vocabulary.
pub struct CharacterCounter(pub Encoding);

impl TokenCounter for CharacterCounter {
    fn encoding(&self) -> Encoding {
        self.0
    }

    fn count(&self, text: &str) -> Result<u64, Error> {
        Ok(text.chars().count() as u64)
    }

    fn count_sections(&self, text: &str, ends: &[usize]) -> Result<Vec<u64>, Error> {
        let starts = [0].into_iter().chain(ends.iter().copied());
        Ok(starts.zip(ends).map(|(start, &end)| text[start..end].chars().count() as u64).collect())
    }
}

/// The tokens of all messages of a context.
pub fn total(context: &Context, counter: &dyn TokenCounter) -> u64 {
    Counting::reference(counter).total(context).unwrap()
}

/// A user's message of one text.
pub fn text(text: &str, environment: &TestEnvironment) -> Message {
    let value = json!({"role": "user", "content": [{"type": "text", "text": text}]});
    Message::given(value, environment).unwrap()
}

/// The texts of the messages in display order.
pub fn texts(context: &Context) -> Vec<String> {
    let text = |message: &Message| message.dict()["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    context.messages().map(text).collect()
}

pub fn dict(context: &Context) -> Value {
    json::parse(&json::to_file_bytes(&context.view())).unwrap()
}

/// A disk in memory.
#[derive(Default)]
pub struct Disk {
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Disk {
    /// Carries out a save; returns the names of the files it wrote.
    pub fn save(&mut self, session: &mut Session) -> Vec<String> {
        self.try_save(session).unwrap()
    }

    /// As [`Disk::save`], for saves that may be refused.
    pub fn try_save(&mut self, session: &mut Session) -> Result<Vec<String>, Error> {
        let plan = session.save_plan()?;
        assert_eq!(session.has_changes(), !plan.writes.is_empty());
        for write in &plan.writes {
            if let Some(current) = self.files.get(&write.path) {
                session.check_write(write, &sha256_hex(current))?;
            }
        }
        let mut names = Vec::new();
        for write in &plan.writes {
            names.push(write.path.rsplit('/').next().unwrap().to_owned());
            session.begin_write(write);
            self.files.insert(write.path.clone(), write.bytes.clone());
            session.written(write);
        }
        Ok(names)
    }

    /// Loads a session with its active context.
    pub fn load(&self, parent_dir: &str, uuid: &str) -> Result<Session, Error> {
        let layout = Layout::new(parent_dir, SessionId::parse(uuid).unwrap());
        let path = layout.session_file();
        let file = self.files.get(&path).ok_or(Error::SessionNotFound { path })?;
        let mut session = Session::from_file(layout, file)?;
        if let Some(id) = session.active_context_id().map(str::to_owned) {
            self.load_context(&mut session, &id)?;
        }
        Ok(session)
    }

    pub fn load_context(&self, session: &mut Session, id: &str) -> Result<SharedContext, Error> {
        let id = ContextId::parse(id).unwrap();
        let path = session.layout().context_file(&id);
        let file = self.files.get(&path).ok_or(Error::ContextNotFound { id: id.to_string(), path })?;
        session.adopt_stored(&id, file, &TestEnvironment::default())
    }

    /// Looks at the files of a session.
    pub fn examine(&self, layout: &Layout, is_repair: bool) -> Result<(SessionCheck, RepairPlan), Error> {
        let environment = TestEnvironment::default();
        let prefix = format!("{}/", layout.session_dir());
        let names = self.files.keys().filter_map(|path| path.strip_prefix(&prefix)).map(str::to_owned);
        let mut examination = Examination::new(layout.clone(), names, &environment, is_repair);
        for name in examination.context_files() {
            let text = &self.files[&layout.file(&name)];
            examination.context(&name, Contents::Text(text))?;
        }
        let session = self.files.get(&layout.session_file());
        examination.finish(session.map_or(Contents::Absent, |text| Contents::Text(text)))
    }

    pub fn check(&self, layout: &Layout) -> SessionCheck {
        self.examine(layout, false).unwrap().0
    }

    /// Carries out a repair.
    pub fn repair(&mut self, layout: &Layout) -> Vec<Action> {
        let (_, plan) = self.examine(layout, true).unwrap();
        let mut actions = Vec::new();
        for change in &plan.changes {
            let old = self.files.get(&change.path).cloned();
            assert_eq!(old.as_deref().map(sha256_hex), change.old_digest);
            assert_eq!(old.is_some(), change.copy_path.is_some());
            if let (Some(old), Some(copy)) = (old, &change.copy_path) {
                assert!(self.files.insert(copy.clone(), old).is_none(), "no copy takes the place of another");
            }
            self.files.insert(change.path.clone(), change.bytes.clone());
            actions.extend(change.done());
        }
        for leftover in &plan.leftovers {
            let contents = self.files.remove(&leftover.path).unwrap();
            let target = leftover.target.as_ref().and_then(|target| self.files.get(target));
            let keeps_copy = keeps_copy(&contents, target.map(Vec::as_slice));
            if keeps_copy {
                self.files.insert(leftover.copy_path.clone(), contents);
            }
            actions.push(leftover.action(keeps_copy));
        }
        actions
    }
}
