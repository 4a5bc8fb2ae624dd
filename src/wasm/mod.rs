//! The boundary to JavaScript: classes and functions that only `js/` calls.
//!
//! Nothing is borrowed while the caller's code runs: every method takes `&self`, state is in a `RefCell` that is released
//! before a call goes out, and the clock is read first. Dicts, messages and reports cross as JSON text, which keeps every
//! key and, towards Rust, every number.

#![allow(missing_docs, reason = "only js/ calls these methods; the public interface is documented there")]

mod args;
mod bytes;
mod check;
mod context;
mod encodings;
mod environment;
mod errors;
mod graphemes;
mod memory;
mod patterns;
mod reports;
mod room;
mod session;
mod storage;
mod text;
mod windows;

pub use context::ContextHandle;
pub use session::SessionHandle;
pub use text::text_buffer;

use js_sys::Uint8Array;
use peteos_memory::ensure;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wasm_bindgen::prelude::*;

use crate::conversation::{GivenMessage, MAX_MESSAGE_DEPTH, Message, SEQUENCE_NUMBER, Special};
use crate::digest::hex;
use crate::error::{Error, ShapeError};
use crate::json::{self, View};
use crate::limits::Limits;
use crate::tokens;
use environment::JsEnvironment;

/// The file of a message that belongs to no context yet, in errors.
fn any_file() -> String {
    "the file of the message".to_owned()
}

/// Connects the module to the code in `js/`.
///
/// `create_error(class, message, details)` creates an error of a class. `read_vocabulary(name)` returns the bytes of a
/// vocabulary file, or `undefined` if it cannot be read synchronously.
#[wasm_bindgen]
pub fn configure(create_error: js_sys::Function, read_vocabulary: js_sys::Function) {
    memory::prepare();
    errors::set_factory(create_error);
    encodings::set_reader(read_vocabulary);
}

/// The number of an encoding, for the functions below.
#[wasm_bindgen(js_name = encodingNumber)]
pub fn encoding_number(encoding: &JsValue) -> Result<usize, JsValue> {
    Ok(args::encoding(encoding)?.number())
}

/// Throws unless the argument is a string.
#[wasm_bindgen(js_name = expectString)]
pub fn expect_string(value: &JsValue, argument: &str) -> Result<(), JsValue> {
    args::string(value, argument)?;
    Ok(())
}

/// Throws unless the argument is `true` or `false`.
#[wasm_bindgen(js_name = expectBoolean)]
pub fn expect_boolean(value: &JsValue, argument: &str) -> Result<(), JsValue> {
    args::boolean(value, argument)?;
    Ok(())
}

/// The number of tokens of the text in the [`text::text_buffer`], counted no further than `limit`.
#[wasm_bindgen(js_name = countTokens)]
pub fn count_tokens(bytes: usize, encoding: usize, limit: &JsValue) -> Result<f64, JsValue> {
    let limit = if args::is_absent(limit) { u64::MAX } else { args::non_negative_integer(limit, "options.limit")? };
    let tokenizer = encodings::tokenizer(encodings::numbered(encoding)?)?;
    let count = text::with_text(bytes, |text| tokenizer.count_up_to(text, limit));
    Ok(args::to_number(count.map_err(Error::from)?))
}

/// The ids of the tokens of the text in the [`text::text_buffer`].
#[wasm_bindgen]
pub fn encode(bytes: usize, encoding: usize) -> Result<Vec<u32>, JsValue> {
    let tokenizer = encodings::tokenizer(encodings::numbered(encoding)?)?;
    Ok(text::with_text(bytes, |text| tokenizer.encode(text)).map_err(Error::from)?)
}

/// The text of tokens. Invalid UTF-8 becomes U+FFFD.
#[wasm_bindgen]
pub fn decode(tokens: &[u32], encoding: usize) -> Result<String, JsValue> {
    let encoding = encodings::numbered(encoding)?;
    let bytes = encodings::tokenizer(encoding)?.decode(tokens, encoding).map_err(Error::from)?;
    String::from_utf8(bytes).or_else(|error| {
        let bytes = error.into_bytes();
        // Each byte may become U+FFFD, which has three; a string that grows is copied.
        ensure(bytes.len().saturating_mul(9), "a text").map_err(Error::from)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    })
}

/// The SHA-256 of a file's contents in lower-case hexadecimal digits, for storage adapters on platforms without a
/// synchronous implementation.
#[wasm_bindgen(js_name = sha256)]
pub fn sha256(data: &Uint8Array) -> String {
    // In pieces, so that the memory does not have to hold a file.
    let mut piece = vec![0; PIECE as usize];
    let mut digest = Sha256::new();
    let length = data.length();
    for start in (0..length).step_by(PIECE as usize) {
        let end = length.min(start.saturating_add(PIECE));
        let bytes = &mut piece[..(end - start) as usize];
        data.subarray(start, end).copy_to(bytes);
        digest.update(&bytes);
    }
    hex(&digest.finalize())
}

