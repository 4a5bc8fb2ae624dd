//! Findings and the report of a check.

use crate::conversation::named_enum;
use crate::json::{FieldPath, Position};

/// The maximum number of listed findings of one rule in one file, so that the report of a hostile file stays small.
const MAX_LISTED: usize = 100;

/// How severe a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The file, or the session, cannot be loaded.
    Error,
    /// It can be loaded, but has a fault.
    Warning,
    /// Not a fault, only information.
    Info,
}

impl Severity {
    /// The name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $variant:ident, $name:literal, $severity:ident;)*) => {
        named_enum! {
            /// A rule that is checked.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum Rule {
                $($(#[doc = $doc])* $variant = $name,)*
            }
        }

        impl Rule {
            /// The severity of a violation.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)*
                }
            }
        }
    };
}

rules! {
    /// There are files of contexts, but no `session.json`.
    MissingSessionFile, "missing-session-file", Error;
    /// The storage could not read the file.
    UnreadableFile, "unreadable-file", Error;
    /// The file has more bytes or values than the limit.
    FileTooLarge, "file-too-large", Error;
    /// The file is empty.
    EmptyFile, "empty-file", Error;
    /// The file contains NUL bytes.
    NulBytes, "nul-bytes", Error;
    /// The text is truncated.
    TornFile, "torn-file", Error;
    /// `NaN` or `Infinity`, which are not JSON.
    NonFiniteNumber, "non-finite-number", Error;
    /// The text is not valid JSON for another reason, or exceeds the limit of nesting.
    NotJson, "not-json", Error;
    /// A field has the wrong shape.
    WrongShape, "wrong-shape", Error;
    /// The uuid is not the name of the directory.
    UuidMismatch, "uuid-mismatch", Error;
    /// The id is not the name of the file.
    IdMismatch, "id-mismatch", Error;
    /// The active context has no file.
    DanglingActiveContext, "dangling-active-context", Error;
    /// A child has no file.
    DanglingChild, "dangling-child", Warning;
    /// The origin of a fork has no file.
    DanglingOrigin, "dangling-origin", Info;
    /// Neither `session.json` nor another context names the context.
    UnnamedContext, "unnamed-context", Info;
    /// An anchor is past the last message.
    AnchorOutOfRange, "anchor-out-of-range", Warning;
    /// The index of an anchor is lower than that of the anchor before it.
    AnchorsNotAscending, "anchors-not-ascending", Warning;
    /// Two anchors have the same name.
    DuplicateAnchor, "duplicate-anchor", Warning;
    /// A counter is lower than what it counts.
    CounterLags, "counter-lags", Warning;
    /// Two messages have the same id.
    DuplicateMessageId, "duplicate-message-id", Warning;
    /// Two messages have the same sequence number.
    DuplicateSequenceNumber, "duplicate-sequence-number", Warning;
    /// No message has the id of the special message.
    DanglingSpecialMessage, "dangling-special-message", Warning;
    /// The message named as special has the wrong position or type.
    MisplacedSpecialMessage, "misplaced-special-message", Warning;
    /// The conversation continues after a tool call without its result.
    CallWithoutResult, "call-without-result", Warning;
    /// A tool result without its call.
    ResultWithoutCall, "result-without-call", Warning;
    /// An escape of an unpaired surrogate.
    LoneSurrogate, "lone-surrogate", Warning;
    /// A key that an object has twice.
    DuplicateKey, "duplicate-key", Warning;
    /// The file begins with a byte order mark.
    ByteOrderMark, "byte-order-mark", Warning;
    /// A temporary file of a write that was killed.
    LeftoverFile, "leftover-file", Warning;
    /// A copy that a repair kept.
    KeptCopy, "kept-copy", Info;
    /// A file that is not part of the format.
    OtherFile, "other-file", Info;
}

/// A fault, or information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is violated.
    pub rule: Rule,
    /// Its severity.
    pub severity: Severity,
    /// The path of the file.
    pub path: String,
    /// The field at fault; `None` if it is the file itself.
    pub field: Option<FieldPath>,
    /// The line and the column at fault, if known.
    pub position: Option<Position>,
    /// What is wrong, and what to do if a repair cannot fix it.
    pub message: String,
    /// Whether a repair fixes it.
    pub repairability: Repairability,
}

impl Finding {
    /// Whether a repair fixes it.
    pub fn is_repairable(&self) -> bool {
        matches!(self.repairability, Repairability::Automatic(_))
    }
}

