//! Regular expressions of the JavaScript engine.

use wasm_bindgen::prelude::*;

use crate::conversation::error::Error;
use peteos_python_pattern::EcmaScriptPattern;

#[wasm_bindgen]
extern "C" {
    // js_sys::RegExp::new does not catch the error for an invalid pattern.
    #[wasm_bindgen(js_name = RegExp)]
    type Pattern;

    #[wasm_bindgen(constructor, catch, js_class = "RegExp")]
    fn new(source: &str, flags: &str) -> Result<Pattern, JsValue>;

    // Throws if the text is too long for the pattern.
    #[wasm_bindgen(method, catch, js_class = "RegExp")]
    fn test(this: &Pattern, text: &str) -> Result<bool, JsValue>;
}

/// Whether a Python pattern matches a whole name.
pub fn full_match(pattern: &str, name: &str) -> Result<bool, Error> {
    let refuse = |fault: &str| Error::argument("tool_filter", format!("invalid pattern {pattern:?}: {fault}"));
    let translated = EcmaScriptPattern::full_match(pattern).map_err(|fault| refuse(&fault))?;
    let compiled = Pattern::new(&translated.source, translated.flags);
    let compiled = compiled.map_err(|_| refuse("not a regular expression"))?;
    compiled.test(name).map_err(|_| refuse("a tool name is too long for it"))
}
