//! JSON text: reading it without loss, writing it as Python does, and finding where in a text a value is.
//!
//! Values are [`serde_json::Value`]s that keep the order of keys and the text of numbers. Reading accepts
//! JSON with or without a byte order mark. Writing produces the same bytes as Python's `json` module, because the files
//! are shared with a Python program.
//!
//! The crate is independent of its callers. It is a separate crate so that it can be compiled for speed while the code
//! around it is compiled for size. For the same reason, writing functions take a [`View`], and none is generic.
//!
//! ```
//! let value = peteos_json::parse(b"{\"b\": 1.0, \"a\": 1e16}")?;
//! assert_eq!(peteos_json::to_compact_text(&(&value).into()).unwrap(), r#"{"b":1.0,"a":1e16}"#);
//! # Ok::<(), peteos_json::ParseError>(())
//! ```

#![warn(missing_docs)]

mod anomalies;
mod copies;
mod locate;
mod numbers;
mod object;
mod parse;
mod path;
mod position;
mod python;
mod reader;
mod size;
mod truncated;
mod view;
mod write;

pub use anomalies::{Anomalies, Anomaly};
pub use copies::{copy_size, ensure_copies};
pub use locate::locate;
pub use numbers::keep_numbers;
pub use object::{Object, field, items};
pub use parse::{ParseError, parse, parse_noting, parse_within};
pub use path::FieldPath;
pub use position::Position;
pub use python::to_python_text;
pub use reader::MAX_DEPTH;
pub use size::Size;
pub use truncated::{Truncated, is_truncated_at, read_truncated};
pub use view::View;
pub use write::{TextBuffer, to_compact_text, to_file_bytes};

/// The largest integer up to which doubles, and so all JSON readers, are exact: 2⁵³ − 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
