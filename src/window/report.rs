//! The report of a window: what it keeps and drops, and why.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::cut::Cut;
use super::{Boundary, Reason, WindowOptions};
use crate::conversation::named_enum;
use crate::conversation::{Context, Counting, Exchanges, PartTokens, UnpairedKind};
use crate::error::Error;

/// The decision of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowReport {
    /// What the window must not split.
    pub boundary: Boundary,
    /// The count or the token budget.
    pub limit: u64,
    /// The reserved tokens of the budget.
    pub reserve: u64,
    /// The lower mark that the window cuts down to; `None` if that is the limit.
    pub lower_mark: Option<u64>,
    /// The encoding; `None` for a sequence window, and if the caller counts.
    pub encoding: Option<&'static str>,
    /// All messages, including special ones, in display order. Positions below are indices into this list.
    pub messages: Vec<MessageReport>,
    /// Calls without a result after which the assistant has spoken, and results without a call.
    pub broken: Vec<Broken>,
    /// Pending calls: their results may still come.
    pub pending: Vec<PendingCall>,
    /// The tokens of the special messages.
    pub special_tokens: Option<u64>,
    /// The tokens of all messages.
    pub tokens_before: Option<u64>,
    /// The tokens of the kept messages, including special ones.
    pub tokens_after: Option<u64>,
    /// The tokens of the messages before the first dropped one, which a provider may have in its cache.
    pub unchanged_prefix_tokens: Option<u64>,
    /// The tokens of each message.
    pub tokens: Option<Vec<u64>>,
    /// The tokens by role.
    pub tokens_by_role: Option<BeforeAfter<ByRole>>,
    /// The tokens by kind of part.
    pub tokens_by_part: Option<BeforeAfter<PartTokens>>,
}

/// The decision about one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReport {
    /// The id of the message.
    pub id: String,
    /// Why it is kept or dropped.
    pub reason: Reason,
}

/// A call without a result, or a result without a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The position of the message.
    pub position: usize,
    /// The id of the call.
    pub call_id: String,
    /// Which of the two it is.
    pub problem: WindowProblem,
}

named_enum! {
    /// What is wrong with a call or a result. The names are stable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WindowProblem {
        /// A tool call without a result, after which the assistant has spoken.
        CallWithoutResult = "call-without-result",
        /// A tool result that no call precedes.
        ResultWithoutCall = "result-without-call",
    }
}

/// A pending call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// The position of the message.
    pub position: usize,
    /// The id of the call.
    pub call_id: String,
}

/// Sums over all messages and over the kept ones, including special messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BeforeAfter<T> {
    /// Over all messages.
    pub before: T,
    /// Over the kept messages.
    pub after: T,
}

/// Tokens by role, in the order of the first message of each role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByRole(pub Vec<(String, u64)>);

impl WindowReport {
    pub(super) fn new(context: &Context, options: &WindowOptions, limit: u64, cut: &Cut) -> Self {
        let reasons = cut.reasons(context, options.boundary);
        let messages = context.messages().zip(reasons);
        let messages =
            messages.map(|(message, reason)| MessageReport { id: message.id().to_owned(), reason }).collect();
        let mut broken = Vec::new();
        let mut pending = Vec::new();
        let exchanges = if cut.exchanges.is_some() { None } else { Some(Exchanges::of(context)) };
        for unpaired in cut.exchanges.iter().chain(&exchanges).flat_map(|exchanges| &exchanges.unpaired) {
            let (position, call_id) = (unpaired.position, unpaired.call_id.clone());
            let problem = match unpaired.kind {
                UnpairedKind::Pending => {
                    pending.push(PendingCall { position, call_id });
                    continue;
                }
                UnpairedKind::Call => WindowProblem::CallWithoutResult,
                UnpairedKind::Result => WindowProblem::ResultWithoutCall,
            };
            broken.push(Broken { position, call_id, problem });
        }
        Self {
            boundary: options.boundary,
            limit,
            reserve: 0,
            lower_mark: options.lower_mark,
            encoding: None,
            messages,
            broken,
            pending,
            special_tokens: None,
            tokens_before: None,
            tokens_after: None,
            unchanged_prefix_tokens: None,
            tokens: None,
            tokens_by_role: None,
            tokens_by_part: None,
        }
    }

    pub(super) fn with_tokens(self, context: &Context, reserve: u64, counting: &Counting) -> Result<Self, Error> {
        let mut tokens = Vec::new();
        let (mut special, mut prefix) = (0u64, 0u64);
        let mut is_prefix = true;
        let mut all = BeforeAfter::<u64>::default();
        let mut by_role = BeforeAfter::<ByRole>::default();
        let mut by_part = BeforeAfter::<PartTokens>::default();
        for (position, message) in context.messages().enumerate() {
            let count = counting.tokens(context, position)?;
            let parts = counting.by_part(context, position)?;
            let reason = self.messages.get(position).map(|report| report.reason);
            let kept = reason.is_some_and(Reason::keeps);
            is_prefix &= kept;
            let add = |sum: &mut u64, condition: bool| {
                if condition {
                    *sum = sum.saturating_add(count);
                }
            };
            add(&mut special, reason == Some(Reason::Special));
            add(&mut prefix, is_prefix);
            add(&mut all.before, true);
            add(&mut all.after, kept);
            let role = message.role();
            by_role.before.add(role, count);
            by_part.before.add(&parts);
            if kept {
                by_role.after.add(role, count);
                by_part.after.add(&parts);
            }
            tokens.push(count);
        }
        Ok(Self {
            reserve,
            encoding: counting.encoding(),
            special_tokens: Some(special),
            tokens_before: Some(all.before),
            tokens_after: Some(all.after),
            unchanged_prefix_tokens: Some(prefix),
            tokens: Some(tokens),
            tokens_by_role: Some(by_role),
            tokens_by_part: Some(by_part),
            ..self
        })
    }
}

impl WindowReport {
    /// The ids of the kept non-special messages, in display order.
    pub fn kept(&self) -> Vec<&str> {
        self.ids(|reason| reason.keeps() && reason != Reason::Special)
    }

    /// The ids of the dropped messages, in display order.
    pub fn dropped(&self) -> Vec<&str> {
        self.ids(|reason| !reason.keeps())
    }

    fn ids(&self, is_wanted: impl Fn(Reason) -> bool) -> Vec<&str> {
        self.messages.iter().filter(|message| is_wanted(message.reason)).map(|message| message.id.as_str()).collect()
    }
}

impl ByRole {
    fn add(&mut self, role: &str, tokens: u64) {
        match self.0.iter_mut().find(|(known, _)| known == role) {
            Some((_, sum)) => *sum = sum.saturating_add(tokens),
            None => self.0.push((role.to_owned(), tokens)),
        }
    }
}

impl Serialize for ByRole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (role, tokens) in &self.0 {
            map.serialize_entry(role, tokens)?;
        }
        map.end()
    }
}
