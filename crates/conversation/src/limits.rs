//! Limits on the files of sessions. They hold for what is written as well as for what is read, so that a file that was
//! written can be read under the same limits.

use crate::error::{FileTooLarge, Measure};

/// The limits on one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest size in bytes: 256 MiB by default.
    pub file_bytes: u64,
    /// The largest number of JSON values, nested ones included: 5,000,000 by default. A value can be written in two bytes but
    /// takes far more memory; the limit keeps a hostile file within the memory of WebAssembly.
    pub file_values: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 256 << 20, file_values: 5_000_000 }
    }
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self { file_bytes: u64::MAX, file_values: u64::MAX };

    /// Refuses a file with more bytes or values. `is_written` says that it does not exist yet.
    ///
    /// # Errors
    ///
    /// Which limit.
    pub fn check(&self, path: &str, bytes: u64, values: u64, is_written: bool) -> Result<(), FileTooLarge> {
        let (measure, size, limit) = if bytes > self.file_bytes {
            (Measure::Bytes, bytes, self.file_bytes)
        } else if values > self.file_values {
            (Measure::Values, values, self.file_values)
        } else {
            return Ok(());
        };
        Err(FileTooLarge { path: path.to_owned(), measure, size: Some(size), limit, is_written })
    }

    /// The error for a file whose values were counted only up to the limit.
    pub fn too_many_values(&self, path: &str, is_written: bool) -> FileTooLarge {
        let (path, limit) = (path.to_owned(), self.file_values);
        FileTooLarge { path, measure: Measure::Values, size: None, limit, is_written }
    }

    /// The limit on values as the reader of JSON takes it.
    pub fn values(&self) -> usize {
        usize::try_from(self.file_values).unwrap_or(usize::MAX)
    }
}
