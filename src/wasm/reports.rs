//! Reports and findings as JSON text, in which they cross to JavaScript.

use serde::Serialize;

use crate::error::Error;

/// The JSON text of a report.
pub fn text(report: &impl Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string(report)?)
}
