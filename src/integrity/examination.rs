//! Examines the files of a session, one after the other.

use std::collections::HashSet;

use serde_json::Value;

use super::context::{self, Age};
use super::directory::{Directory, Kind, temporary_target};
use super::finding::{Finding, Report, Rule, SessionCheck};
use super::repair_plan::{Change, Leftover, RepairPlan};
use super::{session, text};
use crate::digest::sha256_hex;
use crate::environment::Environment;
use crate::error::Error;
use crate::json::{self, Object};
use crate::layout::{Layout, SESSION_FILE};
use crate::limits::Limits;
use crate::session::dict_keys;

/// The outcome of reading a file.
pub(super) enum Contents {
    Text(Vec<u8>),
    /// It does not exist, although it may have been listed.
    Absent,
    /// It has more bytes than the limit.
    TooLarge {
        size: u64,
    },
    /// The storage failed with this message.
    Unreadable(String),
}

/// What an examination is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Check,
    /// A check that also reports the contexts that nothing names.
    CheckAll,
    /// Plans changes.
    Repair,
}

/// An examination of the files of a session: the contexts first, `session.json` last.
pub(super) struct Examination<'e> {
    directory: Directory,
    environment: &'e dyn Environment,
    limits: Limits,
    purpose: Purpose,
    ages: Vec<Age>,
    findings: Vec<Finding>,
    changes: Vec<Change>,
}

impl<'e> Examination<'e> {
    /// An examination of a directory with these names.
    pub fn new(
        layout: Layout,
        names: impl IntoIterator<Item = String>,
        environment: &'e dyn Environment,
        limits: Limits,
        purpose: Purpose,
    ) -> Self {
        let directory = Directory::new(layout, names);
        let (ages, findings, changes) = (Vec::new(), Vec::new(), Vec::new());
        Self { directory, environment, limits, purpose, ages, findings, changes }
    }

    /// The names of the files of contexts, each to be read and passed to [`Examination::context`].
    pub fn context_files(&self) -> Vec<String> {
        let contexts = self.directory.files().filter(|(_, kind)| matches!(kind, Kind::Context(_)));
        contexts.map(|(name, _)| name.to_owned()).collect()
    }

    /// Examines the file of a context. Returns whether it has no more values than the limit, beyond which it is not read.
    ///
    /// # Errors
    ///
    /// Only [`Error::Internal`].
    pub fn context(&mut self, name: &str, contents: Contents) -> Result<bool, Error> {
        let Some(id) = Layout::context_id(name) else { return Ok(true) };
        let mut report = Report::new(self.directory.layout.file(name));
        let mut is_read = true;
        if let Some(text) = text_of(contents, self.limits, &mut report) {
            let value = text::read(&text, self.limits.values())?;
            is_read = !matches!(&value, Err(damage) if damage.rule == Rule::FileTooLarge);
            let file = context::examine(&self.directory, &id, &text, value, self.environment, &mut report)?;
            if let Some(file) = file {
                self.keep_change(name, Some(&text), &file.dict, &report)?;
                self.ages.push(file.age);
            }
        }
        self.findings.extend(report.finish());
        Ok(is_read)
    }

    /// The paths of the contexts that were read.
    pub fn context_paths(&self) -> Vec<String> {
        self.ages.iter().map(|age| self.directory.layout.context_file(&age.id)).collect()
    }

    /// Records when the storage last wrote [`Examination::context_paths`].
    pub fn set_times(&mut self, times: impl IntoIterator<Item = Option<f64>>) {
        for (age, time) in self.ages.iter_mut().zip(times) {
            age.modified = time;
        }
    }

