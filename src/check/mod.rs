//! Everything that is wrong with the directory of a session, and how it is mended.
//!
//! It is looked at file after file, so that no more than one is in memory. One pass serves checks and repairs: a rule that
//! can mend what it finds does so in the dict that was read, which a check forgets and a repair writes.

mod context;
mod directory;
mod finding;
mod repair;
mod session;
mod text;

pub use directory::temporary_target;
pub use finding::{Finding, Rule, SessionCheck, Severity};
pub use repair::{Action, Change, Leftover, RepairPlan, keeps_copy};

use context::Age;
use directory::{Directory, Kind};
use finding::Report;

use crate::digest::sha256_hex;
use crate::environment::Environment;
use crate::error::Error;
use crate::json::{self, Object};
use crate::storage::{Layout, SESSION_FILE};

/// What reading a file came to.
pub enum Contents<'t> {
    Text(&'t [u8]),
    /// It is not there, though it was listed.
    Absent,
    /// It is larger than the limit, in bytes.
    TooLarge {
        size: u64,
        limit: u64,
    },
    /// The storage failed with this message.
    Failed(String),
}

/// Looks at the files of a session, one after the other: the contexts first, `session.json` last.
pub struct Examination<'e> {
    directory: Directory,
    environment: &'e dyn Environment,
    /// Whether the changes that mend something are kept.
    is_repair: bool,
    ages: Vec<Age>,
    findings: Vec<Finding>,
    changes: Vec<Change>,
}

impl<'e> Examination<'e> {
    /// For the names that the session's directory holds. Changes are made for a repair alone.
    pub fn new(
        layout: Layout,
        names: impl IntoIterator<Item = String>,
        environment: &'e dyn Environment,
        is_repair: bool,
    ) -> Self {
        let directory = Directory::new(layout, names);
        let (ages, findings, changes) = (Vec::new(), Vec::new(), Vec::new());
        Self { directory, environment, is_repair, ages, findings, changes }
    }

    /// The names of the files of contexts, each to be read and handed to [`Examination::context`].
    pub fn context_files(&self) -> Vec<String> {
        let contexts = self.directory.files().filter(|(_, kind)| matches!(kind, Kind::Context(_)));
        contexts.map(|(name, _)| name.to_owned()).collect()
    }

    /// Looks at the file of a context.
    ///
    /// # Errors
    ///
    /// None but defects.
    pub fn context(&mut self, name: &str, contents: Contents<'_>) -> Result<(), Error> {
        let Some(id) = Layout::context_id(name) else { return Ok(()) };
        let mut report = Report::new(self.directory.layout.file(name));
        if let Some(text) = text_of(contents, &mut report) {
            let file = context::examine(&self.directory, &id, text, self.environment, &mut report)?;
            if let Some(file) = file {
                self.keep_change(name, Some(text), &file.dict, &report)?;
                self.ages.push(file.age);
            }
        }
        self.findings.extend(report.finish());
        Ok(())
    }

    /// Looks at `session.json`, after the contexts. Gives what was found, and the changes that mend it.
    ///
    /// # Errors
    ///
    /// [`Error::SessionNotFound`] where there is neither that file nor one of a context.
    pub fn finish(mut self, contents: Contents<'_>) -> Result<(SessionCheck, RepairPlan), Error> {
        let path = self.directory.layout.session_file();
        if matches!(contents, Contents::Absent) && self.context_files().is_empty() {
            return Err(Error::SessionNotFound { path });
        }
        let is_absent = matches!(contents, Contents::Absent);
        let mut report = Report::new(path);
        let text = text_of(contents, &mut report);
        if text.is_some() || is_absent {
            if let Some(dict) = session::examine(&self.directory, &self.ages, text, &mut report) {
                self.keep_change(SESSION_FILE, text, &dict, &report)?;
            }
        }
        let mut findings = report.finish();
        findings.append(&mut self.findings);
        let leftovers = self.report_others(&mut findings);
        let plan = RepairPlan { changes: self.changes, leftovers };
        Ok((SessionCheck::new(findings), plan))
    }

    fn keep_change(&mut self, name: &str, text: Option<&[u8]>, dict: &Object, report: &Report) -> Result<(), Error> {
        if self.is_repair && report.is_mended() {
            let path = self.directory.layout.file(name);
            let copy = text.map(|_| self.directory.copy_name(name, self.environment));
            self.changes.push(Change {
                actions: report.actions(),
                copy_path: copy.map(|copy| self.directory.layout.file(&copy)),
                old_digest: text.map(sha256_hex),
                bytes: json::to_file_bytes(&dict.into()),
                path,
            });
        }
        Ok(())
    }

    /// The files that are neither the session's nor a context's; gives the temporary ones.
    fn report_others(&mut self, findings: &mut Vec<Finding>) -> Vec<Leftover> {
        let others: Vec<(String, Kind)> = self.directory.files().map(|(name, kind)| (name.to_owned(), kind)).collect();
        let mut leftovers = Vec::new();
        for (name, kind) in others {
            let path = self.directory.layout.file(&name);
            let mut report = Report::new(path.clone());
            match kind {
                Kind::Session | Kind::Context(_) | Kind::Lock => continue,
                Kind::Temporary => {
                    let message = "a temporary file that a write has left which was killed, unless one is under way";
                    report.add_mended(Rule::LeftoverFile, (), message, "the temporary file removed");
                    let target = temporary_target(&name).map(|target| self.directory.layout.file(target));
                    let copy = self.directory.copy_name(&name, self.environment);
                    let copy_path = self.directory.layout.file(&copy);
                    leftovers.push(Leftover { path, target, copy_path });
                }
                Kind::Copy => report.add(
                    Rule::KeptCopy,
                    (),
                    "the copy of a file that a repair has changed; remove it when it is not needed any more",
                ),
                Kind::Other => report.add(Rule::OtherFile, (), "this file is not part of a session; nothing reads it"),
            }
            findings.extend(report.finish());
        }
        leftovers
    }
}

/// The text of a file, where it could be read; what kept it from being read is reported.
fn text_of<'t>(contents: Contents<'t>, report: &mut Report) -> Option<&'t [u8]> {
    match contents {
        Contents::Text(text) => return Some(text),
        Contents::Absent => {}
        Contents::TooLarge { size, limit } => report.add(
            Rule::FileTooLarge,
            (),
            format!("the file has {size} bytes, more than {limit}; raise options.maxFileBytes to have it read"),
        ),
        Contents::Failed(message) => {
            report.add(Rule::UnreadableFile, (), format!("the storage could not read the file: {message}"));
        }
    }
    None
}
