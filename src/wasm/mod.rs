//! The boundary to JavaScript: classes and functions for the glue in `js/`, which alone calls them.
//!
//! Nothing here is held borrowed while code of a caller runs: every method takes `&self`, what changes lies in a
//! `RefCell` that is released before a call goes out, and the clock is read before. Dicts, messages and reports cross as JSON text, which keeps every
//! key and, towards Rust, every number.

mod args;
mod context;
mod encodings;
mod environment;
mod errors;
mod patterns;
mod session;
mod storage;

pub use context::ContextHandle;
pub use session::SessionHandle;

use wasm_bindgen::prelude::*;

use crate::conversation::{MAX_MESSAGE_DEPTH, Message, Special};
use crate::error::{Error, ShapeError};
use crate::json::{self, FieldPath};
use crate::tokens;
use environment::JsEnvironment;

/// Connects the module to its glue.
///
/// `create_error(class, message, details)` makes the error object of a class; `read_vocabulary(name)` gives the bytes of
/// a vocabulary file where that can be done synchronously, else `undefined`.
#[wasm_bindgen]
pub fn configure(create_error: js_sys::Function, read_vocabulary: js_sys::Function) {
    errors::set_factory(create_error);
    encodings::set_reader(read_vocabulary);
}

/// The number of tokens of a text.
#[wasm_bindgen(js_name = countTokens)]
pub fn count_tokens(text: &JsValue, encoding: &JsValue) -> Result<f64, JsValue> {
    let text = args::string(text, "text")?;
    let count = encodings::count(&text, args::encoding(encoding)?)?;
    Ok(args::to_number(count))
}

/// The name of a model's encoding.
#[wasm_bindgen(js_name = encodingForModel)]
pub fn encoding_for_model(model: &JsValue) -> Result<String, JsValue> {
    let model = args::string(model, "model")?;
    Ok(tokens::encoding_for_model(&model)?.name().to_owned())
}

/// The name of the file, without its extension, that an encoding's vocabulary is in.
#[wasm_bindgen(js_name = vocabularyOf)]
pub fn vocabulary_of(encoding: &JsValue) -> Result<String, JsValue> {
    Ok(args::encoding(encoding)?.vocabulary().file_stem().to_owned())
}

/// Whether an encoding can count.
#[wasm_bindgen(js_name = isEncodingLoaded)]
pub fn is_encoding_loaded(encoding: &JsValue) -> Result<bool, JsValue> {
    Ok(encodings::is_loaded(args::encoding(encoding)?.vocabulary()))
}

/// Takes the contents of the file of an encoding's vocabulary.
#[wasm_bindgen(js_name = loadVocabulary)]
pub fn load_vocabulary(encoding: &JsValue, data: Vec<u8>) -> Result<(), JsValue> {
    encodings::load(args::encoding(encoding)?.vocabulary(), data)
}

/// The text of a message with what it lacks added: `kind` is `Message`, `SystemPromptMessage` or
/// `ToolDefinitionsMessage`.
#[wasm_bindgen(js_name = completeMessage)]
pub fn complete_message(text: &str, kind: &str) -> Result<String, JsValue> {
    let message = match Special::ALL.into_iter().find(|special| special.type_name() == kind) {
        Some(kind) => special_message(kind, text)?,
        None => message(text)?,
    };
    Ok(json::to_compact_text(&message)?)
}

/// The message of a JSON text that the glue made of an object.
fn message(text: &str) -> Result<Message, Error> {
    let environment = JsEnvironment::capture()?;
    value(text, MAX_MESSAGE_DEPTH).and_then(|dict| Message::given(dict, &environment)).map_err(ShapeError::in_message)
}

fn special_message(kind: Special, text: &str) -> Result<Message, Error> {
    let environment = JsEnvironment::capture()?;
    value(text, MAX_MESSAGE_DEPTH)
        .and_then(|dict| Message::given_special(kind, dict, &environment))
        .map_err(ShapeError::in_message)
}

/// The value of a JSON text that the glue made of an object, which can only be nested too deeply.
fn value(text: &str, max_depth: usize) -> Result<serde_json::Value, ShapeError> {
    json::parse_within(text.as_bytes(), max_depth).map_err(|error| ShapeError::new(FieldPath::root(), error.message))
}
