//! Sessions: the dict, the contexts in memory, and loading and saving both.
//!
//! A [`Session`] decides what to write and what conflicts; a [`StoredSession`] carries that out through a
//! [`Storage`](crate::storage::Storage).

mod conflict;
mod dict;
mod files;
mod list;
mod rank;
mod save;
mod save_plan;
mod shared;
mod state;
mod stored;
mod summary;

use std::rc::{Rc, Weak};

use serde_json::Value;

pub use conflict::Forked;
pub(crate) use dict::{keys as dict_keys, shape_faults};
pub use list::{Cursor, ListOptions, SessionList};
pub use save::OnConflict;
use save_plan::PlannedWrite;
pub use shared::SharedContext;
pub use stored::{ActiveContext, StoredSession};
pub use summary::SessionSummary;

use crate::conversation::{Context, Counting, FullMatch, HookOutputs, Message};
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::id::{ContextId, SessionId};
use crate::json::{self, FieldPath, Object};
use crate::layout::Layout;
use crate::limits::Limits;
use crate::window::{TokenBudget, WindowOptions, Windows};
use dict::keys;
use files::KnownFiles;
use save_plan::Written;
use shared::{ContextCell, Pending};

/// A session: its dict, its active context, and the contexts from which that was forked.
pub struct Session {
    layout: Layout,
    dict: Object,
    /// The dict in `session.json`, as last read or written.
    saved_dict: Object,
    active: Option<SharedContext>,
    known: Vec<Known>,
    /// The contexts that have changed since they were written. They are kept alive here.
    pending: Rc<Pending>,
    files: KnownFiles,
    limits: Limits,
    revision: u64,
    saved_revision: Option<u64>,
}

/// A context that is in memory as long as a handle to it exists.
struct Known {
    id: ContextId,
    cell: Weak<ContextCell>,
    /// The revision in its file.
    saved: Option<u64>,
    /// Keeps the context in memory until its file names its forks.
    waiting: Option<SharedContext>,
}

impl Session {
    /// Creates a session with a new active context. Writes nothing.
    pub fn create(
        parent_dir: &str,
        system_prompt: Option<Message>,
        tool_definitions: Option<Message>,
        environment: &dyn Environment,
    ) -> Self {
        let id = SessionId::generate(environment);
        let context = Context::create(system_prompt, tool_definitions, None, environment);
        let mut session = Self::of(Layout::new(parent_dir, id), Object::new(), None);
        session.set_active_context(&SharedContext::new(context));
        session
    }

    /// The session of a `session.json`. Its active context must still be read: see [`Session::active_context_id`] and
    /// [`Session::adopt_stored`].
    ///
    /// # Errors
    ///
    /// [`Error::CorruptSession`] if the text is not a valid session or belongs to another session; [`Error::FileTooLarge`].
    pub fn from_file(layout: Layout, text: &[u8], limits: Limits) -> Result<Self, Error> {
        let dict = dict::of_file(&layout, text, limits)?;
        json::ensure_copies(&(&dict).into(), 1, "a session")?;
        let mut session = Self::of(layout, dict, Some(0));
        session.limits = limits;
        session.saved_dict = session.dict.clone();
        session.files.read(&session.layout.session_file(), text);
        Ok(session)
    }

    fn of(layout: Layout, mut dict: Object, saved_revision: Option<u64>) -> Self {
        dict::add_missing_fields(&mut dict, &layout);
        Self {
            layout,
            dict,
            saved_dict: Object::new(),
            active: None,
            known: Vec::new(),
            pending: Rc::default(),
            files: KnownFiles::default(),
            limits: Limits::default(),
            revision: 0,
            saved_revision,
        }
    }

