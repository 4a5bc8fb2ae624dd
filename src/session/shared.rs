//! A context shared between the sessions that save it and the callers that use it.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use crate::conversation::{Context, order};
use crate::error::Error;
use crate::id::ContextId;
use crate::limits::Limits;

/// A context with the sessions that it belongs to, which are notified of every change.
pub struct ContextCell {
    context: RefCell<Context>,
    owners: RefCell<Vec<Weak<Pending>>>,
    /// The forks made in memory. Their ids are children of the context, but they may have no files.
    forks: RefCell<Vec<Fork>>,
}

/// A fork made in memory.
#[derive(Clone)]
struct Fork {
    id: ContextId,
    cell: Weak<ContextCell>,
}

/// A handle to a context. Clones are handles to the same context.
#[derive(Clone)]
pub struct SharedContext(Rc<ContextCell>);

impl SharedContext {
    /// A handle to a context that belongs to no session yet.
    pub fn new(context: Context) -> Self {
        Self(Rc::new(ContextCell {
            context: RefCell::new(context),
            owners: RefCell::default(),
            forks: RefCell::default(),
        }))
    }

    /// Reads the context.
    pub fn read<T>(&self, read: impl FnOnce(&Context) -> T) -> T {
        read(&self.0.context.borrow())
    }

    /// Changes the context. If its revision changes, the sessions that it belongs to will save it. Forks are made with
    /// [`SharedContext::fork`].
    ///
    /// # Errors
    ///
    /// Those of the change. [`Error::Internal`] if the caller is already reading or changing the context.
    pub fn change<T, E>(&self, change: impl FnOnce(&mut Context) -> Result<T, E>) -> Result<T, Error>
    where
        Error: From<E>,
    {
        let mut context = self.0.context.try_borrow_mut().map_err(|error| Error::Internal(error.to_string()))?;
        let before = context.revision();
        let result = change(&mut context);
        let changed = context.revision() != before;
        drop(context);
        if changed {
            self.0.owners.borrow().iter().filter_map(Weak::upgrade).for_each(|owner| owner.add(self));
        }
        Ok(result?)
    }

    /// Sets the limits on the file, which is not a change of the context.
    pub(super) fn limit(&self, limits: Limits) {
        // Otherwise the caller is changing it: the session checks its own limits at the save.
        if let Ok(mut context) = self.0.context.try_borrow_mut() {
            context.set_limits(limits);
        }
    }

    /// Makes a fork of the context. The file of this context names the fork once the fork has a file itself.
    ///
    /// # Errors
    ///
    /// Those of [`SharedContext::change`].
    pub fn fork(&self, make: impl FnOnce(&mut Context) -> Result<Context, Error>) -> Result<Self, Error> {
        Ok(self.adopt_fork(self.change(make)?))
    }

    /// As [`SharedContext::fork`], for a window, which is not made if it would drop nothing.
    ///
    /// # Errors
    ///
    /// Those of [`SharedContext::change`].
    pub fn window(
        &self,
        make: impl FnOnce(&mut Context) -> Result<Option<Context>, Error>,
    ) -> Result<Option<Self>, Error> {
        Ok(self.change(make)?.map(|window| self.adopt_fork(window)))
    }

    fn adopt_fork(&self, fork: Context) -> Self {
        let fork = Self::new(fork);
        let mut forks = self.0.forks.borrow_mut();
        if forks.len().is_power_of_two() {
            // A dead handle keeps memory.
            forks.iter_mut().filter(|fork| fork.cell.strong_count() == 0).for_each(|fork| fork.cell = Weak::new());
        }
        forks.push(Fork { id: fork.id(), cell: fork.downgrade() });
        drop(forks);
        fork
    }

    /// The ids of the forks made in memory that have no file, in ascending order.
    pub(super) fn unsaved_forks(&self, has_file: impl Fn(&ContextId) -> bool) -> Vec<ContextId> {
        let forks = self.0.forks.borrow();
        let mut ids: Vec<ContextId> = forks.iter().map(|fork| &fork.id).filter(|id| !has_file(id)).cloned().collect();
        order::sort(&mut ids);
        ids
    }

    /// Whether another context was made as a fork of this one, in memory.
    pub(super) fn is_parent_of(&self, fork: &Self) -> bool {
        self.0.forks.borrow().iter().any(|known| std::ptr::eq(known.cell.as_ptr(), Rc::as_ptr(&fork.0)))
    }

    /// Whether a fork that is still in use has no file.
    pub(super) fn waits_for_forks(&self, has_file: impl Fn(&ContextId) -> bool) -> bool {
        self.0.forks.borrow().iter().any(|fork| fork.cell.strong_count() > 0 && !has_file(&fork.id))
    }

    /// Takes over the forks of a context that this one replaces.
    pub(super) fn inherit_forks(&self, replaced: &Self) {
        let forks = replaced.0.forks.borrow().clone();
        self.0.forks.borrow_mut().extend(forks);
    }

    /// The id of the context.
    pub fn id(&self) -> ContextId {
        self.read(|context| context.id().clone())
    }

    /// Whether both are handles to the same context.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn downgrade(&self) -> Weak<ContextCell> {
        Rc::downgrade(&self.0)
    }

    pub(super) fn upgrade(cell: &Weak<ContextCell>) -> Option<Self> {
        cell.upgrade().map(Self)
    }

    pub(super) fn add_owner(&self, owner: &Rc<Pending>) {
        let mut owners = self.0.owners.borrow_mut();
        owners.retain(|known| known.strong_count() > 0);
        owners.push(Rc::downgrade(owner));
    }

    /// Stops notifying this session of changes.
    pub(super) fn release(&self, owner: &Rc<Pending>) {
        self.0.owners.borrow_mut().retain(|known| !std::ptr::eq(known.as_ptr(), Rc::as_ptr(owner)));
    }
}

/// The contexts of a session to be saved, each once, in the order in which they first changed.
#[derive(Default)]
pub struct Pending(RefCell<Vec<SharedContext>>);

impl Pending {
    pub fn contexts(&self) -> Vec<SharedContext> {
        self.0.borrow().clone()
    }

    pub fn add(&self, context: &SharedContext) {
        let mut contexts = self.0.borrow_mut();
        if !contexts.iter().any(|known| known.is(context)) {
            contexts.push(context.clone());
        }
    }

    pub fn remove(&self, context: &SharedContext) {
        self.0.borrow_mut().retain(|known| !known.is(context));
    }
}
