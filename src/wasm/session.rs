//! A session as JavaScript holds it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::context::{ContextHandle, specials};
use super::environment::JsEnvironment;
use super::storage::Storage;
use super::windows::{SequenceWindow, TokenWindow};
use super::{args, patterns, reports, value};
use crate::conversation::HookOutputs;
use crate::error::Error;
use crate::id::{ContextId, SessionId};
use crate::json;
use crate::session::{Forked, Session, SessionSummary};
use crate::storage::{Layout, SavePlan, check_parent_dir};

/// So many files are read at once when sessions are listed.
const READS_AT_ONCE: usize = 16;

/// So often it is tried to keep both where others go on changing the files.
const ATTEMPTS: usize = 8;

/// What the class `Session` of the glue holds. The parts are shared with the promises that it hands out, which outlive it when it is freed.
#[wasm_bindgen]
pub struct SessionHandle {
    session: Rc<RefCell<Session>>,
    storage: Storage,
    /// The number of synchronous saves, which overtake one that is under way.
    sync_saves: Rc<Cell<u64>>,
    /// The contexts that became others, of which the glue has not been told.
    forks: Rc<RefCell<Vec<Forked>>>,
}

#[wasm_bindgen]
impl SessionHandle {
    pub fn create(
        parent_dir: &JsValue,
        storage: JsValue,
        system_prompt: Option<String>,
        tool_definitions: Option<String>,
    ) -> Result<Self, JsValue> {
        let parent_dir = parent_directory(parent_dir)?;
        let (system_prompt, tool_definitions) = specials(system_prompt, tool_definitions)?;
        let environment = JsEnvironment::capture()?;
        let session = Session::create(&parent_dir, system_prompt, tool_definitions, &environment);
        Ok(Self::of(Rc::new(RefCell::new(session)), Storage::new(storage)))
    }

    /// `active_context_id` is that of the context to make the active one, `null` for none, and `undefined` for the one
    /// that the file names.
    pub async fn load(
        parent_dir: JsValue,
        uuid: JsValue,
        storage: JsValue,
        active_context_id: JsValue,
        max_file_bytes: JsValue,
    ) -> Result<Self, JsValue> {
        let layout = session_layout(&parent_dir, &uuid)?;
        let storage = Storage::with_limit(storage, args::max_file_bytes(&max_file_bytes)?);
        let chosen = chosen_context(&active_context_id)?;
        let path = layout.session_file();
        let text = storage.read(&path).await?.ok_or(Error::SessionNotFound { path })?;
        let session = Rc::new(RefCell::new(Session::from_file(layout, &text)?));
        match chosen {
            ChosenContext::OfFile => {
                let active = session.borrow().active_context_id().map(str::to_owned);
                if let Some(id) = active {
                    load_context(&session, &storage, &id).await?;
                }
            }
            ChosenContext::None => {}
            ChosenContext::Id(id) => {
                let context = load_context(&session, &storage, id.as_str()).await?;
                session.borrow_mut().set_active_context(context.shared());
            }
        }
        Ok(Self::of(session, storage))
    }

    /// The JSON array of the summaries, newest first. `on_error` is called with the error of each session that cannot be
    /// read.
    pub async fn list(
        parent_dir: JsValue,
        storage: JsValue,
        on_error: Function,
        max_file_bytes: JsValue,
    ) -> Result<String, JsValue> {
        let parent_dir = parent_directory(&parent_dir)?;
        let storage = Storage::with_limit(storage, args::max_file_bytes(&max_file_bytes)?);
        let names = storage.list(if parent_dir.is_empty() { "." } else { &parent_dir }).await?;
        let layouts: Vec<Layout> =
            names.iter().filter_map(|name| Some(Layout::new(&parent_dir, SessionId::parse(name).ok()?))).collect();
        let summaries: Rc<RefCell<Vec<SessionSummary>>> = Rc::default();
        for chunk in layouts.chunks(READS_AT_ONCE) {
            let reads = chunk.iter().map(|layout| {
                let (storage, layout) = (storage.clone(), layout.clone());
                let (summaries, on_error) = (summaries.clone(), on_error.clone());
                future_to_promise(async move {
                    match summary(&storage, layout).await {
                        Ok(summary) => summaries.borrow_mut().extend(summary),
                        Err(error) => drop(on_error.call1(&JsValue::NULL, &error)?),
                    }
                    Ok(JsValue::UNDEFINED)
                })
            });
            JsFuture::from(Promise::all(&reads.collect::<Array>())).await?;
        }
        let mut summaries = summaries.take();
        SessionSummary::sort_newest_first(&mut summaries);
        Ok(reports::text(&summaries)?)
    }