/// The bytes of a file that are hashed at once.
const PIECE: u32 = 1 << 14;

/// The name of a model's encoding.
#[wasm_bindgen(js_name = encodingForModel)]
pub fn encoding_for_model(model: &JsValue) -> Result<String, JsValue> {
    let model = args::string(model, "model")?;
    Ok(tokens::encoding_for_model(&model).map_err(Error::from)?.name().to_owned())
}

/// The name, without extension, of the file with an encoding's vocabulary.
#[wasm_bindgen(js_name = vocabularyOf)]
pub fn vocabulary_of(encoding: &JsValue) -> Result<String, JsValue> {
    Ok(args::encoding(encoding)?.vocabulary().file_stem().to_owned())
}

/// Whether the vocabulary of an encoding is loaded.
#[wasm_bindgen(js_name = isEncodingLoaded)]
pub fn is_encoding_loaded(encoding: &JsValue) -> Result<bool, JsValue> {
    Ok(encodings::is_loaded(args::encoding(encoding)?.vocabulary()))
}

/// Loads the vocabulary of an encoding from the contents of its file.
#[wasm_bindgen(js_name = loadVocabulary)]
pub fn load_vocabulary(encoding: &JsValue, data: &JsValue) -> Result<(), JsValue> {
    encodings::load(args::encoding(encoding)?.vocabulary(), data)
}

/// Checks the message in the [`text::text_buffer`] and returns it completed, as JSON of a [`completed_view`].
#[wasm_bindgen(js_name = completeMessage)]
pub fn complete_message(bytes: usize) -> Result<String, JsValue> {
    let (message, given) = given_message(bytes, Limits::default(), any_file)?;
    Ok(reports::compact_text(&completed_view(&message, given))?)
}

/// The special message in the [`text::text_buffer`] with missing fields added, as JSON. `kind` is `SystemPromptMessage` or
/// `ToolDefinitionsMessage`.
#[wasm_bindgen(js_name = completeSpecialMessage)]
pub fn complete_special_message(bytes: usize, kind: &str) -> Result<String, JsValue> {
    let kind = if kind == Special::SystemPrompt.type_name() { Special::SystemPrompt } else { Special::ToolDefinitions };
    let message = text::with_text(bytes, |text| special_message(kind, text))?;
    Ok(reports::compact_text(&message.dict().into())?)
}

/// The message in the [`text::text_buffer`], and the number of the fields that it came with: added fields come after them.
fn given_message(bytes: usize, limits: Limits, file: impl FnOnce() -> String) -> Result<(Message, usize), Error> {
    memory::keep_room();
    let dict = text::with_text(bytes, |text| value(text, MAX_MESSAGE_DEPTH, limits, file, in_message))?;
    let given = GivenMessage::new(dict).map_err(in_message)?;
    let count = given.field_count();
    Ok((given.complete_with(JsEnvironment::capture)?, count))
}

fn special_message(kind: Special, text: impl AsRef<[u8]>) -> Result<Message, Error> {
    let environment = JsEnvironment::capture()?;
    let dict = value(text, MAX_MESSAGE_DEPTH, Limits::default(), any_file, in_message)?;
    Message::given_special(kind, dict, &environment).map_err(in_message)
}

/// A message with `null` in place of its first `given` fields, which `js/` has, except for the sequence number, which an
/// append replaces.
fn completed_view(message: &Message, given: usize) -> View<'_> {
    let fields = message.dict().iter().enumerate().map(|(index, (key, value))| {
        let is_same = index < given && key != SEQUENCE_NUMBER;
        (key.as_str(), View::Value(if is_same { &Value::Null } else { value }))
    });
    View::Fields(fields.collect())
}

fn in_message(fault: ShapeError) -> Error {
    fault.in_message().into()
}

fn in_argument(argument: &'static str) -> impl Fn(ShapeError) -> Error {
    move |fault| fault.in_argument(argument).into()
}

/// The value of a JSON text from `js/`: it is valid JSON, but it may be nested too deeply, or have more values than `file`
/// may have. `at_fault` makes the error about the argument.
fn value(
    text: impl AsRef<[u8]>,
    max_depth: usize,
    limits: Limits,
    file: impl FnOnce() -> String,
    at_fault: impl FnOnce(ShapeError) -> Error,
) -> Result<Value, Error> {
    json::parse_within(text.as_ref(), max_depth, limits.values()).map_err(|error| match error.has_more_values {
        true => limits.too_many_values(&file(), true).into(),
        false => at_fault(error.into()),
    })
}
