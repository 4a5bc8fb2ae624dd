//! Paths of fields.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Key(String),
    Index(usize),
}

/// The path of a field from the root of a JSON value, shown as `messages[3].content[0].text`.
///
/// ```
/// use peteos_json::FieldPath;
///
/// let path = FieldPath::root().key("messages").index(3).key("role");
/// assert_eq!(path.to_string(), "messages[3].role");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPath(pub(super) Vec<Segment>);

impl FieldPath {
    /// The value itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of the field `key` below this one.
    pub fn key(&self, key: &str) -> Self {
        self.with(Segment::Key(key.to_owned()))
    }

    /// The path of the element `index` below this one.
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// The path of the same field in a value that has this path's root at `outer`.
    pub fn below(&self, outer: &FieldPath) -> Self {
        Self(outer.0.iter().chain(&self.0).cloned().collect())
    }

    /// Whether this is the path of the value itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if position == 0 => write!(formatter, "{key}")?,
                Segment::Key(key) => write!(formatter, ".{key}")?,
                Segment::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_javascript() {
        let path = FieldPath::root().key("messages").index(3).key("content");
        assert_eq!(path.to_string(), "messages[3].content");
        assert_eq!(FieldPath::root().key("text").below(&path.index(0)).to_string(), "messages[3].content[0].text");
    }
}
