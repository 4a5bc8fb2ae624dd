//! Parses stored parts, for the rules, the repair and the conversion.

use serde_json::Value;

use super::entry::Target;
use super::media::{Media, MediaKind};
use peteos_conversation::OPAQUE;
use peteos_json::{self as json, MAX_DEPTH, Object};

/// The speaker of a message, as formats distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// `system` and `developer`.
    System,
    /// `tool` and `tool_result`, which formats treat as the user.
    Tool,
    /// Any other role, which is treated as the user.
    Unknown,
}

impl Role {
    /// The role with this name.
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
    /// A text.
    Text {
        /// The text.
        text: &'p str,
        /// Whether the part has a thought signature, which may come with an empty text.
        is_signed: bool,
    },
    /// Thinking, redacted or not.
    Thinking(&'p Object),
    /// An image, a video, audio or a PDF document.
    Media(Media<'p>),
    /// A tool call.
    Call(Call<'p>),
    /// A tool result.
    Result {
        /// The id of its call.
        call_id: &'p str,
        /// What the tool returned.
        content: ResultContent<'p>,
    },
    /// The definition of a tool, which is not content.
    Definition(Tool<'p>),
    /// What a provider sent and the model has no word for.
    Opaque(Opaque<'p>),
    /// A part of this unknown type.
    Unknown(&'p str),
    /// A part with a missing or invalid field.
    Invalid {
        /// The field at fault.
        field: &'static str,
        /// What is expected there.
        expected: &'static str,
    },
}

/// A text, or the text of thinking.
#[derive(Clone, Copy, Debug)]
pub struct Text<'p> {
    /// The text.
    pub text: &'p str,
    /// All fields of the stored part.
    pub fields: &'p Object,
}

/// What a tool returned.
#[derive(Clone, Debug)]
pub enum ResultContent<'p> {
    /// A text.
    Text(&'p str),
    /// Texts and media.
    Parts(Vec<ResultPart<'p>>),
}

/// A text or media that a tool returned.
#[derive(Clone, Copy, Debug)]
pub enum ResultPart<'p> {
    /// A text.
    Text(Text<'p>),
    /// An image, a video, audio or a PDF document.
    Media(Media<'p>),
}

impl<'p> ResultContent<'p> {
    /// Reads the content of a stored result.
    fn read(content: Option<&'p Value>) -> Option<Self> {
        match content? {
            Value::String(text) => Some(Self::Text(text)),
            Value::Array(parts) => {
                let parts = parts.iter().map(|part| match Part::read(part) {
                    Part::Text { text, .. } => Some(ResultPart::Text(Text { text, fields: part.as_object()? })),
                    Part::Media(media) => Some(ResultPart::Media(media)),
                    _ => None,
                });
                parts.collect::<Option<_>>().map(Self::Parts)
            }
            _ => None,
        }
    }

    /// The texts, as one.
    pub fn joined(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Parts(parts) => {
                let text =
                    |part: &ResultPart<'p>| if let ResultPart::Text(text) = part { Some(text.text) } else { None };
                parts.iter().filter_map(text).collect::<Vec<&str>>().join("\n")
            }
        }
    }

    /// The media.
    pub fn media(&self) -> impl Iterator<Item = &Media<'p>> {
        let parts = if let Self::Parts(parts) = self { parts.as_slice() } else { &[] };
        parts.iter().filter_map(|part| if let ResultPart::Media(media) = part { Some(media) } else { None })
    }
}

/// A tool call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'p> {
    /// Its id.
    pub call_id: &'p str,
    /// The name of the tool.
    pub name: &'p str,
    /// The arguments as JSON text.
    pub arguments: &'p str,
    /// Whether the part has a thought signature.
    pub is_signed: bool,
}

/// What a provider sent and the model has no word for: a call of a server tool, a file id, a compaction. It is sent to that
/// provider only.
#[derive(Clone, Copy, Debug)]
pub struct Opaque<'p> {
    /// The provider.
    pub provider: &'p str,
    /// What it sent.
    pub value: &'p Value,
    /// Where it goes in the entry of a request.
    pub target: Target,
}

/// The definition of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'p> {
    /// Its name.
    pub name: &'p str,
    /// The description.
    pub description: Option<&'p str>,
    /// The JSON schema of its arguments.
    pub parameters: Option<&'p Object>,
    /// All fields of the part.
    pub fields: &'p Object,
}

impl<'p> Part<'p> {
    /// Reads a stored part.
    pub fn read(part: &'p Value) -> Self {
        let Some(fields) = part.as_object() else {
            return Self::Invalid { field: "type", expected: "a string" };
        };
        let string = |key: &str| fields.get(key).and_then(Value::as_str);
        let invalid = |field, expected| Self::Invalid { field, expected };
        match string("type").unwrap_or_default() {
            "text" => match string("text") {
                Some(text) => Self::Text { text, is_signed: has_text(fields, "thought_signature") },
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
                    Self::Call(Call { call_id, name, arguments, is_signed: has_text(fields, "thought_signature") })
                }
            },
            "tool_result" => match (string("call_id"), ResultContent::read(fields.get("content"))) {
                (None, _) => invalid("call_id", "a string"),
                (_, None) => invalid("content", "a string, or an array of texts and media"),
                (Some(call_id), Some(content)) => Self::Result { call_id, content },
            },
            "tool" => Self::definition(fields),
            OPAQUE => match (string("provider"), fields.get("value").filter(|value| value.is_object())) {
                (None, _) => invalid("provider", "the name of a provider"),
                (_, None) => invalid("value", "an object"),
                (Some(provider), Some(value)) => {
                    let target = string("place").map_or(Target::Whole, Target::named);
                    Self::Opaque(Opaque { provider, value, target })
                }
            },
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
            return Self::Invalid { field: "parameters", expected: "an object with a JSON schema" };
        }
        let description = description.and_then(Value::as_str);
        Self::Definition(Tool { name, description, parameters: parameters.and_then(Value::as_object), fields })
    }
}

/// Whether a field holds a non-empty text.
pub fn has_text(fields: &Object, key: &str) -> bool {
    fields.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// Whether only the provider can read a thinking part.
pub fn is_redacted(fields: &Object) -> bool {
    fields.get("type").is_some_and(|name| name == "redacted_thinking")
}

/// Parses the arguments of a call.
///
/// # Errors
///
/// Why they are not a JSON object.
pub fn arguments_object(arguments: &str) -> Result<Object, String> {
    // If nested more deeply, the request could not be read back into a message.
    match json::parse_within(arguments.as_bytes(), MAX_DEPTH - 4, usize::MAX) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("expected the JSON text of an object".to_owned()),
        Err(error) => Err(format!("is not JSON: {}", error.message)),
    }
}
