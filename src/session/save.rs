//! Saving: plan the writes, compare with the files, write.

use super::Session;
use super::conflict::Forked;
use super::save_plan::SavePlan;
use super::stored::StoredSession;
use crate::environment::Environment;
use crate::error::Error;
use crate::storage::{Revision, Storage, SyncStorage};

/// How often a save merges before it gives up, if other writers keep changing the files.
const ATTEMPTS: usize = 8;

/// What a save does if another writer has changed or removed a file.
#[derive(Clone, Copy)]
pub enum OnConflict<'e> {
    /// Writes nothing and returns the conflict.
    Refuse,
    /// Keeps both versions: a context becomes a fork of the one in its file, and the dicts are merged. A removed file that
    /// is in memory is written again.
    Fork(&'e dyn Environment),
}

/// How the writes of a plan ended.
#[derive(PartialEq)]
enum Outcome {
    Done,
    /// A synchronous save has overtaken this one.
    Overtaken,
}

impl<S: Storage> StoredSession<S> {
    /// Writes everything that has changed since the last save, the contexts before `session.json`. Must not be called while
    /// another save of this session is in progress, but [`StoredSession::save_sync`] may be.
    ///
    /// Changes made in the meantime are left to the next save. Returns the contexts that became forks.
    ///
    /// # Errors
    ///
    /// [`Error::FileConflict`] and [`Error::FileTooLarge`] before the first write, [`Error::StateConflict`] if both writers have changed a variable, and
    /// those of the storage. The next save writes what this one did not.
    pub async fn save(&self, on_conflict: OnConflict<'_>) -> Result<Vec<Forked>, Error> {
        loop {
            if let Some(forks) = self.save_to(&self.storage, on_conflict).await? {
                return Ok(forks);
            }
        }
    }

    /// As [`StoredSession::save`], with the storage for the holder of the lock on the session's directory. `None` if the lock
    /// was lost to a synchronous save of this session or, with [`OnConflict::Fork`], to another writer: then the rest must be
    /// saved under the lock again.
    ///
    /// # Errors
    ///
    /// Those of [`StoredSession::save`], and [`Error::LockLost`].
    pub async fn save_to(&self, storage: &S, on_conflict: OnConflict<'_>) -> Result<Option<Vec<Forked>>, Error> {
        let begun = self.sync_saves.get();
        let plan = match self.compared_plan(storage, on_conflict).await {
            // The file may be as it was before a synchronous save of this session.
            Err(Error::FileConflict { .. }) if self.sync_saves.get() != begun => return Ok(None),
            plan => plan?,
        };
        match self.carry_out(storage, &plan, begun).await {
            Ok(Outcome::Done) => Ok(Some(self.forks.take())),
            Ok(Outcome::Overtaken) => Ok(None),
            Err(Error::LockLost { .. }) if matches!(on_conflict, OnConflict::Fork(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A plan that overwrites nothing that another writer has changed.
    async fn compared_plan(&self, storage: &S, on_conflict: OnConflict<'_>) -> Result<SavePlan, Error> {
        let (mut attempts, environment) = match on_conflict {
            OnConflict::Refuse => (1, None),
            OnConflict::Fork(environment) => (ATTEMPTS, Some(environment)),
        };
        loop {
            attempts -= 1;
            let plan = self.change(Session::save_plan)?;
            let mut conflicts = Vec::new();
            let mut is_removed = false;
            let mut check = |checked| match checked {
                Err(Error::FileConflict { found, .. }) if attempts > 0 => {
                    is_removed |= found.is_none();
                    Ok(found.is_some())
                }
                checked => checked.map(|()| false),
            };
            for write in &plan.writes {
                let current = storage.digest(&write.path).await?;
                if check(self.read(|session| session.files.check(write, &current)))? {
                    conflicts.push(write);
                }
            }
            if let Some(path) = &plan.active_file {
                let current = storage.digest(path).await?;
                check(self.read(|session| session.files.check_present(path, &current)))?;
            }
            let Some(environment) = environment.filter(|_| is_removed || !conflicts.is_empty()) else {
                return Ok(plan);
            };
            if is_removed {
                for path in self.read(Session::files_in_memory) {
                    if storage.digest(&path).await? == Revision::Absent {
                        self.update(|session| session.restore(&path))?;
                    }
                }
            }
            // `session.json` first, because its versions may be impossible to merge.
            for write in conflicts.into_iter().rev() {
                let Some(theirs) = storage.read(&write.path).await? else { continue };
                let forked = self.change(|session| session.keep_both(write, &theirs, environment))?;
                self.forks.borrow_mut().extend(forked);
            }
        }
    }

    async fn carry_out(&self, storage: &S, plan: &SavePlan, begun: u64) -> Result<Outcome, Error> {
        let is_overtaken = || self.sync_saves.get() != begun;
        for write in &plan.writes {
            if is_overtaken() {
                return Ok(Outcome::Overtaken);
            }
            self.update(|session| session.begin_write(write))?;
            let written = storage.write(&write.path, &write.bytes).await;
            // The save that overtook this one has taken the lock.
            if !(is_overtaken() && matches!(written, Err(Error::LockLost { .. }))) {
                written?;
            }
            if is_overtaken() {
                // This older write may have been the last to reach the file.
                self.update(|session| session.unwritten(write))?;
                return Ok(Outcome::Overtaken);
            }
            self.update(|session| session.written(write))?;
        }
        // The save that overtook this one has written everything unless it failed.
        Ok(if is_overtaken() { Outcome::Overtaken } else { Outcome::Done })
    }
}

impl<S: SyncStorage> StoredSession<S> {
    /// As [`StoredSession::save`] with [`OnConflict::Refuse`], but synchronous. A save in progress writes nothing more.
    ///
    /// # Errors
    ///
    /// Those of [`StoredSession::save`].
    pub fn save_sync(&self) -> Result<(), Error> {
        self.save_sync_to(&self.storage)
    }

    /// As [`StoredSession::save_sync`], with the storage for the holder of the lock on the session's directory.
    ///
    /// # Errors
    ///
    /// Those of [`StoredSession::save`], and [`Error::LockLost`].
    pub fn save_sync_to(&self, storage: &S) -> Result<(), Error> {
        let plan = self.change(Session::save_plan)?;
        for write in &plan.writes {
            let current = storage.digest_sync(&write.path)?;
            self.read(|session| session.files.check(write, &current))?;
        }
        if let Some(path) = &plan.active_file {
            let current = storage.digest_sync(path)?;
            self.read(|session| session.files.check_present(path, &current))?;
        }
        self.sync_saves.set(self.sync_saves.get() + 1);
        for write in &plan.writes {
            self.update(|session| session.begin_write(write))?;
            storage.write_sync(&write.path, &write.bytes)?;
            self.update(|session| session.written(write))?;
        }
        Ok(())
    }
}
