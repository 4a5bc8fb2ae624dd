//! Steps that replace the content of tool results.

use std::collections::HashSet;

use serde_json::Value;

use super::edits::{Edits, PartEdits};
use super::options::Options;
use crate::conversation::{Context, Message, Pairing, Place, ResultState, order};
use crate::error::Error;
use crate::json::{self, MAX_DEPTH};

/// What stands in place of a cleared result, unless the caller has a text.
const CLEARED: &str = "[old tool result cleared]";
/// What stands in place of a result that a later one repeats.
const REPEATED: &str = "[same result as a later call with these arguments]";
/// The arguments of a call whose inputs were cleared: providers require an object.
const NO_ARGUMENTS: &str = "{}";

/// Replaces the content of old tool results by a short text. Calls and results stay paired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearToolResults {
    /// How many of the newest results are kept. Those that are never cleared do not count.
    pub keep: usize,
    /// The names of tools whose results are never cleared.
    pub exclude: Vec<String>,
    /// Whether results of failed calls are never cleared.
    pub keep_errors: bool,
    /// The ids of messages whose results are never cleared.
    pub pins: Vec<String>,
    /// Nothing is cleared unless this number of tokens is freed.
    pub clear_at_least: u64,
    /// Whether the arguments of the calls are cleared too.
    pub inputs: bool,
    /// What stands in place of the content.
    pub placeholder: String,
}

impl Default for ClearToolResults {
    fn default() -> Self {
        Self {
            keep: 3,
            exclude: Vec::new(),
            keep_errors: false,
            pins: Vec::new(),
            clear_at_least: 0,
            inputs: false,
            placeholder: CLEARED.to_owned(),
        }
    }
}

impl ClearToolResults {
    pub(super) fn read(options: &mut Options) -> Result<Self, Error> {
        let default = Self::default();
        Ok(Self {
            keep: options.integer("keep")?.map_or(default.keep, |keep| usize::try_from(keep).unwrap_or(usize::MAX)),
            exclude: options.strings("exclude")?.unwrap_or_default(),
            keep_errors: options.boolean("keepErrors")?.unwrap_or_default(),
            pins: options.strings("pin")?.unwrap_or_default(),
            clear_at_least: options.integer("clearAtLeast")?.unwrap_or_default(),
            inputs: options.boolean("inputs")?.unwrap_or_default(),
            placeholder: options.string("placeholder")?.unwrap_or(default.placeholder),
        })
    }

    /// The edits of this step.
    pub fn edits(&self, context: &Context) -> Edits {
        let results = Results::of(context);
        let is_clearable = |result: &FoundResult| {
            let is_error = result.part.get("is_error") == Some(&Value::Bool(true));
            let is_excluded = result.name.is_some_and(|name| self.exclude.iter().any(|excluded| excluded == name));
            let is_pinned = self.pins.iter().any(|pin| pin == result.message.id());
            !(self.keep_errors && is_error || is_excluded || is_pinned)
        };
        let clearable: Vec<&FoundResult> = results.0.iter().filter(|result| is_clearable(result)).collect();
        let mut edits = PartEdits::default();
        for result in clearable.iter().take(clearable.len().saturating_sub(self.keep)) {
            replace_content(result, &self.placeholder, &mut edits);
            if self.inputs {
                clear_arguments(result, &mut edits);
            }
        }
        edits.into_edits(context)
    }
}

/// Replaces the content of results that a later result repeats: of an equal call, with equal content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DedupeToolResults;

impl DedupeToolResults {
    /// The edits of this step.
    ///
    /// # Errors
    ///
    /// If a copy of the arguments and results does not fit into the memory.
    pub fn edits(self, context: &Context) -> Result<Edits, Error> {
        let results = Results::of(context);
        let mut edits = PartEdits::default();
        let mut seen = HashSet::new();
        for result in results.0.iter().rev() {
            let (Some(name), Some(arguments)) = (result.name, result.arguments) else { continue };
            // Arguments are compared as values, so that spacing and the order of keys do not matter.
            let arguments = match json::parse_within(arguments.as_bytes(), MAX_DEPTH, usize::MAX) {
                Ok(value) => json::to_compact_text(&(&sorted(value)).into())?,
                Err(_) => arguments.to_owned(),
            };
            let content = match result.part.get("content") {
                Some(content) => json::to_compact_text(&content.into())?,
                None => String::new(),
            };
            if !seen.insert((name, arguments, content)) {
                replace_content(result, REPEATED, &mut edits);
            }
        }
        Ok(edits.into_edits(context))
    }
}

/// A value with the keys of its objects in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            order::sort_by(&mut fields, &|(one, _), (other, _)| one.cmp(other));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// A tool result with what is known of its call.
struct FoundResult<'c> {
    place: Place,
    message: &'c Message,
    part: &'c Value,
    /// The place of the call, and its part.
    call: Option<(Place, &'c Value)>,
    /// The name of the tool.
    name: Option<&'c str>,
    arguments: Option<&'c str>,
}

/// The tool results of a context that is not special, in display order.
struct Results<'c>(Vec<FoundResult<'c>>);

impl<'c> Results<'c> {
    fn of(context: &'c Context) -> Self {
        let specials = context.specials();
        let part_at = |(message, part): Place| context.message(message)?.parts().get(part);
        let pairing = Pairing::of(context.messages().map(Message::paired));
        let result = |place: Place, state: ResultState| {
            let (message, part) = (context.message(place.0)?, part_at(place)?);
            let call = match state {
                ResultState::Answers(call) | ResultState::Second(call) => {
                    let place = pairing.calls.get(call)?.place;
                    part_at(place).map(|part| (place, part))
                }
                ResultState::Orphan => None,
            };
            let string = |part: &'c Value, key: &str| part.get(key).and_then(Value::as_str);
            let of_call = |key: &str| call.and_then(|(_, part)| string(part, key));
            let name = of_call("name").or_else(|| string(part, "name"));
            Some(FoundResult { place, message, part, call, name, arguments: of_call("arguments") })
        };
        let results = pairing.results.iter().filter(|result| !specials.contains(&Some(result.place.0)));
        Self(results.filter_map(|found| result(found.place, found.state)).collect())
    }
}

/// Replaces the content of a result, unless that is shorter than the text already.
fn replace_content(result: &FoundResult, text: &str, edits: &mut PartEdits) {
    let is_longer = match result.part.get("content") {
        Some(Value::String(content)) => content.len() > text.len(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    };
    if is_longer {
        edits.replace(result.place, with(result.part, "content", text));
    }
}

fn clear_arguments(result: &FoundResult, edits: &mut PartEdits) {
    if let Some((place, call)) = result.call.filter(|_| result.arguments.is_some_and(|text| text.len() > 2)) {
        edits.replace(place, with(call, "arguments", NO_ARGUMENTS));
    }
}

/// A part with another text in a field.
fn with(part: &Value, key: &str, text: &str) -> Value {
    let mut part = part.clone();
    if let Value::Object(fields) = &mut part {
        fields.insert(key.to_owned(), text.into());
    }
    part
}
