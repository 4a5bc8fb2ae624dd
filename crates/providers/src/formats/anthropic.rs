//! Anthropic's Messages: <https://docs.anthropic.com/en/api/messages>.

use serde_json::Value;

use crate::builder::ConversationBuilder;
use crate::carried::{Carried, carry, carry_back};
use crate::compose::{Around, Composed};
use crate::dict::{dict, set};
use crate::entry::{Block, Entry, Section, Target, blocks};
use crate::field::Field;
use crate::format::{
    EmptyMessage, FirstTurn, Identifier, MediaFault, ProviderFormat, RequiredMessage, RequiredThinking, Requirements,
    ResultPlacement, is_word_character,
};
use crate::media::{self, Media, MediaKind, Origin, PDF};
use crate::part::{Role, Tool, has_text, is_redacted};
use crate::reply::{Reply, replies};
use crate::source::{Part, ResultContent, ResultPart, Speaker, Text};
use crate::{reading, stored, writing};
use peteos_conversation::OPAQUE;
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

const NAME: &str = "anthropic";
/// The list of the blocks of a message.
const CONTENT: Target = Target::List("content");
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
    has_result_media: true,
    refuses_trailing_thinking: true,
    required_thinking: RequiredThinking::OfAnsweredCalls,
};

impl ProviderFormat for Anthropic {
    fn name(&self) -> &'static str {
        NAME
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

    fn shell(&self, speaker: Speaker) -> Object {
        let role = match speaker {
            Speaker::Assistant => "assistant",
            Speaker::System => "system",
            _ => "user",
        };
        Object::from_iter([("role".to_owned(), role.into())])
    }

    fn block(&self, part: &Part<'_>, around: Around) -> Option<Block> {
        let value = block(part)?;
        Some(match around.speaker {
            Speaker::Prompt => Block::whole(value),
            speaker => Block { shell: self.shell(speaker), target: CONTENT, value },
        })
    }

    fn definition(&self, tool: &Tool<'_>) -> Block {
        let mut value = dict! {"name": tool.name};
        if let Some(description) = tool.description {
            set(&mut value, "description", description.into());
        }
        set(&mut value, "input_schema", writing::object_schema(tool));
        carry(tool.fields, &mut value, &[CACHE, STRICT]);
        Block::whole(value)
    }

    fn empty_entry(&self, speaker: Speaker) -> Value {
        let mut entry = Value::Object(self.shell(speaker));
        set(&mut entry, "content", Vec::<Value>::new().into());
        entry
    }

    fn write(&self, composed: Composed) -> Object {
        writing::request([
            ("system", system_value(writing::values(composed.system))),
            ("messages", writing::values(composed.messages).into()),
            ("tools", writing::unless_empty(writing::values(composed.tools))),
        ])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, messages) = reading::open(root, &["messages"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            for (section, key) in [(Section::System, "system"), (Section::Tools, "tools")] {
                let Some(field) = body.get(key)? else { continue };
                let entries = if field.value.is_string() { vec![field] } else { field.items()? };
                for entry in entries {
                    builder.add_special(section, &entry, self.read_entry(section, &entry)?)?;
                }
            }
        }
        for message in messages.items()? {
            builder.add(&message, self.read_entry(Section::Messages, &message)?, false)?;
        }
        Ok(builder)
    }

    fn read_entry(&self, section: Section, entry: &Field<'_>) -> Result<Entry, ShapeError> {
        match (section, entry.value) {
            (Section::System, Value::String(text)) => Ok(Entry::whole("system", stored::text(text))),
            (Section::System, _) => Ok(Entry::whole("system", read_block(entry)?)),
            (Section::Tools, _) => Ok(Entry::whole("tool", read_tool(entry)?)),
            (Section::Messages, _) => {
                entry.required("content")?;
                let blocks = blocks(entry, "content", read_block)?;
                let role = match entry.required_string("role")? {
                    "user" if blocks.iter().any(|(_, part)| part["type"] == "tool_result") => "tool_result",
                    "user" => "user",
                    "assistant" => "assistant",
                    "system" => "system",
                    other => {
                        let hint = format!("{other:?} is not supported; use user, assistant or system");
                        return Err(entry.fault_at("role", hint));
                    }
                };
                Ok(Entry::message(role, blocks))
            }
        }
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::anthropic(reply)
    }
}

/// A single plain text as a string; otherwise the list of blocks.
fn system_value(system: Vec<Value>) -> Value {
    match system.as_slice() {
        [] => Value::Null,
        [Value::Object(block)] if block.len() == 2 && block.contains_key("text") => {
            block.get("text").cloned().unwrap_or_default()
        }
        _ => system.into(),
    }
}

