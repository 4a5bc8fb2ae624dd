//! OpenAI's Responses: <https://platform.openai.com/docs/api-reference/responses/create>.

use serde_json::Value;

use super::openai_chat::{UNNAMED_PDF, read_file};
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
use crate::media::{self, Media, MediaKind, Origin};
use crate::part::{Role, Tool, has_text, is_redacted};
use crate::reply::{Reply, replies};
use crate::source::{BETWEEN_TEXTS, Call, Part, ResultContent, ResultPart, Speaker, Text};
use crate::{reading, stored, writing};
use peteos_conversation::OPAQUE;
use peteos_conversation::error::ShapeError;
use peteos_json::{Object, items};

const NAME: &str = "openai-responses";
/// The list of the parts of a message.
const CONTENT: Target = Target::List("content");

/// The default value of `detail` for an image.
const ANY_DETAIL: &str = "auto";
/// The id of the item that a text or a call came from, by which the API recognises it.
const ITEM_ID: Carried = ("item_id", "id", Value::is_string);
const PHASE: Carried =
    ("phase", "phase", |value| value.as_str().is_some_and(|phase| ["commentary", "final_answer"].contains(&phase)));
const DETAIL: Carried =
    ("detail", "detail", |value| value.as_str().is_some_and(|detail| ["low", "high", "original"].contains(&detail)));
const STRICT: Carried = ("strict", "strict", |value| value == &Value::Bool(true));
const REASONING_ID: Carried = ("id", "id", Value::is_string);
const ENCRYPTED: Carried = ("encrypted_content", "encrypted_content", Value::is_string);

/// OpenAI's Responses.
pub struct OpenAiResponses;

const REQUIREMENTS: Requirements = Requirements {
    is_checkable: true,
    message: RequiredMessage::None,
    first_turn: FirstTurn::Any,
    refuses_calls_after_assistant: false,
    lifts_system_messages: false,
    skips_empty_messages: true,
    empty_message: EmptyMessage::Accepted,
    refuses_trailing_whitespace: false,
    results: ResultPlacement::AfterCall,
    has_unique_call_ids: true,
    call_ids: Some(Identifier {
        longest: 64,
        accepts: |_| true,
        fix: "Give the call and its result a call_id of 1 to 64 characters.",
    }),
    tool_names: Some(Identifier {
        longest: 128,
        accepts: is_word_character,
        fix: "Name the tool with 1 to 128 letters, digits, '_' and '-'.",
    }),
    has_argument_objects: false,
    has_result_names: false,
    has_result_media: true,
    refuses_trailing_thinking: true,
    required_thinking: RequiredThinking::None,
};

