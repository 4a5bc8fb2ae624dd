//! The edits of a step, and what they save.

use serde::Serialize;
use serde_json::Value;

use super::step::StepKind;
use crate::conversation::{Context, Edit, Message, Place, order};
use crate::environment::Environment;
use crate::error::Error;
use crate::tokens::{TokenCounter, total};

/// The edits of a context's messages, each with its position, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Edits(Vec<(usize, Edit)>);

/// Replacements of parts, from which the edits of their messages are made; `None` leaves a part out.
#[derive(Default)]
pub(super) struct PartEdits(Vec<(Place, Option<Value>)>);

impl PartEdits {
    /// Replaces a part.
    pub fn replace(&mut self, place: Place, value: Value) {
        self.0.push((place, Some(value)));
    }

    /// Leaves a part out.
    pub fn drop(&mut self, place: Place) {
        self.0.push((place, None));
    }

    /// The edits of the messages.
    pub fn into_edits(mut self, context: &Context) -> Edits {
        order::sort_by(&mut self.0, &|(one, _), (other, _)| one.cmp(other));
        let mut edits = Vec::new();
        let mut parts = self.0.into_iter().peekable();
        while let Some(&((position, _), _)) = parts.peek() {
            let content = context.message(position).map_or(&[][..], Message::parts).iter().enumerate();
            let mut edited = Vec::new();
            for (index, part) in content {
                match parts.next_if(|(place, _)| *place == (position, index)) {
                    Some((_, replacement)) => edited.extend(replacement),
                    None => edited.push(part.clone()),
                }
            }
            // Nothing is left of this message, unless a place does not exist.
            while parts.next_if(|((other, _), _)| *other == position).is_some() {}
            let message = context.message(position).map(|message| message.with_content(edited.into()));
            edits.extend(message.map(|message| (position, Edit::Replace(Box::new(message)))));
        }
        Edits(edits)
    }
}

impl Edits {
    /// Edits that leave messages out.
    pub(super) fn dropping(positions: impl IntoIterator<Item = usize>) -> Self {
        Self(positions.into_iter().map(|position| (position, Edit::Drop)).collect())
    }

    /// Replaces the message at a position.
    pub(super) fn replace(&mut self, position: usize, message: Message) {
        let edit = (position, Edit::Replace(Box::new(message)));
        match self.place(position) {
            Ok(index) => self.0[index] = edit,
            Err(index) => self.0.insert(index, edit),
        }
    }

    fn place(&self, position: usize) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.cmp(&position))
    }

    fn get(&self, position: usize) -> Option<&Edit> {
        self.0.get(self.place(position).ok()?).map(|(_, edit)| edit)
    }

    /// Whether the message at a position is left out.
    pub(super) fn drops(&self, position: usize) -> bool {
        matches!(self.get(position), Some(Edit::Drop))
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A fork of the context with these edits.
    pub fn fork(&self, context: &mut Context, environment: &dyn Environment) -> Context {
        context.fork_edited(&mut |position| self.get(position).cloned().unwrap_or(Edit::Keep), environment)
    }

    /// Makes the edits in the context itself.
    pub(super) fn apply(self, context: &mut Context) {
        let mut edits = self.0.into_iter().peekable();
        context.edit_in_place(&mut |position| {
            edits.next_if(|(other, _)| *other == position).map_or(Edit::Keep, |(_, edit)| edit)
        });
    }

    /// The tokens that the edits free, and 0 if they cost tokens.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub fn freed(&self, context: &Context, counter: &dyn TokenCounter) -> Result<u64, Error> {
        let (before, after) = self.tokens_of_edited(context, counter)?;
        Ok(before.saturating_sub(after))
    }

    /// The tokens of the messages that are edited.
    pub(super) fn tokens_before(&self, context: &Context, counter: &dyn TokenCounter) -> Result<u64, Error> {
        Ok(self.tokens_of_edited(context, counter)?.0)
    }

    fn tokens_of_edited(&self, context: &Context, counter: &dyn TokenCounter) -> Result<(u64, u64), Error> {
        let (mut before, mut after) = (0u64, 0u64);
        for (position, edit) in &self.0 {
            let message = context.message(*position);
            before = before.saturating_add(message.map_or(Ok(0), |message| message.tokens(counter))?);
            if let Edit::Replace(edited) = edit {
                after = after.saturating_add(edited.tokens(counter)?);
            }
        }
        Ok((before, after))
    }
}

/// What a step does to a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// The kind of the step.
    #[serde(rename = "type")]
    pub kind: StepKind,
    /// The encoding of the counts.
    pub encoding: &'static str,
    /// The ids of the messages whose content is replaced, in display order.
    pub cleared: Vec<String>,
    /// The ids of the messages that are left out, in display order.
    pub dropped: Vec<String>,
    /// The tokens of all messages.
    pub tokens_before: u64,
    /// The tokens of all messages after the step.
    pub tokens_after: u64,
    /// The tokens of the messages before the first change, which a provider may have in its cache.
    pub unchanged_prefix_tokens: u64,
}

impl StepReport {
    /// The report of a step with these edits.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub fn new(kind: StepKind, context: &Context, edits: &Edits, counter: &dyn TokenCounter) -> Result<Self, Error> {
        let tokens_before = total(context.messages().map(|message| message.tokens(counter)))?;
        let (before, after) = edits.tokens_of_edited(context, counter)?;
        let first = edits.0.first().map(|(position, _)| *position).unwrap_or(context.messages().len());
        let prefix = total(context.messages().take(first).map(|message| message.tokens(counter)))?;
        let ids = |is_dropped: bool| {
            let edited = edits.0.iter().filter(|(_, edit)| matches!(edit, Edit::Drop) == is_dropped);
            edited.filter_map(|(position, _)| Some(context.message(*position)?.id().to_owned())).collect()
        };
        Ok(Self {
            kind,
            encoding: counter.encoding().name(),
            cleared: ids(false),
            dropped: ids(true),
            tokens_before,
            tokens_after: tokens_before.saturating_sub(before).saturating_add(after),
            unchanged_prefix_tokens: prefix,
        })
    }
}
