//! The summary of a session in a list.

use serde::Serialize;

use super::dict;
use crate::error::Error;
use crate::layout::Layout;
use crate::limits::Limits;

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
    pub fn from_file(layout: &Layout, text: &[u8], modified_at: Option<f64>, limits: Limits) -> Result<Self, Error> {
        let dict = dict::of_file(layout, text, limits)?;
        Ok(Self {
            uuid: layout.id().to_string(),
            session_dir: layout.session_dir(),
            active_context_id: dict::active_context_id(&dict).map(str::to_owned),
            is_active: dict::is_active(&dict),
            auto_approve_tools: dict::auto_approve_tools(&dict).map(str::to_owned).collect(),
            modified_at,
        })
    }
}
