//! A step that replaces old media by notes.

use serde_json::Value;

use super::edits::{Edits, PartEdits};
use super::options::Options;
use crate::conversation::{Context, PartKind, Place};
use crate::error::Error;
use crate::json::Object;

/// Replaces all but the newest images, videos, sounds and PDF documents by a text with their type and size, also those in tool
/// results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClearMedia {
    /// How many of the newest are kept.
    pub keep: usize,
}

impl Default for ClearMedia {
    fn default() -> Self {
        Self { keep: 2 }
    }
}

impl ClearMedia {
    pub(super) fn read(options: &mut Options) -> Result<Self, Error> {
        let keep = options.integer("keep")?;
        Ok(Self { keep: keep.map_or(Self::default().keep, |keep| usize::try_from(keep).unwrap_or(usize::MAX)) })
    }

    /// The edits of this step.
    pub fn edits(self, context: &Context) -> Edits {
        let specials = context.specials();
        let mut edits = PartEdits::default();
        let mut newer = 0;
        for (position, message) in context.messages().enumerate().collect::<Vec<_>>().into_iter().rev() {
            if specials.contains(&Some(position)) {
                continue;
            }
            for (index, part) in message.parts().iter().enumerate().rev() {
                if let Some(edited) = self.edited(part, &mut newer) {
                    edits.replace((position, index) as Place, edited);
                }
            }
        }
        edits.into_edits(context)
    }

    /// The part without its old media; `None` if it has none. `newer` is the number of media after it.
    fn edited(self, part: &Value, newer: &mut usize) -> Option<Value> {
        match PartKind::of(part) {
            PartKind::Media => {
                *newer += 1;
                (*newer > self.keep).then(|| note(part)).flatten()
            }
            PartKind::ToolResult => {
                let content = part.get("content")?.as_array()?;
                let edited: Vec<Option<Value>> =
                    content.iter().rev().map(|inner| self.edited(inner, newer)).collect::<Vec<_>>();
                if edited.iter().all(Option::is_none) {
                    return None;
                }
                let edited = edited.into_iter().rev().zip(content);
                let content: Vec<Value> =
                    edited.map(|(edited, inner)| edited.unwrap_or_else(|| inner.clone())).collect();
                let mut part = part.clone();
                part.as_object_mut()?.insert("content".to_owned(), content.into());
                Some(part)
            }
            _ => None,
        }
    }
}

/// The text that stands for a medium; `None` if that is no shorter.
fn note(part: &Value) -> Option<Value> {
    let source = part.get("source")?;
    let string = |key: &str| source.get(key).and_then(Value::as_str);
    let kind = string("media_type").or_else(|| part.get("type").and_then(Value::as_str)).unwrap_or("media");
    let text = match (string("data"), string("url")) {
        (Some(data), _) => format!("[{kind} of {} bytes left out]", decoded_length(data)),
        (None, Some(url)) if !url.starts_with("data:") => format!("[{kind} at {url} left out]"),
        _ => format!("[{kind} left out]"),
    };
    // The text of a URL is no shorter than the note, but its part is.
    if string("data").is_some_and(|data| data.len() <= text.len()) {
        return None;
    }
    Some(Value::Object(Object::from_iter([("type".to_owned(), "text".into()), ("text".to_owned(), text.into())])))
}

/// The length of base64 data in bytes, decoded.
fn decoded_length(data: &str) -> usize {
    let padding = data.bytes().rev().take(2).filter(|byte| *byte == b'=').count();
    (data.len() / 4 * 3 + data.len() % 4 * 3 / 4).saturating_sub(padding)
}
