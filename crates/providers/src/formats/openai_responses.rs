//! OpenAI's Responses: <https://platform.openai.com/docs/api-reference/responses/create>.

use serde_json::Value;

use super::openai_chat::{UNNAMED_PDF, read_file};
use crate::builder::ConversationBuilder;
use crate::carried::{Carried, carry, carry_back};
use crate::dict::{dict, set};
use crate::field::Field;
use crate::format::{
    EmptyMessage, FirstTurn, Identifier, MediaFault, ProviderFormat, RequiredMessage, RequiredThinking, Requirements,
    ResultPlacement, is_word_character,
};
use crate::media::{self, Media, MediaKind, Origin};
use crate::part::{Role, Tool, has_text, is_redacted};
use crate::reply::{Reply, replies};
use crate::source::{BETWEEN_TEXTS, Call, Part, Source, Speaker, Text, Turn};
use crate::{reading, stored, writing};
use peteos_conversation::error::ShapeError;
use peteos_json::{Object, items};

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
    refuses_trailing_thinking: true,
    required_thinking: RequiredThinking::None,
};

impl ProviderFormat for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn requirements(&self) -> &'static Requirements {
        &REQUIREMENTS
    }

    /// A reasoning item requires its id.
    fn accepts_thinking(&self, fields: &Object) -> bool {
        !is_redacted(fields) && has_text(fields, REASONING_ID.0)
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

    fn write(&self, source: Source<'_>) -> Object {
        let mut input = Vec::new();
        let mut has_reasoning = false;
        for turn in &source.turns {
            has_reasoning &= turn.speaker == Speaker::Assistant;
            match turn.speaker {
                Speaker::Tools => input.extend(turn.parts.iter().filter_map(|part| {
                    let Part::Result(result) = part else { return None };
                    let output = result.content;
                    Some(dict! {"type": "function_call_output", "call_id": result.call_id, "output": output})
                })),
                Speaker::System => {
                    input.push(message("system", writing::system_texts(turn).into_iter().map(input_text).collect()));
                }
                Speaker::User => input.push(message("user", turn.parts.iter().filter_map(user_part).collect())),
                Speaker::Assistant => {
                    let items = assistant_items(turn, &mut has_reasoning);
                    if items.is_empty() {
                        input.push(dict! {"type": "message", "role": "assistant", "content": Vec::<Value>::new()});
                    }
                    input.extend(items);
                }
            }
        }
        let tools = source.tools.iter().map(tool_value).collect();
        writing::request([
            ("instructions", writing::one_system_text(&source.system)),
            ("input", input.into()),
            ("tools", writing::unless_empty(tools)),
        ])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, input) = reading::open(root, &["input"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            if let Some(instructions) = body.optional_string("instructions")? {
                builder.system.push(stored::text(instructions));
            }
            if let Some(tools) = body.get("tools")? {
                builder.tools = tools.items()?.iter().map(read_tool).collect::<Result<_, _>>()?;
            }
        }
        if let Value::String(text) = input.value {
            builder.push("user", vec![stored::text(text)]);
            return Ok(builder);
        }
        for item in input.items()? {
            read_item(&item, &mut builder)?;
        }
        Ok(builder)
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::openai_responses(reply)
    }
}

/// Functions are strict by default, and strict mode refuses most schemas:
/// <https://platform.openai.com/docs/guides/migrate-to-responses>.
fn tool_value(tool: &Tool) -> Value {
    let mut value = dict! {"type": "function", "name": tool.name};
    if let Some(description) = tool.description {
        set(&mut value, "description", description.into());
    }
    set(&mut value, "parameters", tool.parameters.map_or(Value::Null, |parameters| parameters.clone().into()));
    set(&mut value, "strict", false.into());
    carry(tool.fields, &mut value, &[STRICT]);
    value
}

/// A single text as a string; otherwise the list of parts.
fn message(role: &str, content: Vec<Value>) -> Value {
    let content = match content.as_slice() {
        [part] if part["type"] == "input_text" => part["text"].clone(),
        _ => content.into(),
    };
    dict! {"type": "message", "role": role, "content": content}
}

fn input_text(text: &str) -> Value {
    dict! {"type": "input_text", "text": text}
}

fn user_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(input_text(text.text)),
        Part::Media(media) => Some(media_part(media)),
        _ => None,
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

/// The items of a turn. The API refuses an item with an id unless the reasoning that led to it precedes it. A window or
/// `strip_thinking` may have removed that reasoning, so ids are left out if no thinking of the assistant precedes the
/// item.
fn assistant_items(turn: &Turn, has_reasoning: &mut bool) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text(text) => add_text(text, item_id(text.fields, *has_reasoning), &mut items),
            Part::Thinking(thinking) => {
                *has_reasoning = true;
                items.push(reasoning(thinking));
            }
            Part::Call(call) => items.push(call_item(call, item_id(call.fields, *has_reasoning))),
            // The format has no field for these.
            Part::Media(_) | Part::RedactedThinking { .. } | Part::Result(_) => {}
        }
    }
    items
}

