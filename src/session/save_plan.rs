//! The writes of a save, in order.

use super::shared::SharedContext;
use crate::digest::sha256_hex;
use crate::json::Object;

/// The writes of a save, to be made in order. The first failure ends the save.
#[derive(Default)]
pub(super) struct SavePlan {
    /// The files to replace.
    pub writes: Vec<PlannedWrite>,
    /// The file of the active context, if it is not among them: it must exist, because `session.json` names it.
    pub active_file: Option<String>,
}

/// A file to replace as a whole.
pub(super) struct PlannedWrite {
    /// The path of the file.
    pub path: String,
    /// The new contents.
    pub bytes: Vec<u8>,
    /// The SHA-256 of the new contents in hexadecimal digits.
    pub(super) digest: String,
    /// The item that is saved once the write is done.
    pub(super) what: Written,
}

impl PlannedWrite {
    pub(super) fn new(path: String, bytes: Vec<u8>, what: Written) -> Self {
        let digest = sha256_hex(&bytes);
        Self { path, bytes, digest, what }
    }
}

/// The item that a write saves.
pub(super) enum Written {
    /// The object itself rather than its id, because another object may have replaced it in the meantime.
    Context {
        context: SharedContext,
        revision: u64,
    },
    Session {
        dict: Object,
        revision: u64,
    },
}
