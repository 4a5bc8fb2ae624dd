//! OpenAI's Chat Completions: <https://platform.openai.com/docs/api-reference/chat/create>.

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
use crate::part::{Role, Tool};
use crate::reply::{Reply, replies};
use crate::source::{Part, Source, Speaker, Turn};
use crate::{reading, stored, writing};
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

/// A file must have a name; this one is used if there is none.
pub const UNNAMED_PDF: &str = "document.pdf";

const DETAIL: Carried = ("detail", "detail", |value| value.as_str().is_some_and(|detail| DETAILS.contains(&detail)));
const DETAILS: [&str; 3] = ["auto", "low", "high"];
const STRICT: Carried = ("strict", "strict", Value::is_boolean);

/// OpenAI's Chat Completions, which many other providers accept as well.
pub struct OpenAiChat;

const REQUIREMENTS: Requirements = Requirements {
    is_checkable: true,
    message: RequiredMessage::AnyOrSystemPrompt,
    first_turn: FirstTurn::Any,
    refuses_calls_after_assistant: false,
    lifts_system_messages: false,
    skips_empty_messages: false,
    empty_message: EmptyMessage::Refused,
    refuses_trailing_whitespace: false,
    results: ResultPlacement::NextMessages,
    has_unique_call_ids: false,
    call_ids: None,
    tool_names: Some(Identifier {
        longest: 64,
        accepts: is_word_character,
        fix: "Name the tool with 1 to 64 letters, digits, '_' and '-'.",
    }),
    has_argument_objects: false,
    has_result_names: false,
    refuses_trailing_thinking: false,
    required_thinking: RequiredThinking::None,
};

impl ProviderFormat for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn requirements(&self) -> &'static Requirements {
        &REQUIREMENTS
    }

    /// The format has no field for thinking.
    fn accepts_thinking(&self, _: &Object) -> bool {
        false
    }

    /// Images, and WAV, MP3 and PDF files as base64, in messages of the user:
    /// <https://platform.openai.com/docs/api-reference/chat/create>.
    fn media_fault(&self, role: Role, media: &Media) -> Option<MediaFault> {
        match (media.kind, media.origin) {
            _ if role == Role::Assistant => MediaFault::of_part("not supported in messages of the assistant"),
            (MediaKind::Video, _) => MediaFault::of_part("videos are not supported"),
            (MediaKind::Image, _) => None,
            (MediaKind::Audio | MediaKind::Pdf, Origin::Url(_)) => {
                MediaFault::at("source.type", "expected base64 data; URLs are supported only for images")
            }
            (MediaKind::Audio, _) if media.sound().is_none() => {
                MediaFault::at("source.media_type", "expected audio/wav or audio/mpeg")
            }
            _ => None,
        }
    }

    fn write(&self, source: Source<'_>) -> Object {
        let mut messages = Vec::new();
        if !source.system.is_empty() {
            messages.push(message("system", source.system.iter().map(|text| stored::text(text.text)).collect()));
        }
        for turn in &source.turns {
            match turn.speaker {
                Speaker::Tools => messages.extend(turn.parts.iter().filter_map(tool_message)),
                Speaker::System => messages
                    .push(message("system", writing::system_texts(turn).into_iter().map(stored::text).collect())),
                Speaker::User => messages.push(message("user", turn.parts.iter().filter_map(user_part).collect())),
                Speaker::Assistant => messages.push(assistant_message(turn)),
            }
        }
        let tools = source.tools.iter().map(tool_value).collect();
        writing::request([("messages", messages.into()), ("tools", writing::unless_empty(tools))])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, messages) = reading::open(root, &["messages"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            if let Some(functions) = body.get("functions")? {
                return Err(functions.fault("`functions` is deprecated and not supported; use `tools`"));
            }
            if let Some(tools) = body.get("tools")? {
                builder.tools = tools.items()?.iter().map(read_tool).collect::<Result<_, _>>()?;
            }
        }
        for message in messages.items()? {
            read_message(&message, &mut builder)?;
        }
        Ok(builder)
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::openai_chat(reply)
    }
}

fn tool_value(tool: &Tool) -> Value {
    let mut function = dict! {"name": tool.name};
    if let Some(description) = tool.description {
        set(&mut function, "description", description.into());
    }
    if let Some(parameters) = tool.parameters {
        set(&mut function, "parameters", parameters.clone().into());
    }
    carry(tool.fields, &mut function, &[STRICT]);
    dict! {"type": "function", "function": function}
}

fn tool_message(part: &Part) -> Option<Value> {
    let Part::Result(result) = part else { return None };
    Some(dict! {"role": "tool", "tool_call_id": result.call_id, "content": result.content})
}

fn message(role: &str, content: Vec<Value>) -> Value {
    dict! {"role": role, "content": single_text(content)}
}

/// A single text as a string; otherwise the list of parts.
fn single_text(content: Vec<Value>) -> Value {
    match content.as_slice() {
        [part] if part["type"] == "text" => part["text"].clone(),
        _ => content.into(),
    }
}

fn user_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(stored::text(text.text)),
        Part::Media(media) => Some(media_part(media)),
        _ => None,
    }
}

