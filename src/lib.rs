//! A session for LLM agents: one interaction thread kept as JSON on disk, whose active context is the message list that
//! goes to a model, and rolling windows that cut that list to a number of messages or of tokens, exactly.
//!
//! The crate does no I/O of its own: it reads and writes through a [`storage::Storage`], and takes the time and random ids
//! from an [`environment::Environment`]. On `wasm32` the module `wasm` connects it to JavaScript.

#![warn(missing_docs)]

pub mod conversation;
pub mod digest;
pub mod environment;
pub mod error;
pub mod id;
pub mod integrity;
pub mod layout;
mod names;
pub mod provider;
pub mod session;
pub mod storage;
pub mod tokens;
pub mod window;

pub use peteos_json as json;

#[cfg(target_arch = "wasm32")]
pub mod wasm;
