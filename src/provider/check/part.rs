//! Parts of messages as the providers take them.

use serde_json::Value;

use super::super::Format;
use crate::json::{self, Object};

/// Who says a message, as far as formats tell roles apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    System,
    /// `tool` and `tool_result`: the user's side, too.
    Tool,
    /// A role of another program; what is said is taken for the user's.
    Unknown,
}

impl Role {
    pub fn of(name: &str) -> Self {
        match name {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            "tool" | "tool_result" => Self::Tool,
            _ => Self::Unknown,
        }
    }
}

/// A part of a message.
#[derive(Clone, Copy, Debug)]
pub enum Part<'p> {
    /// `signed`: with a thought signature of Gemini, which may come with an empty text.
    Text {
        text: &'p str,
        signed: bool,
    },
    Thinking(&'p Object),
    Media {
        kind: &'p str,
        source: &'p Object,
    },
    Call(Call<'p>),
    Result {
        call_id: &'p str,
    },
    /// The definition of a tool, which is no content.
    Definition,
    Unknown(&'p str),
    /// A field is not what the type needs.
    Invalid {
        field: &'static str,
        expected: &'static str,
    },
}

/// A tool call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'p> {
    pub call_id: &'p str,
    pub name: &'p str,
    pub arguments: &'p str,
    /// With the thought signature of Gemini.
    pub signed: bool,
    /// With the id of the item that it was in Responses.
    pub has_item_id: bool,
}

impl<'p> Part<'p> {
    /// What a part is.
    pub fn read(part: &'p Value) -> Self {
        let Some(fields) = part.as_object() else {
            return Self::Invalid { field: "type", expected: "a string" };
        };
        let string = |key: &str| fields.get(key).and_then(Value::as_str);
        let invalid = |field, expected| Self::Invalid { field, expected };
        match string("type").unwrap_or_default() {
            "text" => match string("text") {
                Some(text) => Self::Text { text, signed: has_text(fields, "thought_signature") },
                None => invalid("text", "a string"),
            },
            "thinking" if string("text").is_none() => invalid("text", "a string"),
            "redacted_thinking" if string("data").is_none() => invalid("data", "a string"),
            "thinking" | "redacted_thinking" => Self::Thinking(fields),
            kind @ ("image" | "video" | "audio" | "pdf") => {
                let source = fields.get("source").and_then(Value::as_object);
                source.map_or(invalid("source", "an object"), |source| Self::Media { kind, source })
            }
            "tool_use" => match (string("call_id"), string("name"), string("arguments")) {
                (None, _, _) => invalid("call_id", "a string"),
                (_, None, _) => invalid("name", "a string"),
                (_, _, None) => invalid("arguments", "JSON text"),
                (Some(call_id), Some(name), Some(arguments)) => Self::Call(Call {
                    call_id,
                    name,
                    arguments,
                    signed: has_text(fields, "thought_signature"),
                    has_item_id: has_text(fields, "id"),
                }),
            },
            "tool_result" => match (string("call_id"), string("content")) {
                (None, _) => invalid("call_id", "a string"),
                (_, None) => invalid("content", "a string"),
                (Some(call_id), Some(_)) => Self::Result { call_id },
            },
            "tool" => Self::Definition,
            other => Self::Unknown(other),
        }
    }
}

fn has_text(fields: &Object, key: &str) -> bool {
    fields.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// Whether a format can be given the thinking of a message of this role.
///
/// Anthropic takes it with its `signature`, with or without text, and `redacted_thinking`; Responses with the `id` of its
/// item or its `encrypted_content`; Gemini a text or what has a `thought_signature`; Chat Completions has no place for
/// it.
pub fn takes_thinking(format: Format, role: Role, fields: &Object) -> bool {
    let is_redacted = fields.get("type").is_some_and(|name| name == "redacted_thinking");
    role == Role::Assistant
        && match format {
            Format::OpenAiChat => false,
            Format::OpenAiResponses => {
                !is_redacted && (has_text(fields, "id") || has_text(fields, "encrypted_content"))
            }
            Format::Anthropic => is_redacted || has_text(fields, "signature"),
            Format::Gemini => !is_redacted && (has_text(fields, "text") || has_text(fields, "thought_signature")),
            Format::AiSdk => !is_redacted,
        }
}

/// Whether a format can be given an `image`, `video`, `audio` or `pdf` with this source in a message of this role.
pub fn takes_media(format: Format, role: Role, kind: &str, source: &Object) -> bool {
    let string = |key: &str| source.get(key).and_then(Value::as_str);
    let (is_url, media_type) = match string("type") {
        Some("url") if string("url").is_some() => (true, ""),
        Some("base64") if string("data").is_some() => match string("media_type") {
            Some(media_type) => (false, media_type),
            None => return false,
        },
        _ => return false,
    };
    let is_one_of = |types: &[&str]| types.iter().any(|known| media_type.eq_ignore_ascii_case(known));
    match (format, role) {
        (_, Role::System) => false,
        (Format::Gemini | Format::AiSdk, _) => true,
        (_, Role::Assistant) => false,
        (Format::OpenAiChat, _) => match kind {
            "image" => true,
            "audio" => is_one_of(&["audio/wav", "audio/x-wav", "audio/wave", "audio/mp3", "audio/mpeg"]),
            "pdf" => !is_url,
            _ => false,
        },
        (Format::OpenAiResponses, _) => matches!(kind, "image" | "pdf"),
        (Format::Anthropic, _) => match kind {
            "image" => is_url || is_one_of(&["image/jpeg", "image/png", "image/gif", "image/webp"]),
            "pdf" => is_url || is_one_of(&["application/pdf"]),
            _ => false,
        },
    }
}

/// Whether a format refuses a text for being empty.
pub fn is_empty_text(format: Format, text: &str, signed: bool) -> bool {
    match format {
        Format::Anthropic => text.trim().is_empty(),
        Format::Gemini => text.is_empty() && !signed,
        _ => false,
    }
}

/// The object that the arguments of a call are.
pub fn arguments_object(arguments: &str) -> Option<Object> {
    match json::parse(arguments.as_bytes()) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// How long the name of a tool may be, in characters.
pub fn longest_name(format: Format) -> usize {
    if format == Format::OpenAiChat { 64 } else { 128 }
}

/// Whether the name of a tool may have a character.
pub fn is_name_character(format: Format, character: char) -> bool {
    is_word_character(character) || format == Format::Gemini && matches!(character, '.' | ':')
}

/// Whether the name of a tool is one for a format.
pub fn is_name(format: Format, name: &str) -> bool {
    !name.is_empty()
        && name.chars().count() <= longest_name(format)
        && name.chars().all(|character| is_name_character(format, character))
}

/// How long a call id may be for Responses, in characters.
pub const LONGEST_CALL_ID: usize = 64;

/// Whether the id of a call is one for a format.
pub fn is_call_id(format: Format, call_id: &str) -> bool {
    match format {
        Format::Anthropic => !call_id.is_empty() && call_id.chars().all(is_word_character),
        Format::OpenAiResponses => !call_id.is_empty() && call_id.chars().count() <= LONGEST_CALL_ID,
        _ => true,
    }
}

/// Letters and digits of ASCII, `_` and `-`.
pub fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}
