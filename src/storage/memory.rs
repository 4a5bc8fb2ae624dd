//! A storage in memory.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Revision, Storage, SyncStorage};
use crate::digest::sha256_hex;
use crate::error::Error;

/// Keeps files in memory, for tests and examples. Clones share the files. It never fails and records no times.
#[derive(Clone, Debug, Default)]
pub struct MemoryStorage(Rc<RefCell<BTreeMap<String, Vec<u8>>>>);

impl Storage for MemoryStorage {
    async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.0.borrow().get(path).cloned())
    }

    async fn write(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        self.write_sync(path, contents)
    }

    async fn list(&self, directory: &str) -> Result<Vec<String>, Error> {
        let prefix = if directory == "." { String::new() } else { format!("{directory}/") };
        let files = self.0.borrow();
        let names = files.keys().filter_map(|path| path.strip_prefix(&prefix)?.split('/').next());
        Ok(names.collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect())
    }

    async fn remove(&self, path: &str) -> Result<(), Error> {
        self.0.borrow_mut().remove(path);
        Ok(())
    }

    async fn digest(&self, path: &str) -> Result<Revision, Error> {
        self.digest_sync(path)
    }

    async fn modified_time(&self, _path: &str) -> Result<Option<f64>, Error> {
        Ok(None)
    }
}

impl SyncStorage for MemoryStorage {
    fn write_sync(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        self.0.borrow_mut().insert(path.to_owned(), contents.to_vec());
        Ok(())
    }

    fn digest_sync(&self, path: &str) -> Result<Revision, Error> {
        let files = self.0.borrow();
        Ok(files.get(path).map_or(Revision::Absent, |contents| Revision::Digest(sha256_hex(contents))))
    }
}
