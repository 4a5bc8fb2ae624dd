//! What this session knows of its files: enough to tell that somebody else has changed one.

use std::collections::HashMap;

use super::save_plan::PlannedWrite;
use crate::digest::sha256_hex;
use crate::error::Error;

/// The contents that this session has read from its files, or written or tried to write to them, by their digests.
#[derive(Default)]
pub(super) struct KnownFiles(HashMap<String, Vec<String>>);

impl KnownFiles {
    /// Takes note of what a file held when it was read.
    pub fn read(&mut self, path: &str, contents: &[u8]) {
        self.0.insert(path.to_owned(), vec![sha256_hex(contents)]);
    }

    /// Takes note of a write that is to begin. Should it fail the file may hold the old contents or the new ones.
    pub fn begin(&mut self, write: &PlannedWrite) {
        let known = self.0.entry(write.path.clone()).or_default();
        if !known.contains(&write.digest) {
            known.push(write.digest.clone());
        }
    }

    /// Takes note that a write was done.
    pub fn written(&mut self, write: &PlannedWrite) {
        self.0.insert(write.path.clone(), vec![write.digest.clone()]);
    }

    /// Refuses to write over contents, given by their digest, that this session does not know.
    pub fn check(&self, write: &PlannedWrite, current: &str) -> Result<(), Error> {
        let known = self.0.get(&write.path);
        if known.is_some_and(|known| known.iter().any(|digest| digest == current)) || current == write.digest {
            return Ok(());
        }
        Err(self.conflict(&write.path, current.to_owned()))
    }

    /// The error that tells of both revisions of a file.
    pub fn conflict(&self, path: &str, found: String) -> Error {
        let expected = self.0.get(path).and_then(|known| known.last()).cloned();
        Error::FileConflict { path: path.to_owned(), expected, found: Some(found) }
    }
}
