//! Google's Gemini, `generateContent`: <https://ai.google.dev/api/generate-content>.

use std::collections::HashMap;

use serde_json::Value;

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
use crate::source::{Part, Source, Speaker, Turn};
use crate::{reading, stored, writing};
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

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
    refuses_trailing_thinking: false,
    required_thinking: RequiredThinking::OfStepSignatures { placeholder: NO_SIGNATURE },
};

impl ProviderFormat for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
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

    fn write(&self, source: Source<'_>) -> Object {
        let (system_turns, turns): (Vec<Turn>, Vec<Turn>) =
            source.turns.into_iter().partition(|turn| turn.speaker == Speaker::System);
        let prompt = source.system.iter().map(|text| text.text);
        let texts = prompt.chain(system_turns.iter().flat_map(writing::system_texts));
        let system: Vec<Value> = texts.map(|text| dict! {"text": text}).collect();
        let mut contents = Vec::new();
        for turn in writing::with_results_joined(turns) {
            let role = if turn.speaker == Speaker::Assistant { "model" } else { "user" };
            let parts: Vec<Value> = turn.parts.into_iter().filter_map(part_value).collect();
            contents.push(dict! {"role": role, "parts": parts});
        }
        let tools: Vec<Value> = source.tools.iter().map(tool_value).collect();
        let tools = if tools.is_empty() { Value::Null } else { vec![dict! {"functionDeclarations": tools}].into() };
        let system = match writing::unless_empty(system) {
            Value::Null => Value::Null,
            parts => dict! {"parts": parts},
        };
        writing::request([("systemInstruction", system), ("contents", contents.into()), ("tools", tools)])
    }

    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError> {
        let (body, contents) = reading::open(root, &["contents"])?;
        let mut builder = ConversationBuilder::default();
        if let Some(body) = body {
            read_settings(&body, &mut builder)?;
            // The SDK nests them in `config`.
            if let Some(config) = body.get("config")? {
                read_settings(&config, &mut builder)?;
            }
        }
        let mut reader = Reader::default();
        for content in one_or_more(contents)? {
            if content.value.is_object() && content.get("parts")?.is_some() {
                let parts = reader.parts(&content.required("parts")?)?;
                match content.optional_string("role")? {
                    None | Some("user" | "function") => builder.push_user(parts),
                    Some("model") => builder.push("assistant", parts),
                    Some(other) => {
                        let hint = format!("{other:?} is not supported; use user or model");
                        return Err(content.fault_at("role", hint));
                    }
                }
            } else {
                // A bare part belongs to the user.
                let mut parts = Vec::new();
                reader.part(&content, &mut parts)?;
                builder.push_user(parts);
            }
        }
        Ok(builder)
    }

    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
        replies::gemini(reply)
    }
}

/// `parametersJsonSchema` accepts all of JSON Schema, `parameters` only a part of OpenAPI's dialect.
fn tool_value(tool: &Tool) -> Value {
    let mut value = dict! {"name": tool.name};
    if let Some(description) = tool.description {
        set(&mut value, "description", description.into());
    }
    if let Some(parameters) = tool.parameters {
        set(&mut value, "parametersJsonSchema", parameters.clone().into());
    }
    value
}

fn part_value(part: Part) -> Option<Value> {
    let (mut value, fields) = match part {
        Part::Text(text) => (dict! {"text": text.text}, text.fields),
        Part::Thinking(text) => (dict! {"text": text.text, "thought": true}, text.fields),
        Part::RedactedThinking { .. } => return None,
        Part::Media(media) => (media_value(&media), media.fields),
        Part::Call(call) => {
            (dict! {"functionCall": dict! {"id": call.call_id, "name": call.name, "args": call.input}}, call.fields)
        }
        Part::Result(result) => {
            let key = if result.is_error { ERROR } else { OUTPUT };
            let response = Object::from_iter([(key.to_owned(), result.content.into())]);
            (
                dict! {"functionResponse": dict! {"id": result.call_id, "name": result.name, "response": response}},
                result.fields,
            )
        }
    };
    carry(fields, &mut value, &SIGNATURE);
    Some(value)
}

fn media_value(media: &Media) -> Value {
    match media.origin {
        Origin::Data(data) => dict! {"inlineData": dict! {"mimeType": media.media_type, "data": data}},
        Origin::Url(url) => dict! {"fileData": dict! {"mimeType": media.media_type, "fileUri": url}},
    }
}

fn one_or_more<'v>(field: Field<'v>) -> Result<Vec<Field<'v>>, ShapeError> {
    if field.value.is_array() { field.items() } else { Ok(vec![field]) }
}

fn read_settings(body: &Field, builder: &mut ConversationBuilder) -> Result<(), ShapeError> {
    for key in ["systemInstruction", "system_instruction"] {
        let Some(instruction) = body.get(key)? else { continue };
        let parts = match instruction.value {
            Value::Object(fields) if fields.contains_key("parts") => instruction.required("parts")?,
            _ => instruction,
        };
        for part in one_or_more(parts)? {
            let text = if part.value.is_string() { part.string()? } else { part.required_string("text")? };
            builder.system.push(stored::text(text));
        }
    }
    for tool in body.get("tools")?.map(|tools| tools.items()).transpose()?.unwrap_or_default() {
        if let Some(other) = tool.object()?.keys().find(|key| *key != "functionDeclarations") {
            return Err(tool.unknown(other, other));
        }
        for function in tool.required("functionDeclarations")?.items()? {
            builder.tools.push(read_function(&function)?);
        }
    }
    Ok(())
}

