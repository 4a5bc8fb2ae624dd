//! Turns: the messages as a conversion sends them.

use serde_json::Value;

use crate::format::{ProviderFormat, ResultPlacement, accepts_thinking};
use crate::part::{Part, Role};
use peteos_conversation::{Message, PairedMessage, Pairing, Tools};

/// A message as a format sends it.
#[derive(Debug)]
pub struct Turn<'m> {
    /// The position of the message in its list.
    pub position: usize,
    /// The role of the speaker.
    pub role: Role,
    /// The parts as they are stored.
    pub stored: &'m [Value],
    /// The same parts, parsed.
    pub parts: Vec<Part<'m>>,
    /// Whether no message is sent: its text goes to the system prompt, its tools go to the tool definitions, or it is empty
    /// and the format skips empty messages.
    pub is_silent: bool,
}

impl<'m> Turn<'m> {
    /// The turn of a message.
    pub fn of(message: &'m Message, position: usize, format: &dyn ProviderFormat) -> Self {
        Self::with_parts(Role::of(message.role()), message.parts(), position, format)
    }

    /// A turn of these parts.
    pub fn with_parts(role: Role, stored: &'m [Value], position: usize, format: &dyn ProviderFormat) -> Self {
        let parts = stored.iter().map(Part::read).collect();
        let mut turn = Self { position, role, stored, parts, is_silent: false };
        turn.is_silent = turn.is_lifted(format)
            || turn.only_defines_tools()
            || format.requirements().skips_empty_messages && !turn.has_content(format);
        turn
    }

    /// Whether its text goes to the system prompt.
    pub fn is_lifted(&self, format: &dyn ProviderFormat) -> bool {
        self.role == Role::System && format.requirements().lifts_system_messages
    }

    fn only_defines_tools(&self) -> bool {
        let mut parts = self.parts.iter();
        self.role == Role::Tool && !self.parts.is_empty() && parts.all(|part| matches!(part, Part::Definition(_)))
    }

    /// Whether any part of it is sent.
    pub fn has_content(&self, format: &dyn ProviderFormat) -> bool {
        self.parts.iter().any(|part| self.is_sent(part, format))
    }

    /// Whether a part is sent. A part that violates a rule counts as sent.
    pub fn is_sent(&self, part: &Part<'_>, format: &dyn ProviderFormat) -> bool {
        match part {
            Part::Definition(_) => false,
            Part::Thinking(fields) => accepts_thinking(format, self.role, fields),
            Part::Opaque(opaque) => opaque.provider == format.name(),
            _ => true,
        }
    }

    /// Whether it has thinking.
    pub fn has_thinking(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Thinking(_)))
    }

    /// Whether it has tool calls.
    pub fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }

    /// Whether it has tool results.
    pub fn has_results(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Result { .. }))
    }

    /// Whether its role allows results.
    pub fn may_have_results(&self) -> bool {
        !matches!(self.role, Role::Assistant | Role::System)
    }

    /// Whether anything besides results is sent.
    pub fn has_rest(&self, format: &dyn ProviderFormat) -> bool {
        self.parts.iter().any(|part| !matches!(part, Part::Result { .. }) && self.is_sent(part, format))
    }

    /// Whether it is a message of the user with content and without results.
    pub fn is_prompt(&self) -> bool {
        let is_said = |part: &Part<'_>| !matches!(part, Part::Result { .. } | Part::Definition(_));
        self.role == Role::User && !self.has_results() && self.parts.iter().any(is_said)
    }

    /// The last part that is sent, and its index.
    pub fn last_sent(&self, format: &dyn ProviderFormat) -> Option<(usize, &Part<'m>)> {
        self.parts.iter().enumerate().rev().find(|(_, part)| self.is_sent(part, format))
    }
}

/// The pairing of the calls and results of the caller's tools. Places are indices of a turn and of a part in it.
pub fn pairing<'m>(turns: &[Turn<'m>]) -> Pairing<'m> {
    Pairing::of(turns.iter().map(|turn| PairedMessage {
        is_assistant: turn.role == Role::Assistant,
        parts: turn.stored,
        tools: Tools::Functions,
    }))
}

/// For each turn, the index of the turn that its results directly follow.
pub fn answered_turns(turns: &[Turn<'_>], format: &dyn ProviderFormat) -> Vec<Option<usize>> {
    let mut open = None;
    let mut answered = vec![None; turns.len()];
    for (index, turn) in turns.iter().enumerate() {
        if turn.is_silent {
            continue;
        }
        if turn.role == Role::Assistant {
            open = Some(index);
        } else if turn.may_have_results() && turn.has_results() {
            answered[index] = open;
            if format.requirements().results == ResultPlacement::NextMessages && turn.has_rest(format) {
                open = None;
            }
        } else {
            open = None;
        }
    }
    answered
}

/// The index of the first turn after the last prompt.
pub fn current_turn(turns: &[Turn<'_>]) -> usize {
    turns.iter().rposition(Turn::is_prompt).map_or(0, |prompt| prompt + 1)
}
