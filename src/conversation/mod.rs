//! The conversation model: messages, the anchors that order them, contexts and their forks.

mod anchors;
mod context;
mod context_dict;
mod context_shape;
mod counting;
mod exchange;
mod fork;
pub(crate) mod keys;
mod materialize;
mod message;
mod message_tokens;
mod pairing;
mod part;
pub(crate) mod shape;
mod special;

pub(crate) use context_shape::shape_faults;
pub(crate) use message::SEQUENCE_NUMBER;

pub use anchors::{Anchor, MESSAGES, SYSTEM_PROMPT, TOOLS};
pub use context::Context;
pub use counting::{Counter, Counting, Media};
pub use exchange::{Exchanges, Unpaired, UnpairedKind};
pub use fork::{ForkOptions, SequenceRange};
pub use materialize::{FullMatch, HookOutputs};
pub use message::{GivenMessage, MAX_MESSAGE_DEPTH, Message};
pub use pairing::{CallState, PairedCall, PairedMessage, PairedResult, Pairing, Place, Repeats, ResultState, ToolPart};
pub use part::{PartKind, PartKinds, PartTokens};
pub use special::Special;
