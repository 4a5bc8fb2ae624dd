//! The kinds of content parts.

use serde::Serialize;
use serde_json::Value;

use crate::json;

/// The type of a part that holds what a provider sent and the model has no word for:
/// `{"type": "provider", "provider": name, "place": list, "calls" or "answers": id, "value": object}`.
pub const OPAQUE: &str = "provider";

/// The kind of a part, by its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// `text`
    Text,
    /// `thinking`
    Thinking,
    /// `tool_use`
    ToolCall,
    /// `tool_result`
    ToolResult,
    /// `image`, `video`, `audio` or `pdf`
    Media,
    /// `tool`, the definition of a tool
    ToolDefinition,
    /// Any other type, and the role of a message without parts.
    Other,
}

/// The kinds of parts that a message has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartKinds(u8);

impl PartKinds {
    /// The kinds of these parts.
    pub fn of(parts: &[Value]) -> Self {
        Self(parts.iter().fold(0, |kinds, part| kinds | PartKind::of(part).bit()))
    }

    /// Whether any part is of this kind.
    pub fn contains(self, kind: PartKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// These kinds without one.
    pub fn without(self, kind: PartKind) -> Self {
        Self(self.0 & !kind.bit())
    }

    /// The kind of all parts, if they have the same.
    pub fn only(self) -> Option<PartKind> {
        PartKind::ALL.into_iter().find(|kind| kind.bit() == self.0)
    }

    /// Whether there are no parts.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Numbers of tokens by kind of part. In JSON, the keys are in camel case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartTokens {
    /// Of [`PartKind::Text`].
    pub text: u64,
    /// Of [`PartKind::Thinking`].
    pub thinking: u64,
    /// Of [`PartKind::ToolCall`].
    pub tool_call: u64,
    /// Of [`PartKind::ToolResult`].
    pub tool_result: u64,
    /// Of [`PartKind::Media`].
    pub media: u64,
    /// Of [`PartKind::ToolDefinition`].
    pub tool_definition: u64,
    /// Of [`PartKind::Other`].
    pub other: u64,
}

impl PartKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Text, Self::Thinking, Self::ToolCall, Self::ToolResult, Self::Media, Self::ToolDefinition, Self::Other];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The kind of a part.
    pub fn of(part: &Value) -> Self {
        let name = part.as_object().and_then(|part| json::field(part, "type")).and_then(Value::as_str);
        match name.unwrap_or_default() {
            "text" => Self::Text,
            "thinking" => Self::Thinking,
            "tool_use" => Self::ToolCall,
            "tool_result" => Self::ToolResult,
            "image" | "video" | "audio" | "pdf" => Self::Media,
            "tool" => Self::ToolDefinition,
            _ => Self::Other,
        }
    }
}

impl PartTokens {
    /// Tokens of one kind only.
    pub fn all(kind: PartKind, tokens: u64) -> Self {
        let mut all = Self::default();
        *all.of(kind) = tokens;
        all
    }

    /// The tokens of a kind.
    pub fn of(&mut self, kind: PartKind) -> &mut u64 {
        match kind {
            PartKind::Text => &mut self.text,
            PartKind::Thinking => &mut self.thinking,
            PartKind::ToolCall => &mut self.tool_call,
            PartKind::ToolResult => &mut self.tool_result,
            PartKind::Media => &mut self.media,
            PartKind::ToolDefinition => &mut self.tool_definition,
            PartKind::Other => &mut self.other,
        }
    }

    /// Adds the tokens of each kind, saturating.
    pub fn add(&mut self, other: &Self) {
        let mut other = *other;
        for kind in PartKind::ALL {
            let tokens = *other.of(kind);
            let sum = self.of(kind);
            *sum = sum.saturating_add(tokens);
        }
    }

    /// Scales the tokens to add up to `total`. The remainder goes to the largest kind.
    pub fn scaled_to(mut self, total: u64) -> Self {
        let kinds = PartKind::ALL.map(|kind| (kind, *self.of(kind)));
        let sum: u128 = kinds.iter().map(|(_, tokens)| u128::from(*tokens)).sum();
        if sum == u128::from(total) {
            return self;
        }
        let Some((largest, _)) = kinds.into_iter().max_by_key(|(_, tokens)| *tokens).filter(|_| sum > 0) else {
            return Self::all(PartKind::Other, total);
        };
        let mut left = total;
        for (kind, tokens) in kinds {
            // A share never exceeds the total.
            let share = u64::try_from(u128::from(tokens) * u128::from(total) / sum).unwrap_or(0).min(left);
            *self.of(kind) = share;
            left -= share;
        }
        *self.of(largest) += left;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_keep_the_sum() {
        let parts = PartTokens { text: 10, thinking: 20, media: 3, ..PartTokens::default() };
        assert_eq!(parts.scaled_to(33), parts);
        let scaled = parts.scaled_to(100);
        assert_eq!((scaled.text, scaled.thinking, scaled.media), (30, 61, 9));
        assert_eq!(parts.scaled_to(0), PartTokens::default());
        assert_eq!(PartTokens::default().scaled_to(5), PartTokens::all(PartKind::Other, 5));
        let huge = PartTokens { text: u64::MAX, other: u64::MAX, ..PartTokens::default() };
        let scaled = huge.scaled_to(u64::MAX);
        assert_eq!(u128::from(scaled.text) + u128::from(scaled.other), u128::from(u64::MAX));
    }
}