    /// The limits on its files.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets the limits on its files. They hold for each append and each save.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.known
            .iter()
            .filter_map(|known| SharedContext::upgrade(&known.cell))
            .for_each(|context| context.limit(limits));
    }

    /// The uuid.
    pub fn id(&self) -> &SessionId {
        self.layout.id()
    }

    /// The paths of its files.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The dict to be saved as `session.json`.
    pub fn dict(&self) -> &Object {
        &self.dict
    }

    /// Increases with every change of the dict.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The context that is sent to a model.
    pub fn active_context(&self) -> Option<&SharedContext> {
        self.active.as_ref()
    }

    /// The id of the active context in the dict. The context may not be loaded.
    pub fn active_context_id(&self) -> Option<&str> {
        dict::active_context_id(&self.dict)
    }

    /// Makes a context the active one. The previous one is still saved if it has changed.
    pub fn set_active_context(&mut self, context: &SharedContext) {
        let id = context.id();
        self.attach(context, None);
        self.active = Some(context.clone());
        self.set(keys::ACTIVE_CONTEXT_ID, id.as_str().into());
    }

    /// The names of the tools that run without asking.
    pub fn auto_approve_tools(&self) -> Vec<&str> {
        dict::auto_approve_tools(&self.dict).collect()
    }

    /// Sets the names of the tools that run without asking.
    pub fn set_auto_approve_tools(&mut self, tools: Vec<String>) {
        self.set(keys::AUTO_APPROVE_TOOLS, tools.into());
    }

    /// Whether a running agent uses the session.
    pub fn is_active(&self) -> bool {
        dict::is_active(&self.dict)
    }

    /// Sets whether a running agent uses the session.
    pub fn set_is_active(&mut self, is_active: bool) {
        self.set(keys::IS_ACTIVE, is_active.into());
    }

    /// Replaces the dict. A number that is equal to the previous one as a double keeps its text (`1.0`, 2⁶³).
    ///
    /// # Errors
    ///
    /// The field with the wrong shape; `uuid` if it belongs to another session; `active_context_id` if that context is not
    /// in memory.
    pub fn replace_dict(&mut self, mut dict: Value) -> Result<(), ShapeError> {
        json::ensure_copies(&(&self.dict).into(), 1, "a session")?;
        json::keep_numbers(&Value::Object(self.dict.clone()), &mut dict);
        let mut dict = dict::checked(dict, &self.layout)?;
        dict::add_missing_fields(&mut dict, &self.layout);
        let id = dict::active_context_id(&dict);
        let active = match id {
            None => None,
            Some(id) => Some(self.context_in_memory(id).ok_or_else(|| {
                let message = format!("the context '{id}' is not loaded; load it and make it active instead");
                ShapeError::new(FieldPath::root().key(keys::ACTIVE_CONTEXT_ID), message)
            })?),
        };
        self.dict = dict;
        self.active = active;
        self.revision += 1;
        Ok(())
    }

    /// The context with this id, if it is in memory.
    pub fn context_in_memory(&self, id: &str) -> Option<SharedContext> {
        self.known.iter().find(|known| known.id.as_str() == id).and_then(|known| SharedContext::upgrade(&known.cell))
    }

    /// The ids of the contexts in memory that have no file yet.
    pub fn unsaved_contexts(&self) -> Vec<ContextId> {
        let alive = self.known.iter().filter(|known| known.saved.is_none() && known.cell.strong_count() > 0);
        alive.map(|known| known.id.clone()).collect()
    }

    /// Reads a context from the text of its file and adds it to this session. It becomes active if the dict names it and no
    /// context is active.
    ///
    /// # Errors
    ///
    /// [`Error::CorruptSession`] if the text is not a valid context or belongs to another context; [`Error::FileTooLarge`].
    pub fn adopt_stored(
        &mut self,
        id: &ContextId,
        text: &[u8],
        environment: &dyn Environment,
    ) -> Result<SharedContext, Error> {
        // It may have been read in the meantime, and there must not be two objects.
        if let Some(context) = self.context_in_memory(id.as_str()) {
            return Ok(context);
        }
        let path = self.layout.context_file(id);
        let value = json::parse_within(text, json::MAX_DEPTH, self.limits.values());
        let value = value.map_err(|error| Error::not_parsed(error, &path, self.limits))?;
        let mut context =
            Context::from_dict(value, Some(id), environment).map_err(|fault| Error::in_file(fault, &path, text))?;
        context.set_file(text);
        if context.id() != id {
            let message = format!("expected '{id}', the name of the file, found '{}'", context.id());
            return Err(Error::in_file(ShapeError::new(FieldPath::root().key("id"), message), &path, text));
        }
        self.files.read(&path, text);
        let context = SharedContext::new(context);
        self.attach(&context, Some(0));
        if self.active.is_none() && self.active_context_id() == Some(id.as_str()) {
            self.active = Some(context.clone());
        }
        Ok(context)
    }

    /// Applies [`Windows::rolling_sequence_window`] to the active context; the context that it returns
    /// becomes active. Also `None` if there is no active context.
    ///
    /// # Errors
    ///
    /// Those of the window.
    pub fn rolling_sequence_window(
        &mut self,
        count: u64,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<SharedContext>, Error> {
        self.window(|context| context.rolling_sequence_window(count, options, environment))
    }

    /// Applies [`Windows::rolling_token_window`] to the active context; the context that it returns
    /// becomes active. Also `None` if there is no active context.
    ///
    /// # Errors
    ///
    /// Those of the window.
    pub fn rolling_token_window(
        &mut self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<SharedContext>, Error> {
        self.window(|context| context.rolling_token_window(budget, counting, options, environment))
    }

    /// Adds a hook to a message of the active context; returns the id of the hook.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the active context does not have the message.
    pub fn add_hook(&mut self, message_id: &str, name: &str) -> Result<String, Error> {
        match &self.active {
            Some(active) => active.change(|context| context.add_hook(message_id, name)),
            None => Err(Error::argument("message", "the session has no active context")),
        }
    }

    /// Applies [`Context::materialize`] to the active context, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`Context::materialize`].
    pub fn materialize(&mut self, outputs: &HookOutputs, full_match: FullMatch) -> Result<(), Error> {
        match &self.active {
            Some(active) => active.change(|context| context.materialize(outputs, full_match)),
            None => Ok(()),
        }
    }

    fn window(
        &mut self,
        window: impl FnOnce(&mut Context) -> Result<Option<Context>, Error>,
    ) -> Result<Option<SharedContext>, Error> {
        let Some(active) = self.active.clone() else { return Ok(None) };
        let child = active.window(window)?;
        if let Some(child) = &child {
            self.set_active_context(child);
        }
        Ok(child)
    }

    /// Whether there is anything to save.
    pub fn has_changes(&self) -> bool {
        !self.pending.contexts().is_empty() || self.saved_revision != Some(self.revision)
    }

    /// The files of the contexts in memory, and `session.json`.
    fn files_in_memory(&self) -> Vec<String> {
        let alive = self.known.iter().filter(|known| known.cell.strong_count() > 0);
        alive.map(|known| self.layout.context_file(&known.id)).chain([self.layout.session_file()]).collect()
    }

    /// Records that a write of the plan is about to begin.
    fn begin_write(&mut self, write: &PlannedWrite) {
        self.files.begin(write);
    }

    /// Records that a write of the plan was done.
    fn written(&mut self, write: &PlannedWrite) {
        self.files.written(write);
        match &write.what {
            Written::Session { dict, revision } => {
                self.saved_dict.clone_from(dict);
                self.saved_revision = Some(*revision);
            }
            Written::Context { context, revision } => {
                self.stored(context, *revision);
            }
        }
    }

    /// Records that the file of a context has this revision of it.
    fn stored(&mut self, context: &SharedContext, revision: u64) {
        self.known.retain(|known| known.cell.strong_count() > 0);
        let waits = context.waits_for_forks(|id| self.has_file(id));
        let Some(known) = self.known_of(context) else { return };
        known.saved = Some(revision);
        known.waiting = waits.then(|| context.clone());
        if context.read(Context::revision) == revision {
            self.pending.remove(context);
        }
    }

    /// Whether a context has a file for certain.
    fn has_file(&self, id: &ContextId) -> bool {
        self.files.exists(&self.layout.context_file(id))
    }

    /// Records that a write of the plan may have finished after a newer write of the same file, so the newer contents must
    /// be written again.
    fn unwritten(&mut self, write: &PlannedWrite) {
        // The file may have these contents.
        self.files.begin(write);
        match &write.what {
            Written::Session { .. } => self.saved_revision = None,
            Written::Context { context, .. } => {
                if let Some(known) = self.known_of(context) {
                    known.saved = None;
                    self.pending.add(context);
                }
            }
        }
    }

    /// The entry of this object.
    fn known_of(&mut self, context: &SharedContext) -> Option<&mut Known> {
        let is_it = |known: &&mut Known| SharedContext::upgrade(&known.cell).is_some_and(|cell| cell.is(context));
        self.known.iter_mut().find(is_it)
    }

    /// Adds a context to this session. `saved` is the revision in its file.
    fn attach(&mut self, context: &SharedContext, saved: Option<u64>) {
        let id = context.id();
        context.limit(self.limits);
        if let Some(position) = self.known.iter().position(|known| known.id == id) {
            match SharedContext::upgrade(&self.known[position].cell) {
                Some(same) if same.is(context) => return,
                // The new object replaces any other with the same id.
                Some(other) => {
                    self.pending.remove(&other);
                    other.release(&self.pending);
                    context.inherit_forks(&other);
                }
                None => {}
            }
            self.known.remove(position);
        }
        context.add_owner(&self.pending);
        if saved != Some(context.read(Context::revision)) {
            self.pending.add(context);
        }
        self.known.push(Known { id, cell: context.downgrade(), saved, waiting: None });
    }

    fn set(&mut self, key: &str, value: Value) {
        if self.dict.get(key) != Some(&value) {
            self.dict.insert(key.to_owned(), value);
            self.revision += 1;
        }
    }
}
