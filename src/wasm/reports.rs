//! Reports as the JSON text that crosses to JavaScript.

use serde::Serialize;

use crate::conversation::PartTokens;
use crate::error::Error;
use crate::json::{self, TextBuffer, View};
use crate::window::{BeforeAfter, ByRole, Reason, WindowReport};

/// The maximum length of a string in the engine with the lowest one, less than 2²⁹ characters.
const LONGEST: usize = (1 << 29) - (1 << 10);

/// The compact JSON text of a value.
pub fn compact_text(value: &View) -> Result<String, Error> {
    shown(json::to_compact_text(value)?)
}

/// A text that JavaScript can hold.
fn shown(text: String) -> Result<String, Error> {
    if text.len() > LONGEST {
        let message = format!("{} bytes of JSON do not fit into a string of JavaScript", text.len());
        return Err(Error::argument("this value", message));
    }
    Ok(text)
}

/// The JSON text of a report.
pub fn text(report: &impl Serialize) -> Result<String, Error> {
    let mut text = TextBuffer::default();
    let written = report.serialize(&mut serde_json::Serializer::new(&mut text));
    let text = text.finish()?;
    written?;
    shown(String::from_utf8(text).unwrap_or_default())
}

/// The compact report of a window: each id once, and positions, numbers and flags in place of ids. `js/windows/report.ts`
/// makes the public report from it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactReport<'r> {
    boundary: &'static str,
    limit: u64,
    reserve: u64,
    lower_mark: Option<u64>,
    encoding: Option<&'static str>,
    /// Every reason, with whether it keeps a message.
    reasons: Vec<(&'static str, bool)>,
    /// The ids of all messages.
    ids: Vec<&'r str>,
    /// The index of the reason of each message.
    reason_indices: Vec<usize>,
    /// The position, call id and problem of each.
    broken: Vec<(usize, &'r str, &'static str)>,
    /// The position and call id of each.
    pending: Vec<(usize, &'r str)>,
    special_tokens: Option<u64>,
    tokens_before: Option<u64>,
    tokens_after: Option<u64>,
    unchanged_prefix_tokens: Option<u64>,
    /// The tokens of each message.
    tokens: Option<&'r [u64]>,
    tokens_by_role: Option<&'r BeforeAfter<ByRole>>,
    tokens_by_part: Option<&'r BeforeAfter<PartTokens>>,
}

/// The JSON text of the report of a window.
pub fn window_text(report: &WindowReport) -> Result<String, Error> {
    let broken = report.broken.iter().map(|broken| (broken.position, broken.call_id.as_str(), broken.problem.name()));
    text(&CompactReport {
        boundary: report.boundary.name(),
        limit: report.limit,
        reserve: report.reserve,
        lower_mark: report.lower_mark,
        encoding: report.encoding,
        reasons: Reason::ALL.iter().map(|reason| (reason.name(), reason.keeps())).collect(),
        ids: report.messages.iter().map(|message| message.id.as_str()).collect(),
        reason_indices: report.messages.iter().map(|message| message.reason as usize).collect(),
        broken: broken.collect(),
        pending: report.pending.iter().map(|call| (call.position, call.call_id.as_str())).collect(),
        special_tokens: report.special_tokens,
        tokens_before: report.tokens_before,
        tokens_after: report.tokens_after,
        unchanged_prefix_tokens: report.unchanged_prefix_tokens,
        tokens: report.tokens.as_deref(),
        tokens_by_role: report.tokens_by_role.as_ref(),
        tokens_by_part: report.tokens_by_part.as_ref(),
    })
}
