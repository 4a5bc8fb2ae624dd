//! The boundary to JavaScript: functions without state, which take text and return text. Only `js/providers/` calls them.
//!
//! An error is thrown as JSON text, from which JavaScript makes an error object: its message, and the argument at fault.

#![allow(missing_docs, reason = "only js/ calls these functions; the public interface is documented there")]

use peteos_conversation::environment::{Environment, LocalTime, Uuid};
use peteos_conversation::error::{Error, ShapeError};
use peteos_conversation::{Context, MAX_MESSAGE_DEPTH};
use peteos_json::{self as json, TextBuffer};
use peteos_memory::{Allocator, OutOfMemory, ensure};
use serde::Serialize;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::formats;
use crate::rules;

/// What the memory is for, in errors.
const PURPOSE: &str = "a conversion or a check of a conversation";

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A longer text exceeds the maximum string length of some engines.
const MAX_TEXT: usize = 1 << 28;
/// The copies of a context or a request that a conversion makes, at most.
const COPIES: usize = 6;
/// The same with a repair.
const COPIES_WITH_REPAIR: usize = 8;
/// The same if losses are looked for.
const COPIES_WITH_LOSSES: usize = 12;
/// The same for a check, with its findings.
const COPIES_FOR_CHECK: usize = 2;
/// The approximate memory that an object of a JSON text takes, in bytes, without its text.
const ROOM_PER_OBJECT: usize = 400;
/// The most values of a text, so that a hostile one stays within the memory. The limits on files apply to the context.
const MAX_VALUES: usize = 20_000_000;
/// How deeply a value may be nested to become a context: its contents may end up deeper by this difference.
const MAX_DEPTH: usize = MAX_MESSAGE_DEPTH - 4;

/// The fields of a request as JSON text. `context` is the JSON text of a context's conversation.
#[wasm_bindgen(js_name = toMessages)]
pub fn to_messages(context: &[u8], provider: &str, repair: bool) -> Result<String, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    let context = read_context(context, if repair { COPIES_WITH_REPAIR } else { COPIES }).map_err(thrown)?;
    let request = crate::to_messages(&context, format, repair, None).map_err(thrown)?;
    let text = json::to_compact_text(&(&request).into()).map_err(|error| thrown(error.into()))?;
    if text.len() > MAX_TEXT {
        let message = format!("its messages have {} bytes, more than {MAX_TEXT}; convert a window of it", text.len());
        return Err(thrown(Error::argument("context", message)));
    }
    Ok(text)
}

/// The JSON array of what [`to_messages`] leaves out or changes in meaning.
#[wasm_bindgen(js_name = lossesOfWriting)]
pub fn losses_of_writing(context: &[u8], provider: &str, repair: bool) -> Result<String, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    let context = read_context(context, COPIES_WITH_LOSSES).map_err(thrown)?;
    let mut losses = Vec::new();
    crate::to_messages(&context, format, repair, Some(&mut losses)).map_err(thrown)?;
    list(&losses)
}

/// The JSON array of what the same provider would not get back as it was after [`from_messages`].
#[wasm_bindgen(js_name = lossesOfReading)]
pub fn losses_of_reading(request: &[u8], provider: &str) -> Result<String, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    let value = parse_value(request, "value").map_err(thrown)?;
    let mut losses = Vec::new();
    crate::from_messages(value, format, Some(&mut losses)).map_err(thrown)?;
    list(&losses)
}

/// The JSON array of what a provider would reject in a context.
#[wasm_bindgen]
pub fn check(context: &[u8], provider: &str) -> Result<String, JsValue> {
    let format = formats::find_checkable(provider).map_err(thrown)?;
    let context = read_context(context, COPIES_FOR_CHECK).map_err(thrown)?;
    let findings = rules::check(&context, format).map_err(thrown)?;
    list(&findings)
}

fn list(items: &impl Serialize) -> Result<String, JsValue> {
    let mut text = TextBuffer::default();
    let written = items.serialize(&mut serde_json::Serializer::new(&mut text));
    let text = text.finish().map_err(|error| thrown(error.into()))?;
    written.map_err(|error| thrown(error.into()))?;
    Ok(String::from_utf8(text).unwrap_or_default())
}

