//! The conversation model: messages, the anchors that order them, contexts and their forks.

mod anchors;
mod context;
mod counting;
mod exchange;
mod fork;
mod materialize;
mod message;
mod part;
mod pattern;
pub(crate) mod shape;

pub(crate) use context::{keys, shape_faults};
pub(crate) use message::SEQUENCE_NUMBER;

pub use anchors::{Anchor, MESSAGES, SYSTEM_PROMPT, TOOLS};
pub use context::{Context, Special};
pub use counting::{Counter, Counting, Media};
pub use exchange::{CallOrResult, Exchanges, Unpaired, UnpairedKind};
pub use fork::{ForkOptions, SequenceRange};
pub use materialize::{FullMatch, HookOutputs};
pub use message::{GivenMessage, MAX_MESSAGE_DEPTH, Message};
pub use part::{PartKind, PartKinds, PartTokens};
pub use pattern::JavaScriptPattern;
