//! Validates arguments and options, which JavaScript may pass with any type.

use js_sys::{JsString, Reflect};
use peteos_memory::ensure;
use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::json::MAX_SAFE_INTEGER;
use crate::limits::Limits;
use crate::tokens::Encoding;

/// The option for each limit on files.
pub const MAX_FILE_BYTES: &str = "maxFileBytes";
pub const MAX_FILE_VALUES: &str = "maxFileValues";

pub fn string(value: &JsValue, argument: &str) -> Result<String, Error> {
    let text: &JsString = value.dyn_ref().ok_or_else(|| expected(argument, "a string", value))?;
    short(text)?;
    Ok(value.as_string().unwrap_or_default())
}

/// Checks that the copy of a string that [`JsValue::as_string`] makes fits into the memory. While it is made, a copy with a
/// byte for each character grows to one with three.
fn short(text: &JsString) -> Result<(), Error> {
    Ok(ensure(4 * text.length() as usize, "an argument")?)
}

/// A count, a budget or a position.
pub fn non_negative_integer(value: &JsValue, argument: &str) -> Result<u64, Error> {
    match integer(value) {
        Some(number) if number >= 0 => Ok(number.unsigned_abs()),
        _ => Err(expected(argument, "a non-negative integer", value)),
    }
}

/// The limits on files among options that `js/` has read. `otherwise` are those that are not given.
pub fn limits(options: &JsValue, otherwise: Limits) -> Result<Limits, Error> {
    let limit = |name: &str, otherwise: u64| match Reflect::get(options, &name.into()) {
        Ok(value) if !value.is_undefined() => non_negative_integer(&value, &format!("options.{name}")),
        _ => Ok(otherwise),
    };
    Ok(Limits {
        file_bytes: limit(MAX_FILE_BYTES, otherwise.file_bytes)?,
        file_values: limit(MAX_FILE_VALUES, otherwise.file_values)?,
    })
}

/// The bound of a range; a negative one counts from the end.
pub fn optional_integer(value: &JsValue, argument: &str) -> Result<Option<i64>, Error> {
    if is_absent(value) {
        return Ok(None);
    }
    integer(value).map(Some).ok_or_else(|| expected(argument, "an integer", value))
}

pub fn boolean(value: &JsValue, argument: &str) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| expected(argument, "true or false", value))
}

/// The name of an encoding; `cl100k_base` if it is absent.
pub fn encoding(value: &JsValue) -> Result<Encoding, Error> {
    if value.is_undefined() {
        return Ok(Encoding::Cl100kBase);
    }
    Ok(Encoding::parse(&string(value, "encoding")?)?)
}

/// A copy of an array; `None` for anything else, including arrays that throw when they are read.
pub fn array(value: &JsValue) -> Option<js_sys::Array> {
    is_array(value).ok().filter(|is_array| *is_array).and_then(|_| array_from(value).ok())
}

/// The strings of an array; `None` for anything else.
pub fn strings(value: &JsValue) -> Option<Vec<String>> {
    array(value)?.iter().map(|item| string(&item, "").ok()).collect()
}

#[wasm_bindgen]
extern "C" {
    // The declarations in js_sys assume that these do not throw, but a proxy or an array with getters can.
    #[wasm_bindgen(catch, js_namespace = Array, js_name = from)]
    fn array_from(items: &JsValue) -> Result<js_sys::Array, JsValue>;

    #[wasm_bindgen(catch, js_namespace = Array, js_name = isArray)]
    fn is_array(items: &JsValue) -> Result<bool, JsValue>;
}

pub fn is_absent(value: &JsValue) -> bool {
    value.is_undefined() || value.is_null()
}

/// A count as a number of JavaScript.
pub fn to_number(count: u64) -> f64 {
    count as f64
}

/// The error for an argument of the wrong type or value.
pub fn expected(argument: &str, expected: &str, found: &JsValue) -> Error {
    Error::argument(argument, format!("expected {expected}, found {}", describe(found)))
}

fn integer(value: &JsValue) -> Option<i64> {
    // `as_f64` does not convert: it is `None` for anything but a number.
    let number = value.as_f64()?;
    (number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64).then_some(number as i64)
}

/// A short description of a value, for an error.
fn describe(value: &JsValue) -> String {
    const LONGEST: usize = 40;
    if let Some(number) = value.as_f64() {
        return js_sys::Number::from(number)
            .to_string_with_radix(10)
            .map_or_else(|_| "a number".to_owned(), String::from);
    }
    if let Some(text) = value.dyn_ref::<JsString>() {
        let short: String = text.substring(0, 2 * LONGEST as u32).into();
        let short: String = short.chars().take(LONGEST).collect();
        return format!("{short:?}");
    }
    if let Some(boolean) = value.as_bool() {
        return boolean.to_string();
    }
    if value.is_null() {
        return "null".to_owned();
    }
    if value.is_undefined() {
        return "undefined".to_owned();
    }
    // Only the type: anything else may run code of the caller, or throw.
    match value.js_typeof().as_string() {
        Some(kind) if kind == "object" => "an object".to_owned(),
        Some(kind) => format!("a {kind}"),
        None => "something else".to_owned(),
    }
}
