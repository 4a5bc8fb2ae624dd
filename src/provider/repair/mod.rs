//! Mends a conversation for a provider: what a conversion with `repair` sends in the place of the messages of a context.
//!
//! The context stays as it is. What is mended comes out the same each time, and what is put in says so: a result that
//! never came reads [`INTERRUPTED`], what was left out in front [`LEFT_OUT`], and media is named.

mod clean;
mod draft;
mod results;

use serde_json::{Value, json};

use super::Format;
use super::check::thinking::{last_thinking, unsigned_steps};
use super::check::turn::Turn;
use super::check::{Rule, has_system_prompt, is_repeated, is_wrong_first, said, specials};
use super::part::{Part, Role};
use crate::conversation::{Context, Message};
use draft::Draft;

/// The result of a call that has none.
pub const INTERRUPTED: &str = "[interrupted: this call never got a result]";

/// What the user is made to say before a conversation that begins with the assistant, or of which nothing is left.
pub const LEFT_OUT: &str = "[earlier messages left out]";

/// What the user is made to say where there is no message.
pub const NO_MESSAGES: &str = "[no messages yet]";

/// What Gemini takes for the thought signature of a call that has none
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>).
pub const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// A message as it goes to a provider.
#[derive(Clone, Debug)]
pub struct Mended {
    /// The position in the context of the message that it is, or is made of; `None` where it was put in.
    pub position: Option<usize>,
    pub message: Message,
}

/// The messages of a context but the special ones, in display order, as a provider takes them: a check finds nothing in
/// them. Those in which nothing had to be mended are those of the context.
///
/// For [`Format::AiSdk`] each call has its result directly after it, there are no other results, and all parts are ones
/// that it has a place for.
pub fn mend(context: &Context, format: Format) -> Vec<Mended> {
    let mut drafts: Vec<Draft> = Vec::new();
    for (position, message) in said(context) {
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

/// The special messages of a context, the system prompt first, as a conversion takes them.
pub fn mend_specials(context: &Context, format: Format) -> [Option<Message>; 2] {
    specials(context).map(|special| special.map(|(_, message)| clean::clean_special(message, format)))
}

/// Leaves out messages that say nothing, and thinking after which nothing comes.
fn without_empty(drafts: Vec<Draft>, format: Format) -> Vec<Draft> {
    let mut kept = Vec::with_capacity(drafts.len());
    let mut next_is_assistant = false;
    for mut draft in drafts.into_iter().rev() {
        if !next_is_assistant {
            let thinking = last_thinking(&draft.turn(format), format);
            draft.remove_parts(&thinking);
        }
        let turn = draft.turn(format);
        if !turn.is_silent {
            if !turn.says_something(format) {
                if !turn.parts.iter().any(|part| matches!(part, Part::Definition(_))) {
                    continue;
                }
                // The tools that it defines are all that is left of it.
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

/// Makes one message of those of the assistant that follow each other up to one with calls, where the provider refuses
/// them.
fn join_repeated(drafts: Vec<Draft>, format: Format) -> Vec<Draft> {
    let mut kept: Vec<Option<Draft>> = Vec::with_capacity(drafts.len());
    // The places of those that are sent.
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
                draft.put_before(earlier.into_iter().rev().flat_map(|earlier| earlier.parts).collect());
            }
            sent.push(kept.len());
        }
        kept.push(Some(draft));
    }
    kept.into_iter().flatten().collect()
}

fn sign_steps(drafts: &mut [Draft], format: Format) {
    if format != Format::Gemini {
        return;
    }
    let turns: Vec<Turn<'_>> = drafts.iter().map(|draft| draft.turn(format)).collect();
    for (index, part) in unsigned_steps(&turns) {
        if let Some(draft) = drafts.get_mut(index) {
            draft.set_field(part, "thought_signature", NO_SIGNATURE.into());
        }
    }
}

fn begin_with_user(drafts: &mut Vec<Draft>, format: Format, has_system_prompt: bool, was_empty: bool) {
    let first = drafts.iter().position(|draft| !draft.turn(format).is_silent);
    let (index, text) = match first {
        Some(first) if drafts.get(first).is_some_and(|draft| is_wrong_first(&draft.turn(format), format)) => {
            (first, LEFT_OUT)
        }
        Some(_) => return,
        None if !Rule::NoMessages.holds_for(format) || format == Format::OpenAiChat && has_system_prompt => return,
        None => (drafts.len(), if was_empty { NO_MESSAGES } else { LEFT_OUT }),
    };
    drafts.insert(index, Draft::put_in("user", "repair-first", vec![text_part(text)]));
}

fn trim_end(drafts: &mut [Draft], format: Format) {
    if !Rule::TrailingWhitespace.holds_for(format) {
        return;
    }
    let Some(draft) = drafts.iter_mut().rfind(|draft| !draft.turn(format).is_silent) else { return };
    let turn = draft.turn(format);
    if turn.role != Role::Assistant {
        return;
    }
    if let Some((part, &Part::Text { text, .. })) = turn.last_given(format) {
        if text.ends_with(char::is_whitespace) {
            let text = text.trim_end().to_owned();
            draft.set_field(part, "text", text.into());
        }
    }
}

/// A text.
fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
