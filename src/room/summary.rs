//! A text of the caller in the place of messages.

use serde_json::Value;

use super::edits::Edits;
use super::options::Options;
use crate::conversation::{Context, Exchanges, Message, PartKind, UnpairedKind, order};
use crate::environment::Environment;
use crate::error::Error;
use crate::json::{FieldPath, Object};
use crate::tokens::TokenCounter;

/// The messages that a summary stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryRange {
    /// From the first message that is not special to the one with this id.
    Until(String),
    /// The messages with these ids, which stand next to each other.
    Ids(Vec<String>),
}

impl SummaryRange {
    /// Reads a range: an object with either `until` or `ids`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for anything else.
    pub fn read(value: &Value, argument: &'static str) -> Result<Self, Error> {
        let mut options = Options::new(value, FieldPath::root(), argument)?;
        let range = Self::of_options(&mut options)?;
        options.finish()?;
        Ok(range)
    }

    pub(super) fn of_options(options: &mut Options) -> Result<Self, Error> {
        match (options.string("until")?, options.strings("ids")?) {
            (Some(until), None) => Ok(Self::Until(until)),
            (None, Some(ids)) => Ok(Self::Ids(ids)),
            _ => Err(options.fault("until", "expected either until or ids")),
        }
    }
}

/// A text of the caller that stands for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The messages.
    pub range: SummaryRange,
    /// The text.
    pub text: String,
}

impl SummaryRange {
    /// The positions of the messages, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if there is no such message, if messages of the range do not stand next to each other, or if an
    /// exchange of a tool call and its result is only partly in the range, or not complete.
    pub fn positions(&self, context: &Context) -> Result<Vec<usize>, Error> {
        let specials = context.specials();
        let others: Vec<usize> =
            (0..context.messages().len()).filter(|position| !specials.contains(&Some(*position))).collect();
        let index_of = |argument: &str, id: &str| {
            let has_id = |position: &&usize| context.message(**position).is_some_and(|message| message.id() == id);
            others.iter().position(|position| has_id(&position)).ok_or_else(|| {
                Error::argument(argument, format!("the context has no message with the id {id:?} that is not special"))
            })
        };
        let (argument, indices) = match self {
            Self::Until(id) => ("until", (0..=index_of("until", id)?).collect::<Vec<usize>>()),
            Self::Ids(ids) => {
                let at = ids.iter().enumerate().map(|(index, id)| index_of(&format!("ids[{index}]"), id));
                let mut indices = at.collect::<Result<Vec<usize>, Error>>()?;
                order::sort(&mut indices);
                indices.dedup();
                ("ids", indices)
            }
        };
        let (Some(first), Some(last)) = (indices.first(), indices.last()) else {
            return Err(Error::argument(argument, "expected the id of at least one message"));
        };
        if last - first + 1 != indices.len() {
            return Err(Error::argument(argument, "the messages must stand next to each other"));
        }
        let positions: Vec<usize> = others.get(*first..=*last).unwrap_or_default().to_vec();
        check_whole(context, &positions, argument)?;
        Ok(positions)
    }
}

/// Checks that exchanges are in the range as a whole, and complete.
fn check_whole(context: &Context, positions: &[usize], argument: &str) -> Result<(), Error> {
    let exchanges = Exchanges::of(context);
    let is_inside = |position: usize| positions.binary_search(&position).is_ok();
    let mut firsts: Vec<usize> = positions.iter().map(|position| exchanges.first(*position)).collect();
    order::sort(&mut firsts);
    let id_of = |position: usize| context.message(position).map_or("", Message::id);
    let is_split =
        |position: &usize| firsts.binary_search(&exchanges.first(*position)).is_ok() && !is_inside(*position);
    if let Some(position) = (0..context.messages().len()).find(is_split) {
        let message = format!(
            "would separate tool calls from their results: the message {:?} belongs to an exchange of the range; include it, \
             or end the range before that exchange",
            id_of(position)
        );
        return Err(Error::argument(argument, message));
    }
    let is_pending = |kind: UnpairedKind| matches!(kind, UnpairedKind::Pending);
    let pending = exchanges.unpaired.iter().find(|found| is_pending(found.kind) && is_inside(found.position));
    match pending {
        None => Ok(()),
        Some(found) => {
            let message = format!("a tool call of the message {:?} waits for its result", id_of(found.position));
            Err(Error::argument(argument, message))
        }
    }
}

impl Summary {
    pub(super) fn read(options: &mut Options) -> Result<Self, Error> {
        let text = options.string("text")?;
        Ok(Self { text: options.required("text", text)?, range: SummaryRange::of_options(options)? })
    }

    /// The edits that put the text in the place of the messages, as a message of the user whose metadata lists their ids.
    ///
    /// # Errors
    ///
    /// Those of [`SummaryRange::positions`], [`Error::NoSaving`] if the text has as many tokens as the messages, and those of
    /// the counter.
    pub fn edits(
        &self,
        context: &Context,
        counter: &dyn TokenCounter,
        environment: &dyn Environment,
    ) -> Result<Edits, Error> {
        let positions = self.range.positions(context)?;
        let ids = positions.iter().filter_map(|position| context.message(*position)).map(|message| message.id().into());
        let metadata = Object::from_iter([("summary_of".to_owned(), Value::Array(ids.collect()))]);
        let part =
            Object::from_iter([("type".to_owned(), "text".into()), ("text".to_owned(), self.text.as_str().into())]);
        let mut dict = Object::new();
        dict.insert("role".to_owned(), "user".into());
        dict.insert("content".to_owned(), Value::Array(vec![part.into()]));
        dict.insert("metadata".to_owned(), metadata.into());
        let message = Message::given(dict.into(), environment).map_err(|error| error.in_message())?;
        let first = positions.first().copied().unwrap_or_default();
        let message = match context.message(first).and_then(Message::sequence) {
            Some(sequence) => message.with_sequence(sequence),
            None => message,
        };
        let tokens = message.tokens(counter)?;
        let mut edits = Edits::dropping(positions);
        edits.replace(first, message);
        let freed = edits.freed(context, counter)?;
        if freed == 0 {
            return Err(Error::NoSaving { tokens, replaced: edits.tokens_before(context, counter)? });
        }
        Ok(edits)
    }
}

/// A prompt that asks a model for a summary of messages: the task, and what they say, part by part.
///
/// # Errors
///
/// Those of [`SummaryRange::positions`].
pub fn summary_prompt(context: &Context, range: &SummaryRange) -> Result<String, Error> {
    let mut text = String::from(
        "Summarize the following part of a conversation between a user and an assistant, so that the assistant can continue from \
         the summary alone. Keep the user's goals and constraints, decisions and their reasons, names of files, \
         identifiers and figures, results of tool calls that still matter, and open tasks. Answer with the summary only.\n",
    );
    for position in range.positions(context)? {
        let Some(message) = context.message(position) else { continue };
        for part in message.parts() {
            let string = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
            let role = message.role();
            let line = match PartKind::of(part) {
                PartKind::Text => format!("[{role}] {}", string("text")),
                PartKind::ToolCall => format!("[{role} calls {}] {}", string("name"), string("arguments")),
                PartKind::ToolResult => format!("[result] {}", content_text(part)),
                PartKind::Media => format!("[{role} shows: {}]", string("type")),
                PartKind::Thinking | PartKind::ToolDefinition | PartKind::Other => continue,
            };
            text.push('\n');
            text.push_str(&line);
        }
    }
    Ok(text)
}

/// The texts of a tool result.
fn content_text(part: &Value) -> String {
    match part.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<&str>>().join("\n")
        }
        _ => String::new(),
    }
}
