//! The JSON text rules: what is read, what is written, and where in a text a value stands.
//!
//! Values are [`serde_json::Value`]s with their keys in order and their numbers as they were written. Reading accepts
//! what JSON allows plus a byte order mark; writing gives the bytes that Python's `json` module gives, because the
//! files are shared with a Python program.

mod locate;
mod numbers;
mod oddities;
mod parse;
mod path;
mod python;
mod torn;
mod write;

pub use locate::{Position, locate};
pub use numbers::keep_numbers;
pub use oddities::{Oddities, Oddity};
pub use parse::{MAX_DEPTH, MAX_VALUES, ParseError, parse, parse_noting, parse_within};
pub use path::FieldPath;
pub use python::to_python_text;
pub use torn::{Torn, is_torn_at, read_torn};
pub use write::{to_compact_text, to_file_bytes};

/// The largest whole number that JavaScript and every JSON reader keep exactly: 2⁵³ − 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A JSON object with its keys in order.
pub type Object = serde_json::Map<String, serde_json::Value>;

/// The items of the array that a field holds; none where it holds no array.
pub fn items<'o>(object: &'o Object, key: &str) -> &'o [serde_json::Value] {
    object.get(key).and_then(serde_json::Value::as_array).map_or(&[], Vec::as_slice)
}