    #[wasm_bindgen(getter)]
    pub fn uuid(&self) -> String {
        self.session.borrow().id().to_string()
    }

    #[wasm_bindgen(getter, js_name = sessionDir)]
    pub fn session_dir(&self) -> String {
        self.session.borrow().layout().session_dir()
    }

    /// Grows with every change of the dict.
    #[wasm_bindgen(getter)]
    pub fn revision(&self) -> f64 {
        args::to_number(self.session.borrow().revision())
    }

    #[wasm_bindgen(js_name = dictText)]
    pub fn dict_text(&self) -> Result<String, JsValue> {
        Ok(json::to_compact_text(&self.session.borrow().dict().into()))
    }

    #[wasm_bindgen(js_name = setDict)]
    pub fn set_dict(&self, text: &str) -> Result<(), JsValue> {
        let dict = value(text, json::MAX_DEPTH).map_err(|error| error.in_argument("rawDict"))?;
        self.change(|session| session.replace_dict(dict).map_err(|error| error.in_argument("rawDict")))
    }

    #[wasm_bindgen(getter, js_name = activeContextId)]
    pub fn active_context_id(&self) -> Option<String> {
        self.session.borrow().active_context_id().map(str::to_owned)
    }

    #[wasm_bindgen(js_name = activeContext)]
    pub fn active_context(&self) -> Option<ContextHandle> {
        self.session.borrow().active_context().cloned().map(ContextHandle::from)
    }

    /// Whether this is the active context.
    #[wasm_bindgen(js_name = isActiveContext)]
    pub fn is_active_context(&self, context: &ContextHandle) -> bool {
        self.session.borrow().active_context().is_some_and(|active| active.is(context.shared()))
    }

    #[wasm_bindgen(js_name = setActiveContext)]
    pub fn set_active_context(&self, context: &ContextHandle) {
        self.session.borrow_mut().set_active_context(context.shared());
    }

    #[wasm_bindgen(js_name = setAutoApproveTools)]
    pub fn set_auto_approve_tools(&self, tools: &JsValue) -> Result<(), JsValue> {
        let names =
            args::strings(tools).ok_or_else(|| args::expected("autoApproveTools", "an array of strings", tools))?;
        self.session.borrow_mut().set_auto_approve_tools(names);
        Ok(())
    }

    #[wasm_bindgen(getter, js_name = isActive)]
    pub fn is_active(&self) -> bool {
        self.session.borrow().is_active()
    }

    #[wasm_bindgen(js_name = setIsActive)]
    pub fn set_is_active(&self, is_active: &JsValue) -> Result<(), JsValue> {
        let is_active = args::boolean(is_active, "isActive")?;
        self.session.borrow_mut().set_is_active(is_active);
        Ok(())
    }

    /// Whether a save has anything to write.
    #[wasm_bindgen(getter, js_name = hasChanges)]
    pub fn has_changes(&self) -> bool {
        self.session.borrow().has_changes()
    }

    /// Writes what changed, file after file. To be called when no other save of this session is under way but one that
    /// [`SessionHandle::save_sync`] is to overtake.
    ///
    /// With `keep_both`, what somebody else has changed is kept beside what is here; gives for each context that became
    /// another one the id that it had and the one that it has.
    pub fn save(&self, keep_both: bool) -> Promise {
        let (session, storage, sync_saves) = (self.session.clone(), self.storage.clone(), self.sync_saves.clone());
        let forks = self.forks.clone();
        future_to_promise(async move {
            loop {
                let begun = sync_saves.get();
                let is_overtaken = || sync_saves.get() != begun;
                for write in checked_plan(&session, &storage, &forks, keep_both).await?.writes {
                    if is_overtaken() {
                        break;
                    }
                    session.borrow_mut().begin_write(&write);
                    storage.write(&write.path, &write.bytes).await?;
                    if is_overtaken() {
                        // It may have come last, though it is older.
                        session.borrow_mut().unwritten(&write);
                        break;
                    }
                    session.borrow_mut().written(&write);
                }
                // Who has overtaken this save has written what there was, unless that failed.
                if !is_overtaken() {
                    break;
                }
            }
            let forks = forks.take();
            let ids = forks.iter().flat_map(|forked| [forked.origin.as_str(), forked.fork.as_str()]);
            Ok(ids.map(JsValue::from).collect::<Array>().into())
        })
    }

