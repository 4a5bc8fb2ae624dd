//! Sessions for LLM agents: a session is one interaction thread stored as JSON. Its active context is the list of messages
//! for a model, and rolling windows cut that list to an exact number of messages or tokens.
//!
//! The crate does no I/O: it reads and writes through a [`storage::Storage`], and gets the time and random ids from an
//! [`environment::Environment`]. On `wasm32`, the module `wasm` connects it to JavaScript.

#![warn(missing_docs)]

pub mod error;
pub mod id;
pub mod integrity;
pub mod layout;
pub mod room;
pub mod session;
pub mod storage;
pub mod window;

pub use peteos_conversation as conversation;
pub use peteos_conversation::{digest, environment, limits, tokens};
pub use peteos_json as json;

#[cfg(target_arch = "wasm32")]
pub mod wasm;
