//! The rules of tool calls and their results.

use super::super::Format;
use super::super::part::{Part, Role, arguments_object, is_call_id, is_name};
use super::finding::Findings;
use super::rule::Rule;
use super::turn::{Turn, answered_turns, pairing, takes_distant_results};
use crate::conversation::{CallState, PairedCall, Repeats, ResultState};

pub fn judge(turns: &[Turn<'_>], format: Format, findings: &mut Findings) {
    let pairing = pairing(turns);
    for call in &pairing.calls {
        judge_call(call, turns, format, findings);
    }
    let answered = answered_turns(turns, format);
    for result in &pairing.results {
        let (index, part) = result.place;
        let turn = &turns[index];
        let place = (turn.position, part);
        let (rule, message, fix) = match result.state {
            ResultState::Orphan => (
                Rule::OrphanResult,
                "refuses a result whose call is not before it",
                "Leave the result out, or put the message with its call back.",
            ),
            ResultState::Second(_) => (
                Rule::DuplicateResult,
                "refuses a second result of one call",
                "Leave all but one of the results of this call out.",
            ),
            ResultState::Answers(call) => {
                let call = pairing.calls[call].place.0;
                if !turn.may_have_results() {
                    (
                        Rule::MisplacedResult,
                        "has no place for a result in a message of this role",
                        "Put the result in a message of the role tool_result directly after the one with its call.",
                    )
                } else if takes_distant_results(format)
                    || turns[call].role != Role::Assistant
                    || answered[index] == Some(call)
                {
                    continue;
                } else {
                    (
                        Rule::MisplacedResult,
                        "refuses a result that is not directly after its call",
                        "Put the result directly after the message with its call.",
                    )
                }
            }
        };
        findings.on_part(rule, place, "call_id", message, fix);
    }
}

fn judge_call(call: &PairedCall<'_>, turns: &[Turn<'_>], format: Format, findings: &mut Findings) {
    let (index, part) = call.place;
    let turn = &turns[index];
    let place = (turn.position, part);
    if turn.role != Role::Assistant {
        let message = "has no place for a tool call in a message of this role";
        let fix = "Put the call in a message of the assistant, before the one with its result.";
        findings.on_part(Rule::MisplacedCall, place, "", message, fix);
    }
    let missing = match call.state {
        CallState::Answered(_) => None,
        CallState::Pending => Some("Append a message of the role tool_result with the result first."),
        CallState::Unanswered => Some("Put the result directly after the call, or leave the call out."),
    };
    if let Some(fix) = missing {
        findings.on_part(Rule::MissingResult, place, "call_id", "refuses a tool call without a result", fix);
    }
    if is_refused_repeat(call.repeats, format) {
        let message = "refuses a call_id that a call before has";
        let fix = "Give this call and its result a call_id of their own.";
        findings.on_part(Rule::DuplicateCallId, place, "call_id", message, fix);
    }
    let Some(Part::Call(read)) = turn.parts.get(part) else { return };
    if Rule::InvalidCallId.holds_for(format) && !is_call_id(format, read.call_id) {
        let message = "refuses this call_id";
        let fix = if format == Format::Anthropic {
            "Give the call and its result a call_id of letters, digits, '_' and '-'."
        } else {
            "Give the call and its result a call_id of 1 to 64 characters."
        };
        findings.on_part(Rule::InvalidCallId, place, "call_id", message, fix);
    }
    if Rule::InvalidName.holds_for(format) && !is_name(format, read.name) {
        let message = "refuses this name of a tool";
        let fix = "Name the tool with letters, digits, '_' and '-', and not too long.";
        findings.on_part(Rule::InvalidName, place, "name", message, fix);
    }
    if Rule::InvalidArguments.holds_for(format) && arguments_object(read.arguments).is_err() {
        let message = "refuses arguments that are no JSON object";
        let fix = "Make the arguments the JSON text of an object, {} where there are none.";
        findings.on_part(Rule::InvalidArguments, place, "arguments", message, fix);
    }
}

/// Whether a format refuses a call for having the id of another.
pub fn is_refused_repeat(repeats: Repeats, format: Format) -> bool {
    match repeats {
        Repeats::No => false,
        Repeats::SameMessage => true,
        Repeats::Earlier => matches!(format, Format::Anthropic | Format::OpenAiResponses),
    }
}
