//! The rules of what a message says, thinking aside.

use super::super::Format;
use super::super::part::{Part, Role, is_empty_text, media_fault};
use super::finding::Findings;
use super::rule::Rule;
use super::turn::Turn;
use crate::conversation::Message;

pub fn judge(turns: &[Turn<'_>], format: Format, findings: &mut Findings) {
    let last = turns.iter().rposition(|turn| !turn.is_silent);
    for (index, turn) in turns.iter().enumerate() {
        for (part, read) in turn.parts.iter().enumerate() {
            judge_part(turn, part, read, format, findings);
        }
        // What had nothing but thinking is found there.
        let is_empty = !turn.is_silent && !turn.says_something(format) && !turn.has_thinking();
        let may_be_empty = format == Format::Anthropic && Some(index) == last && turn.role == Role::Assistant;
        if Rule::EmptyContent.holds_for(format) && is_empty && !may_be_empty {
            let message = "refuses a message that says nothing";
            let fix = "Leave the message out, or give it a text.";
            findings.on_message(Rule::EmptyContent, turn.position, "content", message, fix);
        }
    }
    if let Some(turn) = last.and_then(|last| turns.get(last)) {
        judge_end(turn, format, findings);
    }
}

/// What a conversion cannot take of a special message, of which nothing else is sent than its texts and tools.
pub fn judge_special(message: &Message, position: usize, format: Format, findings: &mut Findings) {
    let parts = message.parts().iter().map(Part::read).collect();
    // Never sent as a message, so that its texts may be empty.
    let turn = Turn { position, role: Role::System, stored: message.parts(), parts, is_silent: true };
    for (part, read) in turn.parts.iter().enumerate() {
        if matches!(read, Part::Media(_) | Part::Unknown(_) | Part::Invalid { .. }) {
            judge_part(&turn, part, read, format, findings);
        }
    }
}

fn judge_part(turn: &Turn<'_>, part: usize, read: &Part<'_>, format: Format, findings: &mut Findings) {
    let place = (turn.position, part);
    match *read {
        Part::Invalid { field, expected } => {
            let message = format!("cannot be given this part: expected {expected} here");
            findings.on_part(Rule::InvalidPart, place, field, &message, "Set the field, or leave the part out.");
        }
        Part::Unknown(kind) => {
            let message = format!("has no place for a part of the type {kind:?}");
            findings.on_part(Rule::UnknownPart, place, "type", &message, "Leave the part out, or say it as a text.");
        }
        Part::Media(ref media) => {
            if let Some((_, fault)) = media_fault(format, turn.role, media) {
                let message = format!("refuses this {}: {fault}", media.kind.name());
                let fix = "Leave it out, or say in a text what it shows.";
                findings.on_part(Rule::UnsupportedMedia, place, "source", &message, fix);
            }
        }
        Part::Text { text, signed } if !turn.is_lifted(format) && is_empty_text(format, text, signed) => {
            let message = "refuses an empty text";
            findings.on_part(Rule::EmptyContent, place, "text", message, "Leave the part out.");
        }
        _ => {}
    }
}

fn judge_end(turn: &Turn<'_>, format: Format, findings: &mut Findings) {
    if !Rule::TrailingWhitespace.holds_for(format) || turn.role != Role::Assistant {
        return;
    }
    if let Some((part, &Part::Text { text, signed })) = turn.last_given(format) {
        if text.ends_with(char::is_whitespace) && !is_empty_text(format, text, signed) {
            let message = "refuses a last message that ends with white space";
            let fix = "Cut the white space off, or append a message of the user.";
            findings.on_part(Rule::TrailingWhitespace, (turn.position, part), "text", message, fix);
        }
    }
}
