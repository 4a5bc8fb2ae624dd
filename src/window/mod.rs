//! Rolling windows: which messages of a context are kept, and why.
//!
//! A window keeps the special messages, the pinned messages, and the longest run of the newest messages that fits its limit and
//! begins where its boundary allows. docs/windows.md shows each boundary.

mod cut;
mod newest;
mod reason;
mod report;
mod retained;
mod units;

pub use reason::Reason;
pub use report::{BeforeAfter, Broken, ByRole, MessageReport, PendingCall, WindowProblem, WindowReport};

use cut::Cut;
use newest::Limits;

use crate::conversation::{Context, Counter, Counting, Media, named_enum};
use crate::environment::Environment;
use crate::error::Error;
use crate::tokens;

named_enum! {
    /// What a window must not split. The names are stable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Boundary {
        /// Nothing: a window may begin at any message.
        Message = "message",
        /// An exchange: a message with tool calls and the messages with their results are kept or dropped together.
        Exchange = "exchange",
        /// An exchange, and the window begins at a message of the user that is not a tool result.
        Turn = "turn",
    }
}

#[expect(clippy::derivable_impls, reason = "`named_enum!` cannot mark a variant as the default")]
impl Default for Boundary {
    fn default() -> Self {
        Self::Message
    }
}

impl Boundary {
    /// The boundary with this name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an unknown name.
    pub fn parse(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|boundary| boundary.name() == name).ok_or_else(|| {
            let message = format!("{name:?} is not a boundary; use 'message', 'exchange' or 'turn'");
            Error::argument("boundary", message)
        })
    }
}

/// The options of a window.
#[derive(Clone, Debug, Default)]
pub struct WindowOptions {
    /// What the window must not split.
    pub boundary: Boundary,
    /// The number of messages or tokens to cut down to when a window must cut, so that the next cut is far away. At most the
    /// limit.
    pub lower_mark: Option<u64>,
    /// The ids of messages to keep, each with its exchange.
    pub pins: Vec<String>,
}

/// The token budget of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    /// The maximum number of tokens, including the reserve.
    pub max_tokens: u64,
    /// The tokens reserved for the reply.
    pub reserve: u64,
}

impl From<u64> for TokenBudget {
    /// A budget without a reserve.
    fn from(max_tokens: u64) -> Self {
        Self { max_tokens, reserve: 0 }
    }
}

