//! Anthropic's Messages: <https://docs.anthropic.com/en/api/messages>.

use serde_json::Value;

use crate::builder::ConversationBuilder;
use crate::carried::{Carried, carry, carry_back};
use crate::dict::{dict, set};
use crate::field::Field;
use crate::format::{
    EmptyMessage, FirstTurn, Identifier, MediaFault, ProviderFormat, RequiredMessage, RequiredThinking, Requirements,
    ResultPlacement, is_word_character,
};
use crate::media::{self, Media, MediaKind, Origin, PDF};
use crate::part::{Role, Tool, has_text, is_redacted};
use crate::reply::{Reply, replies};
use crate::source::{Part, Source, Speaker, Text, Turn};
use crate::{reading, stored, writing};
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

const CACHE: Carried = ("cache_control", "cache_control", is_cache_control);
const SIGNATURE: Carried = ("signature", "signature", Value::is_string);
const STRICT: Carried = ("strict", "strict", Value::is_boolean);
const DOCUMENT: [Carried; 4] = [
    CACHE,
    ("title", "title", Value::is_string),
    ("context", "context", Value::is_string),
    ("citations", "citations", is_citations),
];

fn is_cache_control(value: &Value) -> bool {
    let is_lifetime = |lifetime: &Value| lifetime == "5m" || lifetime == "1h";
    value["type"] == "ephemeral" && value.get("ttl").is_none_or(is_lifetime)
}

fn is_citations(value: &Value) -> bool {
    value.is_object() && value.get("enabled").is_none_or(Value::is_boolean)
}

/// The media types of images that are supported as data.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Anthropic's Messages.
pub struct Anthropic;

const REQUIREMENTS: Requirements = Requirements {
    is_checkable: true,
    message: RequiredMessage::Any,
    first_turn: FirstTurn::NotAssistant,
    refuses_calls_after_assistant: false,
    lifts_system_messages: true,
    skips_empty_messages: false,
    empty_message: EmptyMessage::RefusedBeforeEnd,
    refuses_trailing_whitespace: true,
    results: ResultPlacement::NextTurn,
    has_unique_call_ids: true,
    call_ids: Some(Identifier {
        longest: usize::MAX,
        accepts: is_word_character,
        fix: "Give the call and its result a call_id of letters, digits, '_' and '-'.",
    }),
    tool_names: Some(Identifier {
        longest: 128,
        accepts: is_word_character,
        fix: "Name the tool with 1 to 128 letters, digits, '_' and '-'.",
    }),
    has_argument_objects: true,
    has_result_names: false,
    refuses_trailing_thinking: true,
    required_thinking: RequiredThinking::OfAnsweredCalls,
};

impl ProviderFormat for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn requirements(&self) -> &'static Requirements {
        &REQUIREMENTS
    }

    /// Thinking requires its signature, with or without text; redacted thinking requires nothing else.
    fn accepts_thinking(&self, fields: &Object) -> bool {
        is_redacted(fields) || has_text(fields, SIGNATURE.0)
    }

    /// Images and PDFs in messages of the user: <https://platform.claude.com/docs/en/build-with-claude/vision>.
    fn media_fault(&self, role: Role, media: &Media) -> Option<MediaFault> {
        let is_known_image = || IMAGE_TYPES.iter().any(|known| media.media_type.eq_ignore_ascii_case(known));
        match (media.kind, media.origin) {
            _ if role == Role::Assistant => MediaFault::of_part("not supported in messages of the assistant"),
            (MediaKind::Video, _) => MediaFault::of_part("videos are not supported"),
            (MediaKind::Audio, _) => MediaFault::of_part("audio is not supported"),
            (MediaKind::Image, Origin::Data(_)) if !is_known_image() => {
                MediaFault::at("source.media_type", "expected image/jpeg, image/png, image/gif or image/webp")
            }
            _ => None,
        }
    }

    fn refuses_text(&self, text: &str, _: bool) -> bool {
        text.trim().is_empty()
    }

    fn write(&self, source: Source<'_>) -> Object {
        let mut system: Vec<Value> = source.system.iter().map(text_block).collect();
        let (system_turns, turns): (Vec<Turn>, Vec<Turn>) =
            source.turns.into_iter().partition(|turn| turn.speaker == Speaker::System);
        system.extend(system_turns.iter().flat_map(writing::system_texts).map(stored::text));
        let mut messages = Vec::new();
        for turn in writing::with_results_joined(turns) {
            let role = if turn.speaker == Speaker::Assistant { "assistant" } else { "user" };
            let content: Vec<Value> = turn.parts.into_iter().map(block).collect();
            messages.push(dict! {"role": role, "content": content});
        }
        let tools = source.tools.iter().map(tool_value).collect();
        writing::request([
            ("system", system_value(system)),
            ("messages", messages.into()),
            ("tools", writing::unless_empty(tools)),
        ])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, messages) = reading::open(root, &["messages"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            builder.system = reading::content(body.get("system")?, read_text)?;
            if let Some(tools) = body.get("tools")? {
                builder.tools = tools.items()?.iter().map(read_tool).collect::<Result<_, _>>()?;
            }
        }
        for message in messages.items()? {
            let content = Some(message.required("content")?);
            match message.required_string("role")? {
                "user" => builder.push_user(reading::content(content, read_block)?),
                "assistant" => builder.push("assistant", reading::content(content, read_block)?),
                "system" => builder.push("system", reading::content(content, read_text)?),
                other => {
                    let hint = format!("{other:?} is not supported; use user, assistant or system");
                    return Err(message.fault_at("role", hint));
                }
            }
        }
        Ok(builder)
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::anthropic(reply)
    }
}

