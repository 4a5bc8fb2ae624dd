//! A step: something that makes room in a context, given as data.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::edits::{Edits, StepReport};
use super::elide::{Elide, GraphemeBorder};
use super::media::ClearMedia;
use super::options::Options;
use super::results::{ClearToolResults, DedupeToolResults};
use super::summary::Summary;
use super::thinking::ClearThinking;
use crate::conversation::{Context, Counter, Counting, Media, named_enum};
use crate::environment::Environment;
use crate::error::Error;
use crate::json::FieldPath;
use crate::tokens::TokenCounter;
use crate::window::{Boundary, TokenBudget, WindowOptions, Windows};

named_enum! {
    /// The kind of a step. The names are stable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StepKind {
        /// Replaces the content of old tool results by a short text.
        ClearToolResults = "clear-tool-results",
        /// Leaves out the thinking of earlier turns.
        ClearThinking = "clear-thinking",
        /// Replaces old media by notes.
        ClearMedia = "clear-media",
        /// Shortens long texts in the middle.
        Elide = "elide",
        /// Replaces results that a later result repeats.
        DedupeToolResults = "dedupe-tool-results",
        /// Puts a text in the place of messages.
        Summarize = "summarize",
        /// Drops the oldest messages beyond a number.
        SequenceWindow = "sequence-window",
        /// Drops the oldest messages beyond a token budget.
        TokenWindow = "token-window",
    }
}

impl Serialize for StepKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A step of a policy.
#[derive(Clone, Debug)]
pub enum Step {
    /// See [`ClearToolResults`].
    ClearToolResults(ClearToolResults),
    /// See [`ClearThinking`].
    ClearThinking(ClearThinking),
    /// See [`ClearMedia`].
    ClearMedia(ClearMedia),
    /// See [`Elide`].
    Elide(Elide),
    /// See [`DedupeToolResults`].
    DedupeToolResults(DedupeToolResults),
    /// See [`Summary`].
    Summarize(Summary),
    /// See [`Windows::rolling_sequence_window`].
    SequenceWindow {
        /// The maximum number of non-special messages.
        count: u64,
        /// The options of the window.
        options: WindowOptions,
    },
    /// See [`Windows::rolling_token_window`].
    TokenWindow {
        /// The budget.
        budget: TokenBudget,
        /// The options of the window.
        options: WindowOptions,
        /// What an image, a video, audio or a PDF document costs; by default the tokens of its text.
        media: Option<u64>,
    },
}

/// What steps use.
#[derive(Clone, Copy)]
pub struct StepTools<'t> {
    /// Counts tokens.
    pub counter: &'t dyn TokenCounter,
    /// Finds the borders of graphemes.
    pub graphemes: &'t dyn GraphemeBorder,
    /// Gives new messages an id and a time.
    pub environment: &'t dyn Environment,
}

impl Step {
    /// Reads a step: an object with the name of its kind as `type`, and its options. `path` is where it is in `argument`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an unknown kind, an unknown option, or an invalid value of an option.
    pub fn read(value: &Value, path: FieldPath, argument: &'static str) -> Result<Self, Error> {
        let mut options = Options::new(value, path, argument)?;
        let name = options.string("type")?;
        let name = options.required("type", name)?;
        let kind = StepKind::ALL.iter().copied().find(|kind| kind.name() == name);
        let step = match kind {
            Some(StepKind::ClearToolResults) => Self::ClearToolResults(ClearToolResults::read(&mut options)?),
            Some(StepKind::ClearThinking) => Self::ClearThinking(ClearThinking::read(&mut options)?),
            Some(StepKind::ClearMedia) => Self::ClearMedia(ClearMedia::read(&mut options)?),
            Some(StepKind::Elide) => Self::Elide(Elide::read(&mut options)?),
            Some(StepKind::DedupeToolResults) => Self::DedupeToolResults(DedupeToolResults),
            Some(StepKind::Summarize) => Self::Summarize(Summary::read(&mut options)?),
            Some(StepKind::SequenceWindow) => Self::read_sequence_window(&mut options)?,
            Some(StepKind::TokenWindow) => Self::read_token_window(&mut options)?,
            None => {
                let names: Vec<&str> = StepKind::ALL.iter().map(|kind| kind.name()).collect();
                return Err(options.fault("type", format!("{name:?} is not a step; known steps: {}", names.join(", "))));
            }
        };
        options.finish()?;
        Ok(step)
    }

    fn read_sequence_window(options: &mut Options) -> Result<Self, Error> {
        let count = options.integer("count")?;
        let count = options.required("count", count)?;
        Ok(Self::SequenceWindow { count, options: window_options(options, count)? })
    }

