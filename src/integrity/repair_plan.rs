//! The plan of a repair: what to write and what to remove.

use super::finding::{Finding, Repairability, Report, Rule};
use crate::json;

/// The changes that a repair makes, in order: the contexts, `session.json`, and then the temporary files.
pub(super) struct RepairPlan {
    pub changes: Vec<Change>,
    pub leftovers: Vec<Leftover>,
}

/// A file to be copied and then replaced.
pub(super) struct Change {
    pub path: String,
    /// The SHA-256 of the contents that were examined; `None` if the file did not exist. A file that has changed since
    /// must not be touched.
    pub old_digest: Option<String>,
    /// The path of the copy; `None` if the file did not exist.
    pub copy_path: Option<String>,
    /// The new contents.
    pub bytes: Vec<u8>,
    /// The findings that the new contents fix.
    pub actions: Vec<Action>,
}

/// A temporary file to be removed.
pub(super) struct Leftover {
    pub path: String,
    /// The file that it was to replace.
    pub target: Option<String>,
    /// The path of the copy, if one is kept: see [`keeps_copy`].
    pub copy_path: String,
}

impl Leftover {
    /// The action of removing it.
    pub fn action(&self, copy: bool) -> Action {
        let message = match copy {
            true => "removed the temporary file and kept a copy, because it was complete and differs from the file",
            false => "removed the temporary file",
        };
        Action {
            rule: Rule::LeftoverFile,
            path: self.path.clone(),
            message: message.to_owned(),
            copy: copy.then(|| self.copy_path.clone()),
        }
    }
}

/// Whether a temporary file may have contents that exist nowhere else: those of a complete write that was about to replace
/// the file.
pub(super) fn keeps_copy(temporary: &[u8], target: Option<&[u8]>) -> bool {
    target != Some(temporary) && json::parse(temporary).is_ok()
}

/// An action of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The rule of the finding that it fixed.
    pub rule: Rule,
    /// The file that was changed or removed.
    pub path: String,
    /// A sentence that says what was done.
    pub message: String,
    /// The path of the copy of the original file.
    pub copy: Option<String>,
}

impl Change {
    /// The actions, with the path of the copy.
    pub fn done(&self) -> impl Iterator<Item = Action> {
        self.actions.iter().map(|action| Action { copy: self.copy_path.clone(), ..action.clone() })
    }
}

impl Report {
    /// The fixes of the findings.
    pub(super) fn actions(&self) -> Vec<Action> {
        let action = |finding: &Finding| match &finding.repairability {
            Repairability::Automatic(message) => {
                Some(Action { rule: finding.rule, path: finding.path.clone(), message: message.clone(), copy: None })
            }
            Repairability::Manual | Repairability::Blocked => None,
        };
        self.findings().iter().filter_map(action).collect()
    }
}
