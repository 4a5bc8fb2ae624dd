//! A step that leaves out the thinking of earlier turns.

use serde_json::Value;

use super::edits::{Edits, PartEdits};
use super::options::Options;
use crate::conversation::{Context, Message, PartKind};
use crate::error::Error;

/// Leaves out the thinking of all but the newest turns. A turn begins with a prompt of the user. Of the current turn, thinking
/// that its provider may need back is always kept: what has a signature, and what is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClearThinking {
    /// How many turns keep their thinking, the current one included.
    pub keep_turns: u64,
}

impl Default for ClearThinking {
    fn default() -> Self {
        Self { keep_turns: 1 }
    }
}

impl ClearThinking {
    pub(super) fn read(options: &mut Options) -> Result<Self, Error> {
        Ok(Self { keep_turns: options.integer("keepTurns")?.unwrap_or(Self::default().keep_turns) })
    }

    /// The edits of this step.
    pub fn edits(self, context: &Context) -> Edits {
        let specials = context.specials();
        let mut edits = PartEdits::default();
        let messages: Vec<(usize, &Message)> =
            context.messages().enumerate().filter(|(position, _)| !specials.contains(&Some(*position))).collect();
        // The number of prompts from here to the end: the current turn has none after it.
        let mut later_turns = 0u64;
        for &(position, message) in messages.iter().rev() {
            if message.is_prompt() {
                later_turns += 1;
                continue;
            }
            if later_turns < self.keep_turns {
                continue;
            }
            let is_current = later_turns == 0;
            let is_cleared = |part: &Value| is_thinking(part) && !(is_current && is_signed(part));
            let cleared: Vec<usize> = message
                .parts()
                .iter()
                .enumerate()
                .filter_map(|(index, part)| is_cleared(part).then_some(index))
                .collect();
            // A message of nothing else stays: without it, two prompts could follow each other.
            if cleared.len() < message.parts().len() {
                cleared.into_iter().for_each(|part| edits.drop((position, part)));
            }
        }
        edits.into_edits(context)
    }
}

fn is_thinking(part: &Value) -> bool {
    PartKind::of(part) == PartKind::Thinking || is_redacted(part)
}

fn is_redacted(part: &Value) -> bool {
    part.get("type").is_some_and(|name| name == "redacted_thinking")
}

/// Whether a provider may refuse the conversation without this thinking.
fn is_signed(part: &Value) -> bool {
    let has = |key: &str| part.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    is_redacted(part) || ["signature", "encrypted_content", "thought_signature", "id"].into_iter().any(has)
}
