//! [`ProviderFormat`]: the trait of a provider's format. Each file of [`formats`](super::formats) implements it once.

use serde_json::Value;

use super::builder::ConversationBuilder;
use super::compose::{Around, Composed};
use super::entry::{Block, Entry, Section};
use super::field::Field;
use super::media::Media;
use super::part::{Role, Tool};
use super::reply::Reply;
use super::source::{Part, Speaker};
use peteos_conversation::error::ShapeError;
use peteos_json::Object;

/// The format of a provider's API, or of an SDK that speaks to many providers.
///
/// The rules, the repair and the conversion ask this trait for everything that differs between formats, so they name none.
pub trait ProviderFormat: Sync {
    /// The name that callers use, such as `anthropic`.
    fn name(&self) -> &'static str;

    /// The requirements on a conversation.
    fn requirements(&self) -> &'static Requirements;

    /// Whether the format accepts a thinking part of the assistant. A part that is not accepted is left out.
    fn accepts_thinking(&self, fields: &Object) -> bool;

    /// Why the format refuses media in a message of this role; `None` if it accepts it. Not called for the system's role:
    /// no format accepts media there.
    fn media_fault(&self, role: Role, media: &Media) -> Option<MediaFault>;

    /// Whether the format refuses a text because it is empty. `is_signed` tells whether the text has a thought signature.
    fn refuses_text(&self, text: &str, is_signed: bool) -> bool {
        let _ = (text, is_signed);
        false
    }

    /// Whether a field with this value is the same as no field.
    fn is_default(&self, key: &str, value: &Value) -> bool {
        let _ = (key, value);
        false
    }

    /// The fields of an entry of this speaker, besides its blocks.
    fn shell(&self, speaker: Speaker) -> Object;

    /// The block of a part; `None` if the format has none.
    fn block(&self, part: &Part<'_>, around: Around) -> Option<Block>;

    /// The block of the definition of a tool.
    fn definition(&self, tool: &Tool<'_>) -> Block;

    /// An entry without blocks.
    fn empty_entry(&self, speaker: Speaker) -> Value;

    /// The entry that is sent, once it has all its blocks.
    fn finish(&self, speaker: Speaker, entry: Object) -> Value {
        let _ = speaker;
        entry.into()
    }

    /// What is sent of an entry whose thinking was removed; `None` if the provider refuses it without.
    fn without_thinking(&self, entry: Value) -> Option<Value> {
        Some(entry)
    }

    /// The fields of a request with these entries.
    fn write(&self, composed: Composed) -> Object;

    /// The value with fields under other accepted names renamed to those that [`ProviderFormat::write`] uses.
    fn renamed(&self, root: Value) -> Value {
        root
    }

    /// Reads the body of a request, or the bare list of its messages.
    ///
    /// # Errors
    ///
    /// The field that the format does not allow.
    fn read(&self, root: &Field<'_>) -> Result<ConversationBuilder, ShapeError>;

    /// Reads an entry.
    ///
    /// # Errors
    ///
    /// The field that the format does not allow.
    fn read_entry(&self, section: Section, entry: &Field<'_>) -> Result<Entry, ShapeError>;

    /// Reads what a call of the API, or of its SDK, returned.
    ///
    /// # Errors
    ///
    /// The field that has the wrong type, or that says why there is no message.
    fn read_reply<'v>(&self, reply: &Field<'v>) -> Result<Reply<'v>, ShapeError>;
}

/// The requirements of a format on a conversation. [`Rule::holds_for`](super::rules::Rule::holds_for) derives the rules of
/// the format from them.
#[derive(Clone, Debug)]
pub struct Requirements {
    /// Whether the rules can be checked. Those of an SDK cannot: the provider behind it has its own.
    pub is_checkable: bool,
    /// Whether a request must have a message.
    pub message: RequiredMessage,
    /// How the conversation may begin.
    pub first_turn: FirstTurn,
    /// Whether tool calls are refused directly after another turn of the assistant.
    pub refuses_calls_after_assistant: bool,
    /// Whether system messages go to a separate field instead of the list of messages.
    pub lifts_system_messages: bool,
    /// Whether messages without content are not sent.
    pub skips_empty_messages: bool,
    /// Whether messages without content are accepted.
    pub empty_message: EmptyMessage,
    /// Whether a last message of the assistant that ends with white space is refused.
    pub refuses_trailing_whitespace: bool,
    /// Where the result of a call must be.
    pub results: ResultPlacement,
    /// Whether call ids must be unique in the conversation; otherwise they must be unique in each message.
    pub has_unique_call_ids: bool,
    /// Which call ids are valid; `None` if all are.
    pub call_ids: Option<Identifier>,
    /// Which names of called tools are valid; `None` if all are.
    pub tool_names: Option<Identifier>,
    /// Whether arguments must be a JSON object; otherwise they are a text.
    pub has_argument_objects: bool,
    /// Whether a result must have the name of its tool.
    pub has_result_names: bool,
    /// Whether a result can hold media. Otherwise they follow it.
    pub has_result_media: bool,
    /// Whether thinking is refused if nothing of the assistant follows it.
    pub refuses_trailing_thinking: bool,
    /// Which thinking must be sent back.
    pub required_thinking: RequiredThinking,
}

/// Whether a request must have a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredMessage {
    /// No message is required.
    None,
    /// A message besides the system prompt is required.
    Any,
    /// A message is required; a system prompt is enough.
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

/// Whether a format accepts messages without content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyMessage {
    /// They are accepted.
    Accepted,
    /// They are refused.
    Refused,
    /// They are refused, except for a last message of the assistant.
    RefusedBeforeEnd,
}

/// Where the result of a call must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPlacement {
    /// Anywhere after its call.
    AfterCall,
    /// In the turn directly after its call, before other content of that turn.
    NextTurn,
    /// In one of the messages directly after its call. Each result is a message, so other content ends the results.
    NextMessages,
}

/// Which thinking a format requires to be sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredThinking {
    /// None.
    None,
    /// The thinking before calls whose results are in the last message.
    OfAnsweredCalls,
    /// The signature on the first call of each step since the last prompt.
    OfStepSignatures {
        /// Accepted in place of a lost signature.
        placeholder: &'static str,
    },
}

