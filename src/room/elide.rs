//! A step that shortens long texts in the middle.

use serde_json::Value;

use super::edits::{Edits, PartEdits};
use super::options::Options;
use crate::conversation::{Context, PartKind};
use crate::error::Error;
use crate::tokens::TokenCounter;

/// The least budget: the note about what was left out must fit.
pub const LEAST_TOKENS: u64 = 32;

/// The distance in bytes between the places at which tokens are counted.
const STEP: usize = 24;

/// Finds borders between graphemes: what a reader sees as one character.
pub trait GraphemeBorder {
    /// The last border at or before a byte offset, which is a border between characters.
    fn at_or_before(&self, text: &str, offset: usize) -> usize;
}

/// The texts that are shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElidedKind {
    /// Those of tool results.
    ToolResult,
    /// Those of other messages.
    Text,
}

/// Shortens texts that have too many tokens: the beginning and the end stay, and a note between them says how much was left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elide {
    /// The maximum number of tokens of a text.
    pub max_tokens: u64,
    /// The share of the beginning in what is kept, from 0 to 1.
    pub head: f64,
    /// Which texts are shortened.
    pub of: ElidedKind,
}

impl Elide {
    pub(super) fn read(options: &mut Options) -> Result<Self, Error> {
        let max_tokens = options.integer("maxTokens")?;
        let max_tokens = options.required("maxTokens", max_tokens)?;
        if max_tokens < LEAST_TOKENS {
            return Err(options.fault("maxTokens", format!("expected at least {LEAST_TOKENS}, found {max_tokens}")));
        }
        let head = options.share("head")?.unwrap_or(0.5);
        let of = match options.string("of")?.as_deref() {
            None | Some("tool_result") => ElidedKind::ToolResult,
            Some("text") => ElidedKind::Text,
            Some(other) => {
                return Err(options.fault("of", format!("expected 'tool_result' or 'text', found {other:?}")));
            }
        };
        Ok(Self { max_tokens, head, of })
    }

    /// The edits of this step.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub fn edits(
        &self,
        context: &Context,
        counter: &dyn TokenCounter,
        graphemes: &dyn GraphemeBorder,
    ) -> Result<Edits, Error> {
        let specials = context.specials();
        let shorten = |text: &str| self.shortened(text, counter, graphemes);
        let mut edits = PartEdits::default();
        for (position, message) in context.messages().enumerate() {
            if specials.contains(&Some(position)) {
                continue;
            }
            for (index, part) in message.parts().iter().enumerate() {
                let edited = match (PartKind::of(part), self.of) {
                    (PartKind::ToolResult, ElidedKind::ToolResult) => with_shorter_content(part, &shorten)?,
                    (PartKind::Text, ElidedKind::Text) => with_shorter(part, "text", &shorten)?,
                    _ => None,
                };
                if let Some(edited) = edited {
                    edits.replace((position, index), edited);
                }
            }
        }
        Ok(edits.into_edits(context))
    }

    /// The shortened text; `None` if it has no more tokens than allowed.
    fn shortened(
        &self,
        text: &str,
        counter: &dyn TokenCounter,
        graphemes: &dyn GraphemeBorder,
    ) -> Result<Option<String>, Error> {
        // A token has at least one byte.
        if (text.len() as u64) <= self.max_tokens {
            return Ok(None);
        }
        let ends = places(text);
        let counts = counter.count_sections(text, &ends)?;
        let total: u64 = counts.iter().sum();
        if total <= self.max_tokens {
            return Ok(None);
        }
        let length = text.chars().count();
        let mut budget = self.max_tokens.saturating_sub(counter.count(&note(length, length))?);
        loop {
            let head = (budget as f64 * self.head) as u64;
            let head_end = head_border(text, place(&ends, counts.iter(), head), graphemes);
            let tail = place(&ends, counts.iter().rev(), budget - head);
            let tail_start = tail_border(text, tail_offset(text, &ends, tail), graphemes).max(head_end);
            let (Some(start), Some(middle), Some(end)) =
                (text.get(..head_end), text.get(head_end..tail_start), text.get(tail_start..))
            else {
                return Ok(None);
            };
            let shortened = [start, &note(middle.chars().count(), length), end].concat();
            let excess = counter.count(&shortened)?.saturating_sub(self.max_tokens);
            if excess == 0 || budget == 0 {
                return Ok(Some(shortened));
            }
            budget = budget.saturating_sub(excess);
        }
    }
}

