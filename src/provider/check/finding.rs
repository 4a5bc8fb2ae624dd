//! What a check has found.

use serde::{Serialize, Serializer};

use super::super::Format;
use super::rule::Rule;

/// One thing that a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    /// The field at fault, such as `messages[3].content[0].call_id`, of all the messages of the context.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: &'static str,
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The findings of a list while they are collected.
#[derive(Debug)]
pub struct Findings {
    format: Format,
    found: Vec<(Place, Finding)>,
}

/// Where a finding is: the position of the message, then that of the part counted from 1, 0 for the message itself.
type Place = (usize, usize);

impl Findings {
    pub fn of(format: Format) -> Self {
        Self { format, found: Vec::new() }
    }

    /// One on the whole list; `message` says what the format does, without its name.
    pub fn on_list(&mut self, rule: Rule, message: &str, fix: &'static str) {
        self.push((0, 0), rule, "messages".to_owned(), message, fix);
    }

    /// One on a message, or a field of it.
    pub fn on_message(&mut self, rule: Rule, position: usize, field: &str, message: &str, fix: &'static str) {
        self.push((position, 0), rule, join(format!("messages[{position}]"), field), message, fix);
    }

    /// One on a part of a message, or a field of it.
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

    /// By place, then by rule.
    pub fn sorted(mut self) -> Vec<Finding> {
        self.found.sort_by_key(|(place, finding)| (*place, finding.rule));
        self.found.into_iter().map(|(_, finding)| finding).collect()
    }
}

fn join(path: String, field: &str) -> String {
    if field.is_empty() { path } else { format!("{path}.{field}") }
}