    /// As [`SessionHandle::save`], done when it returns. A save that is under way writes no more.
    #[wasm_bindgen(js_name = saveSync)]
    pub fn save_sync(&self) -> Result<(), JsValue> {
        let plan = self.change(|session| session.save_plan())?;
        for write in &plan.writes {
            if let Some(current) = self.storage.digest_sync(&write.path)? {
                self.change(|session| session.check_write(write, &current))?;
            }
        }
        self.sync_saves.set(self.sync_saves.get() + 1);
        for write in &plan.writes {
            self.session.borrow_mut().begin_write(write);
            self.storage.write_sync(&write.path, &write.bytes)?;
            self.session.borrow_mut().written(write);
        }
        Ok(())
    }

    #[wasm_bindgen(js_name = loadContext)]
    pub fn load_context(&self, id: JsValue) -> Promise {
        let (session, storage) = (self.session.clone(), self.storage.clone());
        future_to_promise(async move {
            let id = args::string(&id, "id")?;
            Ok(load_context(&session, &storage, &id).await?.into())
        })
    }

    /// The ids of the contexts that have a file or are to get one.
    #[wasm_bindgen(js_name = listContexts)]
    pub fn list_contexts(&self) -> Promise {
        let (session, storage) = (self.session.clone(), self.storage.clone());
        future_to_promise(async move {
            let directory = session.borrow().layout().session_dir();
            let names = storage.list(&directory).await?;
            let mut ids: Vec<ContextId> = names.iter().filter_map(|name| Layout::context_id(name)).collect();
            ids.extend(session.borrow().unsaved_contexts());
            ids.sort();
            ids.dedup();
            Ok(ids.iter().map(|id| JsValue::from(id.as_str())).collect::<Array>().into())
        })
    }

    #[wasm_bindgen(js_name = rollingSequenceWindow)]
    pub fn rolling_sequence_window(
        &self,
        count: &JsValue,
        options: &JsValue,
    ) -> Result<Option<ContextHandle>, JsValue> {
        let SequenceWindow { count, options } = SequenceWindow::read(count, options)?;
        let environment = JsEnvironment::capture()?;
        let child = self.change(|session| session.rolling_sequence_window(count, &options, &environment))?;
        Ok(child.map(ContextHandle::from))
    }

    #[wasm_bindgen(js_name = rollingTokenWindow)]
    pub fn rolling_token_window(
        &self,
        max_tokens: &JsValue,
        encoding: &JsValue,
        options: &JsValue,
    ) -> Result<Option<ContextHandle>, JsValue> {
        let window = TokenWindow::read(max_tokens, encoding, options)?;
        let environment = JsEnvironment::capture()?;
        let child = self.change(|session| {
            session.rolling_token_window(window.budget, &window.counting(), &window.options, &environment)
        });
        Ok(child?.map(ContextHandle::from))
    }

    /// Adds a hook to a message of the active context; gives the hook's id.
    #[wasm_bindgen(js_name = addHook)]
    pub fn add_hook(&self, message_id: &JsValue, name: &JsValue) -> Result<String, JsValue> {
        let (message_id, name) = (args::string(message_id, "message.id")?, args::string(name, "name")?);
        self.change(|session| session.add_hook(&message_id, &name))
    }

    /// Makes the content of messages with hooks of what the hooks returned: ids and texts stand side by side.
    pub fn materialize(&self, hook_ids: Vec<String>, texts: Vec<String>) -> Result<(), JsValue> {
        let outputs = HookOutputs::new(hook_ids.into_iter().zip(texts));
        self.change(|session| session.materialize(&outputs, &patterns::full_match))
    }

    #[wasm_bindgen(js_name = stateGet)]
    pub fn state_get(&self, name: &JsValue) -> Result<Option<String>, JsValue> {
        let name = args::string(name, "name")?;
        Ok(self.session.borrow().state_value(&name).map(str::to_owned))
    }

    #[wasm_bindgen(js_name = stateCreate)]
    pub fn state_create(&self, name: &JsValue, value: &JsValue) -> Result<(), JsValue> {
        let (name, value) = (args::string(name, "name")?, args::string(value, "value")?);
        self.change(|session| session.create_state(&name, value))
    }

    #[wasm_bindgen(js_name = stateUpdate)]
    pub fn state_update(&self, name: &JsValue, old: &JsValue, new: &JsValue) -> Result<(), JsValue> {
        let name = args::string(name, "name")?;
        let (old, new) = (args::string(old, "oldValue")?, args::string(new, "newValue")?);
        self.change(|session| session.update_state(&name, &old, new))
    }

    #[wasm_bindgen(js_name = stateDelete)]
    pub fn state_delete(&self, name: &JsValue) -> Result<(), JsValue> {
        let name = args::string(name, "name")?;
        self.change(|session| session.delete_state(&name))
    }

