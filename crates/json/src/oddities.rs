//! What is read without complaint, though another writer would have written it otherwise.

use super::path::FieldPath;
use super::position::Position;

/// What is odd about a text that is JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// The text begins with a byte order mark.
    pub byte_order_mark: bool,
    /// Escapes of half a surrogate pair, read as U+FFFD.
    pub lone_surrogates: Oddity,
    /// Keys that stand twice in an object; the last one counts.
    pub duplicate_keys: Oddity,
}

/// How often something odd was found, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddity {
    pub count: usize,
    pub first: Option<(FieldPath, Position)>,
    /// Where the first one stands, until it is known in which field that is.
    offset: Option<usize>,
}

impl Oddity {
    /// Takes note of one at this byte.
    pub(super) fn note(&mut self, offset: usize) {
        self.count += 1;
        if self.count == 1 {
            self.offset = Some(offset);
        }
    }

    /// Says in which field the first one is.
    pub(super) fn place(&mut self, text: &[u8], field: impl FnOnce() -> FieldPath) {
        if let Some(offset) = self.offset.take() {
            self.first = Some((field(), Position::of(text, offset)));
        }
    }
}
