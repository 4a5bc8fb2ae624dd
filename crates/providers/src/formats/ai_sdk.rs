//! `ModelMessage` of the AI SDK: <https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message>.

use serde_json::Value;

use crate::builder::ConversationBuilder;
use crate::carried::{Carried, carry, carry_back};
use crate::dict::{dict, set};
use crate::field::Field;
use crate::format::{
    EmptyMessage, FirstTurn, MediaFault, ProviderFormat, RequiredMessage, RequiredThinking, Requirements,
    ResultPlacement,
};
use crate::media::{self, Media, MediaKind, Origin};
use crate::part::{Role, is_redacted};
use crate::reply::{Reply, replies};
use crate::source::{Part, Source, Speaker, Turn};
use crate::{reading, stored, writing};
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

/// Data that providers need back, by the name of the provider.
const OPTIONS: Carried = ("provider_options", "providerOptions", is_options);
const FILENAME: Carried = ("filename", "filename", Value::is_string);

fn is_options(value: &Value) -> bool {
    value.as_object().is_some_and(|options| options.values().all(Value::is_object))
}

/// `ModelMessage` of the AI SDK, which speaks to many providers.
pub struct AiSdk;

const REQUIREMENTS: Requirements = Requirements {
    is_checkable: false,
    message: RequiredMessage::Any,
    first_turn: FirstTurn::Any,
    refuses_calls_after_assistant: false,
    lifts_system_messages: false,
    skips_empty_messages: false,
    empty_message: EmptyMessage::Accepted,
    refuses_trailing_whitespace: false,
    results: ResultPlacement::NextMessages,
    has_unique_call_ids: true,
    call_ids: None,
    tool_names: None,
    has_argument_objects: true,
    has_result_names: true,
    refuses_trailing_thinking: false,
    required_thinking: RequiredThinking::None,
};

impl ProviderFormat for AiSdk {
    fn name(&self) -> &'static str {
        "ai-sdk"
    }

    fn requirements(&self) -> &'static Requirements {
        &REQUIREMENTS
    }

    fn accepts_thinking(&self, fields: &Object) -> bool {
        !is_redacted(fields)
    }

    /// The SDK reads a string with a colon as a URL, and one without as data:
    /// <https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message>.
    fn media_fault(&self, _: Role, media: &Media) -> Option<MediaFault> {
        match media.origin {
            Origin::Data(data) if data.contains(':') => MediaFault::at("source.data", "expected base64"),
            Origin::Url(url) if !url.contains(':') => MediaFault::at("source.url", "expected an absolute URL"),
            _ => None,
        }
    }

    fn write(&self, source: Source<'_>) -> Object {
        let mut messages = Vec::new();
        for turn in source.turns {
            let role = match turn.speaker {
                Speaker::System => {
                    messages.push(
                        dict! {"role": "system", "content": writing::joined(writing::system_texts(&turn).into_iter())},
                    );
                    continue;
                }
                Speaker::Assistant => "assistant",
                Speaker::Tools => "tool",
                Speaker::User => "user",
            };
            messages.push(dict! {"role": role, "content": turn_content(turn)});
        }
        let mut tools = Object::new();
        for tool in &source.tools {
            let mut value = Object::new();
            if let Some(description) = tool.description {
                value.insert("description".to_owned(), description.into());
            }
            value.insert("inputSchema".to_owned(), writing::object_schema(tool));
            tools.insert(tool.name.to_owned(), value.into());
        }
        let tools = if tools.is_empty() { Value::Null } else { tools.into() };
        writing::request([
            ("system", writing::one_system_text(&source.system)),
            ("messages", messages.into()),
            ("tools", tools),
        ])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, messages) = reading::open(root, &["messages", "prompt"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            for key in ["system", "instructions"] {
                if let Some(system) = body.get(key)? {
                    read_system(&system, &mut builder)?;
                }
            }
            if let Some(tools) = body.get("tools")? {
                for name in tools.object()?.keys() {
                    builder.tools.push(read_tool(name, &tools.required(name)?)?);
                }
            }
        }
        if let Value::String(text) = messages.value {
            builder.push("user", vec![stored::text(text)]);
            return Ok(builder);
        }
        for message in messages.items()? {
            let content = message.required("content")?;
            match message.required_string("role")? {
                "system" => builder.push_system(vec![stored::text(content.string()?)]),
                "user" => builder.push("user", reading::content(Some(content), read_part)?),
                "assistant" => builder.push("assistant", reading::content(Some(content), read_part)?),
                "tool" => builder.push("tool_result", reading::content(Some(content), read_part)?),
                other => {
                    let hint = format!("{other:?} is not supported; use system, user, assistant or tool");
                    return Err(message.fault_at("role", hint));
                }
            }
        }
        Ok(builder)
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::ai_sdk(reply)
    }
}

