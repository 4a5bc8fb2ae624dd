//! The integrity of a session's files: [`check`] finds faults, and [`repair`] fixes those that can be fixed without loss.
//!
//! Files are examined one at a time, so that only one is in memory. Check and repair share one pass: a rule that can fix
//! a fault fixes it in the dict that was read, which a check discards and a repair writes.

mod context;
mod directory;
mod examination;
mod finding;
mod repair_plan;
mod session;
mod text;

pub use directory::temporary_target;
pub use finding::{Finding, Repairability, Rule, SessionCheck, Severity};
pub use repair_plan::Action;

use crate::digest::sha256_hex;
use crate::environment::Environment;
use crate::error::Error;
use crate::layout::Layout;
use crate::storage::Storage;
use examination::{Contents, Examination};
use repair_plan::{RepairPlan, keeps_copy};

/// Reports all faults of the files of a session. Writes nothing.
///
/// # Errors
///
/// [`Error::SessionNotFound`] if there is neither a `session.json` nor a context; those of the storage for listing the
/// directory and reading `session.json`. A context that cannot be read is a finding.
pub async fn check(
    layout: &Layout,
    storage: &impl Storage,
    environment: &dyn Environment,
) -> Result<SessionCheck, Error> {
    let (check, _) = examine(layout, storage, environment, false).await?;
    Ok(check)
}

/// What a repair did, and what remains to be fixed by hand.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// A check after the repair.
    pub check: SessionCheck,
}

/// Fixes the findings that [`check`] calls repairable. Copies each file before replacing it, and writes the contexts before
/// `session.json`.
///
/// # Errors
///
/// Those of [`check`]; [`Error::FileConflict`] if another writer changes a file in the meantime; those of writing.
/// Completed actions are not undone.
pub async fn repair(layout: &Layout, storage: &impl Storage, environment: &dyn Environment) -> Result<Repair, Error> {
    let (_, plan) = examine(layout, storage, environment, true).await?;
    let actions = carry_out(&plan, storage).await?;
    Ok(Repair { actions, check: check(layout, storage, environment).await? })
}

async fn examine(
    layout: &Layout,
    storage: &impl Storage,
    environment: &dyn Environment,
    is_repair: bool,
) -> Result<(SessionCheck, RepairPlan), Error> {
    let names = storage.list(&layout.session_dir()).await?;
    let mut examination = Examination::new(layout.clone(), names, environment, is_repair);
    for name in examination.context_files() {
        let contents = match storage.read(&layout.file(&name)).await {
            Err(Error::Storage(error)) => Contents::Unreadable(error.message),
            read => contents_of(read)?,
        };
        examination.context(&name, contents)?;
    }
    let read = storage.read(&layout.session_file()).await;
    examination.finish(contents_of(read)?)
}

fn contents_of(read: Result<Option<Vec<u8>>, Error>) -> Result<Contents, Error> {
    match read {
        Ok(Some(text)) => Ok(Contents::Text(text)),
        Ok(None) => Ok(Contents::Absent),
        Err(Error::FileTooLarge { size, limit, .. }) => Ok(Contents::TooLarge { size, limit }),
        Err(error) => Err(error),
    }
}

/// Compares all files before changing the first, so that a session in use is left alone.
async fn carry_out(plan: &RepairPlan, storage: &impl Storage) -> Result<Vec<Action>, Error> {
    for change in &plan.changes {
        unchanged(storage, &change.path, change.old_digest.as_deref()).await?;
    }
    let mut actions = Vec::new();
    for change in &plan.changes {
        let old = unchanged(storage, &change.path, change.old_digest.as_deref()).await?;
        if let (Some(old), Some(copy)) = (old, &change.copy_path) {
            storage.write(copy, &old).await?;
        }
        storage.write(&change.path, &change.bytes).await?;
        actions.extend(change.done());
    }
    for leftover in &plan.leftovers {
        let Some(contents) = storage.read(&leftover.path).await? else { continue };
        let target = match &leftover.target {
            Some(target) => storage.read(target).await?,
            None => None,
        };
        let keeps_copy = keeps_copy(&contents, target.as_deref());
        if keeps_copy {
            storage.write(&leftover.copy_path, &contents).await?;
        }
        storage.remove(&leftover.path).await?;
        actions.push(leftover.action(keeps_copy));
    }
    Ok(actions)
}

/// Reads a file again, and fails if it is not the one that was examined.
async fn unchanged(storage: &impl Storage, path: &str, digest: Option<&str>) -> Result<Option<Vec<u8>>, Error> {
    let contents = storage.read(path).await?;
    let found = contents.as_deref().map(sha256_hex);
    if found.as_deref() != digest {
        return Err(Error::FileConflict { path: path.to_owned(), expected: digest.map(str::to_owned), found });
    }
    Ok(contents)
}