fn read_function(function: &Field) -> Result<Value, ShapeError> {
    let schema = function.get("parametersJsonSchema")?.map(|schema| schema.object()).transpose()?;
    let open_api = function.get("parameters")?.map(|schema| schema.object()).transpose()?.map(json_schema);
    let parameters = schema.or(open_api.as_ref());
    Ok(stored::tool(function.required_string("name")?, function.optional_string("description")?, parameters))
}

/// Converts a schema of OpenAPI's dialect, in which types are in upper case, to JSON Schema.
fn json_schema(schema: &Object) -> Object {
    let mut schema = schema.clone();
    let mut rest: Vec<(&str, &mut Value)> = fields_of(&mut schema).collect();
    while let Some((key, value)) = rest.pop() {
        match value {
            Value::String(name) if key == "type" => name.make_ascii_lowercase(),
            Value::Object(fields) => rest.extend(fields_of(fields)),
            Value::Array(items) => rest.extend(items.iter_mut().map(|item| ("", item))),
            _ => {}
        }
    }
    schema
}

fn fields_of(object: &mut Object) -> impl Iterator<Item = (&str, &mut Value)> {
    object.iter_mut().map(|(key, value)| (key.as_str(), value))
}

/// Reads parts, and gives an id to calls that have none.
#[derive(Default)]
struct Reader {
    /// The number of ids given so far.
    given_ids: usize,
    /// The name of each called tool, by the id of the call.
    names: HashMap<String, String>,
    /// The ids of calls without a response so far, oldest first.
    unanswered: Vec<String>,
}

impl Reader {
    fn parts(&mut self, parts: &Field) -> Result<Vec<Value>, ShapeError> {
        let mut read = Vec::new();
        for part in parts.items()? {
            self.part(&part, &mut read)?;
        }
        Ok(read)
    }

    fn part(&mut self, part: &Field, parts: &mut Vec<Value>) -> Result<(), ShapeError> {
        if let Value::String(text) = part.value {
            parts.push(stored::text(text));
            return Ok(());
        }
        let mut read = if let Some(call) = part.get("functionCall")? {
            self.call(&call)?
        } else if let Some(response) = part.get("functionResponse")? {
            parts.extend(self.response(&response)?);
            return Ok(());
        } else if let Some(data) = part.get("inlineData")? {
            let media_type = data.required("mimeType")?;
            let source = media::source_of_data(data.required_string("data")?, media_type.string()?);
            media_part(&media_type, source)?
        } else if let Some(file) = part.get("fileData")? {
            let media_type = file.required("mimeType")?;
            let url = file.required_string("fileUri")?;
            media_part(&media_type, dict! {"type": "url", "url": url, "media_type": media_type.string()?})?
        } else if let Some(text) = part.get("text")? {
            let is_thought = part.get("thought")?.is_some_and(|thought| thought.value == &Value::Bool(true));
            let kind = if is_thought { "thinking" } else { "text" };
            dict! {"type": kind, "text": text.string()?}
        } else {
            let message = "expected text, inlineData, fileData, functionCall or functionResponse; other parts are \
                           not supported in a stored conversation";
            return Err(part.fault(message));
        };
        carry_back(part.object()?, &mut read, &SIGNATURE);
        parts.push(read);
        Ok(())
    }

    fn call(&mut self, call: &Field) -> Result<Value, ShapeError> {
        let name = call.required_string("name")?;
        let id = call.optional_string("id")?.map_or_else(|| self.new_id(), str::to_owned);
        let arguments = match call.get("args")? {
            Some(args) => {
                args.object()?;
                args.value.to_string()
            }
            None => "{}".to_owned(),
        };
        let part = stored::call(&id, name, &arguments);
        self.names.insert(id.clone(), name.to_owned());
        self.unanswered.push(id);
        Ok(part)
    }

    fn response(&mut self, response: &Field) -> Result<Vec<Value>, ShapeError> {
        let name = response.required_string("name")?;
        let id = match response.optional_string("id")? {
            Some(id) => id.to_owned(),
            None => self.oldest_unanswered(name).unwrap_or_else(|| self.new_id()),
        };
        self.unanswered.retain(|other| *other != id);
        let (text, is_error) = response_text(response.required("response")?.object()?);
        let mut content = vec![stored::text(&text)];
        if let Some(media) = response.get("parts")? {
            content.extend(self.parts(&media)?);
        }
        let mut parts = stored::result_of_parts(&id, content, is_error);
        if let Some(result) = parts.first_mut() {
            set(result, "name", name.into());
        }
        Ok(parts)
    }

    fn oldest_unanswered(&self, name: &str) -> Option<String> {
        self.unanswered.iter().find(|id| self.names.get(*id).is_some_and(|known| known == name)).cloned()
    }

    /// The same id at each reading.
    fn new_id(&mut self) -> String {
        self.given_ids += 1;
        format!("call_without_id_{}", self.given_ids)
    }
}

fn media_part(media_type: &Field, source: Value) -> Result<Value, ShapeError> {
    match MediaKind::of_type(media_type.string()?) {
        Some(kind) => Ok(dict! {"type": kind.name(), "source": source}),
        None => Err(media_type.fault("expected the media type of an image, a video, audio or a PDF")),
    }
}

/// The text of a response, and whether it is an error: the value of the one documented key, or the JSON of all of it.
fn response_text(response: &Object) -> (String, bool) {
    for (key, is_error) in [(OUTPUT, false), (ERROR, true)] {
        match response.get(key) {
            Some(Value::String(text)) if response.len() == 1 => return (text.clone(), is_error),
            _ => {}
        }
    }
    (Value::Object(response.clone()).to_string(), response.contains_key(ERROR) && response.len() == 1)
}
