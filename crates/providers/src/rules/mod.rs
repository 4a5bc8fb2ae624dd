//! The rules of the providers: finds what a provider would refuse in a conversation before it is sent.
//!
//! A context is checked as a conversion without repair would send it. Special messages are not sent as messages, so only
//! content that cannot be converted is a finding in them. Content for which a format has no field, such as thinking without
//! a signature, is not sent. [`Rule`] documents each rule and where the providers state it.
//!
//! A finding depends on its message, its neighbours, its exchange and the end of the conversation, never on how far back the
//! conversation goes. So a conversation without findings has none after a cut to its end that keeps exchanges whole and
//! begins with a prompt.

pub(super) mod calls;
mod content;
mod finding;
mod rule;
pub(super) mod thinking;
pub(super) mod turn;

pub use finding::Finding;
pub use rule::Rule;

use finding::Findings;
use turn::Turn;

use super::format::{FirstTurn, ProviderFormat, RequiredMessage};
use super::formats::require_checkable;
use super::part::{Part, Role};
use peteos_conversation::error::Error;
use peteos_conversation::{Context, Message, Special};

/// The findings of a context, sorted by place, then by rule; empty if the provider would accept it.
///
/// A pending call is a finding as well: the provider would refuse it if it were sent now.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a format whose rules cannot be checked.
pub fn check(context: &Context, format: &dyn ProviderFormat) -> Result<Vec<Finding>, Error> {
    require_checkable(format)?;
    let mut findings = Findings::of(format);
    for (position, message) in specials(context).into_iter().flatten() {
        content::check_special(message, position, format, &mut findings);
    }
    check_messages(ordinary_messages(context), has_system_prompt(context), format, &mut findings);
    Ok(findings.sorted())
}

/// The special messages, the system prompt first, with their positions.
pub(super) fn specials(context: &Context) -> [Option<(usize, &Message)>; 2] {
    context.specials().map(|position| position.and_then(|position| Some((position, context.message(position)?))))
}

/// The non-special messages, with their positions.
pub(super) fn ordinary_messages(context: &Context) -> impl Iterator<Item = (usize, &Message)> {
    let special = context.specials();
    context.messages().enumerate().filter(move |(position, _)| !special.contains(&Some(*position)))
}

/// Whether the context has a system prompt with a text.
pub(super) fn has_system_prompt(context: &Context) -> bool {
    let prompt = context.special(Special::SystemPrompt).and_then(|position| context.message(position));
    prompt.is_some_and(|prompt| prompt.parts().iter().any(|part| matches!(Part::read(part), Part::Text { .. })))
}

/// The findings of a list of messages with their positions.
#[cfg(all(test, not(target_arch = "wasm32")))]
pub(super) fn findings_in<'m>(
    messages: impl Iterator<Item = (usize, &'m Message)>,
    has_system_prompt: bool,
    format: &dyn ProviderFormat,
) -> Vec<Finding> {
    let mut findings = Findings::of(format);
    check_messages(messages, has_system_prompt, format, &mut findings);
    findings.sorted()
}

fn check_messages<'m>(
    messages: impl Iterator<Item = (usize, &'m Message)>,
    has_system_prompt: bool,
    format: &dyn ProviderFormat,
    findings: &mut Findings,
) {
    let turns: Vec<Turn<'m>> = messages.map(|(position, message)| Turn::of(message, position, format)).collect();
    check_roles(&turns, has_system_prompt, format, findings);
    calls::check(&turns, format, findings);
    content::check(&turns, format, findings);
    thinking::check(&turns, format, findings);
}

fn check_roles(turns: &[Turn<'_>], has_system_prompt: bool, format: &dyn ProviderFormat, findings: &mut Findings) {
    for turn in turns.iter().filter(|turn| turn.role == Role::Unknown) {
        let message = "does not support a message of this role";
        let fix = "Use one of the roles user, assistant, system, tool and tool_result.";
        findings.on_message(Rule::UnknownRole, turn.position, "role", message, fix);
    }
    let mut sent = turns.iter().filter(|turn| !turn.is_silent);
    let Some(first) = sent.next() else {
        if needs_message(format, has_system_prompt) {
            let message = "refuses a request without a message";
            findings.on_list(Rule::NoMessages, message, "Append a message of the user first.");
        }
        return;
    };
    if is_wrong_first(first, format) {
        let message = match format.requirements().first_turn {
            FirstTurn::NotCalls => "refuses a conversation that begins with a tool call",
            FirstTurn::Any | FirstTurn::NotAssistant => "refuses a conversation that does not begin with the user",
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
            let fix = "Join this message with the one before it.";
            findings.on_message(Rule::RepeatedRole, turn.position, "role", message, fix);
        }
        before = turn;
    }
}

/// Whether a conversation without messages is refused.
pub(super) fn needs_message(format: &dyn ProviderFormat, has_system_prompt: bool) -> bool {
    match format.requirements().message {
        RequiredMessage::None => false,
        RequiredMessage::Any => true,
        RequiredMessage::AnyOrSystemPrompt => !has_system_prompt,
    }
}

/// Whether a turn is refused as the first.
pub(super) fn is_wrong_first(first: &Turn<'_>, format: &dyn ProviderFormat) -> bool {
    first.role == Role::Assistant
        && match format.requirements().first_turn {
            FirstTurn::Any => false,
            FirstTurn::NotAssistant => true,
            FirstTurn::NotCalls => first.has_calls(),
        }
}

/// Whether a turn is refused directly after the previous one.
pub(super) fn is_repeated(before: &Turn<'_>, turn: &Turn<'_>, format: &dyn ProviderFormat) -> bool {
    format.requirements().refuses_calls_after_assistant
        && before.role == Role::Assistant
        && turn.role == Role::Assistant
        && turn.has_calls()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;

#[cfg(all(test, not(target_arch = "wasm32")))]
mod windows;
