//! The formats of the providers, one in each file, and the list of them.

mod ai_sdk;
mod anthropic;
mod gemini;
mod gemini_rest;
mod gemini_schema;
mod openai_chat;
mod openai_responses;

pub use ai_sdk::AiSdk;
pub use anthropic::Anthropic;
pub use gemini::Gemini;
pub use openai_chat::OpenAiChat;
pub use openai_responses::OpenAiResponses;

use super::format::ProviderFormat;
use peteos_conversation::error::Error;

/// All formats.
pub static FORMATS: [&dyn ProviderFormat; 5] = [&OpenAiChat, &OpenAiResponses, &Anthropic, &Gemini, &AiSdk];

/// The formats whose rules can be checked.
pub fn checkable() -> impl Iterator<Item = &'static dyn ProviderFormat> {
    FORMATS.into_iter().filter(|format| format.requirements().is_checkable)
}

/// The format with this name.
///
/// # Errors
///
/// [`Error::InvalidArgument`], which lists the known names.
pub fn find(name: &str) -> Result<&'static dyn ProviderFormat, Error> {
    let known = || names(FORMATS.into_iter());
    let found = FORMATS.into_iter().find(|format| format.name() == name);
    found.ok_or_else(|| Error::argument("provider", format!("'{name}' is unknown; use one of {}", known())))
}

/// The format with this name, if its rules can be checked.
///
/// # Errors
///
/// [`Error::InvalidArgument`], which lists the names of those that can.
pub fn find_checkable(name: &str) -> Result<&'static dyn ProviderFormat, Error> {
    match FORMATS.into_iter().find(|format| format.name() == name) {
        Some(format) => require_checkable(format).map(|()| format),
        None => Err(Error::argument("provider", format!("'{name}' is unknown; use one of {}", names(checkable())))),
    }
}

/// Refuses a format whose rules cannot be checked.
///
/// # Errors
///
/// [`Error::InvalidArgument`], which lists the names of those that can.
pub fn require_checkable(format: &dyn ProviderFormat) -> Result<(), Error> {
    if format.requirements().is_checkable {
        return Ok(());
    }
    let message = format!(
        "'{}' has no rules of its own; check for the provider behind it, one of {}",
        format.name(),
        names(checkable())
    );
    Err(Error::argument("provider", message))
}

fn names(formats: impl Iterator<Item = &'static dyn ProviderFormat>) -> String {
    formats.map(ProviderFormat::name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_name() {
        for format in FORMATS {
            assert_eq!(find(format.name()).unwrap().name(), format.name());
            assert_eq!(find_checkable(format.name()).is_ok(), format.requirements().is_checkable);
        }
        let error = find("openai").err().unwrap().to_string();
        let known = "openai-chat, openai-responses, anthropic, gemini, ai-sdk";
        assert_eq!(error, format!("provider: 'openai' is unknown; use one of {known}"));
        for name in ["ai-sdk", "openai"] {
            let error = find_checkable(name).err().unwrap();
            assert!(matches!(error, Error::InvalidArgument { .. }));
            assert!(error.to_string().ends_with("one of openai-chat, openai-responses, anthropic, gemini"), "{error}");
        }
    }
}