/// A single plain text as a string; otherwise the list of blocks.
fn system_value(system: Vec<Value>) -> Value {
    match system.as_slice() {
        [] => Value::Null,
        [block] if block.get(CACHE.1).is_none() => block["text"].clone(),
        _ => system.into(),
    }
}

fn tool_value(tool: &Tool) -> Value {
    let mut value = dict! {"name": tool.name};
    if let Some(description) = tool.description {
        set(&mut value, "description", description.into());
    }
    set(&mut value, "input_schema", writing::object_schema(tool));
    carry(tool.fields, &mut value, &[CACHE, STRICT]);
    value
}

fn text_block(text: &Text) -> Value {
    let mut block = stored::text(text.text);
    carry(text.fields, &mut block, &[CACHE]);
    block
}

fn block(part: Part) -> Value {
    match part {
        Part::Text(text) => text_block(&text),
        Part::Thinking(thinking) => {
            let mut block = dict! {"type": "thinking", "thinking": thinking.text};
            carry(thinking.fields, &mut block, &[SIGNATURE]);
            block
        }
        Part::RedactedThinking { data } => dict! {"type": "redacted_thinking", "data": data},
        Part::Call(call) => {
            let mut block = dict! {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.input};
            carry(call.fields, &mut block, &[CACHE]);
            block
        }
        Part::Result(result) => {
            let mut block = dict! {"type": "tool_result", "tool_use_id": result.call_id, "content": result.content};
            if result.is_error {
                set(&mut block, "is_error", true.into());
            }
            carry(result.fields, &mut block, &[CACHE]);
            block
        }
        Part::Media(media) => media_block(&media),
    }
}

/// Only images and documents: the format has no others.
fn media_block(media: &Media) -> Value {
    let (kind, carried) =
        if media.kind == MediaKind::Pdf { ("document", &DOCUMENT[..]) } else { ("image", &[CACHE][..]) };
    let source = match media.origin {
        Origin::Data(data) => {
            dict! {"type": "base64", "media_type": media.media_type.to_ascii_lowercase(), "data": data}
        }
        Origin::Url(url) => dict! {"type": "url", "url": url},
    };
    let mut block = dict! {"type": kind, "source": source};
    carry(media.fields, &mut block, carried);
    block
}

fn read_tool(tool: &Field) -> Result<Value, ShapeError> {
    if let Some(other) = tool.optional_string("type")?.filter(|kind| *kind != "custom") {
        return Err(tool.unknown("type", other));
    }
    let schema = tool.required("input_schema")?.object()?;
    let mut part = stored::tool(tool.required_string("name")?, tool.optional_string("description")?, Some(schema));
    carry_back(tool.object()?, &mut part, &[CACHE, STRICT]);
    Ok(part)
}

fn read_text(block: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    match block.required_string("type")? {
        "text" => read_block(block, parts),
        other => Err(block.unknown("type", other)),
    }
}

fn read_block(block: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    let mut part = match block.required_string("type")? {
        "text" => stored::text(block.required_string("text")?),
        "thinking" => dict! {
            "type": "thinking",
            "text": block.required_string("thinking")?,
            "signature": block.required_string("signature")?,
        },
        "redacted_thinking" => dict! {"type": "redacted_thinking", "data": block.required_string("data")?},
        "tool_use" => {
            let input = block.required("input")?;
            input.object()?;
            stored::call(block.required_string("id")?, block.required_string("name")?, &input.value.to_string())
        }
        "tool_result" => {
            let content = reading::content(block.get("content")?, read_result_block)?;
            let is_error = block.get("is_error")?.is_some_and(|field| field.value == &Value::Bool(true));
            let mut result = stored::result_of_parts(block.required_string("tool_use_id")?, content, is_error);
            if let Some(result) = result.first_mut() {
                carry_back(block.object()?, result, &[CACHE]);
            }
            parts.extend(result);
            return Ok(());
        }
        "image" => dict! {"type": "image", "source": read_source(&block.required("source")?, None)?},
        "document" => {
            let mut part = dict! {"type": "pdf", "source": read_source(&block.required("source")?, Some(PDF))?};
            carry_back(block.object()?, &mut part, &DOCUMENT);
            part
        }
        other => return Err(block.unknown("type", other)),
    };
    carry_back(block.object()?, &mut part, &[CACHE]);
    parts.push(part);
    Ok(())
}

fn read_result_block(block: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    match block.required_string("type")? {
        "text" | "image" | "document" => read_block(block, parts),
        other => Err(block.unknown("type", other)),
    }
}

/// The source of an image, or of a document, for which `only` is the one media type.
fn read_source(source: &Field, only: Option<&str>) -> Result<Value, ShapeError> {
    match source.required_string("type")? {
        "base64" => {
            let media_type = source.required("media_type")?;
            let name = media_type.string()?;
            if only.map_or_else(|| MediaKind::of_type(name) != Some(MediaKind::Image), |only| only != name) {
                return Err(media_type.fault(format!("expected {}", only.unwrap_or("a media type of an image"))));
            }
            Ok(media::source_of_data(source.required_string("data")?, name))
        }
        "url" => Ok(dict! {"type": "url", "url": source.required_string("url")?}),
        other => Err(source.unknown("type", other)),
    }
}
