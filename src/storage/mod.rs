//! The interface to the files of sessions. The core reads and writes through it and does no I/O itself.
//!
//! Paths consist of names separated by `/`. An implementation runs on one thread; its futures need not be `Send`. It
//! reports failures as [`Error::Storage`], with its own cause. With [`Error::Stopped`] it ends the operation.

#![allow(async_fn_in_trait, reason = "everything runs on one thread, so futures need not be Send")]

mod memory;

pub use memory::MemoryStorage;

use crate::error::Error;
use crate::limits::Limits;

/// The revision of a file, as far as the storage can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revision {
    /// The storage cannot tell. A save overwrites the file.
    Unknown,
    /// There is no file.
    Absent,
    /// The SHA-256 of the contents in lower-case hexadecimal digits.
    Digest(String),
}

/// The contents of a file, and when it was last written, in milliseconds since 1970, if the storage can tell.
pub type FileWithTime = (Vec<u8>, Option<f64>);

/// A storage for files.
pub trait Storage {
    /// The limits on files, which hold for what is read and for what is written.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// The contents of a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`]. [`Error::FileTooLarge`] if the file has more bytes than [`Storage::limits`] allow.
    async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Reads several files and their times, as [`Storage::read`] and [`Storage::modified_time`] do: a result for each path, in
    /// order. A storage that can overlap reads does so here.
    async fn read_with_times(&self, paths: &[String]) -> Vec<Result<Option<FileWithTime>, Error>> {
        let mut results = Vec::new();
        for path in paths {
            results.push(match self.read(path).await {
                Ok(Some(contents)) => self.modified_time(path).await.map(|time| Some((contents, time))),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            });
        }
        results
    }

    /// Replaces a file as a whole, and creates its parent directories. Once this returns, the new contents survive a crash.
    /// Until then, a reader finds either the old contents or the new ones, whatever happens. After an error, the file may
    /// have either.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    async fn write(&self, path: &str, contents: &[u8]) -> Result<(), Error>;

    /// The names in a directory, in any order; empty if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    async fn list(&self, directory: &str) -> Result<Vec<String>, Error>;

    /// Removes a file if it exists.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    async fn remove(&self, path: &str) -> Result<(), Error>;

    /// The revision of a file, by which a save detects conflicts.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    async fn digest(&self, path: &str) -> Result<Revision, Error>;

    /// When a file was last written, in milliseconds since 1970; `None` if it does not exist, or if the storage cannot
    /// tell.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    async fn modified_time(&self, path: &str) -> Result<Option<f64>, Error>;

    /// The times of several files, as [`Storage::modified_time`]: a result for each path, in order.
    async fn modified_times(&self, paths: &[String]) -> Vec<Result<Option<f64>, Error>> {
        let mut results = Vec::new();
        for path in paths {
            results.push(self.modified_time(path).await);
        }
        results
    }
}

/// The synchronous methods of a storage, which allow a session to be saved while a process exits.
pub trait SyncStorage {
    /// As [`Storage::write`].
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    fn write_sync(&self, path: &str, contents: &[u8]) -> Result<(), Error>;

    /// As [`Storage::digest`].
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    fn digest_sync(&self, path: &str) -> Result<Revision, Error>;
}
