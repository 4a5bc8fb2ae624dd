//! The writes of a save, in order.

use super::Session;
use super::shared::SharedContext;
use crate::conversation::order;
use crate::digest::sha256_hex;
use crate::error::Error;
use crate::id::ContextId;
use crate::json::{self, Object, Size};

/// The writes of a save, to be made in order. The first failure ends the save.
#[derive(Default)]
pub(super) struct SavePlan {
    /// The files to replace.
    pub writes: Vec<PlannedWrite>,
    /// The file of the active context, if it is not among them: it must exist, because `session.json` names it.
    pub active_file: Option<String>,
}

/// A file to replace as a whole.
pub(super) struct PlannedWrite {
    /// The path of the file.
    pub path: String,
    /// The new contents.
    pub bytes: Vec<u8>,
    /// The SHA-256 of the new contents in hexadecimal digits.
    pub(super) digest: String,
    /// The item that is saved once the write is done.
    pub(super) what: Written,
}

impl PlannedWrite {
    pub(super) fn new(path: String, bytes: Vec<u8>, what: Written) -> Self {
        let digest = sha256_hex(&bytes);
        Self { path, bytes, digest, what }
    }
}

/// The item that a write saves.
pub(super) enum Written {
    /// The object itself rather than its id, because another object may have replaced it in the meantime.
    Context {
        context: SharedContext,
        revision: u64,
    },
    Session {
        dict: Object,
        revision: u64,
    },
}

impl Session {
    /// The writes that bring the files up to date. A fork comes before the context that names it, and `session.json` comes
    /// last, so that the files form a complete session at any time, and its time is that of the last save. Empty if nothing
    /// has changed.
    ///
    /// # Errors
    ///
    /// [`Error::FileTooLarge`] if a file would exceed a limit. [`Error::MemoryLimit`].
    pub(super) fn save_plan(&mut self) -> Result<SavePlan, Error> {
        self.name_forks_in_parents();
        let mut planned: Vec<ContextId> = Vec::new();
        let mut writes = Vec::new();
        for context in forks_first(self.pending.contexts()) {
            let unsaved = context.unsaved_forks(|id| self.has_file(id) || planned.contains(id));
            let (id, bytes, values, revision) = context.read(|context| {
                let bytes = json::to_file_bytes(&context.view_without_children(&unsaved))?;
                Ok::<_, Error>((context.id().clone(), bytes, context.file_values(self.limits)?, context.revision()))
            })?;
            let path = self.layout.context_file(&id);
            self.limits.check(&path, bytes.len() as u64, values, true)?;
            let write = PlannedWrite::new(path, bytes, Written::Context { context: context.clone(), revision });
            if self.files.has(&write.path, &write.digest) {
                // Only forks without files were made.
                self.stored(&context, revision);
            } else {
                planned.push(id);
                writes.push(write);
            }
        }
        if !writes.is_empty() || self.saved_revision != Some(self.revision) {
            let bytes = json::to_file_bytes(&(&self.dict).into())?;
            json::ensure_copies(&(&self.dict).into(), 2, "saving a session")?;
            let path = self.layout.session_file();
            self.limits.check(&path, bytes.len() as u64, Size::of_object(&self.dict, 0).values, true)?;
            let what = Written::Session { dict: self.dict.clone(), revision: self.revision };
            writes.push(PlannedWrite::new(path, bytes, what));
        }
        let active_file = self.active.as_ref().map(|active| self.layout.context_file(&active.id()));
        let is_needed = |path: &String| !writes.is_empty() && writes.iter().all(|write| write.path != *path);
        let active_file = active_file.filter(is_needed);
        Ok(SavePlan { writes, active_file })
    }

    /// Saves the parents of forks that get a file now, and gives up those whose forks are not in use any more.
    fn name_forks_in_parents(&mut self) {
        for fork in self.pending.contexts() {
            let Some(origin) = fork.read(|fork| fork.origin().map(str::to_owned)) else { continue };
            let parent = self.context_in_memory(&origin).filter(|parent| parent.is_parent_of(&fork));
            if let Some(parent) = parent.filter(|_| !self.has_file(&fork.id())) {
                self.pending.add(&parent);
            }
        }
        for index in 0..self.known.len() {
            let waits = |context: &SharedContext| context.waits_for_forks(|id| self.has_file(id));
            if self.known[index].waiting.as_ref().is_some_and(|context| !waits(context)) {
                self.known[index].waiting = None;
            }
        }
    }
}

/// The contexts in an order in which each comes before its origin, and otherwise the newest first.
fn forks_first(contexts: Vec<SharedContext>) -> Vec<SharedContext> {
    let mut ids: Vec<(ContextId, usize)> =
        contexts.iter().enumerate().map(|(at, context)| (context.id(), at)).collect();
    order::sort(&mut ids);
    let origin = |at: usize| {
        let find = |origin: &str| ids.binary_search_by(|(id, _)| id.as_str().cmp(origin)).ok();
        contexts[at].read(|context| context.origin().and_then(find)).map(|found| ids[found].1)
    };
    let mut seen = vec![false; contexts.len()];
    let mut origins_first = Vec::with_capacity(contexts.len());
    for start in 0..contexts.len() {
        let (mut at, mut forks) = (Some(start), Vec::new());
        // Also ends at a cycle of origins, which a file can have.
        while let Some(fork) = at.filter(|at| !std::mem::replace(&mut seen[*at], true)) {
            forks.push(fork);
            at = origin(fork);
        }
        origins_first.extend(forks.into_iter().rev());
    }
    origins_first.into_iter().rev().map(|at| contexts[at].clone()).collect()
}
