//! What a repair writes and removes, as values.

use serde::Serialize;

use super::finding::{Report, Rule};
use crate::json;

/// What a repair does to the files of a session: the changes in order, the contexts before `session.json`, then what
/// writes have left.
pub struct RepairPlan {
    pub changes: Vec<Change>,
    pub leftovers: Vec<Leftover>,
}

/// A file to be replaced, once a copy is kept.
pub struct Change {
    pub path: String,
    /// The SHA-256 of what it held when it was read; `None` where it was not there. One that holds something else by now
    /// is not to be touched.
    pub old_digest: Option<String>,
    /// Where the copy goes; `None` where the file was not there.
    pub copy_path: Option<String>,
    pub bytes: Vec<u8>,
    pub actions: Vec<Action>,
}

/// A temporary file to be removed.
pub struct Leftover {
    pub path: String,
    /// The file that it was to replace.
    pub target: Option<String>,
    /// Where the copy goes, if one is kept: see [`keeps_copy`].
    pub copy_path: String,
}

impl Leftover {
    /// The action of removing it.
    pub fn action(&self, copy: bool) -> Action {
        let message = match copy {
            true => "the temporary file removed; it was whole and not what the file holds, so that a copy is kept",
            false => "the temporary file removed",
        };
        Action {
            rule: Rule::LeftoverFile,
            path: self.path.clone(),
            message: message.to_owned(),
            copy: copy.then(|| self.copy_path.clone()),
        }
    }
}

/// Whether a temporary file may hold something that is nowhere else: the whole of a save that was about to take its
/// place.
pub fn keeps_copy(temporary: &[u8], target: Option<&[u8]>) -> bool {
    target != Some(temporary) && json::parse(temporary).is_ok()
}

/// Something that a repair has done. In JSON its keys are those of JavaScript's `RepairAction`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Action {
    pub rule: Rule,
    /// The file that was changed or removed.
    pub path: String,
    pub message: String,
    /// Where the file is kept as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
}

impl Change {
    /// The actions, with the place of the copy.
    pub fn done(&self) -> impl Iterator<Item = Action> {
        self.actions.iter().map(|action| Action { copy: self.copy_path.clone(), ..action.clone() })
    }
}

impl Report {
    /// What mends the findings.
    pub(super) fn actions(&self) -> Vec<Action> {
        let action = |finding: &super::Finding| {
            let message = finding.mend.clone()?;
            Some(Action { rule: finding.rule, path: finding.path.clone(), message, copy: None })
        };
        self.findings().iter().filter_map(action).collect()
    }
}
