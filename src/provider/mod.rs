//! The formats in which model providers take a conversation.

pub mod check;
pub mod repair;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod samples;

use crate::error::Error;

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

    /// The name by which JavaScript knows it.
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
