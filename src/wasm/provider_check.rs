//! Checks of a conversation against the rules of a provider.

use wasm_bindgen::prelude::*;

use super::args;
use super::context::ContextHandle;
use crate::json;
use crate::provider::check::{check, checked_format};

/// The JSON array of the findings.
#[wasm_bindgen(js_name = checkForProvider)]
pub fn check_for_provider(context: &ContextHandle, provider: &JsValue) -> Result<String, JsValue> {
    let provider = args::string(provider, "provider")?;
    let format = checked_format(&provider)?;
    let findings = context.shared().read(|context| check(context, format))?;
    Ok(json::to_compact_text(&findings)?)
}
