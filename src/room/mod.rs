//! Makes room in a context without dropping messages: replaces old content by less, and runs policies of such steps and windows.
//!
//! A [`Step`] is data. It decides on [`Edits`] of a context; a fork has them, and the context itself does not change.
//!
//! - [`results`] clears and deduplicates tool results, [`thinking`] and [`media`] clear what their names say, [`elide`] shortens
//!   long texts.
//! - [`summary`] puts a text of the caller in the place of messages.
//! - [`policy`] runs steps in order until a budget holds.
//! - [`simulation`] replays a conversation request by request under a policy, and counts what a provider would bill.
//!
//! docs/making-room.md describes each step.

mod edits;
mod elide;
mod media;
mod options;
mod policy;
mod results;
mod simulation;
mod step;
mod summary;
mod thinking;

pub use edits::{Edits, StepReport};
pub use elide::{Elide, ElidedKind, GraphemeBorder};
pub use media::ClearMedia;
pub use policy::{Fitted, Policy};
pub use results::{ClearToolResults, DedupeToolResults};
pub use simulation::{Prices, RequestReport, Simulation};
pub use step::{Step, StepKind, StepTools};
pub use summary::{Summary, SummaryRange, summary_prompt};
pub use thinking::ClearThinking;
