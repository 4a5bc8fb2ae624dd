//! `ModelMessage` of the AI SDK: <https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message>.

use serde_json::Value;

use crate::builder::ConversationBuilder;
use crate::carried::{Carried, carry, carry_back};
use crate::compose::{Around, Composed};
use crate::dict::{dict, set};
use crate::entry::{Block, Entry, Section, Slot, Target, blocks};
use crate::field::Field;
use crate::format::{
    EmptyMessage, FirstTurn, MediaFault, ProviderFormat, RequiredMessage, RequiredThinking, Requirements,
    ResultPlacement,
};
use crate::media::{self, Media, MediaKind, Origin};
use crate::part::{Role, Tool, is_redacted};
use crate::reply::{Reply, replies};
use crate::source::{Part, ResultContent, ResultPart, Speaker, ToolResult};
use crate::{reading, stored, writing};
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

const NAME: &str = "ai-sdk";
/// The list of the parts of a message.
const CONTENT: Target = Target::List("content");

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
    has_result_media: true,
    refuses_trailing_thinking: false,
    required_thinking: RequiredThinking::None,
};

impl ProviderFormat for AiSdk {
    fn name(&self) -> &'static str {
        NAME
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

    fn shell(&self, speaker: Speaker) -> Object {
        let role = match speaker {
            Speaker::Prompt | Speaker::System => "system",
            Speaker::Assistant => "assistant",
            Speaker::Tools => "tool",
            _ => "user",
        };
        writing::object(dict! {"role": role})
    }

    fn block(&self, part: &Part<'_>, around: Around) -> Option<Block> {
        let value = part_value(part, around.speaker)?;
        Some(match around.speaker {
            Speaker::Prompt if !around.in_kept_entry => Block::whole(value["text"].clone()),
            speaker => Block { shell: self.shell(speaker), target: CONTENT, value },
        })
    }

    fn definition(&self, tool: &Tool<'_>) -> Block {
        let mut value = Value::Object(Object::new());
        if let Some(description) = tool.description {
            set(&mut value, "description", description.into());
        }
        set(&mut value, "inputSchema", writing::object_schema(tool));
        Block::whole(Object::from_iter([(tool.name.to_owned(), value)]).into())
    }

    fn empty_entry(&self, speaker: Speaker) -> Value {
        let mut entry = self.shell(speaker);
        entry.insert("content".to_owned(), Vec::<Value>::new().into());
        self.finish(speaker, entry)
    }

    /// The content of a system message is a text.
    fn finish(&self, _: Speaker, mut entry: Object) -> Value {
        let is_system = entry.get("role").is_some_and(|role| role == "system");
        if let (true, Some(Value::Array(parts))) = (is_system, entry.get("content")) {
            let text = writing::joined(parts.iter().filter_map(|part| part["text"].as_str()));
            entry.insert("content".to_owned(), text.into());
        }
        entry.into()
    }

    fn write(&self, composed: Composed) -> Object {
        let (prompt, first) = composed.system.into_iter().partition(|written| written.value.is_string());
        let messages: Vec<Value> =
            writing::values(first).into_iter().chain(writing::values(composed.messages)).collect();
        let system = match writing::values(prompt).as_slice() {
            [] => Value::Null,
            texts => writing::joined(texts.iter().filter_map(Value::as_str)).into(),
        };
        let mut tools = Object::new();
        for tool in writing::values(composed.tools) {
            tools.extend(writing::object(tool));
        }
        let tools = if tools.is_empty() { Value::Null } else { tools.into() };
        writing::request([("system", system), ("messages", messages.into()), ("tools", tools)])
    }

    /// `jsonSchema()` returns an object with the schema in a field.
    fn renamed(&self, mut root: Value) -> Value {
        let tools = root.get_mut("tools").and_then(Value::as_object_mut);
        for tool in tools.into_iter().flat_map(Object::values_mut) {
            if let Some(schema) = tool.get_mut("inputSchema").filter(|schema| schema["jsonSchema"].is_object()) {
                *schema = schema["jsonSchema"].take();
            }
        }
        root
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, messages) = reading::open(root, &["messages", "prompt"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            for key in ["system", "instructions"] {
                for entry in body.get(key)?.map(reading::one_or_more).transpose()?.unwrap_or_default() {
                    builder.add_special(Section::System, &entry, self.read_entry(Section::System, &entry)?)?;
                }
            }
            if let Some(tools) = body.get("tools")? {
                for (name, tool) in tools.object()? {
                    let entry = Value::Object(Object::from_iter([(name.clone(), tool.clone())]));
                    let entry = tools.with(&entry);
                    builder.add_special(Section::Tools, &entry, self.read_entry(Section::Tools, &entry)?)?;
                }
            }
        }
        if let Value::String(text) = messages.value {
            let message = dict! {"role": "user", "content": text.as_str()};
            let message = messages.with(&message);
            builder.add(&message, self.read_entry(Section::Messages, &message)?, true)?;
            return Ok(builder);
        }
        for message in messages.items()? {
            builder.add(&message, self.read_entry(Section::Messages, &message)?, true)?;
        }
        builder.decide_approvals();
        Ok(builder)
    }

