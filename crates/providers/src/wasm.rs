//! The boundary to JavaScript: functions without state, which take text and return text. Only `js/providers/` calls them.
//!
//! An error is thrown as JSON text, from which JavaScript makes an error object: its message, and the argument at fault.

#![allow(missing_docs, reason = "only js/ calls these functions; the public interface is documented there")]

use std::hint::black_box;

use peteos_conversation::environment::{Environment, LocalTime, Uuid};
use peteos_conversation::error::{Error, ShapeError};
use peteos_conversation::{Context, MAX_MESSAGE_DEPTH, Message};
use peteos_json as json;
use serde::Serialize;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::formats;
use crate::rules;

/// A longer text exceeds the maximum string length of some engines.
const MAX_TEXT: usize = 1 << 28;
/// The approximate memory that a conversion takes for each part, in bytes, without its text.
const ROOM_PER_PART: usize = 1000;
/// The same with a repair, which works on copies.
const ROOM_PER_REPAIRED_PART: usize = 4000;
/// The same for a check, including some findings.
const ROOM_PER_CHECKED_PART: usize = 256;
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
    let context = read_context(context, if repair { ROOM_PER_REPAIRED_PART } else { ROOM_PER_PART }).map_err(thrown)?;
    let request = crate::to_messages(&context, format, repair).map_err(thrown)?;
    let text = json::to_compact_text(&(&request).into());
    if text.len() > MAX_TEXT {
        let message = format!("its messages have {} bytes, more than {MAX_TEXT}; convert a window of it", text.len());
        return Err(thrown(Error::argument("context", message)));
    }
    Ok(text)
}

/// The JSON array of what a provider would reject in a context.
#[wasm_bindgen]
pub fn check(context: &[u8], provider: &str) -> Result<String, JsValue> {
    let format = formats::find_checkable(provider).map_err(thrown)?;
    let context = read_context(context, ROOM_PER_CHECKED_PART).map_err(thrown)?;
    let findings = rules::check(&context, format).map_err(thrown)?;
    serde_json::to_string(&findings).map_err(|error| thrown(error.into()))
}

/// The JSON text of the conversation in the JSON text of a request.
#[wasm_bindgen(js_name = fromMessages)]
pub fn from_messages(request: &[u8], provider: &str) -> Result<Vec<u8>, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    make_room_for_json(request);
    let value = parse(request, MAX_DEPTH).map_err(|error| thrown(error.in_argument("value")))?;
    let conversation = crate::from_messages(&value, format).map_err(thrown)?;
    Ok(json::to_compact_text(&(&conversation.into_value()).into()).into_bytes())
}

/// The JSON array of the messages in the JSON text of a reply.
#[wasm_bindgen(js_name = readReply)]
pub fn read_reply(reply: &[u8], provider: &str, seed: &str) -> Result<Vec<u8>, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    make_room_for_json(reply);
    let value = parse(reply, MAX_DEPTH).map_err(|error| thrown(error.in_argument("reply")))?;
    let messages = crate::read_reply(&value, format, seed).map_err(thrown)?;
    Ok(json::to_compact_text(&(&Value::Array(messages)).into()).into_bytes())
}

/// The JSON array of the messages in a JSON array of items, one for each.
#[wasm_bindgen(js_name = readItems)]
pub fn read_items(items: &[u8], provider: &str) -> Result<Vec<u8>, JsValue> {
    let format = formats::find(provider).map_err(thrown)?;
    make_room_for_json(items);
    let value = parse(items, MAX_DEPTH).map_err(|error| thrown(error.in_argument("messages")))?;
    let Value::Array(items) = value else { return Ok(Vec::new()) };
    let messages = crate::read_items(items, format);
    Ok(json::to_compact_text(&(&Value::Array(messages)).into()).into_bytes())
}

fn read_context(text: &[u8], room_per_part: usize) -> Result<Context, Error> {
    make_room_for_json(text);
    let dict = parse(text, json::MAX_DEPTH).map_err(|error| error.in_argument("context"))?;
    let context = Context::from_dict(dict, None, &Complete).map_err(|error| error.in_argument("context"))?;
    let parts: usize = context.messages().map(Message::parts).map(<[_]>::len).sum();
    make_room(parts.saturating_mul(room_per_part));
    Ok(context)
}

fn parse(text: &[u8], max_depth: usize) -> Result<Value, ShapeError> {
    json::parse_within(text, max_depth, MAX_VALUES)
        .map_err(|error| ShapeError::new(json::FieldPath::root(), error.message))
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
    make_room(text.len().saturating_add(objects.saturating_mul(ROOM_PER_OBJECT)));
}

/// Grows the memory in one step, if it can grow that far: each step costs the engine a new buffer of the whole size.
fn make_room(bytes: usize) {
    // The allocator reuses the space that is freed here.
    let mut room = Vec::<u8>::new();
    let _as_far_as_possible = room.try_reserve_exact(bytes);
    drop(black_box(room));
}

/// An error as it is thrown. Without an argument, it is a bug.
#[derive(Serialize)]
struct Thrown {
    message: String,
    argument: Option<String>,
}

#[cold]
fn thrown(error: Error) -> JsValue {
    let message = error.to_string();
    let argument = match error {
        Error::InvalidArgument { argument, .. } => Some(argument),
        Error::InvalidMessage { .. } | Error::FileTooLarge(_) | Error::Internal(_) => None,
    };
    let text = serde_json::to_string(&Thrown { message, argument });
    JsValue::from_str(text.as_deref().unwrap_or_default())
}
