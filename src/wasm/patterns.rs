//! Regular expressions, by the engine of JavaScript.

use wasm_bindgen::prelude::*;

use crate::error::Error;

#[wasm_bindgen]
extern "C" {
    // js_sys::RegExp::new does not catch the error of a bad pattern.
    #[wasm_bindgen(js_name = RegExp)]
    type Pattern;

    #[wasm_bindgen(constructor, catch, js_class = "RegExp")]
    fn new(source: &str, flags: &str) -> Result<Pattern, JsValue>;

    #[wasm_bindgen(method, js_class = "RegExp")]
    fn test(this: &Pattern, text: &str) -> bool;
}

/// Whether a name as a whole matches a pattern. Python's way to name a group is understood, other differences between
/// the two languages are not evened out.
pub fn full_match(pattern: &str, name: &str) -> Result<bool, Error> {
    let source = format!("^(?:{})$", pattern.replace("(?P<", "(?<"));
    // With `u`, escapes of characters that have no meaning are errors, which Python allows some of.
    let compiled = Pattern::new(&source, "u").or_else(|_| Pattern::new(&source, ""));
    let compiled =
        compiled.map_err(|_| Error::argument("tool_filter", format!("{pattern:?} is no regular expression")))?;
    Ok(compiled.test(name))
}
