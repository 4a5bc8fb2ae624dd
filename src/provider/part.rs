//! Parts of messages as the providers take them: the one judgement of them that checks, repairs and conversions share.

use serde_json::Value;

use super::Format;
use super::media::{Media, MediaKind, Origin};
use crate::json::{self, MAX_DEPTH, Object};

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
            "system" | "developer" => Self::System,
            "tool" | "tool_result" => Self::Tool,
            _ => Self::Unknown,
        }
    }
}

/// A part of a message.
#[derive(Clone, Debug)]
pub enum Part<'p> {
    /// `signed`: with a thought signature of Gemini, which may come with an empty text.
    Text {
        text: &'p str,
        signed: bool,
    },
    Thinking(&'p Object),
    Media(Media<'p>),
    Call(Call<'p>),
    Result {
        call_id: &'p str,
        content: &'p str,
    },
    /// The definition of a tool, which is no content.
    Definition(Tool<'p>),
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
}

/// The definition of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'p> {
    pub name: &'p str,
    pub description: Option<&'p str>,
    /// A JSON schema.
    pub parameters: Option<&'p Object>,
    pub fields: &'p Object,
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
            "tool_use" => match (string("call_id"), string("name"), string("arguments")) {
                (None, _, _) => invalid("call_id", "a string"),
                (_, None, _) => invalid("name", "a string"),
                (_, _, None) => invalid("arguments", "JSON text"),
                (Some(call_id), Some(name), Some(arguments)) => {
                    Self::Call(Call { call_id, name, arguments, signed: has_text(fields, "thought_signature") })
                }
            },
            "tool_result" => match (string("call_id"), string("content")) {
                (None, _) => invalid("call_id", "a string"),
                (_, None) => invalid("content", "a string"),
                (Some(call_id), Some(content)) => Self::Result { call_id, content },
            },
            "tool" => Self::definition(fields),
            other => match MediaKind::of_part(other) {
                Some(kind) => match Media::read(kind, fields) {
                    Ok(media) => Self::Media(media),
                    Err((field, expected)) => invalid(field, expected),
                },
                None => Self::Unknown(other),
            },
        }
    }

    fn definition(fields: &'p Object) -> Self {
        let given = |key: &str| fields.get(key).filter(|value| !value.is_null());
        let Some(name) = fields.get("name").and_then(Value::as_str) else {
            return Self::Invalid { field: "name", expected: "a string" };
        };
        let (description, parameters) = (given("description"), given("parameters"));
        if description.is_some_and(|value| !value.is_string()) {
            return Self::Invalid { field: "description", expected: "a string" };
        }
        if parameters.is_some_and(|value| !value.is_object()) {
            return Self::Invalid { field: "parameters", expected: "an object, a JSON schema" };
        }
        let description = description.and_then(Value::as_str);
        Self::Definition(Tool { name, description, parameters: parameters.and_then(Value::as_object), fields })
    }
}

fn has_text(fields: &Object, key: &str) -> bool {
    fields.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// Whether a format can be given the thinking of a message of this role.
///
/// Anthropic takes it with its `signature`, with or without text, and `redacted_thinking`; Responses with the `id` of its
/// item, which an item of reasoning has to have; Gemini a text or what has a `thought_signature`; Chat Completions has no place for
/// it.
pub fn takes_thinking(format: Format, role: Role, fields: &Object) -> bool {
    let is_redacted = fields.get("type").is_some_and(|name| name == "redacted_thinking");
    role == Role::Assistant
        && match format {
            Format::OpenAiChat => false,
            Format::OpenAiResponses => !is_redacted && has_text(fields, "id"),
            Format::Anthropic => is_redacted || has_text(fields, "signature"),
            Format::Gemini => !is_redacted && (has_text(fields, "text") || has_text(fields, "thought_signature")),
            Format::AiSdk => !is_redacted,
        }
}

/// Why a format cannot be given a medium in a message of this role: the field at fault, empty for the part as such, and
/// what is wrong; `None` where it can.
///
/// <https://platform.openai.com/docs/api-reference/chat/create>,
/// <https://platform.openai.com/docs/api-reference/responses/create>,
/// <https://platform.claude.com/docs/en/build-with-claude/vision>, <https://ai.google.dev/api/caching#Part>,
/// <https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message>.
pub fn media_fault(format: Format, role: Role, media: &Media) -> Option<(&'static str, &'static str)> {
    let is_one_of = |types: &[&str]| types.iter().any(|known| media.media_type.eq_ignore_ascii_case(known));
    match (format, role, media.kind, media.origin) {
        (_, Role::System, _, _) => Some(("", "the system says texts alone")),
        (Format::Gemini, ..) => None,
        // What has a colon is taken for an address there, and what has none for data.
        (Format::AiSdk, _, _, Origin::Data(data)) => data.contains(':').then_some(("source.data", "expected base64")),
        (Format::AiSdk, _, _, Origin::Url(url)) => {
            (!url.contains(':')).then_some(("source.url", "expected an absolute address"))
        }
        (_, Role::Assistant, _, _) => Some(("", "the provider takes no media of the assistant")),
        (_, _, MediaKind::Video, _) => Some(("", "the provider takes no videos")),
        (Format::OpenAiChat, _, MediaKind::Image, _) | (Format::OpenAiResponses, _, MediaKind::Image, _) => None,
        (Format::OpenAiChat, _, MediaKind::Audio | MediaKind::Pdf, Origin::Url(_)) => {
            Some(("source.type", "the provider takes the data of sounds and documents, not their addresses"))
        }
        (Format::OpenAiChat, _, MediaKind::Audio, _) if media.sound().is_none() => {
            Some(("source.media_type", "the provider takes sounds as audio/wav and audio/mpeg alone"))
        }
        (Format::OpenAiChat, ..) => None,
        (_, _, MediaKind::Audio, _) => Some(("", "the provider takes no sounds")),
        (Format::Anthropic, _, MediaKind::Image, Origin::Data(_))
            if !is_one_of(&["image/jpeg", "image/png", "image/gif", "image/webp"]) =>
        {
            Some((
                "source.media_type",
                "the provider takes images as image/jpeg, image/png, image/gif and image/webp alone",
            ))
        }
        (Format::OpenAiResponses | Format::Anthropic, ..) => None,
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

/// The object that the arguments of a call are, or why they are none.
pub fn arguments_object(arguments: &str) -> Result<Object, String> {
    // One more level would not fit into a message any more.
    match json::parse_within(arguments.as_bytes(), MAX_DEPTH - 4) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("expected the JSON text of an object".to_owned()),
        Err(error) => Err(format!("is no JSON: {}", error.message)),
    }
}

/// Whether a format has the arguments of a call as an object; the others have them as text.
pub fn wants_arguments_object(format: Format) -> bool {
    matches!(format, Format::Anthropic | Format::Gemini | Format::AiSdk)
}

/// Whether a format has the name of its tool beside a result.
pub fn wants_result_names(format: Format) -> bool {
    matches!(format, Format::Gemini | Format::AiSdk)
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