fn turn_content(turn: Turn) -> Vec<Value> {
    let mut content = Vec::new();
    for part in turn.parts {
        let (mut value, fields) = match part {
            Part::Text(text) => (stored::text(text.text), text.fields),
            Part::Thinking(text) => (dict! {"type": "reasoning", "text": text.text}, text.fields),
            Part::RedactedThinking { .. } => continue,
            Part::Media(media) => (media_value(&media, turn.speaker), media.fields),
            Part::Call(call) => {
                let (id, name) = (call.call_id, call.name);
                (dict! {"type": "tool-call", "toolCallId": id, "toolName": name, "input": call.input}, call.fields)
            }
            Part::Result(result) => {
                let kind = if result.is_error { "error-text" } else { "text" };
                let output = dict! {"type": kind, "value": result.content};
                let (id, name) = (result.call_id, result.name);
                (dict! {"type": "tool-result", "toolCallId": id, "toolName": name, "output": output}, result.fields)
            }
        };
        carry(fields, &mut value, &[OPTIONS]);
        content.push(value);
    }
    content
}

/// Images of the user have a type of their own; all other media are files.
fn media_value(media: &Media, speaker: Speaker) -> Value {
    let (Origin::Data(data) | Origin::Url(data)) = media.origin;
    let media_type = media.media_type;
    if media.kind == MediaKind::Image && speaker == Speaker::User {
        return dict! {"type": "image", "image": data, "mediaType": media_type};
    }
    let mut file = dict! {"type": "file", "data": data, "mediaType": media_type};
    carry(media.fields, &mut file, &[FILENAME]);
    file
}

fn read_system(system: &Field, builder: &mut ConversationBuilder) -> Result<(), ShapeError> {
    match system.value {
        Value::String(text) => builder.system.push(stored::text(text)),
        Value::Array(_) => {
            for message in system.items()? {
                builder.system.push(stored::text(message.required_string("content")?));
            }
        }
        _ => builder.system.push(stored::text(system.required_string("content")?)),
    }
    Ok(())
}

fn read_tool(name: &str, tool: &Field) -> Result<Value, ShapeError> {
    if let Some(other) = tool.optional_string("type")?.filter(|kind| *kind != "function" && *kind != "dynamic") {
        return Err(tool.unknown("type", other));
    }
    let schema = tool.required("inputSchema")?;
    // `jsonSchema()` returns an object with the schema in a field.
    let schema = schema.get("jsonSchema")?.unwrap_or(schema);
    Ok(stored::tool(name, tool.optional_string("description")?, Some(schema.object()?)))
}

fn read_part(part: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
    let mut read = match part.required_string("type")? {
        "text" => stored::text(part.required_string("text")?),
        "reasoning" => dict! {"type": "thinking", "text": part.required_string("text")?},
        "image" => {
            let data = part.required("image")?;
            let media_type = part.get("mediaType")?;
            read_media(&data, media_type.as_ref(), Some(MediaKind::Image))?
        }
        "file" => {
            let media_type = part.required("mediaType")?;
            let mut file = read_media(&part.required("data")?, Some(&media_type), None)?;
            carry_back(part.object()?, &mut file, &[FILENAME]);
            file
        }
        "tool-call" => {
            let input = part.required("input")?;
            input.object()?;
            let arguments = input.value.to_string();
            stored::call(part.required_string("toolCallId")?, part.required_string("toolName")?, &arguments)
        }
        "tool-result" => {
            let mut result = read_result(part)?;
            if let Some(first) = result.first_mut() {
                set(first, "name", part.required_string("toolName")?.into());
                carry_back(part.object()?, first, &[OPTIONS]);
            }
            parts.extend(result);
            return Ok(());
        }
        other => return Err(part.unknown("type", other)),
    };
    carry_back(part.object()?, &mut read, &[OPTIONS]);
    parts.push(read);
    Ok(())
}

