//! Conversations in the formats of model providers.

use wasm_bindgen::prelude::*;

use super::context::ContextHandle;
use super::environment::JsEnvironment;
use super::{args, memory, text, value};
use crate::conversation::MAX_MESSAGE_DEPTH;
use crate::error::Error;
use crate::json;
use crate::provider::{self, formats};

/// A longer text exceeds the maximum string length of some engines.
const MAX_TEXT: usize = 1 << 28;
/// The copies of its messages that a conversion makes, at most.
const COPIES: usize = 4;
/// The same with a repair.
const COPIES_WITH_REPAIR: usize = 8;
/// How deeply a value may be nested to become a context: its contents may end up deeper by this difference.
const MAX_DEPTH: usize = MAX_MESSAGE_DEPTH - 4;

/// The fields of a request as JSON text.
#[wasm_bindgen(js_name = toMessages)]
pub fn to_messages(context: &ContextHandle, provider: &JsValue, repair: &JsValue) -> Result<String, JsValue> {
    let format = formats::find(&args::string(provider, "provider")?)?;
    let repair = args::boolean(repair, "options.repair")?;
    let request = context.shared().read(|context| {
        let copies = if repair { COPIES_WITH_REPAIR } else { COPIES };
        memory::ensure_copies(context, copies, "a conversion of the context")?;
        memory::keep_room();
        provider::to_messages(context, format, repair)
    })?;
    let text = json::to_compact_text(&(&request).into()).map_err(Error::from)?;
    if text.len() > MAX_TEXT {
        let message = format!("its messages have {} bytes, more than {MAX_TEXT}; convert a window of it", text.len());
        return Err(Error::argument("context", message).into());
    }
    Ok(text)
}

/// The context of the messages in the [`super::text::text_buffer`], as JSON.
#[wasm_bindgen(js_name = fromMessages)]
pub fn from_messages(bytes: usize, provider: &JsValue) -> Result<ContextHandle, JsValue> {
    let format = formats::find(&args::string(provider, "provider")?)?;
    memory::keep_room();
    let value = text::with_text(bytes, |text| value(text, MAX_DEPTH)).map_err(|error| error.in_argument("value"))?;
    json::ensure_copies(&(&value).into(), COPIES, "a context of the messages").map_err(Error::from)?;
    let environment = JsEnvironment::capture()?;
    Ok(provider::from_messages(&value, format, &environment)?.into())
}
