//! Google's Gemini, `generateContent`: <https://ai.google.dev/api/generate-content>.

use serde_json::Value;

use super::{gemini_rest, gemini_schema};
use crate::builder::{ConversationBuilder, UNNAMED};
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
use crate::source::{Part, Speaker};
use crate::{reading, stored, writing};
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

const NAME: &str = "gemini";
/// The list of the parts of a content.
const PARTS: Target = Target::List("parts");
/// The list of the functions of a tool.
const FUNCTIONS: &str = "functionDeclarations";

/// The signature of thinking that the model needs back, on the part that it came with.
const SIGNATURE: [Carried; 1] = [("thought_signature", "thoughtSignature", Value::is_string)];

/// The keys that the API documents for the output of a function and for its error.
const OUTPUT: &str = "output";
const ERROR: &str = "error";

/// What the API accepts in place of a lost thought signature (<https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Google's Gemini, `generateContent`.
pub struct Gemini;

const REQUIREMENTS: Requirements = Requirements {
    is_checkable: true,
    message: RequiredMessage::Any,
    first_turn: FirstTurn::NotCalls,
    refuses_calls_after_assistant: true,
    lifts_system_messages: true,
    skips_empty_messages: false,
    empty_message: EmptyMessage::Refused,
    refuses_trailing_whitespace: false,
    results: ResultPlacement::NextTurn,
    has_unique_call_ids: false,
    call_ids: None,
    tool_names: Some(Identifier {
        longest: 128,
        accepts: |character| is_word_character(character) || matches!(character, '.' | ':'),
        fix: "Name the tool with 1 to 128 letters, digits, '_', '-', '.' and ':'.",
    }),
    has_argument_objects: true,
    has_result_names: true,
    has_result_media: true,
    refuses_trailing_thinking: false,
    required_thinking: RequiredThinking::OfStepSignatures { placeholder: NO_SIGNATURE },
};

