//! What a window keeps and drops.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::cut::Cut;
use super::{Reason, WindowOptions};
use crate::conversation::{Context, Counting, Exchanges, PartTokens, UnpairedKind};
use crate::error::Error;

/// The decision of a window. In JSON its keys are in camel case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowReport {
    pub boundary: &'static str,
    /// The count or the token budget.
    pub limit: u64,
    /// Tokens of the budget that were set aside.
    pub reserve: u64,
    /// What the window cuts down to; `None` where that is the limit.
    pub lower_mark: Option<u64>,
    /// `None` for a sequence window, and where the caller counts.
    pub encoding: Option<&'static str>,
    /// Ids of the non-special messages that stay, in display order.
    pub kept: Vec<String>,
    /// Ids of the non-special messages that go, in display order.
    pub dropped: Vec<String>,
    /// All messages in display order.
    pub messages: Vec<MessageReport>,
    /// Calls that the assistant went on without the result of, and results of calls that are not there.
    pub broken: Vec<Broken>,
    /// Calls whose results may still come.
    pub pending: Vec<PendingCall>,
    pub special_tokens: Option<u64>,
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
    /// The tokens of the messages before the first that goes, which a provider may have in its cache.
    pub unchanged_prefix_tokens: Option<u64>,
    /// For each message, special ones too, its id and its tokens; in display order.
    #[serde(serialize_with = "optional_map")]
    pub tokens: Option<Vec<(String, u64)>>,
    pub tokens_by_role: Option<BeforeAfter<ByRole>>,
    pub tokens_by_part: Option<BeforeAfter<PartTokens>>,
}

/// What a window does with one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageReport {
    pub id: String,
    pub kept: bool,
    pub reason: Reason,
}

/// A call or a result that stands alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Broken {
    /// Of the message.
    pub id: String,
    pub call_id: String,
    pub problem: &'static str,
    pub kept: bool,
}

/// A call whose result may still come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingCall {
    /// Of the message.
    pub id: String,
    pub call_id: String,
}

/// Sums over all messages, and over those that stay, special ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BeforeAfter<T> {
    pub before: T,
    pub after: T,
}

/// Tokens by role, in the order in which the roles come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByRole(pub Vec<(String, u64)>);

impl WindowReport {
    pub(super) fn new(context: &Context, options: &WindowOptions, limit: u64, cut: &Cut) -> Self {
        let reasons = cut.reasons(context, options.boundary);
        let messages: Vec<MessageReport> = context
            .messages()
            .zip(&reasons)
            .map(|(message, &reason)| MessageReport { id: message.id().to_owned(), kept: reason.keeps(), reason })
            .collect();
        let ids = |is_wanted: &dyn Fn(Reason) -> bool| {
            messages.iter().filter(|message| is_wanted(message.reason)).map(|message| message.id.clone()).collect()
        };
        let kept = ids(&|reason| reason.keeps() && reason != Reason::Special);
        let dropped = ids(&|reason| !reason.keeps());
        let mut broken = Vec::new();
        let mut pending = Vec::new();
        let exchanges = if cut.exchanges.is_some() { None } else { Some(Exchanges::of(context)) };
        for unpaired in cut.exchanges.iter().chain(&exchanges).flat_map(|exchanges| &exchanges.unpaired) {
            let Some(MessageReport { id, kept, .. }) = messages.get(unpaired.position) else { continue };
            let (id, call_id) = (id.clone(), unpaired.call_id.clone());
            let problem = match unpaired.kind {
                UnpairedKind::Pending => {
                    pending.push(PendingCall { id, call_id });
                    continue;
                }
                UnpairedKind::Call => "call-without-result",
                UnpairedKind::Result => "result-without-call",
            };
            broken.push(Broken { id, call_id, problem, kept: *kept });
        }
        Self {
            boundary: options.boundary.name(),
            limit,
            reserve: 0,
            lower_mark: options.lower_mark,
            encoding: None,
            kept,
            dropped,
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
            let report = self.messages.get(position);
            let kept = report.is_some_and(|report| report.kept);
            is_prefix &= kept;
            let add = |sum: &mut u64, condition: bool| {
                if condition {
                    *sum = sum.saturating_add(count);
                }
            };
            add(&mut special, report.is_some_and(|report| report.reason == Reason::Special));
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
            tokens.push((report.map(|report| report.id.clone()).unwrap_or_default(), count));
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
        map(&self.0, serializer)
    }
}

fn optional_map<S: Serializer>(tokens: &Option<Vec<(String, u64)>>, serializer: S) -> Result<S::Ok, S::Error> {
    match tokens {
        Some(tokens) => map(tokens, serializer),
        None => serializer.serialize_none(),
    }
}

fn map<S: Serializer>(entries: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (key, value) in entries {
        map.serialize_entry(key, value)?;
    }
    map.end()
}
