//! Checks of a conversation against the rules of a provider.

use wasm_bindgen::prelude::*;

use super::context::ContextHandle;
use super::{args, memory, reports};
use crate::conversation::Message;
use crate::provider::formats::find_checkable;
use crate::provider::rules;

/// The approximate memory that a check needs for each part of a message, in bytes, including some findings.
const ROOM_PER_PART: usize = 256;

/// The JSON array of the findings.
#[wasm_bindgen(js_name = checkForProvider)]
pub fn check_for_provider(context: &ContextHandle, provider: &JsValue) -> Result<String, JsValue> {
    let provider = args::string(provider, "provider")?;
    let format = find_checkable(&provider)?;
    let findings = context.shared().read(|context| {
        let parts: usize = context.messages().map(Message::parts).map(<[_]>::len).sum();
        memory::make_room(parts.saturating_mul(ROOM_PER_PART));
        rules::check(context, format)
    })?;
    Ok(reports::text(&findings)?)
}
