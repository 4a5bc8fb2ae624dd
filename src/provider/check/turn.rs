//! Messages as the turns that a conversion makes of them.

use serde_json::Value;

use super::super::Format;
use super::super::part::{Part, Role, takes_thinking};
use crate::conversation::{Message, PairedMessage, Pairing};

/// A message and what becomes of it in a format.
#[derive(Debug)]
pub struct Turn<'m> {
    /// The position of the message in the list that it is from.
    pub position: usize,
    pub role: Role,
    /// The parts as they are stored.
    pub stored: &'m [Value],
    /// The same parts, read.
    pub parts: Vec<Part<'m>>,
    /// Nothing is sent in the place of the message: its text goes to the system prompt, its tools to the tools, or, in
    /// Responses, it has nothing that would be an item.
    pub is_silent: bool,
}

impl<'m> Turn<'m> {
    pub fn of(message: &'m Message, position: usize, format: Format) -> Self {
        Self::with_parts(Role::of(message.role()), message.parts(), position, format)
    }

    pub fn with_parts(role: Role, stored: &'m [Value], position: usize, format: Format) -> Self {
        let parts = stored.iter().map(Part::read).collect();
        let mut turn = Self { position, role, stored, parts, is_silent: false };
        turn.is_silent = turn.is_lifted(format)
            || turn.only_defines_tools()
            || format == Format::OpenAiResponses && !turn.says_something(format);
        turn
    }

    /// Anthropic and Gemini have the system's messages as one text of its own.
    pub fn is_lifted(&self, format: Format) -> bool {
        self.role == Role::System && matches!(format, Format::Anthropic | Format::Gemini)
    }

    fn only_defines_tools(&self) -> bool {
        let mut parts = self.parts.iter();
        self.role == Role::Tool && !self.parts.is_empty() && parts.all(|part| matches!(part, Part::Definition(_)))
    }

    /// Whether the format is given anything of it.
    pub fn says_something(&self, format: Format) -> bool {
        self.parts.iter().any(|part| self.is_given(part, format))
    }

    /// Whether the format is given a part of it; one that a rule is broken by counts as given.
    pub fn is_given(&self, part: &Part<'_>, format: Format) -> bool {
        match part {
            Part::Definition(_) => false,
            Part::Thinking(fields) => takes_thinking(format, self.role, fields),
            _ => true,
        }
    }

    pub fn has_thinking(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Thinking(_)))
    }

    pub fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }

    pub fn has_results(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Result { .. }))
    }

    /// Whether results may stand in it.
    pub fn may_have_results(&self) -> bool {
        !matches!(self.role, Role::Assistant | Role::System)
    }

    /// Whether something besides results is given to the format.
    pub fn has_rest(&self, format: Format) -> bool {
        self.parts.iter().any(|part| !matches!(part, Part::Result { .. }) && self.is_given(part, format))
    }

    /// Whether the user says something in it, more than results.
    pub fn is_prompt(&self) -> bool {
        let is_said = |part: &Part<'_>| !matches!(part, Part::Result { .. } | Part::Definition(_));
        self.role == Role::User && !self.has_results() && self.parts.iter().any(is_said)
    }

    /// The last part that the format is given, and its index.
    pub fn last_given(&self, format: Format) -> Option<(usize, &Part<'m>)> {
        self.parts.iter().enumerate().rev().find(|(_, part)| self.is_given(part, format))
    }
}

/// The tool calls and results of turns; places are indices of a turn and of a part in it.
pub fn pairing<'m>(turns: &[Turn<'m>]) -> Pairing<'m> {
    Pairing::of(
        turns.iter().map(|turn| PairedMessage { is_assistant: turn.role == Role::Assistant, parts: turn.stored }),
    )
}

/// Whether results may stand at any distance after their call.
pub fn takes_distant_results(format: Format) -> bool {
    format == Format::OpenAiResponses
}

/// Whether a format has each result as a message, so that other content of the same message comes after it and ends the
/// results; the others have one turn for all results that follow each other.
pub fn has_result_messages(format: Format) -> bool {
    matches!(format, Format::OpenAiChat | Format::AiSdk)
}

/// For each turn the index of the one that its results stand directly after.
pub fn answered_turns(turns: &[Turn<'_>], format: Format) -> Vec<Option<usize>> {
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
            if has_result_messages(format) && turn.has_rest(format) {
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
