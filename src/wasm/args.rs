//! Arguments and options as JavaScript hands them in, which may be anything.

use js_sys::Object;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::tokens::Encoding;
use crate::window::Boundary;

/// The largest whole number that a JavaScript number keeps exactly: 2⁵³ − 1.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

pub fn string(value: &JsValue, argument: &str) -> Result<String, Error> {
    value.as_string().ok_or_else(|| expected(argument, "a string", value))
}

/// A count, a budget or a position.
pub fn whole_number(value: &JsValue, argument: &str) -> Result<u64, Error> {
    match integer(value) {
        Some(number) if number >= 0 => Ok(number.unsigned_abs()),
        _ => Err(expected(argument, "a whole number from 0 up", value)),
    }
}

/// The end of a range, which may count from the end.
pub fn optional_integer(value: &JsValue, argument: &str) -> Result<Option<i64>, Error> {
    if is_absent(value) {
        return Ok(None);
    }
    integer(value).map(Some).ok_or_else(|| expected(argument, "a whole number", value))
}

pub fn boolean(value: &JsValue, argument: &str) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| expected(argument, "true or false", value))
}

/// The name of an encoding; `cl100k_base` where it is absent.
pub fn encoding(value: &JsValue) -> Result<Encoding, Error> {
    if value.is_undefined() {
        return Ok(Encoding::Cl100kBase);
    }
    Encoding::parse(&string(value, "encoding")?)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WindowOptions {
    boundary: Option<String>,
}

/// The options of a window.
pub fn window_options(value: &JsValue) -> Result<Boundary, Error> {
    if is_absent(value) {
        return Ok(Boundary::default());
    }
    // serde-wasm-bindgen passes over fields that it is not asked for, and a misspelt option must not be ignored.
    let object: &Object = value.dyn_ref().ok_or_else(|| expected("options", "an object", value))?;
    for key in Object::keys(object) {
        let key = key.as_string().unwrap_or_default();
        if key != "boundary" {
            return Err(Error::argument(
                &format!("options.{key}"),
                "is no option of a window; known options: boundary",
            ));
        }
    }
    let options: WindowOptions = serde_wasm_bindgen::from_value(value.clone())
        .map_err(|error| Error::argument("options.boundary", error.to_string()))?;
    options.boundary.as_deref().map_or(Ok(Boundary::default()), Boundary::parse)
}

pub fn is_absent(value: &JsValue) -> bool {
    value.is_undefined() || value.is_null()
}

/// A count for JavaScript.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2⁵³")]
pub fn to_number(count: u64) -> f64 {
    count as f64
}

/// The error of an argument of the wrong type or value.
pub fn expected(argument: &str, expected: &str, found: &JsValue) -> Error {
    Error::argument(argument, format!("expected {expected}, found {}", describe(found)))
}

fn integer(value: &JsValue) -> Option<i64> {
    // `as_f64` only takes what is a number, not what can be made one.
    let number = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
    (number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER).then_some(number as i64)
}

/// A value in few words, for an error.
fn describe(value: &JsValue) -> String {
    const LONGEST: usize = 40;
    if let Some(number) = value.as_f64() {
        return if number.is_infinite() {
            format!("{}Infinity", if number < 0.0 { "-" } else { "" })
        } else {
            number.to_string()
        };
    }
    if let Some(text) = value.as_string() {
        let short: String = text.chars().take(LONGEST).collect();
        return format!("{short:?}");
    }
    if let Some(boolean) = value.as_bool() {
        return boolean.to_string();
    }
    if value.is_null() {
        return "null".to_owned();
    }
    if js_sys::Array::is_array(value) {
        return "an array".to_owned();
    }
    value.js_typeof().as_string().unwrap_or_else(|| "something else".to_owned())
}
