//! What a provider would refuse in a conversation, before it is sent.
//!
//! A context is judged as a conversion hands it over that mends nothing: the special messages are no messages there, so
//! that of them only what cannot be converted is found, and what a format has no field for, such as thinking without a
//! signature, is left out. [`Rule`] says what is wrong where, and where the providers say so.
//!
//! What is found in a message is found in that message, its neighbours, its exchange, or the end of the list, never in
//! how far back the list goes. So a list without findings has none after it was cut to its end, where the cut leaves
//! exchanges whole and begins with a prompt.

pub(super) mod calls;
mod content;
mod finding;
mod rule;
pub(super) mod thinking;
pub(super) mod turn;

pub use finding::Finding;
pub use rule::Rule;

use super::part::{Part, Role};
use finding::Findings;
use turn::Turn;

use super::Format;
use crate::conversation::{Context, Message, Special};
use crate::error::Error;

/// The formats that have rules of their own.
pub const CHECKED: [Format; 4] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::Gemini];

/// The format of this name that can be checked.
///
/// # Errors
///
/// [`Error::InvalidArgument`], which lists the names.
pub fn checked_format(name: &str) -> Result<Format, Error> {
    match CHECKED.into_iter().find(|format| format.name() == name) {
        Some(format) => Ok(format),
        None if name == Format::AiSdk.name() => Err(no_rules()),
        None => Err(Error::argument("provider", format!("'{name}' is not known; use one of {}", names()))),
    }
}

/// What a provider would refuse, by place in the context, then by rule; nothing where it would be taken.
///
/// A call whose result may still come is found as well: sent now, it is refused.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for [`Format::AiSdk`], which has no rules of its own: those of the provider behind it hold.
pub fn check(context: &Context, format: Format) -> Result<Vec<Finding>, Error> {
    if !CHECKED.contains(&format) {
        return Err(no_rules());
    }
    let mut findings = Findings::of(format);
    for (position, message) in specials(context).into_iter().flatten() {
        content::judge_special(message, position, format, &mut findings);
    }
    judge_said(said(context), has_system_prompt(context), format, &mut findings);
    Ok(findings.sorted())
}

/// The special messages, the system prompt first, with their positions.
pub(super) fn specials(context: &Context) -> [Option<(usize, &Message)>; 2] {
    context.specials().map(|position| position.and_then(|position| Some((position, context.message(position)?))))
}

/// The messages but the special ones, with their positions.
pub(super) fn said(context: &Context) -> impl Iterator<Item = (usize, &Message)> {
    let special = context.specials();
    context.messages().enumerate().filter(move |(position, _)| !special.contains(&Some(*position)))
}

/// Whether the context has a system prompt with a text.
pub(super) fn has_system_prompt(context: &Context) -> bool {
    let prompt = context.special(Special::SystemPrompt).and_then(|position| context.message(position));
    prompt.is_some_and(|prompt| prompt.parts().iter().any(|part| matches!(Part::read(part), Part::Text { .. })))
}

/// What a provider would refuse in a list of messages with their positions.
#[cfg(all(test, not(target_arch = "wasm32")))]
pub(super) fn judge<'m>(
    messages: impl Iterator<Item = (usize, &'m Message)>,
    has_system_prompt: bool,
    format: Format,
) -> Vec<Finding> {
    let mut findings = Findings::of(format);
    judge_said(messages, has_system_prompt, format, &mut findings);
    findings.sorted()
}

fn judge_said<'m>(
    messages: impl Iterator<Item = (usize, &'m Message)>,
    has_system_prompt: bool,
    format: Format,
    findings: &mut Findings,
) {
    let turns: Vec<Turn<'m>> = messages.map(|(position, message)| Turn::of(message, position, format)).collect();
    roles(&turns, has_system_prompt, format, findings);
    calls::judge(&turns, format, findings);
    content::judge(&turns, format, findings);
    thinking::judge(&turns, format, findings);
}

fn roles(turns: &[Turn<'_>], has_system_prompt: bool, format: Format, findings: &mut Findings) {
    for turn in turns.iter().filter(|turn| turn.role == Role::Unknown) {
        let message = "has no place for a message of this role";
        let fix = "Give it one of the roles user, assistant, system, tool and tool_result.";
        findings.on_message(Rule::UnknownRole, turn.position, "role", message, fix);
    }
    let mut sent = turns.iter().filter(|turn| !turn.is_silent);
    let Some(first) = sent.next() else {
        if Rule::NoMessages.holds_for(format) && !(format == Format::OpenAiChat && has_system_prompt) {
            let message = "refuses a request without a message";
            findings.on_list(Rule::NoMessages, message, "Append a message of the user first.");
        }
        return;
    };
    if is_wrong_first(first, format) {
        let message = if format == Format::Gemini {
            "refuses a conversation that begins with a tool call"
        } else {
            "refuses a conversation that does not begin with the user"
        };
        findings.on_message(
            Rule::WrongFirstRole,
            first.position,
            "role",
            message,
            "Put a message of the user before it.",
        );
    }
    let mut before = first;
    for turn in sent {
        if is_repeated(before, turn, format) {
            let message = "refuses a tool call directly after a turn of the assistant";
            let fix = "Make one message of this one and the one before it.";
            findings.on_message(Rule::RepeatedRole, turn.position, "role", message, fix);
        }
        before = turn;
    }
}

/// Whether a turn may not be the first.
pub(super) fn is_wrong_first(first: &Turn<'_>, format: Format) -> bool {
    Rule::WrongFirstRole.holds_for(format)
        && first.role == Role::Assistant
        && (format != Format::Gemini || first.has_calls())
}

/// Whether a turn may not come directly after the one before it.
pub(super) fn is_repeated(before: &Turn<'_>, turn: &Turn<'_>, format: Format) -> bool {
    Rule::RepeatedRole.holds_for(format)
        && before.role == Role::Assistant
        && turn.role == Role::Assistant
        && turn.has_calls()
}

fn no_rules() -> Error {
    let name = Format::AiSdk.name();
    Error::argument(
        "provider",
        format!("'{name}' has no rules of its own; check for the provider behind it, one of {}", names()),
    )
}

fn names() -> String {
    CHECKED.map(Format::name).join(", ")
}

#[cfg(test)]
mod tests;

#[cfg(all(test, not(target_arch = "wasm32")))]
mod windows;