impl ProviderFormat for OpenAiResponses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn requirements(&self) -> &'static Requirements {
        &REQUIREMENTS
    }

    /// A reasoning item requires its id, or its encrypted content if it is not stored by the API.
    fn accepts_thinking(&self, fields: &Object) -> bool {
        !is_redacted(fields) && (has_text(fields, REASONING_ID.0) || has_text(fields, ENCRYPTED.0))
    }

    /// Images and PDFs in messages of the user: <https://platform.openai.com/docs/api-reference/responses/create>.
    fn media_fault(&self, role: Role, media: &Media) -> Option<MediaFault> {
        match media.kind {
            _ if role == Role::Assistant => MediaFault::of_part("not supported in messages of the assistant"),
            MediaKind::Video => MediaFault::of_part("videos are not supported"),
            MediaKind::Audio => MediaFault::of_part("audio is not supported"),
            MediaKind::Image | MediaKind::Pdf => None,
        }
    }

    /// What the API adds to each item of its output.
    fn is_default(&self, key: &str, value: &Value) -> bool {
        match key {
            "type" => value == "message",
            "status" => value == "completed",
            "annotations" | "logprobs" => value.as_array().is_some_and(Vec::is_empty),
            _ => false,
        }
    }

    fn shell(&self, speaker: Speaker) -> Object {
        let role = match speaker {
            Speaker::Assistant => "assistant",
            Speaker::Prompt | Speaker::System => "system",
            _ => "user",
        };
        writing::object(dict! {"type": "message", "role": role})
    }

    fn block(&self, part: &Part<'_>, around: Around) -> Option<Block> {
        let shell = || self.shell(around.speaker);
        let content = |value| Block { shell: shell(), target: CONTENT, value };
        Some(match part {
            Part::Text(text) if around.speaker == Speaker::Prompt && !around.in_kept_entry => {
                Block::whole(text.text.into())
            }
            Part::Text(text) if around.speaker == Speaker::Assistant => assistant_text(text, around, shell()),
            Part::Text(text) => content(input_text(text.text)),
            Part::Media(media) => content(media_part(media)),
            Part::Thinking(thinking) => Block::whole(reasoning(thinking)),
            Part::Call(call) => Block::whole(call_item(call, item_id(call.fields, around.after_thinking))),
            Part::Result(result) => {
                let output = match &result.content {
                    ResultContent::Text(text) => (*text).into(),
                    ResultContent::Parts(parts) => parts.iter().map(result_part).collect::<Vec<Value>>().into(),
                };
                let mut item = dict! {"type": "function_call_output", "call_id": result.call_id};
                set(&mut item, "output", output);
                Block::whole(item)
            }
            Part::RedactedThinking { .. } | Part::Definition(_) | Part::Kept(_) => return None,
        })
    }

    /// Functions are strict by default, and strict mode refuses most schemas:
    /// <https://platform.openai.com/docs/guides/migrate-to-responses>.
    fn definition(&self, tool: &Tool<'_>) -> Block {
        let mut value = dict! {"type": "function", "name": tool.name};
        if let Some(description) = tool.description {
            set(&mut value, "description", description.into());
        }
        set(&mut value, "parameters", tool.parameters.map_or(Value::Null, |parameters| parameters.clone().into()));
        set(&mut value, "strict", false.into());
        carry(tool.fields, &mut value, &[STRICT]);
        Block::whole(value)
    }

    fn empty_entry(&self, speaker: Speaker) -> Value {
        let mut entry = Value::Object(self.shell(speaker));
        set(&mut entry, "content", Vec::<Value>::new().into());
        entry
    }

    /// A single text is a string.
    fn finish(&self, _: Speaker, entry: Object) -> Value {
        writing::with_single_text(entry, "input_text")
    }

    /// The API refuses an item with an id unless the reasoning that led to it precedes it. Messages and calls are accepted
    /// without their id, other items only if they are half of a call.
    fn without_thinking(&self, mut entry: Value) -> Option<Value> {
        let fields = entry.as_object_mut()?;
        match fields.get("type").and_then(Value::as_str) {
            None | Some("message" | "function_call") => drop(fields.shift_remove(ITEM_ID.1)),
            Some(_) if fields.contains_key(ITEM_ID.1) && !fields.contains_key("call_id") => return None,
            Some(_) => {}
        }
        Some(entry)
    }

    fn write(&self, composed: Composed) -> Object {
        let (texts, messages): (Vec<Value>, Vec<Value>) =
            writing::values(composed.system).into_iter().partition(Value::is_string);
        let instructions = match texts.as_slice() {
            [] => Value::Null,
            texts => writing::joined(texts.iter().filter_map(Value::as_str)).into(),
        };
        let input: Vec<Value> = messages.into_iter().chain(writing::values(composed.messages)).collect();
        writing::request([
            ("instructions", instructions),
            ("input", input.into()),
            ("tools", writing::unless_empty(writing::values(composed.tools))),
        ])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, input) = reading::open(root, &["input"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            if let Some(instructions) = body.get("instructions")? {
                // A response has them as a list of items.
                for entry in reading::one_or_more(instructions)? {
                    builder.add_special(Section::System, &entry, self.read_entry(Section::System, &entry)?)?;
                }
            }
            for tool in body.get("tools")?.map(|tools| tools.items()).transpose()?.unwrap_or_default() {
                builder.add_special(Section::Tools, &tool, self.read_entry(Section::Tools, &tool)?)?;
            }
        }
        if let Value::String(text) = input.value {
            let message = dict! {"type": "message", "role": "user", "content": text.as_str()};
            let message = input.with(&message);
            builder.add(&message, self.read_entry(Section::Messages, &message)?, true)?;
            return Ok(builder);
        }
        for item in input.items()? {
            builder.add(&item, self.read_entry(Section::Messages, &item)?, true)?;
        }
        Ok(builder)
    }

    fn read_entry(&self, section: Section, entry: &Field<'_>) -> Result<Entry, ShapeError> {
        match (section, entry.value) {
            (Section::System, Value::String(text)) => Ok(Entry::whole("system", stored::text(text))),
            (Section::System, _) if entry.value.is_object() => Ok(Entry { role: "system", ..read_item(entry)? }),
            (Section::System, _) => Err(entry.wrong("a string")),
            (Section::Messages, _) => read_item(entry),
            (Section::Tools, _) => Ok(Entry::whole("tool", read_tool(entry)?)),
        }
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::openai_responses(reply)
    }
}

