//! The JSON text rules: what is read, what is written, and where in a text a value stands.
//!
//! Values are [`serde_json::Value`]s with their keys in order and their numbers as they were written. Reading accepts
//! what JSON allows plus a byte order mark; writing gives the bytes that Python's `json` module gives, because the
//! files are shared with a Python program.

mod locate;
mod numbers;
mod object;
mod oddities;
mod parse;
mod path;
mod position;
mod python;
mod reader;
mod torn;
mod write;

pub use locate::locate;
pub use numbers::keep_numbers;
pub use object::{Object, items};
pub use oddities::{Oddities, Oddity};
pub use parse::{ParseError, parse, parse_noting, parse_within};
pub use path::FieldPath;
pub use position::Position;
pub use python::to_python_text;
pub use reader::{MAX_DEPTH, MAX_VALUES};
pub use torn::{Torn, is_torn_at, read_torn};
pub use write::{to_compact_text, to_file_bytes};

/// The largest whole number that a double and every JSON reader keeps exactly: 2⁵³ − 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