    fn read_token_window(options: &mut Options) -> Result<Self, Error> {
        let max_tokens = options.integer("maxTokens")?;
        let max_tokens = options.required("maxTokens", max_tokens)?;
        let reserve = options.integer("reserve")?.unwrap_or(0);
        if reserve > max_tokens {
            return Err(options.fault("reserve", format!("{reserve} exceeds the budget of {max_tokens} tokens")));
        }
        let window = window_options(options, max_tokens - reserve)?;
        Ok(Self::TokenWindow {
            budget: TokenBudget { max_tokens, reserve },
            options: window,
            media: options.integer("media")?,
        })
    }

    /// The kind.
    pub fn kind(&self) -> StepKind {
        match self {
            Self::ClearToolResults(_) => StepKind::ClearToolResults,
            Self::ClearThinking(_) => StepKind::ClearThinking,
            Self::ClearMedia(_) => StepKind::ClearMedia,
            Self::Elide(_) => StepKind::Elide,
            Self::DedupeToolResults(_) => StepKind::DedupeToolResults,
            Self::Summarize(_) => StepKind::Summarize,
            Self::SequenceWindow { .. } => StepKind::SequenceWindow,
            Self::TokenWindow { .. } => StepKind::TokenWindow,
        }
    }

    /// The edits that this step makes in a context; none if it saves no tokens.
    ///
    /// # Errors
    ///
    /// Those of windows and of the counter.
    pub fn edits(&self, context: &Context, tools: StepTools) -> Result<Edits, Error> {
        let (edits, least) = match self {
            Self::ClearToolResults(step) => (step.edits(context), step.clear_at_least.max(1)),
            Self::ClearThinking(step) => (step.edits(context), 1),
            Self::ClearMedia(step) => (step.edits(context), 1),
            Self::Elide(step) => (step.edits(context, tools.counter, tools.graphemes)?, 1),
            Self::DedupeToolResults(step) => (step.edits(context)?, 1),
            Self::Summarize(summary) => (summary.edits(context, tools.counter, tools.environment)?, 0),
            Self::SequenceWindow { count, options } => {
                (dropping(context, context.kept_by_sequence_window(*count, options)?), 0)
            }
            Self::TokenWindow { budget, options, media } => {
                let counting = counting(tools.counter, *media);
                (dropping(context, context.kept_by_token_window(*budget, &counting, options)?), 0)
            }
        };
        let is_worth_it = edits.is_empty() || edits.freed(context, tools.counter)? >= least;
        Ok(if is_worth_it { edits } else { Edits::default() })
    }

    /// What this step would do to a context.
    ///
    /// # Errors
    ///
    /// Those of [`Step::edits`].
    pub fn plan(&self, context: &Context, tools: StepTools) -> Result<StepReport, Error> {
        StepReport::new(self.kind(), context, &self.edits(context, tools)?, tools.counter)
    }

    /// Whether a context is within the limit of this step; `None` if the step has no limit.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub(super) fn holds(&self, context: &Context, counter: &dyn TokenCounter) -> Result<Option<bool>, Error> {
        match self {
            Self::SequenceWindow { count, .. } => Ok(Some(context.others_count() as u64 <= *count)),
            Self::TokenWindow { budget, media, .. } => {
                let tokens = counting(counter, *media).total(context)?;
                Ok(Some(tokens.saturating_add(budget.reserve) <= budget.max_tokens))
            }
            _ => Ok(None),
        }
    }
}

fn counting(counter: &dyn TokenCounter, media: Option<u64>) -> Counting<'_> {
    Counting { counter: Counter::Encoding(counter), media: media.map_or(Media::Reference, Media::Each) }
}

/// The edits that leave out every non-special message that is not kept.
fn dropping(context: &Context, kept: Vec<usize>) -> Edits {
    let specials = context.specials();
    let is_dropped = |position: &usize| kept.binary_search(position).is_err() && !specials.contains(&Some(*position));
    Edits::dropping((0..context.messages().len()).filter(is_dropped))
}

/// The options that windows share. `room` is the largest lower mark.
fn window_options(options: &mut Options, room: u64) -> Result<WindowOptions, Error> {
    let boundary = match options.string("boundary")? {
        None => Boundary::default(),
        Some(name) => Boundary::ALL.iter().copied().find(|boundary| boundary.name() == name).ok_or_else(|| {
            options.fault("boundary", format!("{name:?} is not a boundary; use 'message', 'exchange' or 'turn'"))
        })?,
    };
    let lower_mark = match options.below("hysteresis")? {
        None => None,
        Some(mut hysteresis) => {
            let mark = hysteresis.integer("to")?;
            let mark = hysteresis.required("to", mark)?;
            if mark > room {
                return Err(hysteresis.fault("to", format!("{mark} exceeds the window's limit of {room}")));
            }
            hysteresis.finish()?;
            Some(mark)
        }
    };
    Ok(WindowOptions { boundary, lower_mark, pins: options.strings("pin")?.unwrap_or_default() })
}