/// Media as base64 data or as a URL, which may be a data: URL.
fn read_media(data: &Field, media_type: Option<&Field>, only: Option<MediaKind>) -> Result<Value, ShapeError> {
    let text = data.string()?;
    let stated = media_type.map(|field| field.string()).transpose()?;
    let source = if text.contains(':') {
        let mut source =
            media::source_of_url(text).ok_or_else(|| data.fault("expected a URL, or a data: URL in base64"))?;
        if let Some(stated) = stated.filter(|_| source["type"] == "url") {
            set(&mut source, "media_type", stated.into());
        }
        source
    } else {
        let media_type = stated.or_else(|| image_type(text));
        media::source_of_data(text, media_type.ok_or_else(|| data.fault("`mediaType` is missing beside it"))?)
    };
    let kind = match source["media_type"].as_str() {
        Some(media_type) => MediaKind::of_type(media_type),
        None => only,
    };
    match kind.filter(|kind| only.is_none_or(|only| only == *kind)) {
        Some(kind) => Ok(dict! {"type": kind.name(), "source": source}),
        None => {
            let expected = if only.is_some() { "an image" } else { "an image, a video, audio or a PDF" };
            Err(media_type.unwrap_or(data).fault(format!("expected a media type of {expected}")))
        }
    }
}

/// The media type of an image, recognised by the beginning of its data.
fn image_type(data: &str) -> Option<&'static str> {
    const BEGINNINGS: [(&str, &str); 4] =
        [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];
    BEGINNINGS.into_iter().find(|(beginning, _)| data.starts_with(beginning)).map(|(_, media_type)| media_type)
}

fn read_result(part: &Field) -> Result<Vec<Value>, ShapeError> {
    let id = part.required_string("toolCallId")?;
    let output = part.required("output")?;
    let (content, is_error) = match output.required_string("type")? {
        "text" => (output.required_string("value")?.to_owned(), false),
        "error-text" => (output.required_string("value")?.to_owned(), true),
        "json" => (output.object()?.get("value").unwrap_or(&Value::Null).to_string(), false),
        "error-json" => (output.object()?.get("value").unwrap_or(&Value::Null).to_string(), true),
        "execution-denied" => {
            let mut result = stored::result(id, output.optional_string("reason")?.unwrap_or("denied"), true);
            set(&mut result, "execution_status", "denied".into());
            return Ok(vec![result]);
        }
        "content" => {
            let mut content = Vec::new();
            for item in output.required("value")?.items()? {
                read_result_content(&item, &mut content)?;
            }
            return Ok(stored::result_of_parts(id, content, false));
        }
        other => return Err(output.unknown("type", other)),
    };
    Ok(vec![stored::result(id, &content, is_error)])
}

fn read_result_content(item: &Field, content: &mut Vec<Value>) -> Result<(), ShapeError> {
    let media_type = item.get("mediaType")?;
    let part = match item.required_string("type")? {
        "text" => stored::text(item.required_string("text")?),
        "media" | "file-data" => read_media(&item.required("data")?, media_type.as_ref(), None)?,
        "image-data" => read_media(&item.required("data")?, media_type.as_ref(), Some(MediaKind::Image))?,
        "file-url" => read_media(&item.required("url")?, media_type.as_ref(), None)?,
        "image-url" => read_media(&item.required("url")?, media_type.as_ref(), Some(MediaKind::Image))?,
        other => return Err(item.unknown("type", other)),
    };
    content.push(part);
    Ok(())
}
