//! The handle of a session that JavaScript holds.

use std::rc::Rc;

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::context::{ContextHandle, specials};
use super::environment::JsEnvironment;
use super::storage::JsStorage;
use super::windows::{SequenceWindow, TokenWindow};
use super::{args, in_argument, memory, patterns, reports, text, value};
use crate::conversation::HookOutputs;
use crate::error::Error;
use crate::id::{ContextId, SessionId};
use crate::json;
use crate::layout::{Layout, SESSION_FILE, check_parent_dir};
use crate::limits::Limits;
use crate::session::{ActiveContext, Cursor, ListOptions, OnConflict, Session, SessionList, StoredSession};

/// The number of summaries that cross together.
const PAGE: usize = 1000;

/// The handle that the class `Session` in `js/` wraps. Its state is shared with the promises that it returns, which may
/// outlive it.
#[wasm_bindgen]
pub struct SessionHandle(Rc<StoredSession<JsStorage>>);

#[wasm_bindgen]
impl SessionHandle {
    pub fn create(
        parent_dir: &JsValue,
        storage: JsValue,
        system_prompt: Option<String>,
        tool_definitions: Option<String>,
        options: &JsValue,
    ) -> Result<Self, JsValue> {
        let parent_dir = parent_directory(parent_dir)?;
        let limits = args::limits(options, Limits::default())?;
        let (system_prompt, tool_definitions) = specials(system_prompt, tool_definitions)?;
        let environment = JsEnvironment::capture()?;
        let mut session = Session::create(&parent_dir, system_prompt, tool_definitions, &environment);
        session.set_limits(limits);
        Ok(Self(Rc::new(StoredSession::new(session, JsStorage::new(storage, limits)))))
    }

    /// Loads the session with `reader`, and keeps `storage`. `active_context_id` is the id of the context to make active,
    /// `null` for none, and `undefined` for the one that the file names.
    pub async fn load(
        parent_dir: JsValue,
        uuid: JsValue,
        storage: JsValue,
        reader: JsValue,
        active_context_id: JsValue,
        options: JsValue,
    ) -> Result<Self, JsValue> {
        let layout = session_layout(&parent_dir, &uuid)?;
        let reader = JsStorage::new(reader, args::limits(&options, Limits::default())?);
        let storage = reader.of(storage, JsValue::UNDEFINED);
        let active = active_context(&active_context_id)?;
        let environment = JsEnvironment::capture()?;
        let session = StoredSession::load(layout, reader, active, &environment).await?;
        Ok(Self(Rc::new(session.with_storage(storage))))
    }

    /// Calls `on_page` with JSON arrays of summaries, newest first, and `on_error` with the error of each session that cannot
    /// be read. `after_uuid` and `after_time` are a place in the list: a time of `undefined` means the present place of that
    /// session.
    #[allow(clippy::too_many_arguments, reason = "the options of one call")]
    pub async fn list(
        parent_dir: JsValue,
        storage: JsValue,
        options: JsValue,
        utc_offset: f64,
        limit: JsValue,
        after_uuid: JsValue,
        after_time: JsValue,
        on_page: Function,
        on_error: Function,
    ) -> Result<(), JsValue> {
        let parent_dir = parent_directory(&parent_dir)?;
        let storage = JsStorage::new(storage, args::limits(&options, Limits::default())?);
        let limit = match limit.is_undefined() {
            true => None,
            false => Some(args::non_negative_integer(&limit, "options.limit")?),
        };
        let after = match after_uuid.is_undefined() {
            true => None,
            false => Some(cursor(&after_uuid, &after_time)?),
        };
        let order = ListOptions { utc_offset, is_page: limit.is_some(), after };
        let mut list = SessionList::open(&parent_dir, &storage, order).await?;
        let mut left = limit.unwrap_or(u64::MAX);
        while left > 0 {
            let mut errors = Vec::new();
            let page = list.next(usize::try_from(left).unwrap_or(usize::MAX).min(PAGE), &mut errors).await;
            if errors.iter().any(|error| matches!(error, Error::Stopped)) {
                return Err(Error::Stopped.into());
            }
            for error in errors {
                // Nothing is known about that session.
                if matches!(error, Error::MemoryLimit(_)) {
                    return Err(error.into());
                }
                on_error.call1(&JsValue::NULL, &error.into())?;
            }
            if page.is_empty() {
                break;
            }
            left -= page.len() as u64;
            on_page.call1(&JsValue::NULL, &reports::text(&page)?.into())?;
        }
        Ok(())
    }

    #[wasm_bindgen(getter)]
    pub fn uuid(&self) -> String {
        self.0.read(|session| session.id().to_string())
    }

    #[wasm_bindgen(getter, js_name = sessionDir)]
    pub fn session_dir(&self) -> String {
        self.0.read(|session| session.layout().session_dir())
    }