    fn read_entry(&self, section: Section, entry: &Field<'_>) -> Result<Entry, ShapeError> {
        match (section, entry.value) {
            (Section::System, Value::String(text)) => return Ok(Entry::whole("system", stored::text(text))),
            (Section::System, _) => {
                let text = stored::text(entry.required_string("content")?);
                return Ok(Entry::message("system", vec![(Slot::Item("content", 0), text)]));
            }
            (Section::Tools, _) => {
                let Some(name) = entry.object()?.keys().next() else { return Ok(Entry::message("tool", Vec::new())) };
                return Ok(Entry::whole("tool", read_tool(name, entry)?));
            }
            (Section::Messages, _) => {}
        }
        entry.required("content")?;
        let role = match entry.required_string("role")? {
            "system" => {
                // Its content is a text. In what was kept, the text may have been left out.
                if !entry.value["content"].is_array() {
                    entry.required_string("content")?;
                }
                "system"
            }
            "user" => "user",
            "assistant" => "assistant",
            "tool" => "tool_result",
            other => {
                let hint = format!("{other:?} is not supported; use system, user, assistant or tool");
                return Err(entry.fault_at("role", hint));
            }
        };
        Ok(Entry::message(role, blocks(entry, "content", read_part)?))
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::ai_sdk(reply)
    }
}

fn part_value(part: &Part, speaker: Speaker) -> Option<Value> {
    let (mut value, fields) = match part {
        Part::Text(text) => (stored::text(text.text), text.fields),
        Part::Thinking(text) => (dict! {"type": "reasoning", "text": text.text}, text.fields),
        Part::Media(media) => (media_value(media, speaker), media.fields),
        Part::Call(call) => {
            let mut value = dict! {"type": "tool-call", "toolCallId": call.call_id, "toolName": call.name};
            set(&mut value, "input", call.input.clone().into());
            (value, call.fields)
        }
        Part::Result(result) => {
            let mut value = dict! {"type": "tool-result", "toolCallId": result.call_id, "toolName": result.name};
            set(&mut value, "output", output(result));
            (value, result.fields)
        }
        Part::RedactedThinking { .. } | Part::Definition(_) | Part::Kept(_) => return None,
    };
    carry(fields, &mut value, &[OPTIONS]);
    Some(value)
}

fn output(result: &ToolResult) -> Value {
    match &result.content {
        ResultContent::Parts(parts) if !result.is_error => {
            dict! {"type": "content", "value": parts.iter().map(result_part).collect::<Vec<Value>>()}
        }
        content => {
            let kind = if result.is_error { "error-text" } else { "text" };
            dict! {"type": kind, "value": content.joined()}
        }
    }
}

