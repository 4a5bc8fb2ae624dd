//! The conversation model: messages, the anchors that order them, contexts and their forks.
//!
//! The crate knows no sessions and no files, and does no I/O: the time and random ids come from an
//! [`environment::Environment`].
//!
//! ```
//! use peteos_conversation::{Context, ForkOptions, MESSAGES, Message};
//! # use peteos_conversation::environment::fixed::Fixed;
//! # use serde_json::json;
//!
//! # let environment = &Fixed::default();
//! let mut context = Context::create(None, None, None, environment);
//! for text in ["Hi", "Still there?"] {
//!     let dict = json!({"role": "user", "content": [{"type": "text", "text": text}]});
//!     let message = Message::given(dict, environment).map_err(|error| error.in_message())?;
//!     context.append(message, MESSAGES)?;
//! }
//! assert_eq!(context.messages().len(), 2);
//!
//! let fork = context.fork(ForkOptions::default(), environment);
//! assert_eq!(fork.messages().len(), 2);
//! # Ok::<(), peteos_conversation::error::Error>(())
//! ```

#![warn(missing_docs)]

mod anchors;
mod context;
mod context_dict;
mod context_shape;
mod counting;
pub mod digest;
pub mod environment;
pub mod error;
mod exchange;
mod file_size;
mod fork;
pub mod id;
pub mod keys;
pub mod limits;
mod materialize;
mod message;
mod message_tokens;
pub mod names;
mod new_conversation;
pub mod order;
mod pairing;
mod part;
pub mod shape;
mod special;
pub mod tokens;

pub use anchors::{Anchor, MESSAGES, SYSTEM_PROMPT, TOOLS};
pub use context::Context;
pub use context_shape::shape_faults;
pub use counting::{Counter, Counting, Media};
pub use exchange::{Exchanges, Unpaired, UnpairedKind};
pub use fork::{Edit, ForkOptions, SequenceRange};
pub use materialize::{FullMatch, HookOutputs};
pub use message::{GivenMessage, MAX_MESSAGE_DEPTH, Message, SEQUENCE_NUMBER};
pub use new_conversation::NewConversation;
pub use pairing::{
    CallState, PairedCall, PairedMessage, PairedResult, Pairing, Place, Repeats, ResultState, ToolPart, Tools,
};
pub use part::{OPAQUE, PartKind, PartKinds, PartTokens};
pub use peteos_json as json;
pub use special::Special;
