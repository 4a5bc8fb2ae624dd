//! What a provider's format is: [`ProviderFormat`], with one implementation for each file of [`formats`](super::formats).

use super::builder::ContextBuilder;
use super::field::Field;
use super::media::Media;
use super::part::Role;
use super::source::Source;
use crate::environment::Environment;
use crate::error::ShapeError;
use crate::json::Object;

/// The format of a provider's API, or of an SDK that speaks to many providers.
///
/// The rules, the repair and the conversion ask this trait for everything that differs between formats, so they name none.
pub trait ProviderFormat: Sync {
    /// The name by which callers know it, such as `anthropic`.
    fn name(&self) -> &'static str;

    /// What it requires of a conversation.
    fn requirements(&self) -> &'static Requirements;

    /// Whether it accepts a thinking part of the assistant. A part that it does not accept is left out.
    fn accepts_thinking(&self, fields: &Object) -> bool;

    /// Why it refuses a medium in a message of this role; `None` if it accepts it. The system's role is never asked for: no
    /// format accepts media there.
    fn media_fault(&self, role: Role, media: &Media) -> Option<MediaFault>;

    /// Whether it refuses a text because it is empty. `is_signed` tells whether the text carries a thought signature.
    fn refuses_text(&self, text: &str, is_signed: bool) -> bool {
        let _ = (text, is_signed);
        false
    }

    /// The fields of a request that hold a conversation.
    fn write(&self, source: Source<'_>) -> Object;

    /// Reads the body of a request, or the bare list of its messages.
    ///
    /// # Errors
    ///
    /// The field that the format does not allow, or that a context cannot hold.
    fn read(&self, root: &Field<'_>, environment: &dyn Environment) -> Result<ContextBuilder, ShapeError>;
}

/// What a format requires of a conversation. [`Rule::holds_for`](super::rules::Rule::holds_for) derives from it which rules
/// the format has.
#[derive(Clone, Debug)]
pub struct Requirements {
    /// Whether the rules can be checked. Those of an SDK cannot: the provider behind it has its own.
    pub is_checkable: bool,
    /// Whether a request needs a message.
    pub message: RequiredMessage,
    /// What the conversation may begin with.
    pub first_turn: FirstTurn,
    /// Whether it refuses tool calls directly after another turn of the assistant.
    pub refuses_calls_after_assistant: bool,
    /// Whether system messages go to a field of their own and are not among the messages.
    pub lifts_system_messages: bool,
    /// Whether a message without content is not sent at all.
    pub skips_empty_messages: bool,
    /// Whether it accepts a message without content.
    pub empty_message: EmptyMessage,
    /// Whether it refuses a last message of the assistant that ends with white space.
    pub refuses_trailing_whitespace: bool,
    /// Where the result of a call has to be.
    pub results: ResultPlacement,
    /// Whether a call id may be used once in the whole conversation; otherwise once in a message.
    pub has_unique_call_ids: bool,
    /// What a call id has to look like; `None` if any will do.
    pub call_ids: Option<Identifier>,
    /// What the name of a called tool has to look like; `None` if any will do.
    pub tool_names: Option<Identifier>,
    /// Whether arguments are a JSON object; otherwise they are text.
    pub has_argument_objects: bool,
    /// Whether a result needs the name of its tool.
    pub has_result_names: bool,
    /// Whether it refuses thinking that nothing of the assistant follows.
    pub refuses_trailing_thinking: bool,
    /// Which thinking has to come back.
    pub required_thinking: RequiredThinking,
}

/// Whether a request needs a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredMessage {
    /// It may be without one.
    None,
    /// It needs one beside the system prompt.
    Any,
    /// It needs one, which the system prompt may be.
    AnyOrSystemPrompt,
}

/// What a conversation may begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstTurn {
    /// Anything.
    Any,
    /// Anything but a turn of the assistant.
    NotAssistant,
    /// Anything but tool calls.
    NotCalls,
}

/// Whether a format accepts a message without content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyMessage {
    /// It does.
    Accepted,
    /// It refuses it.
    Refused,
    /// It refuses it, unless it is the last message and the assistant's.
    RefusedBeforeEnd,
}

/// Where the result of a call has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPlacement {
    /// Anywhere after its call.
    AfterCall,
    /// In the turn directly after its call, before other content of that turn.
    NextTurn,
    /// In one of the messages directly after its call. Each result is a message, so other content ends the results.
    NextMessages,
}

/// Which thinking a format wants back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredThinking {
    /// None.
    None,
    /// That of the calls whose results the last message has.
    OfAnsweredCalls,
    /// The signature on the first call of each step since the last prompt. `placeholder` is what the provider accepts in
    /// place of a signature that is lost.
    OfStepSignatures {
        /// Accepted in place of a lost signature.
        placeholder: &'static str,
    },
}

/// What a name or an id has to look like.
#[derive(Clone, Copy, Debug)]
pub struct Identifier {
    /// The most characters that it may have.
    pub longest: usize,
    /// Whether it may contain a character.
    pub accepts: fn(char) -> bool,
    /// What to do about one that is refused.
    pub fix: &'static str,
}

impl Identifier {
    /// Whether a text is one.
    pub fn is(&self, text: &str) -> bool {
        !text.is_empty() && text.chars().all(self.accepts) && text.chars().count() <= self.longest
    }

    /// A text that is one, as close to the given one as possible; `fallback` if nothing of it can be used.
    pub fn repair(&self, text: &str, fallback: &str) -> String {
        let character = |character| if (self.accepts)(character) { character } else { '_' };
        let repaired: String = text.chars().map(character).take(self.longest).collect();
        if repaired.is_empty() { fallback.to_owned() } else { repaired }
    }
}

/// Letters and digits of ASCII, `_` and `-`.
pub fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Why a format refuses a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaFault {
    /// The field at fault; empty for the part as a whole.
    pub field: &'static str,
    /// What is wrong.
    pub message: &'static str,
}

impl MediaFault {
    /// The fault of a field of the part.
    pub fn at(field: &'static str, message: &'static str) -> Option<Self> {
        Some(Self { field, message })
    }

    /// The fault of the part as a whole.
    pub fn of_part(message: &'static str) -> Option<Self> {
        Self::at("", message)
    }
}

/// Why a format refuses a medium in a message of this role; `None` if it accepts it.
pub fn media_fault(format: &dyn ProviderFormat, role: Role, media: &Media) -> Option<MediaFault> {
    match role {
        Role::System => MediaFault::of_part("a system message can only have texts"),
        _ => format.media_fault(role, media),
    }
}

/// Whether a format accepts the thinking of a message of this role.
pub fn accepts_thinking(format: &dyn ProviderFormat, role: Role, fields: &Object) -> bool {
    role == Role::Assistant && format.accepts_thinking(fields)
}