fn result_part(part: &ResultPart) -> Value {
    let media = match part {
        ResultPart::Text(text) => return stored::text(text.text),
        ResultPart::Media(media) => media,
    };
    let (kind, key, value) = match (media.kind == MediaKind::Image, media.origin) {
        (true, Origin::Data(data)) => ("image-data", "data", data),
        (true, Origin::Url(url)) => ("image-url", "url", url),
        (false, Origin::Data(data)) => ("file-data", "data", data),
        (false, Origin::Url(url)) => ("file-url", "url", url),
    };
    let mut part = dict! {"type": kind};
    set(&mut part, key, value.into());
    // Addresses have no type in this format.
    if let Origin::Data(_) = media.origin {
        set(&mut part, "mediaType", media.media_type.into());
    }
    part
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

fn read_tool(name: &str, tools: &Field) -> Result<Value, ShapeError> {
    let Some((key, _)) = tools.object()?.get_key_value(name) else { return Err(tools.wrong("an object")) };
    let tool = tools.required(key)?;
    if tool.optional_string("type")?.is_some_and(|kind| kind != "function" && kind != "dynamic") {
        return Ok(stored::opaque(NAME, Target::Whole, tools.value));
    }
    let schema = tool.required("inputSchema")?;
    Ok(stored::tool(name, tool.optional_string("description")?, Some(schema.object()?)))
}

fn read_part(part: &Field) -> Result<Value, ShapeError> {
    let kind = part.required_string("type")?;
    let read = match kind {
        "text" => Some(stored::text(part.required_string("text")?)),
        "reasoning" => Some(dict! {"type": "thinking", "text": part.required_string("text")?}),
        "image" => {
            let media_type = part.get("mediaType")?;
            read_media(&part.required("image")?, media_type.as_ref(), Some(MediaKind::Image))?
        }
        "file" => {
            let media_type = part.required("mediaType")?;
            let file = read_media(&part.required("data")?, Some(&media_type), None)?;
            file.map(|mut file| {
                if let Value::Object(fields) = part.value {
                    carry_back(fields, &mut file, &[FILENAME]);
                }
                file
            })
        }
        "tool-call" => {
            let arguments = part.required("input")?.value.to_string();
            Some(stored::call(part.required_string("toolCallId")?, part.required_string("toolName")?, &arguments))
        }
        "tool-result" => {
            let mut result = read_result(part)?;
            set(&mut result, "name", part.required_string("toolName")?.into());
            Some(result)
        }
        _ => None,
    };
    let Some(mut read) = read else { return Ok(stored::opaque(NAME, CONTENT, part.value)) };
    carry_back(part.object()?, &mut read, &[OPTIONS]);
    Ok(read)
}

/// Media as base64 data or as a URL, which may be a `data:` URL; `None` if it is a file of another kind or elsewhere.
fn read_media(data: &Field, media_type: Option<&Field>, only: Option<MediaKind>) -> Result<Option<Value>, ShapeError> {
    // Version 7 tells data, addresses, texts and references of a provider apart.
    let data = if data.value.is_object() {
        match data.required_string("type")? {
            "url" => data.required("url")?,
            "data" => data.required("data")?,
            _ => return Ok(None),
        }
    } else {
        data.clone()
    };
    let text = data.string()?;
    let stated = media_type.map(|field| field.string()).transpose()?;
    // A type without a subtype, such as `image`, leaves the rest to the SDK.
    let exact = stated.filter(|stated| stated.contains('/') && !stated.ends_with("/*"));
    let source = if text.contains(':') {
        let Some(mut source) = media::source_of_url(text) else {
            return Err(data.fault("expected a URL, or a data: URL in base64"));
        };
        if let Some(exact) = exact.filter(|_| source["type"] == "url") {
            set(&mut source, "media_type", exact.into());
        }
        source
    } else {
        match exact.or_else(|| image_type(text)) {
            Some(media_type) => media::source_of_data(text, media_type),
            None if stated.is_none() => return Err(data.fault("`mediaType` is missing beside it")),
            None => return Ok(None),
        }
    };
    let of_top_level = || MediaKind::of_type(stated.unwrap_or_default());
    let kind = match source["media_type"].as_str() {
        Some(media_type) => MediaKind::of_type(media_type),
        None => only.or_else(of_top_level),
    };
    let kind = kind.filter(|kind| only.is_none_or(|only| only == *kind));
    Ok(kind.map(|kind| dict! {"type": kind.name(), "source": source}))
}

/// The media type of an image, recognised by the beginning of its data.
fn image_type(data: &str) -> Option<&'static str> {
    const BEGINNINGS: [(&str, &str); 4] =
        [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];
    BEGINNINGS.into_iter().find(|(beginning, _)| data.starts_with(beginning)).map(|(_, media_type)| media_type)
}

fn read_result(part: &Field) -> Result<Value, ShapeError> {
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
            return Ok(result);
        }
        "content" => {
            let content = output.required("value")?.items()?.iter().map(read_result_part).collect::<Result<_, _>>()?;
            return Ok(stored::result_of_parts(id, content, false));
        }
        // A kind of a later version.
        _ => (output.value.to_string(), false),
    };
    Ok(stored::result(id, &content, is_error))
}

/// A part that a result of the model cannot hold is its JSON.
fn read_result_part(item: &Field) -> Result<Value, ShapeError> {
    let media_type = item.get("mediaType")?;
    let image = Some(MediaKind::Image);
    let part = match item.required_string("type")? {
        "text" => Some(stored::text(item.required_string("text")?)),
        "media" | "file-data" | "file" => read_media(&item.required("data")?, media_type.as_ref(), None)?,
        "image-data" => read_media(&item.required("data")?, media_type.as_ref(), image)?,
        "file-url" => read_media(&item.required("url")?, media_type.as_ref(), None)?,
        "image-url" => read_media(&item.required("url")?, media_type.as_ref(), image)?,
        _ => None,
    };
    Ok(part.unwrap_or_else(|| stored::text(&item.value.to_string())))
}
