//! The rules of tool calls and their results.

use super::finding::Findings;
use super::rule::Rule;
use super::turn::{Turn, answered_turns, pairing};
use crate::format::{ProviderFormat, ResultPlacement};
use crate::part::{Part, Role, arguments_object};
use peteos_conversation::{CallState, PairedCall, Repeats, ResultState};

/// Checks the rules of tool calls and their results.
pub fn check(turns: &[Turn<'_>], format: &dyn ProviderFormat, findings: &mut Findings) {
    let pairing = pairing(turns);
    for call in &pairing.calls {
        check_call(call, turns, format, findings);
    }
    let answered = answered_turns(turns, format);
    for result in &pairing.results {
        let (index, part) = result.place;
        let turn = &turns[index];
        let place = (turn.position, part);
        let (rule, message, fix) = match result.state {
            ResultState::Orphan => (
                Rule::OrphanResult,
                "refuses a result without a preceding call",
                "Remove the result, or restore the message with its call.",
            ),
            ResultState::Second(_) => {
                (Rule::DuplicateResult, "refuses a second result of one call", "Keep only one result of this call.")
            }
            ResultState::Answers(call) => {
                let call = pairing.calls[call].place.0;
                if !turn.may_have_results() {
                    (
                        Rule::MisplacedResult,
                        "does not support a result in a message of this role",
                        "Put the result in a message of the role tool_result, directly after its call.",
                    )
                } else if format.requirements().results == ResultPlacement::AfterCall
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

fn check_call(call: &PairedCall<'_>, turns: &[Turn<'_>], format: &dyn ProviderFormat, findings: &mut Findings) {
    let (index, part) = call.place;
    let turn = &turns[index];
    let place = (turn.position, part);
    if turn.role != Role::Assistant {
        let message = "does not support a tool call in a message of this role";
        let fix = "Put the call in a message of the assistant, before its result.";
        findings.on_part(Rule::MisplacedCall, place, "", message, fix);
    }
    let missing = match call.state {
        CallState::Answered(_) => None,
        CallState::Pending => Some("Append a message of the role tool_result with the result before sending."),
        CallState::Unanswered => Some("Put the result directly after the call, or remove the call."),
    };
    if let Some(fix) = missing {
        findings.on_part(Rule::MissingResult, place, "call_id", "refuses a tool call without a result", fix);
    }
    if is_refused_repeat(call.repeats, format) {
        let message = "refuses the call_id of an earlier call";
        let fix = "Give this call and its result a unique call_id.";
        findings.on_part(Rule::DuplicateCallId, place, "call_id", message, fix);
    }
    let Some(Part::Call(read)) = turn.parts.get(part) else { return };
    let requirements = format.requirements();
    if let Some(ids) = requirements.call_ids.filter(|ids| !ids.is(read.call_id)) {
        findings.on_part(Rule::InvalidCallId, place, "call_id", "refuses this call_id", ids.fix);
    }
    if let Some(names) = requirements.tool_names.filter(|names| !names.is(read.name)) {
        findings.on_part(Rule::InvalidName, place, "name", "refuses this tool name", names.fix);
    }
    if requirements.has_argument_objects && arguments_object(read.arguments).is_err() {
        let message = "refuses arguments that are not a JSON object";
        let fix = "Set the arguments to the JSON text of an object, {} if there are none.";
        findings.on_part(Rule::InvalidArguments, place, "arguments", message, fix);
    }
}

/// Whether a format refuses a call because another call has the same id.
pub fn is_refused_repeat(repeats: Repeats, format: &dyn ProviderFormat) -> bool {
    match repeats {
        Repeats::No => false,
        Repeats::SameMessage => true,
        Repeats::Earlier => format.requirements().has_unique_call_ids,
    }
}
