//! Rolling windows: which messages of a context are kept, and the proof of it.

mod cut;
mod report;

pub use report::WindowReport;

use cut::Cut;

use crate::conversation::Context;
use crate::environment::Environment;
use crate::error::Error;
use crate::tokens::TokenCounter;

/// What a window may not take apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// A window may begin at any message.
    #[default]
    Message,
}

impl Boundary {
    /// The boundary of this name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a name that is not known or not built yet.
    pub fn parse(name: &str) -> Result<Self, Error> {
        match name {
            "message" => Ok(Self::Message),
            "exchange" | "turn" => {
                let message = format!("'{name}' is not supported by this version; use 'message'");
                Err(Error::argument("options.boundary", message))
            }
            _ => Err(Error::argument("options.boundary", format!("'{name}' is no boundary; use 'message'"))),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
        }
    }
}

impl Context {
    /// A fork with the last `count` messages by sequence number, and the special messages; `None` where none would be
    /// dropped.
    pub fn rolling_sequence_window(
        &mut self,
        count: u64,
        _boundary: Boundary,
        environment: &dyn Environment,
    ) -> Option<Context> {
        let cut = Cut::to_count(self, count);
        cut.drops_any().then(|| self.fork_positions(&cut.kept, environment))
    }

    /// A fork with as many of the last messages by sequence number as have, with the special messages, no more than
    /// `max_tokens` tokens; only the special messages where none fits. `None` where none would be dropped.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub fn rolling_token_window(
        &mut self,
        max_tokens: u64,
        counter: &dyn TokenCounter,
        _boundary: Boundary,
        environment: &dyn Environment,
    ) -> Result<Option<Context>, Error> {
        let cut = Cut::to_tokens(self, max_tokens, counter)?;
        Ok(cut.drops_any().then(|| self.fork_positions(&cut.kept, environment)))
    }

    /// What [`Context::rolling_sequence_window`] would keep and drop.
    pub fn plan_sequence_window(&self, count: u64, boundary: Boundary) -> WindowReport {
        let cut = Cut::to_count(self, count);
        WindowReport::new(self, boundary, count, &cut)
    }

    /// What [`Context::rolling_token_window`] would keep and drop, with the tokens of every message.
    ///
    /// # Errors
    ///
    /// Those of the counter.
    pub fn plan_token_window(
        &self,
        max_tokens: u64,
        counter: &dyn TokenCounter,
        boundary: Boundary,
    ) -> Result<WindowReport, Error> {
        let cut = Cut::to_tokens(self, max_tokens, counter)?;
        WindowReport::new(self, boundary, max_tokens, &cut).with_tokens(self, &cut, counter)
    }
}
