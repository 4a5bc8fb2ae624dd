//! The tokens of a message, and the text in which they are counted.

use serde_json::Value;

use crate::error::Error;
use crate::json::{MAX_SAFE_INTEGER, to_python_text};
use crate::message::Message;
use crate::part::{PartKind, PartTokens};
use crate::tokens::{Encoding, TokenCounter};

impl Message {
    /// The number of tokens of [`Message::counted_text`]. For `cl100k_base`, a `token_count` of the message is used instead:
    /// it is defined for that encoding.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub fn tokens(&self, counter: &dyn TokenCounter) -> Result<u64, Error> {
        if counter.encoding() == Encoding::Cl100kBase {
            let stored = self.dict.get("token_count").and_then(Value::as_u64);
            if let Some(count) = stored.filter(|count| *count <= MAX_SAFE_INTEGER) {
                return Ok(count);
            }
        }
        let known = &self.counts[counter.encoding().vocabulary().index()];
        if let Some(count) = known.get() {
            return Ok(count);
        }
        let count = counter.count(&self.counted_text()?)?;
        known.set(Some(count));
        Ok(count)
    }

    /// The number of tokens of [`Message::counted_text`] without the media.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub fn tokens_without_media(&self, counter: &dyn TokenCounter) -> Result<u64, Error> {
        if !self.kinds.contains(PartKind::Media) {
            return self.tokens(counter);
        }
        counter.count(&self.sections(false)?.text)
    }

    /// The tokens of [`Message::counted_text`], optionally without the media, by the kind of the part in which each token
    /// begins.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub(crate) fn tokens_by_part(&self, counter: &dyn TokenCounter, with_media: bool) -> Result<PartTokens, Error> {
        let kinds = if with_media { self.kinds } else { self.kinds.without(PartKind::Media) };
        let only = if kinds.is_empty() { Some(self.kind_without_parts()) } else { kinds.only() };
        if let Some(kind) = only {
            let tokens = if with_media { self.tokens(counter)? } else { self.tokens_without_media(counter)? };
            return Ok(PartTokens::all(kind, tokens));
        }
        let vocabulary = counter.encoding().vocabulary();
        let is_whole = kinds == self.kinds;
        let known =
            self.by_part.borrow().as_ref().filter(|known| is_whole && known.0 == vocabulary).map(|known| known.1);
        if let Some(known) = known {
            return Ok(known);
        }
        let sections = self.sections(with_media)?;
        let ends: Vec<usize> = sections.parts.iter().map(|(_, end)| *end).collect();
        let mut parts = PartTokens::default();
        for ((kind, _), tokens) in sections.parts.iter().zip(counter.count_sections(&sections.text, &ends)?) {
            *parts.of(*kind) += tokens;
        }
        if is_whole {
            self.by_part.replace(Some(Box::new((vocabulary, parts))));
        }
        Ok(parts)
    }

    /// The bytes of [`Message::counted_text`], optionally without the media, by kind of part.
    ///
    /// # Errors
    ///
    /// Only [`Error::Internal`].
    pub(crate) fn length_by_part(&self, with_media: bool) -> Result<PartTokens, Error> {
        let mut parts = PartTokens::default();
        let mut start = 0;
        for (kind, end) in self.sections(with_media)?.parts {
            *parts.of(kind) += (end - start) as u64;
            start = end;
        }
        Ok(parts)
    }

    /// The kind to which the role is added if no part is counted: media, if there are any.
    fn kind_without_parts(&self) -> PartKind {
        if self.kinds.contains(PartKind::Media) { PartKind::Media } else { PartKind::Other }
    }

    /// The parts that are an image, a video, audio or a PDF document.
    pub fn media(&self) -> impl Iterator<Item = &Value> {
        let parts = if self.kinds.contains(PartKind::Media) { self.parts() } else { &[] };
        parts.iter().filter(|part| PartKind::of(part) == PartKind::Media)
    }

    /// [`Message::counted_text`], optionally without the media, and where each part ends in it. Text between two parts
    /// belongs to the second, text after the last part to the last.
    fn sections(&self, with_media: bool) -> Result<Sections, Error> {
        let mut text = format!("{}: ", self.role());
        let mut parts = Vec::new();
        for part in self.parts() {
            let kind = PartKind::of(part);
            if kind != PartKind::Media || with_media {
                text.push_str(if parts.is_empty() { "[" } else { ", " });
                to_python_text(&part.into(), &mut text)?;
                parts.push((kind, text.len()));
            }
        }
        match parts.last_mut() {
            Some((_, end)) => {
                text.push(']');
                *end = text.len();
            }
            None => parts.push((self.kind_without_parts(), text.len())),
        }
        Ok(Sections { text, parts })
    }

    /// The text that a caller counts: [`Message::counted_text`], optionally without the media.
    ///
    /// # Errors
    ///
    /// Only [`Error::Internal`].
    pub fn counted_text_of(&self, with_media: bool) -> Result<String, Error> {
        if with_media { self.counted_text() } else { Ok(self.sections(false)?.text) }
    }

    /// `<role>: <content>`, with the content as Python's `json.dumps(content, ensure_ascii=False)` writes it. An empty or
    /// absent content is written as nothing.
    ///
    /// # Errors
    ///
    /// Only [`Error::Internal`].
    pub fn counted_text(&self) -> Result<String, Error> {
        let mut text = format!("{}: ", self.role());
        match self.dict.get("content") {
            Some(Value::Array(parts)) if !parts.is_empty() => to_python_text(&parts.as_slice().into(), &mut text)?,
            _ => {}
        }
        Ok(text)
    }
}

/// The text of a message, and the kind and the end of each of its parts.
struct Sections {
    text: String,
    parts: Vec<(PartKind, usize)>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::environment::fixed::Fixed;

    #[test]
    fn the_counted_text() {
        let text = |value| Message::given(value, &Fixed::default()).unwrap().counted_text().unwrap();
        assert_eq!(text(json!({"role": "user"})), "user: ");
        assert_eq!(text(json!({"role": "user", "content": []})), "user: ");
        let parts = json!([{"type": "text", "text": "é\n"}, {"type": "x", "n": [1, 2.5]}]);
        let expected = r#"user: [{"type": "text", "text": "é\n"}, {"type": "x", "n": [1, 2.5]}]"#;
        assert_eq!(text(json!({"role": "user", "content": parts})), expected);
    }
}
