//! The rules about thinking.

use std::collections::HashSet;

use super::finding::Findings;
use super::rule::Rule;
use super::turn::{Turn, current_turn};
use crate::format::{ProviderFormat, RequiredThinking, accepts_thinking};
use crate::part::{Part, Role};

/// Checks the rules about thinking.
pub fn check(turns: &[Turn<'_>], format: &dyn ProviderFormat, findings: &mut Findings) {
    alone(turns, format, findings);
    match format.requirements().required_thinking {
        RequiredThinking::None => {}
        RequiredThinking::OfAnsweredCalls => removed_from_answered_calls(turns, format, findings),
        RequiredThinking::OfStepSignatures { .. } => removed_from_steps(turns, findings),
    }
}

fn alone(turns: &[Turn<'_>], format: &dyn ProviderFormat, findings: &mut Findings) {
    if !Rule::ThinkingAlone.holds_for(format) {
        return;
    }
    let mut next_is_assistant = false;
    for turn in turns.iter().rev().filter(|turn| !turn.is_silent) {
        let message = if turn.has_thinking() && !turn.has_content(format) {
            Some("refuses a message with nothing but thinking, which cannot be sent")
        } else if !next_is_assistant && !last_thinking(turn, format).is_empty() {
            Some("refuses thinking that is not followed by other content")
        } else {
            None
        };
        if let Some(message) = message {
            let fix = "Remove the thinking, or keep the content that followed it.";
            findings.on_message(Rule::ThinkingAlone, turn.position, "content", message, fix);
        }
        next_is_assistant = turn.role == Role::Assistant;
    }
}

/// The indices of the thinking at the end of a turn, if the format refuses it.
pub fn last_thinking(turn: &Turn<'_>, format: &dyn ProviderFormat) -> HashSet<usize> {
    if !format.requirements().refuses_trailing_thinking {
        return HashSet::new();
    }
    let given = turn.parts.iter().enumerate().rev().filter(|(_, part)| turn.is_sent(part, format));
    given.take_while(|(_, part)| matches!(part, Part::Thinking(_))).map(|(index, _)| index).collect()
}

/// Finds thinking that cannot be sent before calls whose results are in the last message.
fn removed_from_answered_calls(turns: &[Turn<'_>], format: &dyn ProviderFormat, findings: &mut Findings) {
    let last = turns.iter().rfind(|turn| !turn.is_silent);
    if !last.is_some_and(|last| last.may_have_results() && last.has_results()) {
        return;
    }
    for turn in turns.iter().skip(current_turn(turns)).filter(|turn| turn.has_calls()) {
        for part in thinking_left_out(turn, format) {
            let message = "refuses tool results whose calls have lost their thinking, if thinking is enabled";
            let fix = "Keep the signature of the thinking, or remove the thinking and disable it for this request.";
            findings.on_part(Rule::ThinkingRemoved, (turn.position, part), "signature", message, fix);
        }
    }
}

/// Finds steps without a thought signature among others that have one.
fn removed_from_steps(turns: &[Turn<'_>], findings: &mut Findings) {
    for (index, part) in unsigned_steps(turns) {
        let Some(turn) = turns.get(index) else { continue };
        let message = "refuses a step of the current turn whose first tool call has no thought signature";
        let fix = "Keep the thought_signature of the call.";
        findings.on_part(Rule::ThinkingRemoved, (turn.position, part), "thought_signature", message, fix);
    }
}

/// The first calls of the steps since the last prompt that have no thought signature although other calls have one, as
/// indices of the turn and of the part.
pub fn unsigned_steps(turns: &[Turn<'_>]) -> Vec<(usize, usize)> {
    let start = current_turn(turns);
    let calls = |turn: &Turn<'_>| -> Vec<(usize, bool)> {
        let parts = turn.parts.iter().enumerate();
        parts
            .filter_map(|(part, read)| if let Part::Call(call) = read { Some((part, call.is_signed)) } else { None })
            .collect()
    };
    let steps: Vec<(usize, Vec<(usize, bool)>)> = turns
        .iter()
        .enumerate()
        .skip(start)
        .filter(|(_, turn)| turn.role == Role::Assistant && turn.has_calls())
        .map(|(index, turn)| (index, calls(turn)))
        .collect();
    if !steps.iter().flat_map(|(_, calls)| calls).any(|(_, signed)| *signed) {
        return Vec::new();
    }
    let firsts =
        steps.into_iter().filter_map(|(index, calls)| calls.first().map(|&(part, signed)| (index, part, signed)));
    firsts.filter(|(_, _, signed)| !signed).map(|(index, part, _)| (index, part)).collect()
}

/// The indices of the thinking parts of a turn of the assistant that cannot be sent.
fn thinking_left_out<'t>(turn: &'t Turn<'_>, format: &'t dyn ProviderFormat) -> impl Iterator<Item = usize> + 't {
    let is_left_out = move |part: &Part<'_>| match part {
        Part::Thinking(fields) => turn.role == Role::Assistant && !accepts_thinking(format, turn.role, fields),
        _ => false,
    };
    turn.parts.iter().enumerate().filter(move |(_, part)| is_left_out(part)).map(|(index, _)| index)
}