/// Whether a repair fixes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repairability {
    /// No: it must be fixed by hand.
    Manual,
    /// Yes, and this sentence, in the past tense, says how.
    Automatic(String),
    /// Only after the errors of the same file have been fixed by hand.
    Blocked,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionCheck {
    /// Whether there are neither errors nor warnings.
    pub ok: bool,
    /// `session.json` first, then the contexts by their names, then other files.
    pub findings: Vec<Finding>,
}

impl SessionCheck {
    /// A result with these findings.
    pub(super) fn new(findings: Vec<Finding>) -> Self {
        Self { ok: findings.iter().all(|finding| finding.severity == Severity::Info), findings }
    }
}

/// The findings of one file.
pub(super) struct Report {
    path: String,
    findings: Vec<Finding>,
    left_off: Vec<(Rule, usize)>,
}

impl Report {
    pub fn new(path: String) -> Self {
        Self { path, findings: Vec::new(), left_off: Vec::new() }
    }

    pub fn add(&mut self, rule: Rule, place: impl Into<Place>, message: impl Into<String>) {
        self.push(rule, place.into(), message.into(), Repairability::Manual);
    }

    /// As [`Report::add`], for a finding that a repair fixes; `repair` says how.
    pub fn add_repairable(
        &mut self,
        rule: Rule,
        place: impl Into<Place>,
        message: impl Into<String>,
        repair: impl Into<String>,
    ) {
        self.push(rule, place.into(), message.into(), Repairability::Automatic(repair.into()));
    }

    fn push(&mut self, rule: Rule, place: Place, message: String, repairability: Repairability) {
        if self.findings.iter().filter(|finding| finding.rule == rule).count() >= MAX_LISTED {
            match self.left_off.iter_mut().find(|(other, _)| *other == rule) {
                Some((_, count)) => *count += 1,
                None => self.left_off.push((rule, 1)),
            }
            return;
        }
        self.findings.push(Finding {
            rule,
            severity: rule.severity(),
            path: self.path.clone(),
            field: place.field.filter(|field| !field.is_root()),
            position: place.position,
            message,
            repairability,
        });
    }

    /// Records that a repair must leave this file alone.
    pub fn block_repair(&mut self) {
        for finding in self.findings.iter_mut().filter(|finding| finding.is_repairable()) {
            finding.repairability = Repairability::Blocked;
        }
    }

    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether a repair would change this file.
    pub fn is_repairable(&self) -> bool {
        self.findings.iter().any(Finding::is_repairable)
    }

    pub fn finish(mut self) -> Vec<Finding> {
        for (rule, count) in self.left_off {
            if let Some(last) = self.findings.iter_mut().rev().find(|finding| finding.rule == rule) {
                last.message = format!("{} (and {count} more like this in the file)", last.message);
            }
        }
        self.findings
    }
}

/// A place in a file.
#[derive(Default)]
pub(super) struct Place {
    pub field: Option<FieldPath>,
    pub position: Option<Position>,
}

impl From<()> for Place {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl From<FieldPath> for Place {
    fn from(field: FieldPath) -> Self {
        Self { field: Some(field), position: None }
    }
}

impl From<Position> for Place {
    fn from(position: Position) -> Self {
        Self { field: None, position: Some(position) }
    }
}

impl From<(FieldPath, Position)> for Place {
    fn from((field, position): (FieldPath, Position)) -> Self {
        Self { field: Some(field), position: Some(position) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_is_blocked_for_the_whole_file() {
        let mut report = Report::new("a/s/c.json".to_owned());
        report.add(Rule::NotJson, Position { line: 2, column: 3 }, "m");
        report.add_repairable(Rule::CounterLags, FieldPath::root().key("x"), "n", "raised");
        assert!(report.is_repairable());
        report.block_repair();
        assert!(!report.is_repairable());
        let found: Vec<_> = report.finish().into_iter().map(|finding| finding.repairability).collect();
        assert_eq!(found, [Repairability::Manual, Repairability::Blocked]);
    }

    #[test]
    fn a_file_does_not_fill_the_list() {
        let mut report = Report::new(String::new());
        for _ in 0..250 {
            report.add(Rule::DuplicateMessageId, (), "x");
        }
        report.add(Rule::CounterLags, (), "y");
        let findings = report.finish();
        assert_eq!(findings.len(), MAX_LISTED + 1);
        assert_eq!(findings[MAX_LISTED - 1].message, "x (and 150 more like this in the file)");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Rule::ALL.len());
    }
}