/// The note between the beginning and the end.
fn note(left_out: usize, length: usize) -> String {
    format!("\n[… {left_out} of {length} characters left out …]\n")
}

/// Borders between characters at about the same distance, ascending to the end of the text.
fn places(text: &str) -> Vec<usize> {
    let mut places = Vec::with_capacity(text.len() / STEP + 1);
    let mut next = STEP;
    while next < text.len() {
        while !text.is_char_boundary(next) {
            next += 1;
        }
        if next < text.len() {
            places.push(next);
        }
        next += STEP;
    }
    places.push(text.len());
    places
}

/// How many sections have no more tokens than the budget, and the end of the last of them.
struct PlaceFound {
    sections: usize,
    offset: usize,
}

fn place<'a>(ends: &[usize], counts: impl Iterator<Item = &'a u64>, budget: u64) -> PlaceFound {
    let mut used = 0u64;
    let sections = counts
        .take_while(|count| {
            used = used.saturating_add(**count);
            used <= budget
        })
        .count();
    let offset = sections.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0);
    PlaceFound { sections, offset }
}

/// Where the last sections begin.
fn tail_offset(text: &str, ends: &[usize], tail: PlaceFound) -> usize {
    match ends.len().saturating_sub(tail.sections) {
        0 => 0,
        before => ends.get(before - 1).copied().unwrap_or(text.len()),
    }
}

/// The end of a beginning of about this length: after a line if one ends in its last quarter, otherwise after a grapheme.
fn head_border(text: &str, found: PlaceFound, graphemes: &dyn GraphemeBorder) -> usize {
    let offset = found.offset;
    match text.get(..offset).and_then(|head| head.rfind('\n')) {
        Some(line_end) if (line_end + 1) * 4 >= offset * 3 => line_end + 1,
        _ => graphemes.at_or_before(text, offset),
    }
}

/// The start of an end of about this length: at a line if one begins in its first quarter, otherwise at a grapheme.
fn tail_border(text: &str, offset: usize, graphemes: &dyn GraphemeBorder) -> usize {
    let Some(tail) = text.get(offset..) else { return text.len() };
    match tail.find('\n') {
        Some(line_end) if (line_end + 1) * 4 <= tail.len() => offset + line_end + 1,
        _ => {
            let mut borders = tail.char_indices().map(|(index, _)| offset + index);
            borders.find(|border| graphemes.at_or_before(text, *border) == *border).unwrap_or(text.len())
        }
    }
}

type Shorten<'s> = &'s dyn Fn(&str) -> Result<Option<String>, Error>;

/// A part with a shorter text in a field; `None` if that text is short enough.
fn with_shorter(part: &Value, key: &str, shorten: Shorten) -> Result<Option<Value>, Error> {
    let Some(text) = part.get(key).and_then(Value::as_str) else { return Ok(None) };
    let Some(shorter) = shorten(text)? else { return Ok(None) };
    let mut part = part.clone();
    if let Value::Object(fields) = &mut part {
        fields.insert(key.to_owned(), shorter.into());
    }
    Ok(Some(part))
}

/// A tool result with shorter texts; `None` if all are short enough.
fn with_shorter_content(part: &Value, shorten: Shorten) -> Result<Option<Value>, Error> {
    let Some(Value::Array(content)) = part.get("content") else { return with_shorter(part, "content", shorten) };
    let mut is_shorter = false;
    let mut shorter = Vec::with_capacity(content.len());
    for inner in content {
        let edited = with_shorter(inner, "text", shorten)?;
        is_shorter |= edited.is_some();
        shorter.push(edited.unwrap_or_else(|| inner.clone()));
    }
    if !is_shorter {
        return Ok(None);
    }
    let mut part = part.clone();
    if let Value::Object(fields) = &mut part {
        fields.insert("content".to_owned(), shorter.into());
    }
    Ok(Some(part))
}
