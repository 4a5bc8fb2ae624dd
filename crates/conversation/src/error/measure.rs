//! What a limit on files is about.

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The size in bytes.
    Bytes,
    /// The number of JSON values, nested ones included.
    Values,
}

impl Measure {
    /// The unit in a sentence.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Values => "values",
        }
    }
}
