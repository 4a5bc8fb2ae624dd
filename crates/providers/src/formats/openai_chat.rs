//! OpenAI's Chat Completions: <https://platform.openai.com/docs/api-reference/chat/create>.

use serde_json::Value;

use crate::builder::ConversationBuilder;
use crate::carried::{Carried, carry, carry_back};
use crate::compose::{Around, Composed, Written};
use crate::dict::{dict, set};
use crate::entry::{Block, Entry, Section, Slot, Target, blocks};
use crate::field::Field;
use crate::format::{
    EmptyMessage, FirstTurn, Identifier, MediaFault, ProviderFormat, RequiredMessage, RequiredThinking, Requirements,
    ResultPlacement, is_word_character,
};
use crate::media::{self, Media, MediaKind, Origin, PDF};
use crate::part::{Role, Tool, has_text, is_redacted};
use crate::reply::{Reply, replies};
use crate::source::{Call, Part, Speaker};
use crate::{reading, stored, writing};
use peteos_conversation::OPAQUE;
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

/// A file must have a name; this one is used if there is none.
pub const UNNAMED_PDF: &str = "document.pdf";

const NAME: &str = "openai-chat";
/// The list of the parts of a message.
const CONTENT: Target = Target::List("content");
/// The list of its calls.
const CALLS: Target = Target::List("tool_calls");

/// The fields in which other servers with this API send the reasoning of a model, and expect it back.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];
/// The name of that field in a stored part.
const REASONING_FIELD: &str = "reasoning_field";

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
    has_result_media: false,
    refuses_trailing_thinking: false,
    required_thinking: RequiredThinking::None,
};

impl ProviderFormat for OpenAiChat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn requirements(&self) -> &'static Requirements {
        &REQUIREMENTS
    }

    /// The format itself has no field for thinking. Servers that have one get theirs back.
    fn accepts_thinking(&self, fields: &Object) -> bool {
        !is_redacted(fields) && has_text(fields, REASONING_FIELD)
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

    fn shell(&self, speaker: Speaker) -> Object {
        let shell = match speaker {
            Speaker::Assistant => dict! {"role": "assistant", "content": Value::Null},
            Speaker::Prompt | Speaker::System => dict! {"role": "system"},
            _ => dict! {"role": "user"},
        };
        writing::object(shell)
    }

    fn block(&self, part: &Part<'_>, around: Around) -> Option<Block> {
        let (target, value) = match part {
            Part::Text(text) => (CONTENT, stored::text(text.text)),
            Part::Media(media) => (CONTENT, media_part(media)),
            Part::Call(call) => (CALLS, call_value(call)),
            Part::Thinking(thinking) => {
                let field = thinking.fields.get(REASONING_FIELD)?.as_str()?;
                let value = Object::from_iter([(field.to_owned(), thinking.text.into())]);
                (Target::Fields, value.into())
            }
            Part::Result(result) => {
                let content = result.content.joined();
                return Some(Block::whole(dict! {"role": "tool", "tool_call_id": result.call_id, "content": content}));
            }
            Part::RedactedThinking { .. } | Part::Definition(_) | Part::Kept(_) => return None,
        };
        Some(Block { shell: self.shell(around.speaker), target, value })
    }

    fn definition(&self, tool: &Tool<'_>) -> Block {
        let mut function = dict! {"name": tool.name};
        if let Some(description) = tool.description {
            set(&mut function, "description", description.into());
        }
        if let Some(parameters) = tool.parameters {
            set(&mut function, "parameters", parameters.clone().into());
        }
        carry(tool.fields, &mut function, &[STRICT]);
        Block::whole(dict! {"type": "function", "function": function})
    }

    fn empty_entry(&self, speaker: Speaker) -> Value {
        let mut entry = Value::Object(self.shell(speaker));
        set(&mut entry, "content", Vec::<Value>::new().into());
        entry
    }

    /// A single text is a string.
    fn finish(&self, _: Speaker, entry: Object) -> Value {
        writing::with_single_text(entry, "text")
    }

    fn write(&self, composed: Composed) -> Object {
        let messages: Vec<Written> = composed.system.into_iter().chain(composed.messages).collect();
        writing::request([
            ("messages", writing::values(messages).into()),
            ("tools", writing::unless_empty(writing::values(composed.tools))),
        ])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, messages) = reading::open(root, &["messages"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            if let Some(functions) = body.get("functions")? {
                return Err(functions.fault("`functions` is deprecated and not supported; use `tools`"));
            }
            for tool in body.get("tools")?.map(|tools| tools.items()).transpose()?.unwrap_or_default() {
                builder.add_special(Section::Tools, &tool, self.read_entry(Section::Tools, &tool)?)?;
            }
        }
        for message in messages.items()? {
            builder.add(&message, self.read_entry(Section::Messages, &message)?, true)?;
        }
        Ok(builder)
    }

    fn read_entry(&self, section: Section, entry: &Field<'_>) -> Result<Entry, ShapeError> {
        match section {
            Section::Messages | Section::System => read_message(entry),
            Section::Tools => Ok(Entry::whole("tool", read_tool(entry)?)),
        }
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::openai_chat(reply)
    }
}