/// The windows of a context.
pub trait Windows {
    /// A fork with the special messages, the pinned ones, and the newest of the others by sequence number: no more than
    /// `count` together with the pinned ones. `None` if no message would be dropped.
    ///
    /// # Errors
    ///
    /// [`Error::WindowTooSmall`] if the newest exchange or the pinned messages do not fit; with [`Boundary::Message`], only
    /// if the pinned messages do not. [`Error::InvalidArgument`] for a pin that is not the id of a message, or a lower mark
    /// above the count.
    fn rolling_sequence_window(
        &mut self,
        count: u64,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<Context>, Error>;

    /// A fork with the special messages, the pinned ones, and the newest of the others by sequence number: no more tokens
    /// than the budget together. `None` if no message would be dropped.
    ///
    /// # Errors
    ///
    /// Those of [`Windows::rolling_sequence_window`], [`Error::InvalidArgument`] for a reserve above the budget, and those of
    /// the counter.
    fn rolling_token_window(
        &mut self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<Context>, Error>;

    /// What [`Windows::rolling_sequence_window`] would keep and drop, and why.
    ///
    /// # Errors
    ///
    /// Those of the window.
    fn plan_sequence_window(&self, count: u64, options: &WindowOptions) -> Result<WindowReport, Error>;

    /// What [`Windows::rolling_token_window`] would keep and drop, why, and the tokens of every message.
    ///
    /// # Errors
    ///
    /// Those of the window.
    fn plan_token_window(
        &self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
    ) -> Result<WindowReport, Error>;

    /// The positions of the non-special messages that [`Windows::rolling_sequence_window`] keeps, ascending.
    ///
    /// # Errors
    ///
    /// Those of the window.
    fn kept_by_sequence_window(&self, count: u64, options: &WindowOptions) -> Result<Vec<usize>, Error>;

    /// The positions of the non-special messages that [`Windows::rolling_token_window`] keeps, ascending.
    ///
    /// # Errors
    ///
    /// Those of the window.
    fn kept_by_token_window(
        &self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
    ) -> Result<Vec<usize>, Error>;
}

impl Windows for Context {
    fn rolling_sequence_window(
        &mut self,
        count: u64,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<Context>, Error> {
        let cut = cut_to_count(self, count, options)?;
        Ok(cut.drops_any().then(|| self.fork_positions(&cut.kept, environment)))
    }

    fn rolling_token_window(
        &mut self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
        environment: &dyn Environment,
    ) -> Result<Option<Context>, Error> {
        let cut = cut_to_tokens(self, budget, counting, options)?;
        Ok(cut.drops_any().then(|| self.fork_positions(&cut.kept, environment)))
    }

    fn plan_sequence_window(&self, count: u64, options: &WindowOptions) -> Result<WindowReport, Error> {
        let cut = cut_to_count(self, count, options)?;
        Ok(WindowReport::new(self, options, count, &cut))
    }

    fn plan_token_window(
        &self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
    ) -> Result<WindowReport, Error> {
        let cut = cut_to_tokens(self, budget, counting, options)?;
        WindowReport::new(self, options, budget.max_tokens, &cut).with_tokens(self, budget.reserve, counting)
    }

    fn kept_by_sequence_window(&self, count: u64, options: &WindowOptions) -> Result<Vec<usize>, Error> {
        Ok(cut_to_count(self, count, options)?.kept)
    }

    fn kept_by_token_window(
        &self,
        budget: TokenBudget,
        counting: &Counting,
        options: &WindowOptions,
    ) -> Result<Vec<usize>, Error> {
        Ok(cut_to_tokens(self, budget, counting, options)?.kept)
    }
}

fn cut_to_count(context: &Context, count: u64, options: &WindowOptions) -> Result<Cut, Error> {
    let limits = Limits { limit: count, reserve: 0, special_tokens: None };
    Cut::decide(context, limits, options, &|_| Ok(1))
}

fn cut_to_tokens(
    context: &Context,
    budget: TokenBudget,
    counting: &Counting,
    options: &WindowOptions,
) -> Result<Cut, Error> {
    let TokenBudget { max_tokens, reserve } = budget;
    if reserve > max_tokens {
        let message = format!("{reserve} exceeds the budget of {max_tokens} tokens");
        return Err(Error::argument("reserve", message));
    }
    let specials = context.specials().into_iter().flatten();
    let special_tokens = tokens::total(specials.map(|position| counting.tokens(context, position)))?;
    let limits = Limits { limit: max_tokens, reserve, special_tokens: Some(special_tokens) };
    Cut::decide(context, limits, options, &|position| Ok(counting.tokens(context, position)?))
        .map_err(|error| with_media_tokens(context, error, counting, options))
}

/// Adds the tokens of media to the error of a window that would be large enough without them.
fn with_media_tokens(context: &Context, error: Error, counting: &Counting, options: &WindowOptions) -> Error {
    match error {
        Error::WindowTooSmall { limit, special_tokens, needed, reserve, has_pins, boundary, .. } => {
            let rest = needed_without_media(context, reserve, counting, options).filter(|rest| *rest <= limit);
            let media_tokens = rest.map_or(0, |rest| needed.saturating_sub(rest));
            Error::WindowTooSmall { limit, special_tokens, needed, media_tokens, reserve, has_pins, boundary }
        }
        error => error,
    }
}

/// The smallest sufficient limit if media cost nothing; `None` if media are not counted by their text.
fn needed_without_media(context: &Context, reserve: u64, counting: &Counting, options: &WindowOptions) -> Option<u64> {
    let Counting { counter: Counter::Encoding(counter), media: Media::Reference } = counting else { return None };
    let counting = Counting { counter: Counter::Encoding(*counter), media: Media::Each(0) };
    let options = WindowOptions { lower_mark: None, ..options.clone() };
    match cut_to_tokens(context, TokenBudget { max_tokens: reserve, reserve }, &counting, &options) {
        Err(Error::WindowTooSmall { needed, .. }) => Some(needed),
        Ok(_) => Some(reserve),
        Err(_) => None,
    }
}
