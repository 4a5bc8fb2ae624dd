//! Places in a text.

use serde::Serialize;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// 1 for the first line.
    pub line: usize,
    /// In bytes, 1 for the first of the line.
    pub column: usize,
}

impl Position {
    /// The place of the byte at `offset`.
    pub(super) fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        Self { line, column }
    }
}
