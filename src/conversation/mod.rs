//! The conversation model: messages, the anchors that order them, contexts and their forks.
//!
//! ```
//! use peteos_session::conversation::{Context, ForkOptions, MESSAGES, Message};
//! # use peteos_session::environment::{Environment, LocalTime};
//! # use peteos_session::window::WindowOptions;
//! # use serde_json::json;
//! # struct Fixed;
//! # impl Environment for Fixed {
//! #     fn now(&self) -> LocalTime {
//! #         LocalTime { year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, microsecond: 0 }
//! #     }
//! #     fn uuid(&self) -> uuid::Uuid {
//! #         uuid::Uuid::from_u128(1)
//! #     }
//! # }
//! # let environment = &Fixed;
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
//!
//! let window = context.rolling_sequence_window(1, &WindowOptions::default(), environment)?;
//! assert_eq!(window.map(|window| window.messages().len()), Some(1));
//! let report = context.plan_sequence_window(1, &WindowOptions::default())?;
//! assert_eq!(report.dropped().len(), 1);
//! # Ok::<(), peteos_session::error::Error>(())
//! ```

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
pub use fork::{Edit, ForkOptions, SequenceRange};
pub use materialize::{FullMatch, HookOutputs};
pub use message::{GivenMessage, MAX_MESSAGE_DEPTH, Message};
pub use pairing::{CallState, PairedCall, PairedMessage, PairedResult, Pairing, Place, Repeats, ResultState, ToolPart};
pub use part::{PartKind, PartKinds, PartTokens};
pub use special::Special;
