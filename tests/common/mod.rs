//! Shared by the tests of the core: a counter of characters, a storage in memory.
#![allow(dead_code, reason = "each test crate uses a part of it")]

pub mod storage;

use peteos_session::conversation::error::Error as ConversationError;
use peteos_session::conversation::{Context, Counting, Message};
pub use peteos_session::environment::fixed::Fixed as TestEnvironment;
use peteos_session::error::Error;
use peteos_session::id::SessionId;
use peteos_session::integrity::{self, SessionCheck};
use peteos_session::json;
use peteos_session::layout::Layout;
use peteos_session::session::{ActiveContext, OnConflict, Session, StoredSession};
use peteos_session::tokens::{Encoding, TokenCounter};
use pollster::block_on;
use serde_json::{Value, json};

use storage::Disk;

/// Counts characters, so that the tests of windows need no vocabulary.
pub struct CharacterCounter(pub Encoding);

impl TokenCounter for CharacterCounter {
    fn encoding(&self) -> Encoding {
        self.0
    }

    fn count(&self, text: &str) -> Result<u64, ConversationError> {
        Ok(text.chars().count() as u64)
    }

    fn count_sections(&self, text: &str, ends: &[usize]) -> Result<Vec<u64>, ConversationError> {
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
    json::parse(&json::to_file_bytes(&context.view()).unwrap()).unwrap()
}

/// Loads a session with its active context.
pub fn load(disk: &Disk, parent_dir: &str, uuid: &str) -> Result<StoredSession<Disk>, Error> {
    let layout = Layout::new(parent_dir, SessionId::parse(uuid).unwrap());
    let environment = TestEnvironment::default();
    block_on(StoredSession::load(layout, disk.clone(), ActiveContext::Recorded, &environment))
}

/// Saves a session; returns the names of the files that were written.
pub fn save(session: &StoredSession<Disk>, disk: &Disk) -> Result<Vec<String>, Error> {
    disk.take_written();
    let has_changes = session.read(Session::has_changes);
    block_on(session.save(OnConflict::Refuse))?;
    let written = disk.take_written();
    assert!(has_changes || written.is_empty());
    Ok(written.iter().map(|path| path.rsplit('/').next().unwrap().to_owned()).collect())
}

/// The findings of the files of a session.
pub fn check(disk: &Disk, layout: &Layout) -> SessionCheck {
    block_on(integrity::check(layout, disk, &TestEnvironment::default())).unwrap()
}