fn call_value(call: &Call) -> Value {
    dict! {
        "id": call.call_id,
        "type": "function",
        "function": dict! {"name": call.name, "arguments": call.arguments},
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

fn read_tool(tool: &Field) -> Result<Value, ShapeError> {
    if tool.optional_string("type")?.is_some_and(|kind| kind != "function") {
        return Ok(stored::opaque(NAME, Target::Whole, tool.value));
    }
    let function = tool.required("function")?;
    let parameters = function.get("parameters")?.map(|field| field.object()).transpose()?;
    let mut part =
        stored::tool(function.required_string("name")?, function.optional_string("description")?, parameters);
    carry_back(function.object()?, &mut part, &[STRICT]);
    Ok(part)
}

fn read_message(message: &Field) -> Result<Entry, ShapeError> {
    let role = match message.required_string("role")? {
        "system" | "developer" => "system",
        "user" => "user",
        "assistant" => return Ok(Entry::message("assistant", read_assistant(message)?)),
        kind @ ("tool" | "function") => {
            // The deprecated role has the name of the function, and no id.
            let id = if kind == "tool" { message.required_string("tool_call_id")? } else { "" };
            let field = message.get("content")?;
            if kind == "tool" && field.is_none() {
                message.required("content")?;
            }
            let mut result = stored::result_of_parts(id, reading::content(field, read_result_part)?, false);
            if kind == "function" {
                set(&mut result, "name", message.required_string("name")?.into());
            }
            return Ok(Entry::whole("tool_result", result));
        }
        other => {
            let hint = format!("{other:?} is not supported; use system, developer, user, assistant or tool");
            return Err(message.fault_at("role", hint));
        }
    };
    Ok(Entry::message(role, blocks(message, "content", read_part)?))
}

fn read_part(part: &Field) -> Result<Value, ShapeError> {
    let media = match part.required_string("type")? {
        "text" => return Ok(stored::text(part.required_string("text")?)),
        "refusal" => return Ok(stored::text(part.required_string("refusal")?)),
        "image_url" => {
            let image = part.required("image_url")?;
            media::source_of_url(image.required_string("url")?).map(|source| {
                let mut image_part = dict! {"type": "image", "source": source};
                if let Value::Object(fields) = image.value {
                    carry_back(fields, &mut image_part, &[DETAIL]);
                }
                image_part
            })
        }
        "input_audio" => {
            let audio = part.required("input_audio")?;
            let data = audio.required_string("data")?;
            media::type_of_sound(audio.required_string("format")?)
                .map(|media_type| dict! {"type": "audio", "source": media::source_of_data(data, media_type)})
        }
        "file" => read_file(&part.required("file")?)?,
        _ => None,
    };
    Ok(media.unwrap_or_else(|| stored::opaque(NAME, CONTENT, part.value)))
}

/// A part that a result of the model cannot hold is its JSON.
fn read_result_part(part: &Field) -> Result<Value, ShapeError> {
    let read = read_part(part)?;
    Ok(if read["type"] == OPAQUE { stored::text(&part.value.to_string()) } else { read })
}

/// A file with its data, if that is a PDF document.
pub fn read_file(file: &Field) -> Result<Option<Value>, ShapeError> {
    let Some(data) = file.optional_string("file_data")? else { return Ok(None) };
    let Some(source) = media::source_of_url(data).filter(|source| source["media_type"] == PDF) else {
        return Ok(None);
    };
    let mut part = dict! {"type": "pdf", "source": source};
    if let Some(name) = file.optional_string("filename")?.filter(|name| *name != UNNAMED_PDF) {
        set(&mut part, "filename", name.into());
    }
    Ok(Some(part))
}

fn read_assistant(message: &Field) -> Result<Vec<(Slot, Value)>, ShapeError> {
    let mut parts = Vec::new();
    if let Some(thinking) = read_reasoning(message)? {
        parts.push((Slot::Fields(&REASONING), thinking));
    }
    parts.extend(blocks(message, "content", read_part)?);
    if let Some(refusal) = message.optional_string("refusal")? {
        parts.push((Slot::Fields(&["refusal"]), stored::text(refusal)));
    }
    if let Some(audio) = message.get("audio")? {
        // What was said, for other providers; this one needs the id.
        let part = match audio.optional_string("transcript")? {
            Some(transcript) => stored::text(transcript),
            None => stored::opaque(NAME, Target::Fields, &dict! {"audio": audio.value.clone()}),
        };
        parts.push((Slot::Fields(&["audio"]), part));
    }
    if let Some(call) = message.get("function_call")? {
        let call = stored::call("", call.required_string("name")?, call.required_string("arguments")?);
        parts.push((Slot::Fields(&["function_call"]), call));
    }
    parts.extend(blocks(message, "tool_calls", read_call)?);
    Ok(parts)
}

/// The reasoning of a message in the fields that other servers with this API use, as one part.
fn read_reasoning(message: &Field) -> Result<Option<Value>, ShapeError> {
    let given = REASONING.into_iter().filter_map(|name| message.get(name).transpose());
    let given = given.collect::<Result<Vec<Field>, ShapeError>>()?;
    if given.is_empty() {
        return Ok(None);
    }
    let text = given.iter().find_map(|field| field.value.as_str().map(str::to_owned));
    let texts = || {
        let details = given.iter().filter_map(|field| field.value.as_array()).flatten();
        let texts = details.filter_map(|detail| detail.get("text").or_else(|| detail.get("summary"))?.as_str());
        texts.collect::<Vec<&str>>().join("\n")
    };
    let mut part = dict! {"type": "thinking", "text": text.unwrap_or_else(texts)};
    if let [Field { value: Value::String(_), .. }] = given.as_slice() {
        let name = REASONING.into_iter().find(|name| message.value.get(*name).is_some_and(Value::is_string));
        set(&mut part, REASONING_FIELD, name.into());
    }
    Ok(Some(part))
}

fn read_call(call: &Field) -> Result<Value, ShapeError> {
    let id = call.required_string("id")?;
    if let Some(custom) = call.get("custom")? {
        // Its input is any text.
        let input = dict! {"input": custom.required_string("input")?};
        return Ok(stored::call(id, custom.required_string("name")?, &input.to_string()));
    }
    if call.optional_string("type")?.is_some_and(|kind| kind != "function") {
        return Ok(stored::opaque(NAME, CALLS, call.value));
    }
    let function = call.required("function")?;
    Ok(stored::call(id, function.required_string("name")?, function.required_string("arguments")?))
}