impl ProviderFormat for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn requirements(&self) -> &'static Requirements {
        &REQUIREMENTS
    }

    /// Thinking requires a text or a signature.
    fn accepts_thinking(&self, fields: &Object) -> bool {
        !is_redacted(fields) && (has_text(fields, "text") || has_text(fields, SIGNATURE[0].0))
    }

    /// All media: <https://ai.google.dev/api/caching#Part>.
    fn media_fault(&self, _: Role, _: &Media) -> Option<MediaFault> {
        None
    }

    fn refuses_text(&self, text: &str, is_signed: bool) -> bool {
        text.is_empty() && !is_signed
    }

    /// A content without a role is one of the user.
    fn is_default(&self, key: &str, value: &Value) -> bool {
        key == "role" && value == "user"
    }

    fn shell(&self, speaker: Speaker) -> Object {
        match speaker {
            Speaker::Prompt | Speaker::Definitions => Object::new(),
            Speaker::Assistant => writing::object(dict! {"role": "model"}),
            _ => writing::object(dict! {"role": "user"}),
        }
    }

    fn block(&self, part: &Part<'_>, around: Around) -> Option<Block> {
        let value = match part {
            Part::Text(text) if around.speaker == Speaker::Prompt => dict! {"text": text.text},
            part => part_value(part)?,
        };
        Some(Block { shell: self.shell(around.speaker), target: PARTS, value })
    }

    /// `parametersJsonSchema` accepts all of JSON Schema, `parameters` only a part of OpenAPI's dialect.
    fn definition(&self, tool: &Tool<'_>) -> Block {
        let mut value = dict! {"name": tool.name};
        if let Some(description) = tool.description {
            set(&mut value, "description", description.into());
        }
        if let Some(parameters) = tool.parameters {
            set(&mut value, "parametersJsonSchema", parameters.clone().into());
        }
        Block { shell: Object::new(), target: Target::List(FUNCTIONS), value }
    }

    fn empty_entry(&self, speaker: Speaker) -> Value {
        let mut entry = Value::Object(self.shell(speaker));
        set(&mut entry, "parts", Vec::<Value>::new().into());
        entry
    }

    fn write(&self, composed: Composed) -> Object {
        // There is one instruction.
        let mut system = Object::new();
        for entry in writing::values(composed.system) {
            let Value::Object(mut entry) = entry else { continue };
            match (system.get_mut("parts"), entry.shift_remove("parts")) {
                (Some(Value::Array(parts)), Some(Value::Array(more))) => parts.extend(more),
                (_, parts) => {
                    system.extend(entry);
                    system.extend(parts.map(|parts| ("parts".to_owned(), parts)));
                }
            }
        }
        let system = if system.is_empty() { Value::Null } else { system.into() };
        writing::request([
            ("systemInstruction", system),
            ("contents", writing::values(composed.messages).into()),
            ("tools", writing::unless_empty(writing::values(composed.tools))),
        ])
    }

    fn renamed(&self, root: Value) -> Value {
        gemini_rest::renamed(root)
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, contents) = reading::open(root, &["contents"])?;
        let mut builder = ConversationBuilder::default();
        // The SDK nests the settings in `config`.
        let config = body.as_ref().map(|body| body.get("config")).transpose()?.flatten();
        for settings in body.iter().chain(&config) {
            for (section, key) in [(Section::System, "systemInstruction"), (Section::Tools, "tools")] {
                for entry in settings.get(key)?.map(reading::one_or_more).transpose()?.unwrap_or_default() {
                    builder.add_special(section, &entry, self.read_entry(section, &entry)?)?;
                }
            }
        }
        for content in contents.items()? {
            builder.add(&content, self.read_entry(Section::Messages, &content)?, false)?;
        }
        Ok(builder)
    }

    fn read_entry(&self, section: Section, entry: &Field<'_>) -> Result<Entry, ShapeError> {
        if section == Section::Tools {
            entry.object()?;
            return Ok(match entry.get(FUNCTIONS)? {
                Some(_) => Entry::message("tool", blocks(entry, FUNCTIONS, read_function)?),
                None => Entry::whole("tool", stored::opaque(NAME, Target::Whole, entry.value)),
            });
        }
        let blocks = blocks(entry, "parts", read_part)?;
        let role = match entry.optional_string("role")? {
            _ if section == Section::System => "system",
            Some("model") => "assistant",
            None | Some("user" | "function") if blocks.iter().any(|(_, part)| part["type"] == "tool_result") => {
                "tool_result"
            }
            None | Some("user" | "function") => "user",
            Some(other) => {
                let hint = format!("{other:?} is not supported; use user or model");
                return Err(entry.fault_at("role", hint));
            }
        };
        Ok(Entry::message(role, blocks))
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::gemini(reply)
    }
}

fn part_value(part: &Part) -> Option<Value> {
    let (mut value, fields) = match part {
        Part::Text(text) => (dict! {"text": text.text}, text.fields),
        Part::Thinking(text) => (dict! {"text": text.text, "thought": true}, text.fields),
        Part::Media(media) => (media_value(media), media.fields),
        Part::Call(call) => {
            let mut value = id(call.call_id);
            set(&mut value, "name", call.name.into());
            set(&mut value, "args", call.input.clone().into());
            (dict! {"functionCall": value}, call.fields)
        }
        Part::Result(result) => {
            let key = if result.is_error { ERROR } else { OUTPUT };
            let response = Object::from_iter([(key.to_owned(), result.content.joined().into())]);
            let mut value = id(result.call_id);
            set(&mut value, "name", result.name.into());
            set(&mut value, "response", response.into());
            let media: Vec<Value> = result.content.media().map(media_value).collect();
            if !media.is_empty() {
                set(&mut value, "parts", media.into());
            }
            (dict! {"functionResponse": value}, result.fields)
        }
        Part::RedactedThinking { .. } | Part::Definition(_) | Part::Kept(_) => return None,
    };
    carry(fields, &mut value, &SIGNATURE);
    Some(value)
}

/// An object with the id of a call, unless the API gave none.
fn id(call_id: &str) -> Value {
    if call_id.starts_with(UNNAMED) {
        dict! {}
    } else {
        dict! {"id": call_id}
    }
}