/// Which names or ids are valid.
#[derive(Clone, Copy, Debug)]
pub struct Identifier {
    /// The maximum number of characters.
    pub longest: usize,
    /// Whether a character is allowed.
    pub accepts: fn(char) -> bool,
    /// What to do about an invalid one.
    pub fix: &'static str,
}

impl Identifier {
    /// Whether a text is valid.
    pub fn is(&self, text: &str) -> bool {
        !text.is_empty() && text.chars().all(self.accepts) && text.chars().count() <= self.longest
    }

    /// A valid text that is as close to the given one as possible; `fallback` if it is empty.
    pub fn repair(&self, text: &str, fallback: &str) -> String {
        let character = |character| if (self.accepts)(character) { character } else { '_' };
        let repaired: String = text.chars().map(character).take(self.longest).collect();
        if repaired.is_empty() { fallback.to_owned() } else { repaired }
    }
}

/// ASCII letters and digits, `_` and `-`.
pub fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Why a format refuses media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaFault {
    /// The field at fault; empty for the part as a whole.
    pub field: &'static str,
    /// What is wrong.
    pub message: &'static str,
}

impl MediaFault {
    /// A fault of a field of the part.
    pub fn at(field: &'static str, message: &'static str) -> Option<Self> {
        Some(Self { field, message })
    }

    /// A fault of the part as a whole.
    pub fn of_part(message: &'static str) -> Option<Self> {
        Self::at("", message)
    }
}

/// Why a format refuses media in a message of this role; `None` if it accepts it.
pub fn media_fault(format: &dyn ProviderFormat, role: Role, media: &Media) -> Option<MediaFault> {
    match role {
        Role::System => MediaFault::of_part("a system message can only contain text"),
        _ => format.media_fault(role, media),
    }
}

/// Whether a format accepts the thinking of a message of this role.
pub fn accepts_thinking(format: &dyn ProviderFormat, role: Role, fields: &Object) -> bool {
    role == Role::Assistant && format.accepts_thinking(fields)
}
