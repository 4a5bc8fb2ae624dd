//! Checks of a conversation against the rules of a provider.

use wasm_bindgen::prelude::*;

use super::context::ContextHandle;
use super::{args, memory, reports};
use crate::provider::formats::find_checkable;
use crate::provider::rules;

/// The JSON array of the findings.
#[wasm_bindgen(js_name = checkForProvider)]
pub fn check_for_provider(context: &ContextHandle, provider: &JsValue) -> Result<String, JsValue> {
    let provider = args::string(provider, "provider")?;
    let format = find_checkable(&provider)?;
    let findings = context.shared().read(|context| {
        memory::ensure_copies(context, 1, "a check of the context")?;
        memory::keep_room();
        rules::check(context, format)
    })?;
    Ok(reports::text(&findings)?)
}
