//! Checks and repairs: reads the files that the core looks at, and does what its plan says.

use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::environment::JsEnvironment;
use super::session::session_layout;
use super::storage::{ReadFault, Storage};
use super::{args, reports};
use crate::check::{Action, Contents, Examination, RepairPlan, SessionCheck, keeps_copy};
use crate::digest::sha256_hex;
use crate::error::Error;
use crate::storage::Layout;

/// The JSON text of a [`SessionCheck`].
#[wasm_bindgen(js_name = checkSession)]
pub async fn check_session(
    parent_dir: JsValue,
    uuid: JsValue,
    storage: JsValue,
    max_file_bytes: JsValue,
) -> Result<String, JsValue> {
    let layout = session_layout(&parent_dir, &uuid)?;
    let storage = Storage::with_limit(storage, args::max_file_bytes(&max_file_bytes)?);
    let (check, _) = examine(&layout, &storage, false).await?;
    Ok(reports::text(&check)?)
}

/// What a repair has done, and what is left.
#[derive(Serialize)]
struct Repair {
    actions: Vec<Action>,
    check: SessionCheck,
}

/// The JSON text of a [`Repair`].
#[wasm_bindgen(js_name = repairSession)]
pub async fn repair_session(
    parent_dir: JsValue,
    uuid: JsValue,
    storage: JsValue,
    max_file_bytes: JsValue,
) -> Result<String, JsValue> {
    let layout = session_layout(&parent_dir, &uuid)?;
    let storage = Storage::with_limit(storage, args::max_file_bytes(&max_file_bytes)?);
    let (_, plan) = examine(&layout, &storage, true).await?;
    let actions = carry_out(&plan, &storage).await?;
    let (check, _) = examine(&layout, &storage, false).await?;
    Ok(reports::text(&Repair { actions, check })?)
}

async fn examine(layout: &Layout, storage: &Storage, is_repair: bool) -> Result<(SessionCheck, RepairPlan), JsValue> {
    let names = storage.list(&layout.session_dir()).await?;
    let environment = JsEnvironment::capture()?;
    let mut examination = Examination::new(layout.clone(), names, &environment, is_repair);
    for name in examination.context_files() {
        let read = storage.try_read(&layout.file(&name)).await;
        let contents = match &read {
            Ok(Some(text)) => Contents::Text(text),
            Ok(None) => Contents::Absent,
            Err(ReadFault::TooLarge { size, limit }) => Contents::TooLarge { size: *size, limit: *limit },
            Err(ReadFault::Failed { message, .. }) => Contents::Failed(message.clone()),
        };
        examination.context(&name, contents)?;
    }
    let read = storage.try_read(&layout.session_file()).await;
    let contents = match read {
        Ok(Some(ref text)) => Contents::Text(text),
        Ok(None) => Contents::Absent,
        Err(ReadFault::TooLarge { size, limit }) => Contents::TooLarge { size, limit },
        Err(ReadFault::Failed { error, .. }) => return Err(error),
    };
    Ok(examination.finish(contents)?)
}

/// Looks at all files before it changes the first, so that a session somebody else works on is left alone.
async fn carry_out(plan: &RepairPlan, storage: &Storage) -> Result<Vec<Action>, JsValue> {
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

/// What a file holds, which has to be what it held when it was looked at.
async fn unchanged(storage: &Storage, path: &str, digest: Option<&str>) -> Result<Option<Vec<u8>>, JsValue> {
    let contents = storage.read(path).await?;
    let found = contents.as_deref().map(sha256_hex);
    if found.as_deref() != digest {
        let expected = digest.map(str::to_owned);
        return Err(Error::FileConflict { path: path.to_owned(), expected, found }.into());
    }
    Ok(contents)
}
