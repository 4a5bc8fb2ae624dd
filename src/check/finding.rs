//! What is found, and what is said about it.

use serde::{Serialize, Serializer};

use crate::json::{FieldPath, Position};

/// So many findings of one rule are listed of one file: what a hostile file gives rise to stays small.
const MAX_LISTED: usize = 100;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file, or the session, cannot be loaded.
    Error,
    /// It is loaded, but something in it is not as it should be.
    Warning,
    /// Nothing is wrong, but somebody may want to know.
    Info,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $variant:ident, $name:literal, $severity:ident;)*) => {
        /// What is looked for. The names are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in kebab case.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The first paragraph of its documentation.
            pub fn summary(self) -> String {
                let lines: &[&str] = match self {
                    $(Self::$variant => &[$($doc),*],)*
                };
                crate::names::first_paragraph(lines)
            }

            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)*
                }
            }
        }
    };
}

rules! {
    /// There are context files, but no `session.json`.
    MissingSessionFile, "missing-session-file", Error;
    /// The storage could not read the file.
    UnreadableFile, "unreadable-file", Error;
    /// The file is larger than the limit.
    FileTooLarge, "file-too-large", Error;
    /// The file holds nothing.
    EmptyFile, "empty-file", Error;
    /// NUL bytes stand where text should be.
    NulBytes, "nul-bytes", Error;
    /// The text ends too early.
    TornFile, "torn-file", Error;
    /// `NaN` or `Infinity` stands where a number should be.
    NonFiniteNumber, "non-finite-number", Error;
    /// The text is no JSON for another reason, or beyond what is read of nesting and values.
    NotJson, "not-json", Error;
    /// A field is not what it has to be.
    WrongShape, "wrong-shape", Error;
    /// The uuid is not the name of the directory.
    UuidMismatch, "uuid-mismatch", Error;
    /// The id is not the name of the file.
    IdMismatch, "id-mismatch", Error;
    /// The active context has no file.
    DanglingActiveContext, "dangling-active-context", Error;
    /// A child has no file.
    DanglingChild, "dangling-child", Warning;
    /// The context that this one was forked from has no file.
    DanglingOrigin, "dangling-origin", Info;
    /// An anchor stands after the last message.
    AnchorOutOfRange, "anchor-out-of-range", Warning;
    /// An anchor stands before the one that precedes it in the list.
    AnchorsNotAscending, "anchors-not-ascending", Warning;
    /// Two anchors have the same name.
    DuplicateAnchor, "duplicate-anchor", Warning;
    /// A counter is lower than what it has counted.
    CounterLags, "counter-lags", Warning;
    /// Two messages have the same id.
    DuplicateMessageId, "duplicate-message-id", Warning;
    /// Two messages have the same sequence number.
    DuplicateSequenceNumber, "duplicate-sequence-number", Warning;
    /// No message has the id of the special message.
    DanglingSpecialMessage, "dangling-special-message", Warning;
    /// The special message does not stand where it is one, or is of another class.
    MisplacedSpecialMessage, "misplaced-special-message", Warning;
    /// The conversation went on after a tool call without its result.
    CallWithoutResult, "call-without-result", Warning;
    /// No message has the call that a tool result is of.
    ResultWithoutCall, "result-without-call", Warning;
    /// An escape of half a surrogate pair.
    LoneSurrogate, "lone-surrogate", Warning;
    /// A key that stands twice in an object.
    DuplicateKey, "duplicate-key", Warning;
    /// The file begins with a byte order mark.
    ByteOrderMark, "byte-order-mark", Warning;
    /// What a write that was killed has left.
    LeftoverFile, "leftover-file", Warning;
    /// A copy that a repair has kept.
    KeptCopy, "kept-copy", Info;
    /// A file that is not part of the format.
    OtherFile, "other-file", Info;
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One thing that is wrong, or worth to know. In JSON its keys are those of JavaScript's `Finding`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    pub severity: Severity,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub field: Option<FieldPath>,
    #[serde(flatten)]
    pub position: Option<Position>,
    /// What is wrong, and what to do.
    pub message: String,
    #[serde(rename = "repairable", serialize_with = "as_flag")]
    /// What a repair does about it.
    pub mend: Option<String>,
}

fn as_text<S: Serializer>(field: &Option<FieldPath>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&field.clone().unwrap_or_default())
}

fn as_flag<S: Serializer>(mend: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(mend.is_some())
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionCheck {
    /// There is no error and no warning.
    pub ok: bool,
    /// `session.json` first, then the contexts by their names, then other files.
    pub findings: Vec<Finding>,
}

impl SessionCheck {
    pub fn new(findings: Vec<Finding>) -> Self {
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
        self.push(rule, place.into(), message.into(), None);
    }

    /// As [`Report::add`], of what a repair mends; `mend` says how.
    pub fn add_mended(
        &mut self,
        rule: Rule,
        place: impl Into<Place>,
        message: impl Into<String>,
        mend: impl Into<String>,
    ) {
        let message = format!("{}; Session.repair mends it", message.into());
        self.push(rule, place.into(), message, Some(mend.into()));
    }

    fn push(&mut self, rule: Rule, place: Place, message: String, mend: Option<String>) {
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
            mend,
        });
    }

    /// Takes it back that a repair mends something of this file.
    pub fn leave_as_is(&mut self) {
        for finding in &mut self.findings {
            if finding.mend.take().is_some() {
                finding.message =
                    finding.message.replace("; Session.repair mends it", "; mend the errors of the file first");
            }
        }
    }

    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub fn is_mended(&self) -> bool {
        self.findings.iter().any(|finding| finding.mend.is_some())
    }

    pub fn finish(mut self) -> Vec<Finding> {
        for (rule, count) in self.left_off {
            if let Some(last) = self.findings.iter_mut().rev().find(|finding| finding.rule == rule) {
                last.message = format!("{} (and {count} more of this kind in this file)", last.message);
            }
        }
        self.findings
    }
}

/// Where in a file something is.
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
    fn a_finding_as_json() {
        let mut report = Report::new("a/s/c.json".to_owned());
        report.add(Rule::NotJson, Position { line: 2, column: 3 }, "m");
        report.add_mended(Rule::CounterLags, FieldPath::root().key("x"), "n", "raised");
        let check = SessionCheck::new(report.finish());
        assert_eq!(
            serde_json::to_string(&check).unwrap(),
            "{\"ok\":false,\"findings\":[{\"rule\":\"not-json\",\"severity\":\"error\",\"path\":\"a/s/c.json\",\
             \"line\":2,\"column\":3,\"message\":\"m\",\"repairable\":false},{\"rule\":\"counter-lags\",\
             \"severity\":\"warning\",\"path\":\"a/s/c.json\",\"field\":\"x\",\
             \"message\":\"n; Session.repair mends it\",\"repairable\":true}]}"
        );
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
        assert_eq!(findings[MAX_LISTED - 1].message, "x (and 150 more of this kind in this file)");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Rule::ALL.len());
    }
}