fn media_part(media: &Media) -> Value {
    match (media.sound(), media.origin) {
        (Some(format), Origin::Data(data)) => {
            dict! {"type": "input_audio", "input_audio": dict! {"data": data, "format": format}}
        }
        _ if media.kind == MediaKind::Pdf => {
            let name = media.fields.get("filename").and_then(Value::as_str).unwrap_or(UNNAMED_PDF);
            dict! {"type": "file", "file": dict! {"filename": name, "file_data": media.url()}}
        }
        _ => {
            let mut image = dict! {"url": media.url()};
            carry(media.fields, &mut image, &[DETAIL]);
            dict! {"type": "image_url", "image_url": image}
        }
    }
}

/// Texts come before the calls, regardless of their order in the message.
fn assistant_message(turn: &Turn) -> Value {
    let (mut content, mut calls) = (Vec::new(), Vec::new());
    for part in &turn.parts {
        match part {
            Part::Text(text) => content.push(stored::text(text.text)),
            Part::Call(call) => calls.push(dict! {
                "id": call.call_id,
                "type": "function",
                "function": dict! {"name": call.name, "arguments": call.arguments},
            }),
            // The format has no field for these.
            Part::Media(_) | Part::Thinking(_) | Part::RedactedThinking { .. } | Part::Result(_) => {}
        }
    }
    let is_calls_alone = content.is_empty() && !calls.is_empty();
    let content = if is_calls_alone { Value::Null } else { single_text(content) };
    let mut message = dict! {"role": "assistant", "content": content};
    if !calls.is_empty() {
        set(&mut message, "tool_calls", calls.into());
    }
    message
}

fn read_tool(tool: &Field) -> Result<Value, ShapeError> {
    match tool.required_string("type")? {
        "function" => {}
        other => return Err(tool.unknown("type", other)),
    }
    let function = tool.required("function")?;
    let parameters = function.get("parameters")?.map(|field| field.object()).transpose()?;
    let mut part =
        stored::tool(function.required_string("name")?, function.optional_string("description")?, parameters);
    carry_back(function.object()?, &mut part, &[STRICT]);
    Ok(part)
}

fn read_message(message: &Field, builder: &mut ConversationBuilder) -> Result<(), ShapeError> {
    let content = message.get("content")?;
    match message.required_string("role")? {
        "system" | "developer" => builder.push_system(reading::content(content, read_text)?),
        "user" => builder.push("user", reading::content(content, read_user_part)?),
        "assistant" => {
            let parts = read_assistant(message)?;
            builder.push("assistant", parts);
        }
        "tool" => {
            let parts = reading::content(Some(message.required("content")?), read_text)?;
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            let result = stored::result(message.required_string("tool_call_id")?, &texts.join("\n"), false);
            builder.join("tool_result", vec![result]);
        }
        "function" => {
            let hint = "the role \"function\" is deprecated and not supported; use \"tool\" with the id of the call";
            return Err(message.fault_at("role", hint));
        }
        other => {
            let hint = format!("{other:?} is not supported; use system, developer, user, assistant or tool");
            return Err(message.fault_at("role", hint));
        }
    }
    Ok(())
}

fn read_text(part: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    match part.required_string("type")? {
        "text" => parts.push(stored::text(part.required_string("text")?)),
        "refusal" => parts.push(stored::text(part.required_string("refusal")?)),
        other => return Err(part.unknown("type", other)),
    }
    Ok(())
}

fn read_user_part(part: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    match part.required_string("type")? {
        "image_url" => {
            let image = part.required("image_url")?;
            let url = image.required("url")?;
            let source = media::source_of_url(url.string()?)
                .ok_or_else(|| url.fault("expected a URL, or a data: URL in base64"))?;
            let mut image_part = dict! {"type": "image", "source": source};
            carry_back(image.object()?, &mut image_part, &[DETAIL]);
            parts.push(image_part);
        }
        "input_audio" => {
            let audio = part.required("input_audio")?;
            let format = audio.required("format")?;
            let name = format.string()?;
            let media_type = media::type_of_sound(name).ok_or_else(|| format.fault("expected \"wav\" or \"mp3\""))?;
            let source = media::source_of_data(audio.required_string("data")?, media_type);
            parts.push(dict! {"type": "audio", "source": source});
        }
        "file" => parts.push(read_file(&part.required("file")?)?),
        _ => read_text(part, parts)?,
    }
    Ok(())
}

/// A file with its data: a document.
pub fn read_file(file: &Field) -> Result<Value, ShapeError> {
    let data = file.required("file_data")?;
    let source = media::source_of_url(data.string()?).filter(|source| source["media_type"] == PDF);
    let source = source.ok_or_else(|| data.fault("expected a PDF document as a data: URL in base64"))?;
    let mut part = dict! {"type": "pdf", "source": source};
    if let Some(name) = file.optional_string("filename")?.filter(|name| *name != UNNAMED_PDF) {
        set(&mut part, "filename", name.into());
    }
    Ok(part)
}

fn read_assistant(message: &Field) -> Result<Vec<Value>, ShapeError> {
    let mut parts = reading::content(message.get("content")?, read_text)?;
    if let Some(refusal) = message.optional_string("refusal")? {
        parts.push(stored::text(refusal));
    }
    if let Some(call) = message.get("function_call")? {
        return Err(call.fault("`function_call` is deprecated and not supported; use `tool_calls`"));
    }
    let Some(calls) = message.get("tool_calls")? else { return Ok(parts) };
    for call in calls.items()? {
        match call.required_string("type")? {
            "function" => {}
            other => return Err(call.unknown("type", other)),
        }
        let function = call.required("function")?;
        let (id, name) = (call.required_string("id")?, function.required_string("name")?);
        parts.push(stored::call(id, name, function.required_string("arguments")?));
    }
    Ok(parts)
}
