//! The advice that follows an error message, in terms of the JavaScript interface.

use super::super::args::{MAX_FILE_BYTES, MAX_FILE_VALUES};
use crate::error::{Error, FileTooLarge, Measure};
use crate::tokens::encoding_for_model;

/// The option for a limit on files.
pub fn limit_option(measure: Measure) -> &'static str {
    match measure {
        Measure::Bytes => MAX_FILE_BYTES,
        Measure::Values => MAX_FILE_VALUES,
    }
}

/// The advice that follows the message of an error; `None` if the message is enough.
pub fn advice(error: &Error) -> Option<String> {
    match error {
        Error::FileTooLarge(FileTooLarge { measure, is_written, .. }) => {
            let purpose = if *is_written { "write it, and to read it later" } else { "read it" };
            Some(format!("raise options.{} to {purpose}", limit_option(*measure)))
        }
        Error::MemoryLimit(_) => Some(
            "release sessions and contexts with free() or using, or raise the limit with init({ maxMemory })"
                .to_owned(),
        ),
        Error::EncodingNotLoaded { encoding } => Some(format!("call `await loadEncoding('{encoding}')` first")),
        Error::UnknownEncoding { argument: "encoding", name, .. } if encoding_for_model(name).is_ok() => {
            Some(format!("it is a model, whose encoding is encodingForModel('{name}')"))
        }
        Error::WindowTooSmall { special_tokens, needed, media_tokens, reserve, has_pins, boundary, .. } => {
            let limit = if special_tokens.is_some() { "maxTokens" } else { "count" };
            let options = [
                (true, format!("raise {limit} to {needed}")),
                (*media_tokens > 0, "set the option media to what media cost".to_owned()),
                (*has_pins, "pin fewer messages".to_owned()),
                (*reserve > 0, "lower the reserve".to_owned()),
                (*boundary != "message", "use the boundary 'message', which may split exchanges".to_owned()),
            ];
            let options: Vec<String> =
                options.into_iter().filter(|(holds, _)| *holds).map(|(_, option)| option).collect();
            match options.as_slice() {
                [] => None,
                [only] => Some(only.clone()),
                [first @ .., last] => Some(format!("{}, or {last}", first.join(", "))),
            }
        }
        Error::FileConflict { expected: None, .. } => {
            Some("load that context with loadContext(id) and change it, or use another id for the new one".to_owned())
        }
        Error::FileConflict { found: None, .. } => {
            Some("write what is in memory again with save({ onConflict: 'fork' })".to_owned())
        }
        Error::FileConflict { .. } | Error::LockLost { .. } => Some(
            "load the session again and repeat your changes, or keep both with save({ onConflict: 'fork' })".to_owned(),
        ),
        _ => None,
    }
}