    /// Increases with every change of the dict.
    #[wasm_bindgen(getter)]
    pub fn revision(&self) -> f64 {
        args::to_number(self.0.read(|session| session.revision()))
    }

    #[wasm_bindgen(js_name = dictText)]
    pub fn dict_text(&self) -> Result<String, JsValue> {
        Ok(self.0.read(|session| reports::compact_text(&session.dict().into()))?)
    }

    #[wasm_bindgen(js_name = setDict)]
    pub fn set_dict(&self, bytes: usize) -> Result<(), JsValue> {
        let limits = self.0.read(|session| session.limits());
        let at_fault = in_argument("rawDict");
        let read = |text: &[u8]| value(text, json::MAX_DEPTH, limits, || SESSION_FILE.to_owned(), &at_fault);
        let dict = text::with_text(bytes, read)?;
        self.change(|session| session.replace_dict(dict).map_err(at_fault))
    }

    #[wasm_bindgen(getter, js_name = activeContextId)]
    pub fn active_context_id(&self) -> Option<String> {
        self.0.read(|session| session.active_context_id().map(str::to_owned))
    }

    #[wasm_bindgen(js_name = activeContext)]
    pub fn active_context(&self) -> Option<ContextHandle> {
        self.0.read(|session| session.active_context().cloned().map(ContextHandle::from))
    }

    /// Whether this is the active context.
    #[wasm_bindgen(js_name = isActiveContext)]
    pub fn is_active_context(&self, context: &ContextHandle) -> bool {
        self.0.read(|session| session.active_context().is_some_and(|active| active.is(context.shared())))
    }

    #[wasm_bindgen(js_name = setActiveContext)]
    pub fn set_active_context(&self, context: &ContextHandle) -> Result<(), JsValue> {
        Ok(self.0.update(|session| session.set_active_context(context.shared()))?)
    }

    #[wasm_bindgen(js_name = setAutoApproveTools)]
    pub fn set_auto_approve_tools(&self, tools: &JsValue) -> Result<(), JsValue> {
        let names =
            args::strings(tools).ok_or_else(|| args::expected("autoApproveTools", "an array of strings", tools))?;
        Ok(self.0.update(|session| session.set_auto_approve_tools(names))?)
    }

    #[wasm_bindgen(getter, js_name = isActive)]
    pub fn is_active(&self) -> bool {
        self.0.read(|session| session.is_active())
    }

    #[wasm_bindgen(js_name = setIsActive)]
    pub fn set_is_active(&self, is_active: &JsValue) -> Result<(), JsValue> {
        let is_active = args::boolean(is_active, "isActive")?;
        Ok(self.0.update(|session| session.set_is_active(is_active))?)
    }

    /// Sets the limits on files that are among the options.
    #[wasm_bindgen(js_name = setLimits)]
    pub fn set_limits(&self, options: &JsValue) -> Result<(), JsValue> {
        let limits = args::limits(options, self.0.read(|session| session.limits()))?;
        Ok(self.0.update(|session| session.set_limits(limits))?)
    }

    /// Whether there is anything to save.
    #[wasm_bindgen(getter, js_name = hasChanges)]
    pub fn has_changes(&self) -> bool {
        self.0.read(|session| session.has_changes())
    }

    /// Writes what changed. Must not be called while another save of this session is in progress, except that
    /// [`SessionHandle::save_sync`] overtakes one. `storage` is the adapter of the session, or one around it that passes on its
    /// calls for a limited time. `lease` is what it gave the holder of the lock.
    ///
    /// With `keep_both`, a context that another writer has changed becomes a fork. Resolves to two ids for each such context:
    /// the previous one and the new one. Resolves to `undefined` if the lock was lost before everything was written: then
    /// another save is needed, under the lock again.
    pub fn save(&self, keep_both: bool, storage: JsValue, lease: JsValue) -> Promise {
        let session = self.0.clone();
        future_to_promise(async move {
            let storage = session.storage().of(storage, lease);
            let forks = if keep_both {
                session.save_to(&storage, OnConflict::Fork(&JsEnvironment::capture()?)).await?
            } else {
                session.save_to(&storage, OnConflict::Refuse).await?
            };
            let Some(forks) = forks else { return Ok(JsValue::UNDEFINED) };
            let ids = forks.iter().flat_map(|forked| [forked.origin.as_str(), forked.fork.as_str()]);
            Ok(ids.map(JsValue::from).collect::<Array>().into())
        })
    }

    /// As [`SessionHandle::save`], but synchronous. A save in progress writes nothing more.
    #[wasm_bindgen(js_name = saveSync)]
    pub fn save_sync(&self, lease: JsValue) -> Result<(), JsValue> {
        Ok(self.0.save_sync_to(&self.0.storage().with_lease(lease))?)
    }

