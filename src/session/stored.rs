//! A session with its storage.

use std::cell::{Cell, RefCell};

use super::Session;
use super::conflict::Forked;
use super::shared::SharedContext;
use crate::conversation::order;
use crate::environment::Environment;
use crate::error::Error;
use crate::id::ContextId;
use crate::layout::Layout;
use crate::storage::Storage;

/// A session with its storage. Its methods take `&self`, so a session can be read and changed during a save or a load: none
/// of them borrows the session while it waits for the storage.
///
/// ```
/// use peteos_session::conversation::{MESSAGES, Message};
/// use peteos_session::environment::{Environment, LocalTime};
/// use peteos_session::session::{ActiveContext, OnConflict, Session, StoredSession};
/// use peteos_session::storage::MemoryStorage;
/// use serde_json::json;
/// use uuid::Uuid;
///
/// // A real implementation uses the clock and the random source of the platform.
/// struct Fixed;
///
/// impl Environment for Fixed {
///     fn now(&self) -> LocalTime {
///         LocalTime { year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, microsecond: 0 }
///     }
///
///     fn uuid(&self) -> Uuid {
///         Uuid::from_u128(1)
///     }
/// }
///
/// # pollster::block_on(async {
/// let storage = MemoryStorage::default();
/// let session = Session::create("agents/helper", None, None, &Fixed);
/// let (layout, context) = (session.layout().clone(), session.active_context().unwrap().clone());
/// let message = json!({"role": "user", "content": [{"type": "text", "text": "Hi"}]});
/// let message = Message::given(message, &Fixed).map_err(|error| error.in_message())?;
/// context.change(|context| context.append(message, MESSAGES))?;
/// StoredSession::new(session, storage.clone()).save(OnConflict::Refuse).await?;
///
/// let again = StoredSession::load(layout, storage, ActiveContext::Recorded, &Fixed).await?;
/// let messages = again.read(|session| session.active_context().unwrap().read(|context| context.messages().len()));
/// assert_eq!(messages, 1);
/// # Ok::<(), peteos_session::error::Error>(())
/// # }).unwrap();
/// ```
pub struct StoredSession<S> {
    session: RefCell<Session>,
    pub(super) storage: S,
    /// The number of synchronous saves. Each overtakes an asynchronous save in progress.
    pub(super) sync_saves: Cell<u64>,
    /// The contexts that became forks and were not yet returned by a save.
    pub(super) forks: RefCell<Vec<Forked>>,
}

impl<S> StoredSession<S> {
    /// A session to be saved in `storage`. Writes nothing.
    pub fn new(session: Session, storage: S) -> Self {
        Self { session: RefCell::new(session), storage, sync_saves: Cell::default(), forks: RefCell::default() }
    }

    /// The session with another storage, in which its files are the same.
    #[must_use]
    pub fn with_storage(self, storage: S) -> Self {
        Self { storage, ..self }
    }

    /// The storage of the session.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Reads the session.
    pub fn read<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        read(&self.session.borrow())
    }

    /// Changes the session.
    ///
    /// # Errors
    ///
    /// Those of the change. [`Error::Internal`] if the caller is already reading or changing the session.
    pub fn change<T>(&self, change: impl FnOnce(&mut Session) -> Result<T, Error>) -> Result<T, Error> {
        self.update(change)?
    }

    /// As [`StoredSession::change`], for a change that cannot fail.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] as [`StoredSession::change`].
    pub fn update<T>(&self, update: impl FnOnce(&mut Session) -> T) -> Result<T, Error> {
        match self.session.try_borrow_mut() {
            Ok(mut session) => Ok(update(&mut session)),
            Err(error) => Err(Error::Internal(error.to_string())),
        }
    }
}

impl<S: Storage> StoredSession<S> {
    /// Loads a session and its active context.
    ///
    /// # Errors
    ///
    /// [`Error::SessionNotFound`] and [`Error::ContextNotFound`] if a file does not exist, [`Error::CorruptSession`] if it
    /// is invalid, and those of the storage.
    pub async fn load(
        layout: Layout,
        storage: S,
        active: ActiveContext,
        environment: &dyn Environment,
    ) -> Result<Self, Error> {
        let path = layout.session_file();
        let text = storage.read(&path).await?.ok_or(Error::SessionNotFound { path })?;
        let session = Self::new(Session::from_file(layout, &text, storage.limits())?, storage);
        match active {
            ActiveContext::Recorded => {
                let recorded = session.read(|session| session.active_context_id().map(ContextId::parse));
                if let Some(Ok(id)) = recorded {
                    session.load_context(&id, environment).await?;
                }
            }
            ActiveContext::None => {}
            ActiveContext::Id(id) => {
                let context = session.load_context(&id, environment).await?;
                session.update(|session| session.set_active_context(&context))?;
            }
        }
        Ok(session)
    }

    /// The context with this id: the object in memory, or a new one from its file.
    ///
    /// # Errors
    ///
    /// [`Error::ContextNotFound`] if its file does not exist, [`Error::CorruptSession`] if it is invalid, and those of the
    /// storage.
    pub async fn load_context(&self, id: &ContextId, environment: &dyn Environment) -> Result<SharedContext, Error> {
        self.load_context_from(&self.storage, id, environment).await
    }

    /// As [`StoredSession::load_context`], from a storage in which the files are the same.
    ///
    /// # Errors
    ///
    /// Those of [`StoredSession::load_context`].
    pub async fn load_context_from(
        &self,
        storage: &S,
        id: &ContextId,
        environment: &dyn Environment,
    ) -> Result<SharedContext, Error> {
        if let Some(context) = self.read(|session| session.context_in_memory(id.as_str())) {
            return Ok(context);
        }
        let path = self.read(|session| session.layout().context_file(id));
        let text = storage.read(&path).await?;
        let text = text.ok_or_else(|| Error::ContextNotFound { id: id.to_string(), path })?;
        self.change(|session| session.adopt_stored(id, &text, environment))
    }

    /// The ids of the contexts that have a file or will get one, in ascending order.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub async fn list_contexts(&self) -> Result<Vec<ContextId>, Error> {
        self.list_contexts_in(&self.storage).await
    }

    /// As [`StoredSession::list_contexts`], in a storage in which the files are the same.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub async fn list_contexts_in(&self, storage: &S) -> Result<Vec<ContextId>, Error> {
        let directory = self.read(|session| session.layout().session_dir());
        let names = storage.list(&directory).await?;
        let mut ids: Vec<ContextId> = names.iter().filter_map(|name| Layout::context_id(name)).collect();
        ids.extend(self.read(Session::unsaved_contexts));
        order::sort(&mut ids);
        ids.dedup();
        Ok(ids)
    }
}

/// Which context a load makes active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ActiveContext {
    /// The context that `session.json` names.
    #[default]
    Recorded,
    /// None; no context is read.
    None,
    /// The context with this id.
    Id(ContextId),
}