fn item_id(fields: &Object, has_reasoning: bool) -> Option<&str> {
    fields.get(ITEM_ID.0).and_then(Value::as_str).filter(|_| has_reasoning)
}

/// Adds a text of the assistant: to the item that it came from, or as an item without an id.
fn add_text(text: &Text, id: Option<&str>, items: &mut Vec<Value>) {
    let Some(id) = id else {
        let mut item = dict! {"type": "message", "role": "assistant", "content": text.text};
        carry(text.fields, &mut item, &[PHASE]);
        items.push(item);
        return;
    };
    let output = dict! {"type": "output_text", "text": text.text, "annotations": Vec::<Value>::new()};
    // Several texts may come from one item.
    if let Some(last) = items.last_mut().filter(|last| last["type"] == "message" && last["id"] == id) {
        if let Some(content) = last["content"].as_array_mut() {
            content.push(output);
            return;
        }
    }
    let mut item =
        dict! {"type": "message", "role": "assistant", "id": id, "status": "completed", "content": vec![output]};
    carry(text.fields, &mut item, &[PHASE]);
    items.push(item);
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
    match tool.required_string("type")? {
        "function" => {}
        other => return Err(tool.unknown("type", other)),
    }
    let parameters = tool.get("parameters")?.map(|field| field.object()).transpose()?;
    let mut part = stored::tool(tool.required_string("name")?, tool.optional_string("description")?, parameters);
    carry_back(tool.object()?, &mut part, &[STRICT]);
    Ok(part)
}

fn read_item(item: &Field, builder: &mut ConversationBuilder) -> Result<(), ShapeError> {
    match item.optional_string("type")? {
        None | Some("message") => read_message(item, builder)?,
        Some("function_call") => {
            let name = item.required_string("name")?;
            let mut call = stored::call(item.required_string("call_id")?, name, item.required_string("arguments")?);
            carry_back(item.object()?, &mut call, &[ITEM_ID]);
            builder.join("assistant", vec![call]);
        }
        Some("function_call_output") => {
            let parts = reading::content(Some(item.required("output")?), read_user_part)?;
            builder.join("tool_result", stored::result_of_parts(item.required_string("call_id")?, parts, false));
        }
        Some("reasoning") => builder.join("assistant", vec![read_reasoning(item)?]),
        Some(other) => return Err(item.unknown("type", other)),
    }
    Ok(())
}

fn read_message(item: &Field, builder: &mut ConversationBuilder) -> Result<(), ShapeError> {
    let content = Some(item.required("content")?);
    match item.required_string("role")? {
        "system" | "developer" => builder.push_system(reading::content(content, read_text)?),
        "user" => builder.push("user", reading::content(content, read_user_part)?),
        "assistant" => {
            let mut parts = reading::content(content, read_text)?;
            for part in &mut parts {
                carry_back(item.object()?, part, &[ITEM_ID, PHASE]);
            }
            builder.join("assistant", parts);
        }
        other => {
            let hint = format!("{other:?} is not supported; use system, developer, user or assistant");
            return Err(item.fault_at("role", hint));
        }
    }
    Ok(())
}

fn read_text(part: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    match part.required_string("type")? {
        "input_text" | "output_text" => parts.push(stored::text(part.required_string("text")?)),
        "refusal" => parts.push(stored::text(part.required_string("refusal")?)),
        other => return Err(part.unknown("type", other)),
    }
    Ok(())
}

fn read_user_part(part: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    match part.required_string("type")? {
        "input_image" => {
            let url = part.required("image_url")?;
            let source = media::source_of_url(url.string()?)
                .ok_or_else(|| url.fault("expected a URL, or a data: URL in base64"))?;
            let mut image = dict! {"type": "image", "source": source};
            carry_back(part.object()?, &mut image, &[DETAIL]);
            parts.push(image);
        }
        "input_file" => match part.optional_string("file_url")? {
            Some(url) => parts.push(dict! {"type": "pdf", "source": dict! {"type": "url", "url": url}}),
            None => parts.push(read_file(part)?),
        },
        _ => read_text(part, parts)?,
    }
    Ok(())
}

fn read_reasoning(item: &Field) -> Result<Value, ShapeError> {
    let mut texts = Vec::new();
    for part in item.get("summary")?.map(|summary| summary.items()).transpose()?.unwrap_or_default() {
        texts.push(part.required_string("text")?);
    }
    let mut thinking = dict! {"type": "thinking", "text": texts.join(BETWEEN_TEXTS)};
    set(&mut thinking, "id", item.required_string("id")?.into());
    carry_back(item.object()?, &mut thinking, &[ENCRYPTED]);
    // The text alone would give one summary, or none if it is empty.
    if texts.len() > 1 || texts == [""] {
        set(&mut thinking, "summary", texts.into());
    }
    Ok(thinking)
}
