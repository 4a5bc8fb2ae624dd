//! The formats in which model providers accept a conversation, and the conversion of a context to them and back.
//!
//! [`format`] has the trait that a provider's format implements, and [`formats`] one file for each format. Everything that
//! differs between providers is in these files. The rest is shared:
//!
//! - [`part`] parses a stored part for all of the following.
//! - [`rules`] finds content that a provider would refuse, and [`repair`] repairs it.
//! - [`reader`] reads a context into a [`source`]; a format writes that as a request with the help of [`writing`].
//! - A format reads a request with the help of [`field`] and [`reading`]; a [`builder`] makes a conversation of it.
//!
//! docs/providers.md says how each format expresses what a context holds.
//!
//! ```
//! use peteos_providers::{formats, from_messages, to_messages};
//! # use peteos_conversation::environment::fixed::Fixed;
//! # use serde_json::json;
//!
//! # let environment = &Fixed::default();
//! let anthropic = formats::find("anthropic")?;
//! let conversation = from_messages(json!([{"role": "user", "content": "Hi"}]), anthropic, None)?;
//! let context = conversation.into_context(environment)?;
//! let request = to_messages(&context, anthropic, false, None)?;
//! assert_eq!(request["messages"], json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]));
//! # Ok::<(), peteos_conversation::error::Error>(())
//! ```

#![warn(missing_docs)]

mod builder;
mod carried;
mod compose;
mod dict;
mod entry;
mod field;
mod format;
pub mod formats;
mod items;
mod losses;
mod media;
mod originals;
mod part;
mod reader;
mod reading;
pub mod repair;
mod reply;
mod result_media;
pub mod rules;
mod same;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod samples;
mod source;
mod stored;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
mod writing;

pub use format::ProviderFormat;
pub use items::read_items;
pub use losses::Loss;
pub use reply::read_reply;

use serde_json::Value;

use compose::compose;
use field::Field;
use peteos_conversation::error::Error;
use peteos_conversation::{Context, Message, NewConversation};
use peteos_json::Object;
use reader::{Unsendable, read_source};

/// The fields of a request that hold the conversation of a context: its messages, system prompt and tools.
///
/// With `repair`, the messages are those that [`repair::repair`] returns. What is left out or changes its meaning is added to
/// `losses`, if they are asked for.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a part that the format does not support or that lacks a required field; it names the
/// path of the field in the context. With `repair`, there is no error.
pub fn to_messages(
    context: &Context,
    format: &dyn ProviderFormat,
    repair: bool,
    losses: Option<&mut Vec<Loss>>,
) -> Result<Object, Error> {
    let (specials, ordinary) = (rules::specials(context), rules::ordinary_messages(context));
    if !repair {
        return write(specials, ordinary.collect(), format, losses);
    }
    let repaired = repair::repair(context, format);
    let repaired_specials = repair::repair_specials(context, format);
    let messages = repaired.iter().map(|repaired| &repaired.message).enumerate().collect();
    let in_request = repaired_specials.each_ref().map(|special| special.as_ref().map(|message| (0, message)));
    let request = write(in_request, messages, format, None)?;
    if let Some(losses) = losses {
        let specials = specials
            .into_iter()
            .zip(&repaired_specials)
            .filter_map(|(special, repaired)| Some((special?.0, special?.1, repaired.as_ref()?)));
        let given: Vec<(usize, &Message)> = rules::ordinary_messages(context).collect();
        losses::of_repair(specials, &given, &repaired, losses);
        losses::of_repaired(&repaired, format, losses);
    }
    Ok(request)
}

/// The fields of a request with these messages, each with its position.
fn write(
    specials: [Option<(usize, &Message)>; 2],
    messages: Vec<(usize, &Message)>,
    format: &dyn ProviderFormat,
    losses: Option<&mut Vec<Loss>>,
) -> Result<Object, Error> {
    let moved = match format.requirements().has_result_media {
        true => None,
        false => result_media::behind_results(&messages, format),
    };
    let sent = match &moved {
        Some(moved) => moved.iter().map(|(position, message)| (*position, message)).collect(),
        None => messages.clone(),
    };
    let source = read_source(specials, sent.iter().copied(), format, Unsendable::Refused)?;
    let composed = compose(source, format);
    if let Some(losses) = losses {
        let all: Vec<(usize, &Message)> = specials.into_iter().flatten().chain(messages).collect();
        losses.extend(losses::of_writing(&all, &composed, format));
    }
    Ok(format.write(composed))
}

/// The conversation of the body of a request, such as [`to_messages`] returns, or of a bare list of messages. What the same
/// format does not give back is added to `losses`, if they are asked for.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a field that the format does not allow, or that a context cannot hold; it names the path of
/// the field in the value.
pub fn from_messages(
    value: Value,
    format: &dyn ProviderFormat,
    losses: Option<&mut Vec<Loss>>,
) -> Result<NewConversation, Error> {
    let value = format.renamed(value);
    let builder = format.read(&Field::root(&value)).map_err(|error| error.in_argument("value"))?;
    let conversation = builder.into_conversation(format)?;
    if let Some(losses) = losses {
        let message = |dict: &Value| dict.as_object().cloned().map(Message::of_dict);
        let specials = [&conversation.system_prompt, &conversation.tool_definitions];
        let specials = specials.map(|special| special.as_ref().and_then(message));
        let messages: Vec<Message> = conversation.messages.iter().filter_map(message).collect();
        let specials = specials.each_ref().map(|special| special.as_ref().map(|message| (0, message)));
        // What cannot be written is not lost: it is in the context.
        if let Ok(again) = write(specials, messages.iter().enumerate().collect(), format, None) {
            losses.extend(losses::of_reading(&value, &again, format));
        }
    }
    Ok(conversation)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
