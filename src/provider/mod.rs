//! The formats in which model providers take a conversation, and the way of a context into them and back.
//!
//! [`part`] says what a stored part is and which format can be given it, for all that follows: [`check`] finds what cannot
//! be given, [`repair`] mends it, and a conversion converts or fails, whatever was mended before. [`source`] reads the parts
//! of a context once for all formats, [`draft`] makes a context of what a format says; each format has a module that maps
//! between these and its own shapes. What goes where, and what a format has no place for,
//! is told in docs/providers.md.

/// A JSON object of values that are taken as they are. `json!` would read and write each of them anew, which costs a
/// copy and the stack that a deep one needs.
macro_rules! dict {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::provider::request::object(&mut [$(($key, serde_json::Value::from($value))),*])
    };
}

mod ai_sdk;
mod anthropic;
pub mod check;
mod draft;
mod field;
mod gemini;
mod media;
mod openai_chat;
mod openai_responses;
mod part;
pub mod repair;
mod request;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod samples;
mod source;

use serde_json::Value;

use crate::conversation::Context;
use crate::environment::Environment;
use crate::error::Error;
use crate::json::Object;
use field::Field;
use source::Source;

/// A format of messages: that of a provider's API, or of the AI SDK, which speaks to many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenAI's Chat Completions, which many others speak as well.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini, `generateContent`.
    Gemini,
    /// `ModelMessage` of the AI SDK.
    AiSdk,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::AiSdk];

    /// The format of this name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`], which lists the known names.
    pub fn parse(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            Error::argument("provider", format!("'{name}' is not known; use one of {}", known.join(", ")))
        })
    }

    /// The name, which is stable.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::AiSdk => "ai-sdk",
        }
    }
}

/// The fields of a request that hold the conversation of a context: its messages, system prompt and tools.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a part that the format has no place for, or that is not what it has to be; it names
/// the way to it in the context. With `repair` there is none: what is converted is what [`repair`] makes of the context.
pub fn to_messages(context: &Context, format: Format, repair: bool) -> Result<Object, Error> {
    if !repair {
        return Ok(convert(Source::read(check::specials(context), check::said(context), format)?, format));
    }
    let specials = repair::mend_specials(context, format);
    let mended = repair::mend(context, format);
    let messages = mended.iter().map(|mended| &mended.message).enumerate();
    let specials = specials.each_ref().map(|special| special.as_ref().map(|message| (0, message)));
    Ok(convert(Source::read(specials, messages, format)?, format))
}

fn convert(source: Source, format: Format) -> Object {
    match format {
        Format::OpenAiChat => openai_chat::to(source),
        Format::OpenAiResponses => openai_responses::to(source),
        Format::Anthropic => anthropic::to(source),
        Format::Gemini => gemini::to(source),
        Format::AiSdk => ai_sdk::to(source),
    }
}

/// A new context of what [`to_messages`] gives, of another body of a request, or of a bare list of messages.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a field that is not what the format says, or for which a context has no place; it
/// names the way to it in the value.
pub fn from_messages(value: &Value, format: Format, environment: &dyn Environment) -> Result<Context, Error> {
    let root = Field::root(value);
    let draft = match format {
        Format::OpenAiChat => openai_chat::from(&root),
        Format::OpenAiResponses => openai_responses::from(&root),
        Format::Anthropic => anthropic::from(&root),
        Format::Gemini => gemini::from(&root, environment),
        Format::AiSdk => ai_sdk::from(&root),
    };
    draft.map_err(|error| error.in_argument("value"))?.into_context(environment)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
