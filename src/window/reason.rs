//! Why a window keeps or drops a message.

use crate::conversation::named_enum;

named_enum! {
    /// Why a window keeps or drops a message. The names are stable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        /// Kept: the system prompt or the tool definitions.
        Special = "special",
        /// Kept: the caller pinned it.
        Pinned = "pinned",
        /// Kept: it belongs to the exchange of a pinned message.
        PinnedExchange = "pinned-exchange",
        /// Kept: the prompt that the kept messages of the assistant answer.
        Prompt = "prompt",
        /// Kept: it is one of the newest.
        Recent = "recent",
        /// Dropped: with it, the newer messages and what is kept anyway would exceed the limit.
        OverLimit = "over-limit",
        /// Dropped: it would fit, but its exchange would not, or an exchange around it.
        Exchange = "exchange",
        /// Dropped: it would fit, but the window would not begin at a prompt.
        Turn = "turn",
        /// Dropped: it would fit, but the window cuts down to the lower mark.
        LowerMark = "lower-mark",
    }
}

impl Reason {
    /// Whether the message is kept.
    pub fn keeps(self) -> bool {
        matches!(self, Self::Special | Self::Pinned | Self::PinnedExchange | Self::Prompt | Self::Recent)
    }
}
