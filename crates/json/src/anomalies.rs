//! Findings about a text that is valid JSON but unusual.

use super::path::FieldPath;
use super::position::Position;

/// What is unusual about a text that is valid JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anomalies {
    /// The text begins with a byte order mark.
    pub byte_order_mark: bool,
    /// Escapes of half a surrogate pair, read as U+FFFD.
    pub lone_surrogates: Anomaly,
    /// Keys that an object has twice; the last one counts.
    pub duplicate_keys: Anomaly,
}

/// How often something unusual was found, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anomaly {
    /// The number of occurrences.
    pub count: usize,
    /// The field and the position of the first occurrence.
    pub first: Option<(FieldPath, Position)>,
    /// The byte offset of the first occurrence, until its field is known.
    offset: Option<usize>,
}

impl Anomaly {
    /// Records an occurrence at this byte offset.
    pub(super) fn note(&mut self, offset: usize) {
        self.count += 1;
        if self.count == 1 {
            self.offset = Some(offset);
        }
    }

    /// Sets the field of the first occurrence.
    pub(super) fn place(&mut self, text: &[u8], field: impl FnOnce() -> FieldPath) {
        if let Some(offset) = self.offset.take() {
            self.first = Some((field(), Position::of(text, offset)));
        }
    }
}
