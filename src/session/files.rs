//! The digests of a session's files, which detect that another writer has changed or removed one.

use std::collections::HashMap;

use super::save_plan::PlannedWrite;
use crate::digest::sha256_hex;
use crate::error::Error;
use crate::storage::Revision;

/// The digests of the contents that this session has read from each file, written to it, or tried to write; `None` if the
/// file may be absent.
#[derive(Default)]
pub(super) struct KnownFiles(HashMap<String, Vec<Option<String>>>);

impl KnownFiles {
    /// Records the contents read from a file.
    pub fn read(&mut self, path: &str, contents: &[u8]) {
        self.0.insert(path.to_owned(), vec![Some(sha256_hex(contents))]);
    }

    /// Records that a write is about to begin. If it fails, the file may have the old or the new contents.
    pub fn begin(&mut self, write: &PlannedWrite) {
        let known = self.0.entry(write.path.clone()).or_insert_with(|| vec![None]);
        let digest = Some(write.digest.clone());
        if !known.contains(&digest) {
            known.push(digest);
        }
    }

    /// Records that a write was done.
    pub fn written(&mut self, write: &PlannedWrite) {
        self.0.insert(write.path.clone(), vec![Some(write.digest.clone())]);
    }

    /// Whether a file exists for certain: this session has read it, or written it completely.
    pub fn exists(&self, path: &str) -> bool {
        self.0.get(path).is_some_and(|known| !known.contains(&None))
    }

    /// Whether a file has this contents for certain.
    pub fn has(&self, path: &str, digest: &str) -> bool {
        self.0.get(path).is_some_and(|known| matches!(known.as_slice(), [Some(known)] if known == digest))
    }

    /// Forgets a file that was removed, so that it can be written again.
    pub fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }

    /// Refuses to overwrite contents that this session does not know.
    pub fn check(&self, write: &PlannedWrite, current: &Revision) -> Result<(), Error> {
        let Revision::Digest(digest) = current else { return self.check_present(&write.path, current) };
        let known = self.0.get(&write.path);
        if known.is_some_and(|known| known.iter().flatten().any(|known| known == digest)) || *digest == write.digest {
            return Ok(());
        }
        Err(self.conflict(&write.path, Some(digest.clone())))
    }

    /// Refuses a file that this session has read or written, but that no longer exists.
    pub fn check_present(&self, path: &str, current: &Revision) -> Result<(), Error> {
        match self.0.get(path) {
            Some(known) if *current == Revision::Absent && !known.contains(&None) => Err(self.conflict(path, None)),
            _ => Ok(()),
        }
    }

    /// The conflict error with both revisions of a file.
    pub fn conflict(&self, path: &str, found: Option<String>) -> Error {
        let expected = self.0.get(path).and_then(|known| known.last()).cloned().flatten();
        Error::FileConflict { path: path.to_owned(), expected, found }
    }
}
