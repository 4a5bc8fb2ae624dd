//! The session: its dict, its contexts in memory, and what of them has to be written.

mod conflict;
mod files;
mod shared;
mod state;
mod summary;

use std::rc::{Rc, Weak};

use serde_json::Value;

pub use conflict::Forked;
pub use shared::SharedContext;
pub use summary::SessionSummary;

use crate::conversation::{Context, Counting, FullMatch, HookOutputs, Message};
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::id::{ContextId, SessionId};
use crate::json::{self, FieldPath, Object};
use crate::storage::{Layout, PlannedWrite, SavePlan, Written};
use crate::window::{TokenBudget, WindowOptions};
use files::KnownFiles;
use shared::{ContextCell, Pending};

pub(crate) mod keys {
    pub const UUID: &str = "uuid";
    pub const ACTIVE_CONTEXT_ID: &str = "active_context_id";
    pub const AUTO_APPROVE_TOOLS: &str = "auto_approve_tools";
    pub const STATE_DATA: &str = "state_data";
    pub const IS_ACTIVE: &str = "is_active";
}

/// One interaction thread: a dict, an active context, and the other contexts that came from it.
pub struct Session {
    layout: Layout,
    dict: Object,
    /// The dict that `session.json` holds, as far as this session knows.
    saved_dict: Object,
    active: Option<SharedContext>,
    known: Vec<Known>,
    /// Contexts that changed since they were written. Kept alive here, whoever else forgets them.
    pending: Rc<Pending>,
    files: KnownFiles,
    revision: u64,
    saved_revision: Option<u64>,
}

/// A context that this session has in memory as long as somebody holds it.
struct Known {
    id: ContextId,
    cell: Weak<ContextCell>,
    /// The revision that its file has.
    saved: Option<u64>,
}

impl Session {
    /// A new session with a fresh active context. Nothing is written.
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

    /// The session of a `session.json`. Its active context has still to be read: see [`Session::active_context_id`] and
    /// [`Session::adopt_stored`].
    ///
    /// # Errors
    ///
    /// [`Error::CorruptSession`] where the text is no session, or is that of another one.
    pub fn from_file(layout: Layout, text: &[u8]) -> Result<Self, Error> {
        let path = layout.session_file();
        let value = json::parse(text).map_err(|error| Error::not_json(error, &path))?;
        let dict = checked_dict(value, &layout).map_err(|error| error.in_file(&path, text))?;
        let mut session = Self::of(layout, dict, Some(0));
        session.saved_dict = session.dict.clone();
        session.files.read(&path, text);
        Ok(session)
    }

    fn of(layout: Layout, mut dict: Object, saved_revision: Option<u64>) -> Self {
        add_missing_fields(&mut dict, &layout);
        Self {
            layout,
            dict,
            saved_dict: Object::new(),
            active: None,
            known: Vec::new(),
            pending: Rc::default(),
            files: KnownFiles::default(),
            revision: 0,
            saved_revision,
        }
    }

    /// The uuid.
    pub fn id(&self) -> &SessionId {
        self.layout.id()
    }

    /// The paths of its files.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What `session.json` holds.
    pub fn dict(&self) -> &Object {
        &self.dict
    }

    /// Grows with every change of the dict.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The context that goes to a model.
    pub fn active_context(&self) -> Option<&SharedContext> {
        self.active.as_ref()
    }

    /// The id of the active context as the dict has it.
    pub fn active_context_id(&self) -> Option<&str> {
        self.dict.get(keys::ACTIVE_CONTEXT_ID).and_then(Value::as_str).filter(|id| !id.is_empty())
    }

    /// Makes this the active context. The one that was it stays to be saved, if it changed.
    pub fn set_active_context(&mut self, context: &SharedContext) {
        let id = context.id();
        self.attach(context, None);
        self.active = Some(context.clone());
        self.set(keys::ACTIVE_CONTEXT_ID, id.as_str().into());
    }