fn input_text(text: &str) -> Value {
    dict! {"type": "input_text", "text": text}
}

fn result_part(part: &ResultPart) -> Value {
    match part {
        ResultPart::Text(text) => input_text(text.text),
        ResultPart::Media(media) => media_part(media),
    }
}

/// Only images and documents: the format has no others.
fn media_part(media: &Media) -> Value {
    if media.kind == MediaKind::Image {
        let mut image = dict! {"type": "input_image", "detail": ANY_DETAIL, "image_url": media.url()};
        carry(media.fields, &mut image, &[DETAIL]);
        return image;
    }
    match media.origin {
        Origin::Data(_) => {
            let name = media.fields.get("filename").and_then(Value::as_str).unwrap_or(UNNAMED_PDF);
            dict! {"type": "input_file", "filename": name, "file_data": media.url()}
        }
        Origin::Url(url) => dict! {"type": "input_file", "file_url": url},
    }
}

/// The id of the item that a part came from. The API refuses an item with an id unless the reasoning that led to it precedes
/// it. A window or `strip_thinking` may have removed that reasoning, so ids are left out if no thinking of the assistant
/// precedes the item.
fn item_id(fields: &Object, after_thinking: bool) -> Option<&str> {
    fields.get(ITEM_ID.0).and_then(Value::as_str).filter(|_| after_thinking)
}

/// A text of the assistant: in the item that it came from, which may have several, or an item without an id.
fn assistant_text(text: &Text, around: Around, shell: Object) -> Block {
    let mut shell = Value::Object(shell);
    let output = || dict! {"type": "output_text", "text": text.text, "annotations": Vec::<Value>::new()};
    match item_id(text.fields, around.after_thinking) {
        Some(id) => {
            set(&mut shell, ITEM_ID.1, id.into());
            set(&mut shell, "status", "completed".into());
            carry(text.fields, &mut shell, &[PHASE]);
            Block { shell: writing::object(shell), target: CONTENT, value: output() }
        }
        None if around.in_kept_entry => Block { shell: writing::object(shell), target: CONTENT, value: output() },
        None => {
            set(&mut shell, "content", text.text.into());
            carry(text.fields, &mut shell, &[PHASE]);
            Block::whole(shell)
        }
    }
}

