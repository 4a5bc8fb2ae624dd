//! The summary of a session in a list.

use serde::Serialize;

use super::dict;
use crate::error::Error;
use crate::layout::Layout;

/// The summary of a `session.json`. In JSON, its keys are in camel case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The uuid, which is also the name of the directory.
    pub uuid: String,
    /// The path of the directory.
    pub session_dir: String,
    /// The id of the active context, if there is one.
    pub active_context_id: Option<String>,
    /// Whether a running agent uses the session.
    pub is_active: bool,
    /// The names of the tools that run without asking.
    pub auto_approve_tools: Vec<String>,
    /// When `session.json` was last written, in milliseconds since 1970; `None` if the storage cannot tell.
    pub modified_at: Option<f64>,
}

impl SessionSummary {
    /// The summary of the text of a `session.json`. Does not read the contexts.
    ///
    /// # Errors
    ///
    /// [`Error::CorruptSession`] if the text is not a valid session.
    pub fn from_file(layout: &Layout, text: &[u8], modified_at: Option<f64>) -> Result<Self, Error> {
        let dict = dict::of_file(layout, text)?;
        Ok(Self {
            uuid: layout.id().to_string(),
            session_dir: layout.session_dir(),
            active_context_id: dict::active_context_id(&dict).map(str::to_owned),
            is_active: dict::is_active(&dict),
            auto_approve_tools: dict::auto_approve_tools(&dict).map(str::to_owned).collect(),
            modified_at,
        })
    }

    /// Sorts newest first: by the date at the beginning of the uuid, then by the time of the last write.
    pub fn sort_newest_first(summaries: &mut [Self]) {
        summaries.sort_unstable_by(|one, other| {
            let by_day = other.day().cmp(one.day());
            let time = |summary: &Self| summary.modified_at.unwrap_or(0.0);
            by_day.then(time(other).total_cmp(&time(one))).then_with(|| other.uuid.cmp(&one.uuid))
        });
    }

    /// `YYYYMMDD`; empty if the uuid has another form.
    fn day(&self) -> &str {
        match self.uuid.get(..9) {
            Some(start) if start.ends_with('-') && start[..8].bytes().all(|byte| byte.is_ascii_digit()) => &start[..8],
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_first() {
        let summary = |uuid: &str, modified_at| SessionSummary {
            uuid: uuid.to_owned(),
            session_dir: String::new(),
            active_context_id: None,
            is_active: false,
            auto_approve_tools: Vec::new(),
            modified_at,
        };
        let mut summaries = vec![
            summary("other", Some(9.0)),
            summary("20260101-b", Some(1.0)),
            summary("20260102-a", None),
            summary("20260101-a", Some(2.0)),
            summary("20260101-c", Some(1.0)),
        ];
        SessionSummary::sort_newest_first(&mut summaries);
        let order: Vec<&str> = summaries.iter().map(|summary| summary.uuid.as_str()).collect();
        assert_eq!(order, ["20260102-a", "20260101-a", "20260101-c", "20260101-b", "other"]);
    }
}
