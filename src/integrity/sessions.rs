//! A check of all sessions in a directory, one at a time.

use super::directory::Kind;
use super::examination::Purpose;
use super::examine;
use super::finding::{Report, Rule, SessionCheck};
use crate::conversation::order;
use crate::environment::Environment;
use crate::error::Error;
use crate::id::SessionId;
use crate::layout::Layout;
use crate::storage::Storage;

/// The result of a check of a directory of sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionsCheck {
    /// Whether there are neither errors nor warnings.
    pub ok: bool,
    /// The number of sessions that were checked.
    pub checked: usize,
    /// The directories with findings, in the order of their names.
    pub sessions: Vec<(SessionId, SessionCheck)>,
}

/// Checks all sessions in `parent_dir`. Also finds contexts that nothing names, and leftovers in directories without a
/// session. Writes nothing. Only one file and the findings are in memory.
///
/// # Errors
///
/// Those of listing `parent_dir`, [`Error::MemoryLimit`] and [`Error::Stopped`]. A session that the storage fails to read is
/// a finding.
pub async fn check_all(
    parent_dir: &str,
    storage: &impl Storage,
    environment: &dyn Environment,
) -> Result<SessionsCheck, Error> {
    let mut names = storage.list(if parent_dir.is_empty() { "." } else { parent_dir }).await?;
    order::sort(&mut names);
    let visible = names.iter().filter(|name| !name.starts_with('.'));
    let (mut checked, mut sessions) = (0, Vec::new());
    for id in visible.filter_map(|name| SessionId::parse(name).ok()) {
        let layout = Layout::new(parent_dir, id.clone());
        let check = match examine(&layout, storage, environment, Purpose::CheckAll).await {
            Err(Error::SessionNotFound { .. }) => {
                storage.list(&layout.session_dir()).await.map(|names| without_session(&layout, names))
            }
            examined => examined.map(|(check, _)| {
                checked += 1;
                check
            }),
        };
        let check = match check {
            Ok(check) => check,
            Err(Error::Storage(error)) => {
                let mut report = Report::new(error.path);
                report.add(Rule::UnreadableFile, (), format!("the storage could not read it: {}", error.message));
                SessionCheck::new(report.finish())
            }
            Err(error) => return Err(error),
        };
        if !check.findings.is_empty() {
            sessions.push((id, check));
        }
    }
    Ok(SessionsCheck { ok: sessions.iter().all(|(_, check)| check.ok), checked, sessions })
}

/// The leftovers in a directory that has neither a `session.json` nor a context. It may be anything else.
fn without_session(layout: &Layout, mut names: Vec<String>) -> SessionCheck {
    order::sort(&mut names);
    let mut findings = Vec::new();
    for name in names.iter().filter(|name| matches!(Kind::of(name), Kind::Temporary | Kind::Lock)) {
        let mut report = Report::new(layout.file(name));
        let message = "left by a first save that was killed, unless one is in progress; remove the file";
        report.add(Rule::LeftoverFile, (), message);
        findings.extend(report.finish());
    }
    SessionCheck::new(findings)
}
