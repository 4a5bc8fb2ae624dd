//! Anomalies: unusual but valid JSON.

use super::path::FieldPath;
use super::position::Position;

/// The anomalies of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anomalies {
    /// The text begins with a byte order mark.
    pub byte_order_mark: bool,
    /// Escapes of half a surrogate pair, read as U+FFFD.
    pub lone_surrogates: Anomaly,
    /// Duplicate keys, of which the last value is used.
    pub duplicate_keys: Anomaly,
}

/// The number of occurrences of an anomaly, and the first of them.
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