    /// The names of the tools that run without asking.
    pub fn auto_approve_tools(&self) -> Vec<&str> {
        let tools = json::items(&self.dict, keys::AUTO_APPROVE_TOOLS);
        tools.iter().filter_map(Value::as_str).collect()
    }

    pub fn set_auto_approve_tools(&mut self, tools: Vec<String>) {
        self.set(keys::AUTO_APPROVE_TOOLS, tools.into());
    }

    /// Whether a running agent uses the session.
    pub fn is_active(&self) -> bool {
        self.dict.get(keys::IS_ACTIVE).and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn set_is_active(&mut self, is_active: bool) {
        self.set(keys::IS_ACTIVE, is_active.into());
    }

    /// Replaces the dict. Numbers that are equal as doubles keep their text (`1.0`, 2⁶³).
    ///
    /// # Errors
    ///
    /// The field of the wrong shape; `uuid` if it is that of another session; `active_context_id` if that context is not
    /// in memory.
    pub fn replace_dict(&mut self, mut dict: Value) -> Result<(), ShapeError> {
        json::keep_numbers(&Value::Object(self.dict.clone()), &mut dict);
        let mut dict = checked_dict(dict, &self.layout)?;
        add_missing_fields(&mut dict, &self.layout);
        let id = dict.get(keys::ACTIVE_CONTEXT_ID).and_then(Value::as_str).filter(|id| !id.is_empty());
        let active = match id {
            None => None,
            Some(id) => Some(self.context_in_memory(id).ok_or_else(|| {
                let message = format!("the context '{id}' is not loaded; load it and make it the active context");
                ShapeError::new(FieldPath::root().key(keys::ACTIVE_CONTEXT_ID), message)
            })?),
        };
        self.dict = dict;
        self.active = active;
        self.revision += 1;
        Ok(())
    }

    /// The context with this id, where somebody holds it.
    pub fn context_in_memory(&self, id: &str) -> Option<SharedContext> {
        self.known.iter().find(|known| known.id.as_str() == id).and_then(|known| SharedContext::upgrade(&known.cell))
    }

    /// The ids of the contexts in memory that have no file yet.
    pub fn unsaved_contexts(&self) -> Vec<ContextId> {
        let alive = self.known.iter().filter(|known| known.saved.is_none() && known.cell.strong_count() > 0);
        alive.map(|known| known.id.clone()).collect()
    }

    /// Reads a context from the text of its file and makes it one of this session's; the active one, if its id is.
    ///
    /// # Errors
    ///
    /// [`Error::CorruptSession`] where the text is no context, or is that of another one.
    pub fn adopt_stored(
        &mut self,
        id: &ContextId,
        text: &[u8],
        environment: &dyn Environment,
    ) -> Result<SharedContext, Error> {
        // Somebody else may have read it in the meantime: there must not be two.
        if let Some(context) = self.context_in_memory(id.as_str()) {
            return Ok(context);
        }
        let path = self.layout.context_file(id);
        let value = json::parse(text).map_err(|error| Error::not_json(error, &path))?;
        let context = Context::from_dict(value, Some(id), environment).map_err(|error| error.in_file(&path, text))?;
        if context.id() != id {
            let message = format!("expected '{id}', the name of the file, found '{}'", context.id());
            return Err(ShapeError::new(FieldPath::root().key("id"), message).in_file(&path, text));
        }
        self.files.read(&path, text);
        let context = SharedContext::new(context);
        self.attach(&context, Some(0));
        if self.active.is_none() && self.active_context_id() == Some(id.as_str()) {
            self.active = Some(context.clone());
        }
        Ok(context)
    }

    /// Applies [`Context::rolling_sequence_window`] to the active context; a context that it gives becomes the active
    /// one. `None` without an active context as well.
    ///
    /// # Errors
    ///
    /// Those of the context's window.
    pub fn rolling_sequence_window(
        &mut self,
        count: u64,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<SharedContext>, Error> {
        self.window(|context| context.rolling_sequence_window(count, options, environment))
    }

    /// Applies [`Context::rolling_token_window`] to the active context; a context that it gives becomes the active one.
    /// `None` without an active context as well.
    ///
    /// # Errors
    ///
    /// Those of the context's window.
    pub fn rolling_token_window(
        &mut self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<SharedContext>, Error> {
        self.window(|context| context.rolling_token_window(budget, counting, options, environment))
    }

    /// Adds a hook to a message of the active context; returns the hook's id.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] where the message is not there.
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
    /// Those of the hooks' texts.
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
        let child = active.change(window)?.map(SharedContext::new);
        if let Some(child) = &child {
            self.set_active_context(child);
        }
        Ok(child)
    }

    /// Whether a save has anything to write.
    pub fn has_changes(&self) -> bool {
        !self.pending.contexts().is_empty() || self.saved_revision != Some(self.revision)
    }

    /// What has to be written for the files to be as the session is now: contexts that changed, newest first, so that a
    /// window is there before the context that names it; `session.json` last, so that what is there is a whole session at any time,
    /// and its time is that of the last save. Empty when nothing changed.
    ///
    /// # Errors
    ///
    /// None but defects.
    pub fn save_plan(&self) -> Result<SavePlan, Error> {
        let mut writes = Vec::new();
        for context in self.pending.contexts().into_iter().rev() {
            let write = context.read(|context| {
                let bytes = json::to_file_bytes(&context.view());
                Ok::<_, Error>((self.layout.context_file(context.id()), bytes, context.revision()))
            })?;
            let (path, bytes, revision) = write;
            writes.push(PlannedWrite::new(path, bytes, Written::Context { context, revision }));
        }
        if !writes.is_empty() || self.saved_revision != Some(self.revision) {
            let bytes = json::to_file_bytes(&(&self.dict).into());
            let what = Written::Session { dict: self.dict.clone(), revision: self.revision };
            writes.push(PlannedWrite::new(self.layout.session_file(), bytes, what));
        }
        Ok(SavePlan { writes })
    }

    /// Refuses a write over a file that somebody else has changed since this session read or wrote it. To be asked of
    /// every write of a plan before the first is done, with the SHA-256 of what the file holds now in hexadecimal digits;
    /// where there is no file, nothing can be lost.
    ///
    /// # Errors
    ///
    /// [`Error::FileConflict`].
    pub fn check_write(&self, write: &PlannedWrite, current: &str) -> Result<(), Error> {
        self.files.check(write, current)
    }

    /// Takes note that a write of the plan is to begin.
    pub fn begin_write(&mut self, write: &PlannedWrite) {
        self.files.begin(write);
    }

    /// Takes note that a write of the plan was done.
    pub fn written(&mut self, write: &PlannedWrite) {
        self.files.written(write);
        match &write.what {
            Written::Session { dict, revision } => {
                self.saved_dict.clone_from(dict);
                self.saved_revision = Some(*revision);
            }
            Written::Context { context, revision } => {
                self.known.retain(|known| known.cell.strong_count() > 0);
                let Some(known) = self.known_of(context) else { return };
                known.saved = Some(*revision);
                if context.read(Context::revision) == *revision {
                    self.pending.remove(context);
                }
            }
        }
    }

    /// Takes note that a write of the plan was done after a newer one of the same file, so that it has to be done again.
    pub fn unwritten(&mut self, write: &PlannedWrite) {
        // What the file holds may be that.
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

    /// What is known of this very object.
    fn known_of(&mut self, context: &SharedContext) -> Option<&mut Known> {
        let is_it = |known: &&mut Known| SharedContext::upgrade(&known.cell).is_some_and(|cell| cell.is(context));
        self.known.iter_mut().find(is_it)
    }

    /// Makes a context one of this session's. `saved` is the revision that its file has.
    fn attach(&mut self, context: &SharedContext, saved: Option<u64>) {
        let id = context.id();
        if let Some(position) = self.known.iter().position(|known| known.id == id) {
            match SharedContext::upgrade(&self.known[position].cell) {
                Some(same) if same.is(context) => return,
                // Another object with this id takes its place.
                Some(other) => {
                    self.pending.remove(&other);
                    other.release(&self.pending);
                }
                None => {}
            }
            self.known.remove(position);
        }
        context.add_owner(&self.pending);
        if saved != Some(context.read(Context::revision)) {
            self.pending.add(context);
        }
        self.known.push(Known { id, cell: context.downgrade(), saved });
    }

    fn set(&mut self, key: &str, value: Value) {
        if self.dict.get(key) != Some(&value) {
            self.dict.insert(key.to_owned(), value);
            self.revision += 1;
        }
    }
}

/// Everything that [`Session::from_file`] would refuse about the dict of a file: each field on its own.
pub(crate) fn shape_faults(dict: &Object, layout: &Layout) -> Vec<ShapeError> {
    let checked = [keys::UUID, keys::ACTIVE_CONTEXT_ID, keys::AUTO_APPROVE_TOOLS, keys::STATE_DATA, keys::IS_ACTIVE];
    let field = |(key, value): (&String, &Value)| {
        // The variables may be large; all that is asked of them is that they are an object.
        let value = if value.is_object() { Value::Object(Object::new()) } else { value.clone() };
        Value::Object(Object::from_iter([(key.clone(), value)]))
    };
    let checked = dict.iter().filter(|(key, _)| checked.contains(&key.as_str()));
    checked.map(field).filter_map(|field| checked_dict(field, layout).err()).collect()
}

/// Checks a dict that is to be the session's.
fn checked_dict(dict: Value, layout: &Layout) -> Result<Object, ShapeError> {
    use crate::conversation::shape;

    let root = FieldPath::root();
    let Value::Object(dict) = dict else { return Err(shape::wrong(&root, "an object", &dict)) };
    let is_id = |value: &Value| value.is_null() || value.is_string();
    shape::optional(&dict, &root, keys::UUID, "a string", Value::is_string)?;
    shape::optional(&dict, &root, keys::ACTIVE_CONTEXT_ID, "a string or null", is_id)?;
    shape::optional(&dict, &root, keys::AUTO_APPROVE_TOOLS, "an array of strings", shape::is_string_array)?;
    shape::optional(&dict, &root, keys::STATE_DATA, "an object", Value::is_object)?;
    shape::optional(&dict, &root, keys::IS_ACTIVE, "true or false", Value::is_boolean)?;
    if let Some(uuid) = dict.get(keys::UUID).filter(|uuid| *uuid != layout.id().as_str()) {
        let message = format!("expected \"{}\", the name of the session's directory, found {uuid}", layout.id());
        return Err(ShapeError::new(root.key(keys::UUID), message));
    }
    if let Some(id) = dict.get(keys::ACTIVE_CONTEXT_ID).and_then(Value::as_str).filter(|id| !id.is_empty()) {
        ContextId::parse(id).map_err(|fault| ShapeError::new(root.key(keys::ACTIVE_CONTEXT_ID), fault))?;
    }
    Ok(dict)
}

fn add_missing_fields(dict: &mut Object, layout: &Layout) {
    dict.entry(keys::UUID).or_insert_with(|| layout.id().as_str().into());
    dict.entry(keys::ACTIVE_CONTEXT_ID).or_insert(Value::Null);
    dict.entry(keys::AUTO_APPROVE_TOOLS).or_insert_with(|| Value::Array(Vec::new()));
    dict.entry(keys::STATE_DATA).or_insert_with(|| Value::Object(Object::new()));
    dict.entry(keys::IS_ACTIVE).or_insert(Value::Bool(false));
}
