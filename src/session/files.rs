//! The digests of a session's files, which detect that another writer has changed one.

use std::collections::HashMap;

use super::save_plan::PlannedWrite;
use crate::digest::sha256_hex;
use crate::error::Error;

/// The digests of the contents that this session has read from each file, written to it, or tried to write.
#[derive(Default)]
pub(super) struct KnownFiles(HashMap<String, Vec<String>>);

impl KnownFiles {
    /// Records the contents read from a file.
    pub fn read(&mut self, path: &str, contents: &[u8]) {
        self.0.insert(path.to_owned(), vec![sha256_hex(contents)]);
    }

    /// Records that a write is about to begin. If it fails, the file may have the old or the new contents.
    pub fn begin(&mut self, write: &PlannedWrite) {
        let known = self.0.entry(write.path.clone()).or_default();
        if !known.contains(&write.digest) {
            known.push(write.digest.clone());
        }
    }

    /// Records that a write was done.
    pub fn written(&mut self, write: &PlannedWrite) {
        self.0.insert(write.path.clone(), vec![write.digest.clone()]);
    }

    /// Refuses to overwrite contents, given as their digest, that this session does not know.
    pub fn check(&self, write: &PlannedWrite, current: &str) -> Result<(), Error> {
        let known = self.0.get(&write.path);
        if known.is_some_and(|known| known.iter().any(|digest| digest == current)) || current == write.digest {
            return Ok(());
        }
        Err(self.conflict(&write.path, current.to_owned()))
    }

    /// The conflict error with both revisions of a file.
    pub fn conflict(&self, path: &str, found: String) -> Error {
        let expected = self.0.get(path).and_then(|known| known.last()).cloned();
        Error::FileConflict { path: path.to_owned(), expected, found: Some(found) }
    }
}
