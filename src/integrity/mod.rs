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
mod sessions;
mod text;

pub use directory::temporary_target;
pub use finding::{Finding, Repairability, Rule, SessionCheck, Severity};
pub use repair_plan::Action;
pub use sessions::{SessionsCheck, check_all};

use crate::conversation::order;
use crate::digest::sha256_hex;
use crate::environment::Environment;
use crate::error::{Error, FileTooLarge, Operation, StorageError};
use crate::layout::Layout;
use crate::storage::{Revision, Storage};
use directory::copied_file;
use examination::{Contents, Examination, Purpose};
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
    let (check, _) = examine(layout, storage, environment, Purpose::Check).await?;
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
/// `session.json`. Of each file that was copied, the newest `keep_copies` copies stay.
///
/// # Errors
///
/// Those of [`check`]; [`Error::FileConflict`] if another writer changes a file in the meantime; those of reading and
/// writing. If a context cannot be read, it may be the newest, so a repair of `session.json` would guess: nothing is written
/// then, nor if the contents that were read do not match their digest, nor if a file would exceed a limit. Writes before a failed one are not undone.
pub async fn repair(
    layout: &Layout,
    storage: &impl Storage,
    environment: &dyn Environment,
    keep_copies: usize,
) -> Result<Repair, Error> {
    let (_, plan) = examine(layout, storage, environment, Purpose::Repair).await?;
    let actions = carry_out(&plan, storage).await?;
    if actions.iter().any(|action| action.copy.is_some()) {
        remove_copies(layout, storage, keep_copies).await?;
    }
    Ok(Repair { actions, check: check(layout, storage, environment).await? })
}

async fn examine(
    layout: &Layout,
    storage: &impl Storage,
    environment: &dyn Environment,
    purpose: Purpose,
) -> Result<(SessionCheck, RepairPlan), Error> {
    let is_repair = purpose == Purpose::Repair;
    let limits = storage.limits();
    let mut names = storage.list(&layout.session_dir()).await?;
    loop {
        let mut examination = Examination::new(layout.clone(), names.clone(), environment, limits, purpose);
        let mut unread = None;
        for name in examination.context_files() {
            let path = layout.file(&name);
            let contents = match storage.read(&path).await {
                Err(Error::Storage(error)) => {
                    unread.get_or_insert(Error::Storage(error.clone()));
                    Contents::Unreadable(error.message)
                }
                read => contents_of(read)?,
            };
            match contents {
                Contents::Absent => {
                    unread.get_or_insert(unreliable(&path, "the directory lists the file, but there is none"));
                }
                Contents::TooLarge { size } => {
                    let error = limits.check(&path, size, 0, false).err().map(Error::from);
                    unread = unread.or(error);
                }
                _ => {}
            }
            if !examination.context(&name, contents)? {
                unread.get_or_insert(limits.too_many_values(&path, false).into());
            }
        }
        let times = storage.modified_times(&examination.context_paths()).await;
        let times: Result<Vec<_>, _> =
            times.into_iter().map(|time| if is_repair { time } else { Ok(time.ok().flatten()) }).collect();
        examination.set_times(times?);
        let read = storage.read(&layout.session_file()).await;
        let (check, plan, missing) = examination.finish(contents_of(read)?)?;
        // The file that could not be read may be that of the newest context.
        if let Some(error) = unread.filter(|_| plan.changes.iter().any(|change| change.path == layout.session_file())) {
            return Err(error);
        }
        // A listing may lag behind the files.
        let known = names.len();
        for name in missing {
            match storage.read(&layout.file(&name)).await {
                Ok(None) => {}
                Err(error @ Error::Storage(_)) if is_repair => return Err(error),
                Ok(Some(_)) | Err(_) => names.push(name),
            }
        }
        if names.len() == known {
            return Ok((check, plan));
        }
    }
}

/// The error of a repair whose storage answers one thing here and another there.
fn unreliable(path: &str, message: &str) -> Error {
    let message = format!("{message}; nothing was repaired: try again later");
    Error::Storage(StorageError { operation: Operation::Read, path: path.to_owned(), message, cause: None })
}

fn contents_of(read: Result<Option<Vec<u8>>, Error>) -> Result<Contents, Error> {
    match read {
        Ok(Some(text)) => Ok(Contents::Text(text)),
        Ok(None) => Ok(Contents::Absent),
        Err(Error::FileTooLarge(FileTooLarge { size: Some(size), .. })) => Ok(Contents::TooLarge { size }),
        Err(error) => Err(error),
    }
}

/// Compares all files before changing the first, so that a session in use is left alone.
async fn carry_out(plan: &RepairPlan, storage: &impl Storage) -> Result<Vec<Action>, Error> {
    for change in &plan.changes {
        storage.limits().check(&change.path, change.bytes.len() as u64, 0, true)?;
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

/// Removes the oldest copies of each file.
async fn remove_copies(layout: &Layout, storage: &impl Storage, keep: usize) -> Result<(), Error> {
    let names = storage.list(&layout.session_dir()).await?;
    let mut copies: Vec<_> = names.iter().filter_map(|name| Some((copied_file(name)?, name))).collect();
    order::sort(&mut copies);
    for copies in copies.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
        for (_, name) in &copies[..copies.len().saturating_sub(keep)] {
            storage.remove(&layout.file(name)).await?;
        }
    }
    Ok(())
}

/// Reads a file again, and fails if it is not the one that was examined.
async fn unchanged(storage: &impl Storage, path: &str, digest: Option<&str>) -> Result<Option<Vec<u8>>, Error> {
    let contents = storage.read(path).await?;
    let found = contents.as_deref().map(sha256_hex);
    let revision = storage.digest(path).await?;
    let is_whole = match &revision {
        Revision::Unknown => true,
        Revision::Absent => found.is_none(),
        Revision::Digest(digest) => found.as_ref() == Some(digest),
    };
    if !is_whole {
        return Err(unreliable(path, "what was read is not what the file has by its digest"));
    }
    if found.as_deref() != digest {
        return Err(Error::FileConflict { path: path.to_owned(), expected: digest.map(str::to_owned), found });
    }
    Ok(contents)
}
