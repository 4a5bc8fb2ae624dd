//! Repairs a conversation for a provider: a conversion with `repair` sends the result instead of the context's messages.
//!
//! The context does not change. A repair is deterministic, and inserted content is recognisable: a missing result reads
//! [`INTERRUPTED`], a missing beginning [`LEFT_OUT`], and notes name the media that they replace.

mod clean;
mod draft;
mod results;

use serde_json::{Value, json};

use super::format::{ProviderFormat, RequiredThinking};
use super::part::{Part, Role};
use super::rules::thinking::{last_thinking, unsigned_steps};
use super::rules::turn::Turn;
use super::rules::{has_system_prompt, is_repeated, is_wrong_first, needs_message, ordinary_messages, specials};
use draft::Draft;
use peteos_conversation::{Context, Message};

/// The content of an inserted result.
pub const INTERRUPTED: &str = "[interrupted: this call never got a result]";

/// The text of the user that is inserted before a conversation that begins with the assistant or becomes empty.
pub const LEFT_OUT: &str = "[earlier messages left out]";

/// The text of the user that is inserted if there is no message.
pub const NO_MESSAGES: &str = "[no messages yet]";

/// A message to be sent to a provider.
#[derive(Clone, Debug)]
pub struct RepairedMessage {
    /// The position in the context of the message that this one is or was made from; `None` if it was inserted.
    pub position: Option<usize>,
    /// The message.
    pub message: Message,
}

/// The non-special messages of a context in display order, repaired so that a check finds nothing in them. A message that
/// needs no repair is unchanged.
///
/// For a format that is not checkable: each call is directly followed by its result, there are no other results, and all
/// parts are supported.
pub fn repair(context: &Context, format: &dyn ProviderFormat) -> Vec<RepairedMessage> {
    let mut drafts: Vec<Draft> = Vec::new();
    for (position, message) in ordinary_messages(context) {
        drafts.extend(clean::clean(message, position, format));
    }
    let is_empty = drafts.is_empty();
    let drafts = results::pair(drafts, format);
    let drafts = without_empty(drafts, format);
    let mut drafts = join_repeated(drafts, format);
    sign_steps(&mut drafts, format);
    begin_with_user(&mut drafts, format, has_system_prompt(context), is_empty);
    trim_end(&mut drafts, format);
    drafts.into_iter().map(Draft::finish).collect()
}

/// The special messages of a context, the system prompt first, repaired for a conversion.
pub fn repair_specials(context: &Context, format: &dyn ProviderFormat) -> [Option<Message>; 2] {
    specials(context).map(|special| special.map(|(_, message)| clean::clean_special(message, format)))
}

/// Leaves out messages without content, and thinking that nothing follows.
fn without_empty(drafts: Vec<Draft>, format: &dyn ProviderFormat) -> Vec<Draft> {
    let mut kept = Vec::with_capacity(drafts.len());
    let mut next_is_assistant = false;
    for mut draft in drafts.into_iter().rev() {
        if !next_is_assistant {
            let thinking = last_thinking(&draft.turn(format), format);
            draft.remove_parts(&thinking);
        }
        let turn = draft.turn(format);
        if !turn.is_silent {
            if !turn.has_content(format) {
                if !turn.parts.iter().any(|part| matches!(part, Part::Definition(_))) {
                    continue;
                }
                // Only tool definitions are left.
                draft.set_role("tool");
            } else {
                next_is_assistant = turn.role == Role::Assistant;
            }
        } else if draft.is_empty() {
            continue;
        }
        kept.push(draft);
    }
    kept.reverse();
    kept
}

/// Joins consecutive messages of the assistant, up to one with calls, if the provider refuses them separately.
fn join_repeated(drafts: Vec<Draft>, format: &dyn ProviderFormat) -> Vec<Draft> {
    let mut kept: Vec<Option<Draft>> = Vec::with_capacity(drafts.len());
    // The indices of the messages that are sent.
    let mut sent: Vec<usize> = Vec::new();
    for mut draft in drafts {
        if !draft.turn(format).is_silent {
            let mut earlier = Vec::new();
            while let Some(&last) = sent.last() {
                let Some(slot) = kept.get_mut(last) else { break };
                let joins = |before: &Draft| is_repeated(&before.turn(format), &draft.turn(format), format);
                if !slot.as_ref().is_some_and(joins) {
                    break;
                }
                earlier.extend(slot.take());
                sent.pop();
            }
            if !earlier.is_empty() {
                draft.prepend(earlier.into_iter().rev().flat_map(|earlier| earlier.parts).collect());
            }
            sent.push(kept.len());
        }
        kept.push(Some(draft));
    }
    kept.into_iter().flatten().collect()
}

fn sign_steps(drafts: &mut [Draft], format: &dyn ProviderFormat) {
    let RequiredThinking::OfStepSignatures { placeholder } = format.requirements().required_thinking else { return };
    let turns: Vec<Turn<'_>> = drafts.iter().map(|draft| draft.turn(format)).collect();
    for (index, part) in unsigned_steps(&turns) {
        if let Some(draft) = drafts.get_mut(index) {
            draft.set_field(part, "thought_signature", placeholder.into());
        }
    }
}

fn begin_with_user(drafts: &mut Vec<Draft>, format: &dyn ProviderFormat, has_system_prompt: bool, was_empty: bool) {
    let first = drafts.iter().position(|draft| !draft.turn(format).is_silent);
    let (index, text) = match first {
        Some(first) if drafts.get(first).is_some_and(|draft| is_wrong_first(&draft.turn(format), format)) => {
            (first, LEFT_OUT)
        }
        Some(_) => return,
        None if !needs_message(format, has_system_prompt) => return,
        None => (drafts.len(), if was_empty { NO_MESSAGES } else { LEFT_OUT }),
    };
    drafts.insert(index, Draft::inserted("user", "repair-first", vec![text_part(text)]));
}

fn trim_end(drafts: &mut [Draft], format: &dyn ProviderFormat) {
    if !format.requirements().refuses_trailing_whitespace {
        return;
    }
    let Some(draft) = drafts.iter_mut().rfind(|draft| !draft.turn(format).is_silent) else { return };
    let turn = draft.turn(format);
    if turn.role != Role::Assistant {
        return;
    }
    if let Some((part, &Part::Text { text, .. })) = turn.last_sent(format) {
        if text.ends_with(char::is_whitespace) {
            let text = text.trim_end().to_owned();
            draft.set_field(part, "text", text.into());
        }
    }
}

/// A text part.
fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