    #[wasm_bindgen(js_name = stateList)]
    pub fn state_list(&self) -> Vec<String> {
        self.session.borrow().state_names().into_iter().map(str::to_owned).collect()
    }
}

impl SessionHandle {
    fn of(session: Rc<RefCell<Session>>, storage: Storage) -> Self {
        Self { session, storage, sync_saves: Rc::default(), forks: Rc::default() }
    }

    fn change<T>(&self, change_session: impl FnOnce(&mut Session) -> Result<T, Error>) -> Result<T, JsValue> {
        change(&self.session, change_session)
    }
}

/// Works on a session. Its error is made an object of JavaScript when the session is released.
fn change<T>(session: &RefCell<Session>, change: impl FnOnce(&mut Session) -> Result<T, Error>) -> Result<T, JsValue> {
    let result = match session.try_borrow_mut() {
        Ok(mut session) => change(&mut session),
        Err(error) => Err(Error::Internal(error.to_string())),
    };
    Ok(result?)
}

/// Which context a load makes the active one.
enum ChosenContext {
    OfFile,
    None,
    Id(ContextId),
}

fn chosen_context(active_context_id: &JsValue) -> Result<ChosenContext, Error> {
    const ARGUMENT: &str = "options.activeContextId";
    if active_context_id.is_undefined() {
        return Ok(ChosenContext::OfFile);
    }
    if active_context_id.is_null() {
        return Ok(ChosenContext::None);
    }
    let id = active_context_id
        .as_string()
        .ok_or_else(|| args::expected(ARGUMENT, "the id of a context, or null", active_context_id))?;
    ContextId::parse(&id).map(ChosenContext::Id).map_err(|fault| Error::argument(ARGUMENT, fault))
}

/// The paths of the session that a caller names.
pub(super) fn session_layout(parent_dir: &JsValue, uuid: &JsValue) -> Result<Layout, Error> {
    let parent_dir = parent_directory(parent_dir)?;
    let uuid = args::string(uuid, "uuid")?;
    let id = SessionId::parse(&uuid).map_err(|fault| Error::argument("uuid", fault))?;
    Ok(Layout::new(&parent_dir, id))
}

/// What is to be written, over nothing that somebody else has changed, or with that kept as well.
async fn checked_plan(
    session: &RefCell<Session>,
    storage: &Storage,
    forks: &RefCell<Vec<Forked>>,
    keep_both: bool,
) -> Result<SavePlan, JsValue> {
    let mut attempts = if keep_both { ATTEMPTS } else { 1 };
    loop {
        attempts -= 1;
        let plan = change(session, |session| session.save_plan())?;
        let mut refused = Vec::new();
        for write in &plan.writes {
            let Some(current) = storage.digest(&write.path).await? else { continue };
            match session.borrow().check_write(write, &current) {
                Err(Error::FileConflict { .. }) if attempts > 0 => refused.push(write),
                checked => checked?,
            }
        }
        if refused.is_empty() {
            return Ok(plan);
        }
        // First `session.json`, which may turn out to be in conflict all the same.
        for write in refused.into_iter().rev() {
            let Some(theirs) = storage.read(&write.path).await? else { continue };
            let environment = JsEnvironment::capture()?;
            let forked = change(session, |session| session.keep_both(write, &theirs, &environment))?;
            forks.borrow_mut().extend(forked);
        }
    }
}

fn parent_directory(parent_dir: &JsValue) -> Result<String, Error> {
    let parent_dir = args::string(parent_dir, "parentDir")?;
    check_parent_dir(&parent_dir)?;
    Ok(parent_dir)
}

/// The context with this id, read from its file where nobody has it yet.
async fn load_context(session: &RefCell<Session>, storage: &Storage, id: &str) -> Result<ContextHandle, JsValue> {
    let id = ContextId::parse(id).map_err(|fault| Error::argument("id", fault))?;
    let known = session.borrow().context_in_memory(id.as_str());
    if let Some(context) = known {
        return Ok(context.into());
    }
    let path = session.borrow().layout().context_file(&id);
    let text = storage.read(&path).await?;
    let text = text.ok_or_else(|| Error::ContextNotFound { id: id.to_string(), path })?;
    let environment = JsEnvironment::capture()?;
    Ok(change(session, |session| session.adopt_stored(&id, &text, &environment))?.into())
}

/// The summary of a session; `None` for a directory that holds none.
async fn summary(storage: &Storage, layout: Layout) -> Result<Option<SessionSummary>, JsValue> {
    let path = layout.session_file();
    let Some(text) = storage.read(&path).await? else { return Ok(None) };
    let modified_at = storage.modified_time(&path).await?;
    Ok(Some(SessionSummary::from_file(layout, &text, modified_at)?))
}