fn media_value(media: &Media) -> Value {
    match media.origin {
        Origin::Data(data) => dict! {"inlineData": dict! {"mimeType": media.media_type, "data": data}},
        Origin::Url(url) => dict! {"fileData": dict! {"mimeType": media.media_type, "fileUri": url}},
    }
}

fn read_function(function: &Field) -> Result<Value, ShapeError> {
    let schema = function.get("parametersJsonSchema")?.map(|schema| schema.object()).transpose()?;
    let open_api =
        function.get("parameters")?.map(|schema| schema.object()).transpose()?.map(gemini_schema::json_schema);
    let parameters = schema.or(open_api.as_ref());
    Ok(stored::tool(function.required_string("name")?, function.optional_string("description")?, parameters))
}

fn read_part(part: &Field) -> Result<Value, ShapeError> {
    let fields = part.object()?;
    let mut read = if let Some(call) = part.get("functionCall")? {
        read_call(&call)?
    } else if let Some(response) = part.get("functionResponse")? {
        read_response(&response)?
    } else if let Some(text) = part.get("text")? {
        let is_thought = part.get("thought")?.is_some_and(|thought| thought.value == &Value::Bool(true));
        let kind = if is_thought { "thinking" } else { "text" };
        dict! {"type": kind, "text": text.string()?}
    } else if let Some(media) = read_media(part)? {
        media
    } else if fields.is_empty() {
        return Err(part.fault("expected a part with text, inlineData, fileData, functionCall or another field"));
    } else {
        return Ok(stored::opaque(NAME, PARTS, part.value));
    };
    carry_back(fields, &mut read, &SIGNATURE);
    Ok(read)
}

/// Media; `None` if the part has none, or of a type that the model has no part for.
fn read_media(part: &Field) -> Result<Option<Value>, ShapeError> {
    let (media_type, source) = if let Some(data) = part.get("inlineData")? {
        let media_type = data.required_string("mimeType")?;
        (media_type, media::source_of_data(data.required_string("data")?, media_type))
    } else if let Some(file) = part.get("fileData")? {
        let url = file.required_string("fileUri")?;
        match file.optional_string("mimeType")?.or_else(|| media::type_of_url(url)) {
            Some(media_type) => (media_type, dict! {"type": "url", "url": url, "media_type": media_type}),
            None => return Ok(None),
        }
    } else {
        return Ok(None);
    };
    Ok(MediaKind::of_type(media_type).map(|kind| dict! {"type": kind.name(), "source": source}))
}

fn read_call(call: &Field) -> Result<Value, ShapeError> {
    let arguments = match call.get("args")? {
        Some(args) => {
            args.object()?;
            args.value.to_string()
        }
        None => "{}".to_owned(),
    };
    Ok(stored::call(call.optional_string("id")?.unwrap_or_default(), call.required_string("name")?, &arguments))
}

fn read_response(response: &Field) -> Result<Value, ShapeError> {
    let empty = Object::new();
    let given = response.get("response")?.map(|field| field.object()).transpose()?;
    let (text, is_error) = response_text(given.unwrap_or(&empty));
    let mut content = vec![stored::text(&text)];
    for part in response.get("parts")?.map(|parts| parts.items()).transpose()?.unwrap_or_default() {
        content.push(read_media(&part)?.unwrap_or_else(|| stored::text(&part.value.to_string())));
    }
    let id = response.optional_string("id")?.unwrap_or_default();
    let mut part = stored::result_of_parts(id, content, is_error);
    set(&mut part, "name", response.required_string("name")?.into());
    Ok(part)
}

/// The text of a response, and whether it is an error: the value of the one documented key, or the JSON of all of it.
fn response_text(response: &Object) -> (String, bool) {
    if let (1, Some((key, value))) = (response.len(), response.iter().next()) {
        if key == OUTPUT || key == ERROR {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            return (text, key == ERROR);
        }
    }
    (Value::Object(response.clone()).to_string(), false)
}