    /// Examines `session.json`, after the contexts. Returns the findings, the changes that fix them, and the names of the
    /// contexts that were looked for and not listed.
    ///
    /// # Errors
    ///
    /// [`Error::SessionNotFound`] if there is neither that file nor a context.
    pub fn finish(mut self, contents: Contents) -> Result<(SessionCheck, RepairPlan, Vec<String>), Error> {
        let path = self.directory.layout.session_file();
        if matches!(contents, Contents::Absent) && self.context_files().is_empty() {
            return Err(Error::SessionNotFound { path });
        }
        let is_absent = matches!(contents, Contents::Absent);
        let mut report = Report::new(path);
        let mut unnamed = Vec::new();
        let text = text_of(contents, self.limits, &mut report);
        if text.is_some() || is_absent {
            if let Some(dict) =
                session::examine(&self.directory, &self.ages, text.as_deref(), self.limits, &mut report)?
            {
                self.keep_change(SESSION_FILE, text.as_deref(), &dict, &report)?;
                if self.purpose == Purpose::CheckAll {
                    unnamed = self.unnamed(&dict);
                }
            }
        }
        let mut findings = report.finish();
        findings.append(&mut self.findings);
        findings.append(&mut unnamed);
        let leftovers = self.report_others(&mut findings);
        let plan = RepairPlan { changes: self.changes, leftovers };
        Ok((SessionCheck::new(findings), plan, self.directory.missing()))
    }

    /// The findings of contexts that neither `session.json` nor another context names.
    fn unnamed(&self, dict: &Object) -> Vec<Finding> {
        // A context that could not be read may name any of them.
        if self.ages.len() != self.context_files().len() {
            return Vec::new();
        }
        let mut named: HashSet<&str> = self.ages.iter().flat_map(Age::named).collect();
        named.extend(dict.get(dict_keys::ACTIVE_CONTEXT_ID).and_then(Value::as_str));
        let unnamed = self.ages.iter().filter(|age| !named.contains(age.id.as_str()));
        let findings = unnamed.flat_map(|age| {
            let mut report = Report::new(self.directory.layout.context_file(&age.id));
            let message = "neither session.json nor another context names this context, as after a save that was killed; \
                           open it with loadContext, or remove the file if it is not needed";
            report.add(Rule::UnnamedContext, (), message);
            report.finish()
        });
        findings.collect()
    }

    fn keep_change(&mut self, name: &str, text: Option<&[u8]>, dict: &Object, report: &Report) -> Result<(), Error> {
        if self.purpose == Purpose::Repair && report.is_repairable() {
            let path = self.directory.layout.file(name);
            let copy = text.map(|_| self.directory.copy_name(name, self.environment));
            self.changes.push(Change {
                actions: report.actions(),
                copy_path: copy.map(|copy| self.directory.layout.file(&copy)),
                old_digest: text.map(sha256_hex),
                bytes: json::to_file_bytes(&dict.into())?,
                path,
            });
        }
        Ok(())
    }

    /// Reports the other files; returns the temporary ones.
    fn report_others(&mut self, findings: &mut Vec<Finding>) -> Vec<Leftover> {
        let others: Vec<(String, Kind)> = self.directory.files().map(|(name, kind)| (name.to_owned(), kind)).collect();
        let mut leftovers = Vec::new();
        for (name, kind) in others {
            let path = self.directory.layout.file(&name);
            let mut report = Report::new(path.clone());
            match kind {
                Kind::Session | Kind::Context(_) | Kind::Lock => continue,
                Kind::Temporary => {
                    let message = "a temporary file of a write that was killed, unless a write is in progress";
                    report.add_repairable(Rule::LeftoverFile, (), message, "removed the temporary file");
                    let target = temporary_target(&name).map(|target| self.directory.layout.file(target));
                    let copy = self.directory.copy_name(&name, self.environment);
                    let copy_path = self.directory.layout.file(&copy);
                    leftovers.push(Leftover { path, target, copy_path });
                }
                Kind::Copy => {
                    report.add(Rule::KeptCopy, (), "a copy made by a repair; remove it when it is no longer needed")
                }
                Kind::Other => report.add(Rule::OtherFile, (), "this file is not part of a session; nothing reads it"),
            }
            findings.extend(report.finish());
        }
        leftovers
    }
}

/// The text of a file; reports a finding and returns `None` if it could not be read.
fn text_of(contents: Contents, limits: Limits, report: &mut Report) -> Option<Vec<u8>> {
    match contents {
        Contents::Text(text) => return Some(text),
        Contents::Absent => {}
        Contents::TooLarge { size } => {
            let limit = limits.file_bytes;
            report.add(Rule::FileTooLarge, (), format!("the file has {size} bytes, more than the limit of {limit}"))
        }
        Contents::Unreadable(message) => {
            report.add(Rule::UnreadableFile, (), format!("the storage could not read the file: {message}"));
        }
    }
    None
}
