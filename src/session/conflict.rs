//! Keeps both versions of a file that another writer has changed.

use serde_json::Value;

use super::Session;
use super::dict::{self, keys};
use super::save_plan::{PlannedWrite, Written};
use super::shared::SharedContext;
use crate::digest::sha256_hex;
use crate::environment::Environment;
use crate::error::Error;
use crate::id::ContextId;
use crate::json::Object;

/// A context that became a fork because another writer has changed its file.
pub struct Forked {
    /// The previous id, which still names the file.
    pub origin: ContextId,
    /// The new id.
    pub fork: ContextId,
}

impl Session {
    /// Changes the session so that it no longer needs a write that [`Session::check_write`] refuses, without losing anything.
    /// A context becomes a fork whose origin is the context in the file. `session.json` is merged with its current contents.
    /// The save must then be planned again.
    ///
    /// # Errors
    ///
    /// [`Error::StateConflict`] or [`Error::FileConflict`] if both writers have changed a variable or a setting in
    /// different ways. [`Error::CorruptSession`] if the other `session.json` is invalid.
    pub(super) fn keep_both(
        &mut self,
        write: &PlannedWrite,
        theirs: &[u8],
        environment: &dyn Environment,
    ) -> Result<Option<Forked>, Error> {
        match &write.what {
            Written::Context { context, .. } => self.fork_over(context, environment).map(Some),
            Written::Session { .. } => self.merge(&write.path, theirs).map(|()| None),
        }
    }

    /// Changes the session so that the next plan writes a file that was removed.
    pub(super) fn restore(&mut self, path: &str) {
        self.files.forget(path);
        if path == self.layout.session_file() {
            self.saved_revision = None;
        }
        for known in &mut self.known {
            if let Some(context) = SharedContext::upgrade(&known.cell) {
                if self.layout.context_file(&known.id) == path {
                    known.saved = None;
                    self.pending.add(&context);
                }
            }
        }
    }

    fn fork_over(&mut self, context: &SharedContext, environment: &dyn Environment) -> Result<Forked, Error> {
        let origin = context.id();
        let fork = context.change(|context| Ok::<_, Error>(context.become_fork(environment)))?;
        if let Some(known) = self.known_of(context) {
            known.id = fork.clone();
            known.saved = None;
        }
        if self.active.as_ref().is_some_and(|active| active.is(context)) {
            self.set(keys::ACTIVE_CONTEXT_ID, fork.as_str().into());
        }
        Ok(Forked { origin, fork })
    }

    fn merge(&mut self, path: &str, text: &[u8]) -> Result<(), Error> {
        let mut theirs = dict::of_file(&self.layout, text, self.limits)?;
        dict::add_missing_fields(&mut theirs, &self.layout);
        let state = |dict: &Object| dict.get(keys::STATE_DATA).and_then(Value::as_object).cloned().unwrap_or_default();
        let merged_state = merged(&state(&self.saved_dict), &state(&self.dict), &state(&theirs), |name, _, found| {
            Err(Error::StateConflict { name: name.to_owned(), found: found.cloned().unwrap_or_default() })
        })?;
        let mut dict = merged(&self.saved_dict, &self.dict, &theirs, |key, ours, _| match key {
            // Merged above.
            keys::STATE_DATA => Ok(ours.cloned()),
            _ => Err(self.files.conflict(path, Some(sha256_hex(text)))),
        })?;
        dict.insert(keys::STATE_DATA.to_owned(), merged_state.into());
        // Each writer keeps its own active context.
        let active = self.dict.get(keys::ACTIVE_CONTEXT_ID).cloned().unwrap_or_default();
        dict.insert(keys::ACTIVE_CONTEXT_ID.to_owned(), active);
        self.files.read(path, text);
        self.saved_dict = theirs;
        self.dict = dict;
        self.revision += 1;
        Ok(())
    }
}

/// The dict with the changes of both writers. `both` decides about a field that they changed differently. The active
/// context is left to the caller.
fn merged(
    base: &Object,
    ours: &Object,
    theirs: &Object,
    both: impl Fn(&str, Option<&Value>, Option<&Value>) -> Result<Option<Value>, Error>,
) -> Result<Object, Error> {
    let mut dict = Object::new();
    for key in theirs.keys().chain(ours.keys().filter(|key| !theirs.contains_key(*key))) {
        let (base, ours, theirs) = (base.get(key), ours.get(key), theirs.get(key));
        let value = if ours == base {
            theirs.cloned()
        } else if theirs == base || theirs == ours || key == keys::ACTIVE_CONTEXT_ID {
            ours.cloned()
        } else {
            both(key, ours, theirs)?
        };
        if let Some(value) = value {
            dict.insert(key.clone(), value);
        }
    }
    Ok(dict)
}