    /// `storage` as for [`SessionHandle::save`].
    #[wasm_bindgen(js_name = loadContext)]
    pub fn load_context(&self, id: JsValue, storage: JsValue) -> Promise {
        let session = self.0.clone();
        future_to_promise(async move {
            let id = context_id(&args::string(&id, "id")?, "id")?;
            let storage = session.storage().of(storage, JsValue::UNDEFINED);
            let context = session.load_context_from(&storage, &id, &JsEnvironment::capture()?).await?;
            Ok(ContextHandle::from(context).into())
        })
    }

    /// The ids of the contexts that have a file or will get one. `storage` as for [`SessionHandle::save`].
    #[wasm_bindgen(js_name = listContexts)]
    pub fn list_contexts(&self, storage: JsValue) -> Promise {
        let session = self.0.clone();
        future_to_promise(async move {
            let storage = session.storage().of(storage, JsValue::UNDEFINED);
            let ids = session.list_contexts_in(&storage).await?;
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
        self.ensure_copy()?;
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
        self.ensure_copy()?;
        let environment = JsEnvironment::capture()?;
        let child = self.change(|session| {
            session.rolling_token_window(window.budget, &window.counting(), &window.options, &environment)
        });
        Ok(child?.map(ContextHandle::from))
    }

    /// Adds a hook to a message of the active context; returns the id of the hook.
    #[wasm_bindgen(js_name = addHook)]
    pub fn add_hook(&self, message_id: &JsValue, name: &JsValue) -> Result<String, JsValue> {
        let (message_id, name) = (args::string(message_id, "message.id")?, args::string(name, "name")?);
        self.change(|session| session.add_hook(&message_id, &name))
    }

    /// Rebuilds the content of messages with hooks from the texts that the hooks returned, in the order of their ids.
    pub fn materialize(&self, hook_ids: Vec<String>, texts: Vec<String>) -> Result<(), JsValue> {
        self.ensure_copy()?;
        let outputs = HookOutputs::new(hook_ids.into_iter().zip(texts));
        self.change(|session| session.materialize(&outputs, &patterns::full_match))
    }

    #[wasm_bindgen(js_name = stateGet)]
    pub fn state_get(&self, name: &JsValue) -> Result<Option<String>, JsValue> {
        let name = args::string(name, "name")?;
        Ok(self.0.read(|session| session.state_value(&name).map(str::to_owned)))
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
        self.0.read(|session| session.state_names().into_iter().map(str::to_owned).collect())
    }
}

impl SessionHandle {
    /// Ensures that a copy of the active context fits into the memory.
    fn ensure_copy(&self) -> Result<(), Error> {
        let active = self.0.read(|session| session.active_context().cloned());
        let Some(active) = active else { return Ok(()) };
        Ok(active.read(|context| memory::ensure_copies(context, 1, "a copy of the context"))?)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Session) -> Result<T, Error>) -> Result<T, JsValue> {
        Ok(self.0.change(change)?)
    }
}

/// A place in a list of sessions.
fn cursor(uuid: &JsValue, time: &JsValue) -> Result<Cursor, Error> {
    const ARGUMENT: &str = "options.after";
    let text = args::string(uuid, ARGUMENT)?;
    let id = SessionId::parse(&text).map_err(|fault| Error::argument(ARGUMENT, fault))?;
    Ok(if time.is_undefined() { Cursor::Session(id) } else { Cursor::Listed(id, time.as_f64()) })
}

/// Which context a load makes the active one.
fn active_context(id: &JsValue) -> Result<ActiveContext, Error> {
    const ARGUMENT: &str = "options.activeContextId";
    if id.is_undefined() {
        return Ok(ActiveContext::Recorded);
    }
    if id.is_null() {
        return Ok(ActiveContext::None);
    }
    let text = id.as_string().ok_or_else(|| args::expected(ARGUMENT, "the id of a context or null", id))?;
    context_id(&text, ARGUMENT).map(ActiveContext::Id)
}

fn context_id(id: &str, argument: &str) -> Result<ContextId, Error> {
    ContextId::parse(id).map_err(|fault| Error::argument(argument, fault))
}

/// The directory of a session: `parentDir/uuid`.
#[wasm_bindgen(js_name = sessionDir)]
pub fn session_dir(parent_dir: &JsValue, uuid: &JsValue) -> Result<String, JsValue> {
    Ok(session_layout(parent_dir, uuid)?.session_dir())
}

/// The paths of the session with this parent directory and uuid.
pub(super) fn session_layout(parent_dir: &JsValue, uuid: &JsValue) -> Result<Layout, Error> {
    let parent_dir = parent_directory(parent_dir)?;
    let uuid = args::string(uuid, "uuid")?;
    let id = SessionId::parse(&uuid).map_err(|fault| Error::argument("uuid", fault))?;
    Ok(Layout::new(&parent_dir, id))
}

pub(super) fn parent_directory(parent_dir: &JsValue) -> Result<String, Error> {
    let parent_dir = args::string(parent_dir, "parentDir")?;
    check_parent_dir(&parent_dir)?;
    Ok(parent_dir)
}