fn call_item(call: &Call, id: Option<&str>) -> Value {
    let arguments = call.arguments;
    let mut item = dict! {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": arguments};
    if let Some(id) = id {
        set(&mut item, ITEM_ID.1, id.into());
    }
    item
}

/// The item for thinking that came from this API, with its id.
fn reasoning(thinking: &Text) -> Value {
    let parts: Vec<&str> = items(thinking.fields, "summary").iter().filter_map(Value::as_str).collect();
    let text = thinking.text;
    let texts = match text {
        _ if !parts.is_empty() && parts.join(BETWEEN_TEXTS) == text => parts,
        "" => Vec::new(),
        _ => vec![text],
    };
    let summary: Vec<Value> = texts.iter().map(|text| dict! {"type": "summary_text", "text": *text}).collect();
    let mut item = dict! {"type": "reasoning", "summary": summary};
    carry(thinking.fields, &mut item, &[REASONING_ID, ENCRYPTED]);
    item
}

fn read_tool(tool: &Field) -> Result<Value, ShapeError> {
    if tool.required_string("type")? != "function" {
        return Ok(stored::opaque(NAME, Target::Whole, tool.value));
    }
    let parameters = tool.get("parameters")?.map(|field| field.object()).transpose()?;
    let mut part = stored::tool(tool.required_string("name")?, tool.optional_string("description")?, parameters);
    carry_back(tool.object()?, &mut part, &[STRICT]);
    Ok(part)
}

fn read_item(item: &Field) -> Result<Entry, ShapeError> {
    let part = match item.optional_string("type")? {
        None | Some("message") if item.get("role")?.is_some() || item.get("id")?.is_none() => {
            return read_message(item);
        }
        Some("function_call") => {
            let name = item.required_string("name")?;
            let mut call = stored::call(item.required_string("call_id")?, name, item.required_string("arguments")?);
            carry_back(item.object()?, &mut call, &[ITEM_ID]);
            call
        }
        Some("function_call_output") => {
            let parts = reading::content(Some(item.required("output")?), read_result_part)?;
            let result = stored::result_of_parts(item.required_string("call_id")?, parts, false);
            return Ok(Entry::whole("tool_result", result));
        }
        Some("reasoning") => read_reasoning(item)?,
        kind => {
            let is_answer = |kind: &str| kind.ends_with("_output") || kind.ends_with("_response");
            let role = if kind.is_some_and(is_answer) { "tool_result" } else { "assistant" };
            return Ok(Entry::whole(role, stored::opaque(NAME, Target::Whole, item.value)));
        }
    };
    Ok(Entry::whole("assistant", part))
}

fn read_message(item: &Field) -> Result<Entry, ShapeError> {
    item.required_string("role")?;
    item.required("content")?;
    match item.required_string("role")? {
        "system" | "developer" => Ok(Entry::message("system", blocks(item, "content", read_part)?)),
        "user" => Ok(Entry::message("user", blocks(item, "content", read_part)?)),
        "assistant" => {
            let mut blocks = blocks(item, "content", read_part)?;
            for (_, part) in &mut blocks {
                if part["type"] == "text" {
                    carry_back(item.object()?, part, &[ITEM_ID, PHASE]);
                }
            }
            Ok(Entry { role: "assistant", joins: true, blocks })
        }
        other => {
            let hint = format!("{other:?} is not supported; use system, developer, user or assistant");
            Err(item.fault_at("role", hint))
        }
    }
}

fn read_part(part: &Field) -> Result<Value, ShapeError> {
    let media = match part.required_string("type")? {
        "input_text" | "output_text" => return Ok(stored::text(part.required_string("text")?)),
        "refusal" => return Ok(stored::text(part.required_string("refusal")?)),
        "input_image" => {
            let source = part.optional_string("image_url")?.and_then(media::source_of_url);
            source.map(|source| dict! {"type": "image", "source": source})
        }
        "input_file" => match part.optional_string("file_url")? {
            Some(url) => {
                media::is_pdf_at(url).then(|| dict! {"type": "pdf", "source": dict! {"type": "url", "url": url}})
            }
            None => read_file(part)?,
        },
        _ => None,
    };
    let Some(mut read) = media else { return Ok(stored::opaque(NAME, CONTENT, part.value)) };
    if read["type"] == "image" {
        carry_back(part.object()?, &mut read, &[DETAIL]);
    }
    Ok(read)
}

/// A part that a result of the model cannot hold is its JSON.
fn read_result_part(part: &Field) -> Result<Value, ShapeError> {
    let read = read_part(part)?;
    Ok(if read["type"] == OPAQUE { stored::text(&part.value.to_string()) } else { read })
}

fn read_reasoning(item: &Field) -> Result<Value, ShapeError> {
    let mut texts = Vec::new();
    for part in item.get("summary")?.map(|summary| summary.items()).transpose()?.unwrap_or_default() {
        texts.push(part.required_string("text")?);
    }
    let mut thinking = dict! {"type": "thinking", "text": texts.join(BETWEEN_TEXTS)};
    carry_back(item.object()?, &mut thinking, &[REASONING_ID, ENCRYPTED]);
    // The text alone would give one summary, or none if it is empty.
    if texts.len() > 1 || texts == [""] {
        set(&mut thinking, "summary", texts.into());
    }
    Ok(thinking)
}
