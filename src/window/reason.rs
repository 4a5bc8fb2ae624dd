//! Why a window keeps or drops a message.

use serde::Serialize;

/// The reason for one message. In JSON in kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Kept: the system prompt or the tool definitions.
    Special,
    /// Kept: the caller pinned it.
    Pinned,
    /// Kept: it belongs to the exchange of a pinned message.
    PinnedExchange,
    /// Kept: what the assistant does in messages that are kept, it was asked for here.
    Prompt,
    /// Kept: it is one of the newest.
    Recent,
    /// Dropped: with it, what is newer, and what is held, there would be more than the limit.
    OverLimit,
    /// Dropped: it would fit, but its exchange would not, or one that it stands in the middle of.
    Exchange,
    /// Dropped: it would fit, but the window would not begin at a prompt.
    Turn,
    /// Dropped: it would fit, but the window cuts down to the lower mark.
    LowerMark,
}

impl Reason {
    /// Whether the message stays.
    pub fn keeps(self) -> bool {
        matches!(self, Self::Special | Self::Pinned | Self::PinnedExchange | Self::Prompt | Self::Recent)
    }
}
