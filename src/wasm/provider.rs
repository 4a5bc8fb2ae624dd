//! Conversations in the formats of model providers.

use wasm_bindgen::prelude::*;

use super::context::ContextHandle;
use super::environment::JsEnvironment;
use super::{args, memory, value};
use crate::conversation::{MAX_MESSAGE_DEPTH, Message};
use crate::error::{Error, ShapeError};
use crate::json;
use crate::limits::Limits;
use crate::provider::{self, formats};

/// A longer text exceeds the maximum string length of some engines.
const MAX_TEXT: usize = 1 << 28;
/// The approximate memory that a conversion takes for each part, in bytes, without its text.
const ROOM_PER_PART: usize = 1000;
/// The same with a repair, which works on copies.
const ROOM_PER_REPAIRED_PART: usize = 4000;
/// How deeply a value may be nested to become a context: its contents may end up deeper by this difference.
const MAX_DEPTH: usize = MAX_MESSAGE_DEPTH - 4;

/// The fields of a request as JSON text.
#[wasm_bindgen(js_name = toMessages)]
pub fn to_messages(context: &ContextHandle, provider: &JsValue, repair: &JsValue) -> Result<String, JsValue> {
    let format = formats::find(&args::string(provider, "provider")?)?;
    let repair = args::boolean(repair, "options.repair")?;
    let request = context.shared().read(|context| {
        let parts: usize = context.messages().map(Message::parts).map(<[_]>::len).sum();
        memory::make_room(parts.saturating_mul(if repair { ROOM_PER_REPAIRED_PART } else { ROOM_PER_PART }));
        provider::to_messages(context, format, repair)
    })?;
    let text = json::to_compact_text(&(&request).into());
    if text.len() > MAX_TEXT {
        let message = format!("its messages have {} bytes, more than {MAX_TEXT}; convert a window of it", text.len());
        return Err(Error::argument("context", message).into());
    }
    Ok(text)
}

/// The context of the JSON text of messages.
#[wasm_bindgen(js_name = fromMessages)]
pub fn from_messages(text: &str, provider: &JsValue, options: &JsValue) -> Result<ContextHandle, JsValue> {
    let format = formats::find(&args::string(provider, "provider")?)?;
    let limits = args::limits(options, Limits::default())?;
    memory::keep_room();
    let at_fault = |error: ShapeError| error.in_argument("value");
    let value = value(text, MAX_DEPTH, limits, || "the file of value".to_owned(), at_fault)?;
    let environment = JsEnvironment::capture()?;
    let mut context = provider::from_messages(&value, format, &environment)?;
    context.set_limits(limits);
    context.check_limits()?;
    Ok(context.into())
}
