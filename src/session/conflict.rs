//! Keeping both, where somebody else has changed a file that is to be written.

use serde_json::Value;

use super::dict::{self, keys};
use super::save_plan::{PlannedWrite, Written};
use super::{Session, SharedContext};
use crate::digest::sha256_hex;
use crate::environment::Environment;
use crate::error::Error;
use crate::id::ContextId;
use crate::json::Object;

/// A context that became another one: its file holds what somebody else has written.
pub struct Forked {
    /// The id that it had, which is that of the file.
    pub origin: ContextId,
    /// The id that it has now.
    pub fork: ContextId,
}

impl Session {
    /// Changes the session so that a write that [`Session::check_write`] refuses is none any more, and nothing is lost:
    /// a context becomes a new one, whose origin is the one that the file is now; what others have changed in
    /// `session.json`, given as it is now, is taken over. Plan the save again after that.
    ///
    /// # Errors
    ///
    /// What both have changed in different ways: a variable of the state, or a setting. [`Error::CorruptSession`] where
    /// the other `session.json` is none.
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

    fn fork_over(&mut self, context: &SharedContext, environment: &dyn Environment) -> Result<Forked, Error> {
        let origin = context.id();
        let fork = context.change(|context| Ok(context.become_fork(environment)))?;
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
        let mut theirs = dict::of_file(&self.layout, text)?;
        dict::add_missing_fields(&mut theirs, &self.layout);
        let state = |dict: &Object| dict.get(keys::STATE_DATA).and_then(Value::as_object).cloned().unwrap_or_default();
        let merged_state = merged(&state(&self.saved_dict), &state(&self.dict), &state(&theirs), |name, _, found| {
            Err(Error::StateConflict { name: name.to_owned(), found: found.cloned().unwrap_or_default() })
        })?;
        let mut dict = merged(&self.saved_dict, &self.dict, &theirs, |key, ours, _| match key {
            // Merged above.
            keys::STATE_DATA => Ok(ours.cloned()),
            _ => Err(self.files.conflict(path, sha256_hex(text))),
        })?;
        dict.insert(keys::STATE_DATA.to_owned(), merged_state.into());
        // The active context is a matter of who works with the session.
        let active = self.dict.get(keys::ACTIVE_CONTEXT_ID).cloned().unwrap_or_default();
        dict.insert(keys::ACTIVE_CONTEXT_ID.to_owned(), active);
        self.files.read(path, text);
        self.saved_dict = theirs;
        self.dict = dict;
        self.revision += 1;
        Ok(())
    }
}

/// What two have made of the same dict, with the changes of both; `both` decides where they changed one field in
/// different ways. The active context is left to the caller.
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
