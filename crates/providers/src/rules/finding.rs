//! Findings of the rules.

use serde::Serialize;

use super::rule::Rule;
use crate::format::ProviderFormat;

/// Something that a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that is violated.
    pub rule: Rule,
    /// The path of the field at fault in the context, such as `messages[3].content[0].call_id`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: &'static str,
}

/// Collects the findings of a conversation.
pub struct Findings<'f> {
    format: &'f dyn ProviderFormat,
    found: Vec<(Place, Finding)>,
}

/// Where a finding is: the position of the message, then the number of the part from 1, or 0 for the message itself.
type Place = (usize, usize);

impl<'f> Findings<'f> {
    /// No findings yet.
    pub fn of(format: &'f dyn ProviderFormat) -> Self {
        Self { format, found: Vec::new() }
    }

    /// Adds a finding about the whole list. `message` says what the format does, without its name.
    pub fn on_list(&mut self, rule: Rule, message: &str, fix: &'static str) {
        self.push((0, 0), rule, "messages".to_owned(), message, fix);
    }

    /// Adds a finding about a message or one of its fields.
    pub fn on_message(&mut self, rule: Rule, position: usize, field: &str, message: &str, fix: &'static str) {
        self.push((position, 0), rule, join(format!("messages[{position}]"), field), message, fix);
    }

    /// Adds a finding about a part of a message or one of its fields.
    pub fn on_part(
        &mut self,
        rule: Rule,
        (position, part): (usize, usize),
        field: &str,
        message: &str,
        fix: &'static str,
    ) {
        let path = join(format!("messages[{position}].content[{part}]"), field);
        self.push((position, part + 1), rule, path, message, fix);
    }

    fn push(&mut self, place: Place, rule: Rule, path: String, message: &str, fix: &'static str) {
        let message = [self.format.name(), message].join(" ");
        self.found.push((place, Finding { rule, path, message, fix }));
    }

    /// The findings, sorted by place, then by rule.
    pub fn sorted(mut self) -> Vec<Finding> {
        self.found.sort_by_key(|(place, finding)| (*place, finding.rule));
        self.found.into_iter().map(|(_, finding)| finding).collect()
    }
}

fn join(path: String, field: &str) -> String {
    if field.is_empty() { path } else { format!("{path}.{field}") }
}