fn text_block(text: &Text) -> Value {
    let mut block = stored::text(text.text);
    carry(text.fields, &mut block, &[CACHE]);
    block
}

fn block(part: &Part) -> Option<Value> {
    let (mut block, fields) = match part {
        Part::Text(text) => return Some(text_block(text)),
        Part::Thinking(thinking) => {
            let mut block = dict! {"type": "thinking", "thinking": thinking.text};
            carry(thinking.fields, &mut block, &[SIGNATURE]);
            return Some(block);
        }
        Part::RedactedThinking { data, .. } => return Some(dict! {"type": "redacted_thinking", "data": *data}),
        Part::Call(call) => {
            let input = call.input.clone();
            (dict! {"type": "tool_use", "id": call.call_id, "name": call.name, "input": input}, call.fields)
        }
        Part::Result(result) => {
            let content = match &result.content {
                ResultContent::Text(text) => (*text).into(),
                ResultContent::Parts(parts) => parts.iter().filter_map(block_of_result).collect::<Vec<Value>>().into(),
            };
            let mut block = dict! {"type": "tool_result", "tool_use_id": result.call_id};
            set(&mut block, "content", content);
            if result.is_error {
                set(&mut block, "is_error", true.into());
            }
            (block, result.fields)
        }
        Part::Media(media) => return Some(media_block(media)),
        Part::Definition(_) | Part::Kept(_) => return None,
    };
    carry(fields, &mut block, &[CACHE]);
    Some(block)
}

fn block_of_result(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Text(text) => Some(text_block(text)),
        ResultPart::Media(media) => Some(media_block(media)),
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
    if tool.optional_string("type")?.is_some_and(|kind| kind != "custom") {
        return Ok(stored::opaque(NAME, Target::Whole, tool.value));
    }
    let schema = tool.required("input_schema")?.object()?;
    let mut part = stored::tool(tool.required_string("name")?, tool.optional_string("description")?, Some(schema));
    carry_back(tool.object()?, &mut part, &[CACHE, STRICT]);
    Ok(part)
}

fn read_block(block: &Field) -> Result<Value, ShapeError> {
    let mut part = match block.required_string("type")? {
        "text" => stored::text(block.required_string("text")?),
        "thinking" => {
            let mut part = dict! {"type": "thinking", "text": block.required_string("thinking")?};
            carry_back(block.object()?, &mut part, &[SIGNATURE]);
            part
        }
        "redacted_thinking" => dict! {"type": "redacted_thinking", "data": block.required_string("data")?},
        "tool_use" => {
            let input = block.required("input")?;
            input.object()?;
            stored::call(block.required_string("id")?, block.required_string("name")?, &input.value.to_string())
        }
        "tool_result" => {
            let content = reading::content(block.get("content")?, read_result_block)?;
            let is_error = block.get("is_error")?.is_some_and(|field| field.value == &Value::Bool(true));
            stored::result_of_parts(block.required_string("tool_use_id")?, content, is_error)
        }
        kind @ ("image" | "document") => match read_source(&block.required("source")?, kind)? {
            Some(source) => {
                let (kind, carried) = if kind == "image" { ("image", &DOCUMENT[..1]) } else { ("pdf", &DOCUMENT[..]) };
                let mut part = dict! {"type": kind, "source": source};
                carry_back(block.object()?, &mut part, carried);
                part
            }
            None => stored::opaque(NAME, CONTENT, block.value),
        },
        _ => return Ok(stored::opaque(NAME, CONTENT, block.value)),
    };
    carry_back(block.object()?, &mut part, &[CACHE]);
    Ok(part)
}

/// A block that a result of the model cannot hold is its JSON.
fn read_result_block(block: &Field) -> Result<Value, ShapeError> {
    let part = match block.required_string("type")? {
        "text" | "image" | "document" => read_block(block)?,
        _ => Value::Null,
    };
    let is_known = part.is_object() && part["type"] != OPAQUE;
    Ok(if is_known { part } else { stored::text(&block.value.to_string()) })
}

/// The source of an image or of a PDF; `None` if it is another one, such as a file id or a text.
fn read_source(source: &Field, kind: &str) -> Result<Option<Value>, ShapeError> {
    Ok(match source.required_string("type")? {
        "base64" => {
            let media_type = source.required_string("media_type")?;
            let data = source.required_string("data")?;
            let is_known = if kind == "image" { IMAGE_TYPES.contains(&media_type) } else { media_type == PDF };
            is_known.then(|| media::source_of_data(data, media_type))
        }
        "url" => Some(dict! {"type": "url", "url": source.required_string("url")?}),
        _ => None,
    })
}
