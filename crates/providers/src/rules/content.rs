//! The rules about the content of messages, except thinking.

use super::finding::Findings;
use super::rule::Rule;
use super::turn::Turn;
use crate::format::{EmptyMessage, ProviderFormat, media_fault};
use crate::part::{Part, Role};
use peteos_conversation::Message;

/// Checks the rules about content.
pub fn check(turns: &[Turn<'_>], format: &dyn ProviderFormat, findings: &mut Findings) {
    let last = turns.iter().rposition(|turn| !turn.is_silent);
    for (index, turn) in turns.iter().enumerate() {
        for (part, read) in turn.parts.iter().enumerate() {
            check_part(turn, part, read, format, findings);
        }
        // A message with only thinking violates a rule about thinking instead.
        let is_empty = !turn.is_silent && !turn.has_content(format) && !turn.has_thinking();
        let is_refused = match format.requirements().empty_message {
            EmptyMessage::Accepted => false,
            EmptyMessage::Refused => true,
            EmptyMessage::RefusedBeforeEnd => Some(index) != last || turn.role != Role::Assistant,
        };
        if is_empty && is_refused {
            let message = "refuses a message without content";
            let fix = "Remove the message, or give it a text.";
            findings.on_message(Rule::EmptyContent, turn.position, "content", message, fix);
        }
    }
    if let Some(turn) = last.and_then(|last| turns.get(last)) {
        check_end(turn, format, findings);
    }
}

/// Checks a special message. Only its texts and tools are sent.
pub fn check_special(message: &Message, position: usize, format: &dyn ProviderFormat, findings: &mut Findings) {
    let parts = message.parts().iter().map(Part::read).collect();
    // A special message is not sent as a message, so its texts may be empty.
    let turn = Turn { position, role: Role::System, stored: message.parts(), parts, is_silent: true };
    for (part, read) in turn.parts.iter().enumerate() {
        if matches!(read, Part::Media(_) | Part::Unknown(_) | Part::Invalid { .. }) {
            check_part(&turn, part, read, format, findings);
        }
    }
}

fn check_part(turn: &Turn<'_>, part: usize, read: &Part<'_>, format: &dyn ProviderFormat, findings: &mut Findings) {
    let place = (turn.position, part);
    match *read {
        Part::Invalid { field, expected } => {
            let message = format!("cannot accept this part: expected {expected} here");
            findings.on_part(Rule::InvalidPart, place, field, &message, "Set the field, or remove the part.");
        }
        Part::Unknown(kind) => {
            let message = format!("does not support a part of the type {kind:?}");
            findings.on_part(Rule::UnknownPart, place, "type", &message, "Remove the part, or replace it with a text.");
        }
        Part::Media(ref media) => {
            if let Some(fault) = media_fault(format, turn.role, media) {
                let message = format!("refuses this {}: {}", media.kind.name(), fault.message);
                let fix = "Remove it, or describe it in a text.";
                findings.on_part(Rule::UnsupportedMedia, place, "source", &message, fix);
            }
        }
        Part::Result { ref content, .. } => {
            if let Some((media, fault)) =
                content.media().find_map(|media| Some((media, media_fault(format, Role::User, media)?)))
            {
                let message = format!("refuses the {} in this result: {}", media.kind.name(), fault.message);
                let fix = "Remove it, or describe it in a text.";
                findings.on_part(Rule::UnsupportedMedia, place, "content", &message, fix);
            }
        }
        Part::Text { text, is_signed } if !turn.is_lifted(format) && format.refuses_text(text, is_signed) => {
            let message = "refuses an empty text";
            findings.on_part(Rule::EmptyContent, place, "text", message, "Remove the part.");
        }
        _ => {}
    }
}

fn check_end(turn: &Turn<'_>, format: &dyn ProviderFormat, findings: &mut Findings) {
    if !Rule::TrailingWhitespace.holds_for(format) || turn.role != Role::Assistant {
        return;
    }
    if let Some((part, &Part::Text { text, is_signed })) = turn.last_sent(format) {
        if text.ends_with(char::is_whitespace) && !format.refuses_text(text, is_signed) {
            let message = "refuses a last message that ends with white space";
            let fix = "Remove the white space, or append a message of the user.";
            findings.on_part(Rule::TrailingWhitespace, (turn.position, part), "text", message, fix);
        }
    }
}
