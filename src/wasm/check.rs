//! Checks and repairs of the files of a session.

use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::environment::JsEnvironment;
use super::session::{parent_directory, session_layout};
use super::storage::JsStorage;
use super::{args, reports};
use crate::integrity::{self, Action, Finding, Repairability, Rule};
use crate::limits::Limits;

/// The JSON text of the `SessionCheck` of JavaScript.
#[wasm_bindgen(js_name = checkSession)]
pub async fn check_session(
    parent_dir: JsValue,
    uuid: JsValue,
    storage: JsValue,
    options: JsValue,
) -> Result<String, JsValue> {
    let layout = session_layout(&parent_dir, &uuid)?;
    let storage = JsStorage::new(storage, args::limits(&options, Limits::default())?);
    let check = integrity::check(&layout, &storage, &JsEnvironment::capture()?).await?;
    Ok(reports::text(&SessionCheck::from(&check))?)
}

/// The JSON text of the `SessionsCheck` of JavaScript.
#[wasm_bindgen(js_name = checkSessions)]
pub async fn check_sessions(parent_dir: JsValue, storage: JsValue, options: JsValue) -> Result<String, JsValue> {
    let parent_dir = parent_directory(&parent_dir)?;
    let storage = JsStorage::new(storage, args::limits(&options, Limits::default())?);
    let all = integrity::check_all(&parent_dir, &storage, &JsEnvironment::capture()?).await?;
    let sessions = all.sessions.iter().map(|(id, check)| {
        let SessionCheck { ok, findings } = check.into();
        CheckedSession { uuid: id.as_str(), ok, findings }
    });
    Ok(reports::text(&SessionsCheck { ok: all.ok, checked: all.checked, sessions: sessions.collect() })?)
}

/// The JSON text of the `SessionRepair` of JavaScript. `lease` is what the storage adapter gave the holder of the lock.
#[wasm_bindgen(js_name = repairSession)]
pub async fn repair_session(
    parent_dir: JsValue,
    uuid: JsValue,
    storage: JsValue,
    options: JsValue,
    keep_copies: usize,
    lease: JsValue,
) -> Result<String, JsValue> {
    let layout = session_layout(&parent_dir, &uuid)?;
    let storage = JsStorage::new(storage, args::limits(&options, Limits::default())?).with_lease(lease);
    let repair = integrity::repair(&layout, &storage, &JsEnvironment::capture()?, keep_copies).await?;
    let actions = repair.actions.iter().map(RepairAction::from).collect();
    Ok(reports::text(&SessionRepair { actions, check: SessionCheck::from(&repair.check) })?)
}

#[derive(Serialize)]
struct SessionRepair<'r> {
    actions: Vec<RepairAction<'r>>,
    check: SessionCheck<'r>,
}

#[derive(Serialize)]
struct RepairAction<'a> {
    rule: &'static str,
    path: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<&'a str>,
}

impl<'a> From<&'a Action> for RepairAction<'a> {
    fn from(action: &'a Action) -> Self {
        let Action { rule, path, message, copy } = action;
        Self { rule: rule.name(), path, message, copy: copy.as_deref() }
    }
}

#[derive(Serialize)]
struct SessionsCheck<'c> {
    ok: bool,
    checked: usize,
    sessions: Vec<CheckedSession<'c>>,
}

#[derive(Serialize)]
struct CheckedSession<'c> {
    uuid: &'c str,
    ok: bool,
    findings: Vec<SessionFinding<'c>>,
}

#[derive(Serialize)]
struct SessionCheck<'c> {
    ok: bool,
    findings: Vec<SessionFinding<'c>>,
}

impl<'c> From<&'c integrity::SessionCheck> for SessionCheck<'c> {
    fn from(check: &'c integrity::SessionCheck) -> Self {
        Self { ok: check.ok, findings: check.findings.iter().map(SessionFinding::from).collect() }
    }
}

#[derive(Serialize)]
struct SessionFinding<'f> {
    rule: &'static str,
    severity: &'static str,
    path: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: String,
    repairable: bool,
}

impl<'f> From<&'f Finding> for SessionFinding<'f> {
    fn from(finding: &'f Finding) -> Self {
        let message = match advice(finding) {
            Some(advice) => format!("{}; {advice}", finding.message),
            None => finding.message.clone(),
        };
        Self {
            rule: finding.rule.name(),
            severity: finding.severity.name(),
            path: &finding.path,
            field: finding.field.as_ref().map(ToString::to_string),
            line: finding.position.map(|position| position.line),
            column: finding.position.map(|position| position.column),
            message,
            repairable: finding.is_repairable(),
        }
    }
}

/// The advice that follows a finding, in terms of the JavaScript interface.
fn advice(finding: &Finding) -> Option<&'static str> {
    match (&finding.repairability, finding.rule) {
        (Repairability::Automatic(_), _) => Some("Session.repair fixes it"),
        (Repairability::Blocked, _) => Some("fix the errors of the file first"),
        // A file with too many bytes is not read, so nothing in it has a position.
        (Repairability::Manual, Rule::FileTooLarge) if finding.position.is_some() => {
            Some("raise options.maxFileValues to read it")
        }
        (Repairability::Manual, Rule::FileTooLarge) => Some("raise options.maxFileBytes to read it"),
        (Repairability::Manual, Rule::DanglingActiveContext) => Some("load with `activeContextId: null`"),
        (Repairability::Manual, _) => None,
    }
}