/// The JSON text of the conversation in the JSON text of a request.
#[wasm_bindgen(js_name = fromMessages)]
pub fn from_messages(request: &[u8], provider: &str) -> Result<Vec<u8>, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    let value = parse_value(request, "value").map_err(thrown)?;
    let conversation = crate::from_messages(value, format, None).map_err(thrown)?;
    let text = json::to_compact_text(&(&conversation.into_value()).into());
    Ok(text.map_err(|error| thrown(error.into()))?.into_bytes())
}

/// The JSON array of the messages in the JSON text of a reply.
#[wasm_bindgen(js_name = readReply)]
pub fn read_reply(reply: &[u8], provider: &str, seed: &str) -> Result<Vec<u8>, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    let value = parse_value(reply, "reply").map_err(thrown)?;
    messages_text(crate::read_reply(&value, format, seed).map_err(thrown)?)
}

/// The JSON array of the messages in a JSON array of items, one for each.
#[wasm_bindgen(js_name = readItems)]
pub fn read_items(items: &[u8], provider: &str) -> Result<Vec<u8>, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    let Value::Array(items) = parse_value(items, "messages").map_err(thrown)? else { return messages_text(Vec::new()) };
    messages_text(crate::read_items(items, format))
}

fn messages_text(messages: Vec<Value>) -> Result<Vec<u8>, JsValue> {
    let text = json::to_compact_text(&(&Value::Array(messages)).into());
    Ok(text.map_err(|error| thrown(error.into()))?.into_bytes())
}

/// The value of a caller's JSON text, with memory for the copies of it.
fn parse_value(text: &[u8], argument: &str) -> Result<Value, Error> {
    make_room_for_json(text);
    let value = parse(text, MAX_DEPTH).map_err(|error| error.in_argument(argument))?;
    json::ensure_copies(&(&value).into(), COPIES, PURPOSE)?;
    Ok(value)
}

fn read_context(text: &[u8], copies: usize) -> Result<Context, Error> {
    make_room_for_json(text);
    let dict = parse(text, json::MAX_DEPTH).map_err(|error| error.in_argument("context"))?;
    let context = Context::from_dict(dict, None, &Complete).map_err(|error| error.in_argument("context"))?;
    json::ensure_copies(&context.view(), copies, PURPOSE)?;
    Ok(context)
}

fn parse(text: &[u8], max_depth: usize) -> Result<Value, ShapeError> {
    Ok(json::parse_within(text, max_depth, MAX_VALUES)?)
}

/// The environment of a context that is complete, for which nothing is generated.
struct Complete;

impl Environment for Complete {
    fn now(&self) -> LocalTime {
        LocalTime::from_milliseconds(0)
    }

    fn uuid(&self) -> Uuid {
        Uuid::nil()
    }
}

fn make_room_for_json(text: &[u8]) {
    let objects = text.iter().filter(|byte| **byte == b'{').count();
    let bytes = text.len().saturating_add(objects.saturating_mul(ROOM_PER_OBJECT));
    // Grows the memory in one step, if it can grow that far: each step costs the engine a new buffer of the whole size.
    let _as_far_as_possible = ensure(bytes, PURPOSE);
}

/// Ensures that the bytes of an argument fit into the memory.
#[wasm_bindgen(js_name = ensureMemory)]
pub fn ensure_memory(bytes: usize) -> Result<(), JsValue> {
    ensure(bytes, PURPOSE).map_err(|error| thrown(error.into()))
}

/// An error as it is thrown. With neither an argument nor memory, it is a bug.
#[derive(Serialize)]
struct Thrown {
    message: String,
    argument: Option<String>,
    /// The bytes that are needed, in use and allowed.
    memory: Option<[usize; 3]>,
}

#[cold]
fn thrown(error: Error) -> JsValue {
    let message = error.to_string();
    let (argument, memory) = match error {
        Error::InvalidArgument { argument, .. } => (Some(argument), None),
        Error::MemoryLimit(OutOfMemory { needed, used, limit, .. }) => (None, Some([needed, used, limit])),
        Error::InvalidMessage { .. } | Error::FileTooLarge(_) | Error::Internal(_) => (None, None),
    };
    let text = serde_json::to_string(&Thrown { message, argument, memory });
    JsValue::from_str(text.as_deref().unwrap_or_default())
}
