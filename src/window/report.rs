//! What a window keeps and drops.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Boundary;
use super::cut::{Cut, special_tokens};
use crate::conversation::{Context, Message};
use crate::error::Error;
use crate::tokens::{TokenCounter, total};

/// The decision of a window. In JSON its keys are in camel case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowReport {
    pub boundary: &'static str,
    /// The count or the token budget.
    pub limit: u64,
    /// `None` for a sequence window.
    pub encoding: Option<&'static str>,
    /// Ids of the non-special messages that stay, in display order.
    pub kept: Vec<String>,
    /// Ids of the non-special messages that go, in display order.
    pub dropped: Vec<String>,
    pub special_tokens: Option<u64>,
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
    /// For each message, special ones too, its id and its tokens; in display order.
    #[serde(serialize_with = "as_map")]
    pub tokens: Option<Vec<(String, u64)>>,
}

impl WindowReport {
    pub(super) fn new(context: &Context, boundary: Boundary, limit: u64, cut: &Cut) -> Self {
        let id = |position| context.message(position).map(|message| message.id().to_owned());
        Self {
            boundary: boundary.name(),
            limit,
            encoding: None,
            kept: cut.kept.iter().copied().filter_map(id).collect(),
            dropped: cut.dropped(context).filter_map(id).collect(),
            special_tokens: None,
            tokens_before: None,
            tokens_after: None,
            tokens: None,
        }
    }

    pub(super) fn with_tokens(self, context: &Context, cut: &Cut, counter: &dyn TokenCounter) -> Result<Self, Error> {
        let special = special_tokens(context, counter)?;
        let kept = cut.kept.iter().filter_map(|&position| context.message(position));
        let kept = total(kept.map(|message| message.tokens(counter)))?;
        let tokens =
            context.messages().map(|message: &Message| Ok((message.id().to_owned(), message.tokens(counter)?)));
        Ok(Self {
            encoding: Some(counter.encoding().name()),
            special_tokens: Some(special),
            tokens_before: Some(context.total_tokens(counter)?),
            tokens_after: Some(special.saturating_add(kept)),
            tokens: Some(tokens.collect::<Result<_, Error>>()?),
            ..self
        })
    }
}

fn as_map<S: Serializer>(tokens: &Option<Vec<(String, u64)>>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(tokens) = tokens else { return serializer.serialize_none() };
    let mut map = serializer.serialize_map(Some(tokens.len()))?;
    for (id, count) in tokens {
        map.serialize_entry(id, count)?;
    }
    map.end()
}
