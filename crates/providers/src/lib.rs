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
//! let conversation = from_messages(json!([{"role": "user", "content": "Hi"}]), anthropic)?;
//! let context = conversation.into_context(environment)?;
//! let request = to_messages(&context, anthropic, false)?;
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
/// With `repair`, the messages are those that [`repair::repair`] returns.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a part that the format does not support or that lacks a required field; it names the
/// path of the field in the context. With `repair`, there is no error.
pub fn to_messages(context: &Context, format: &dyn ProviderFormat, repair: bool) -> Result<Object, Error> {
    if !repair {
        return write(rules::specials(context), rules::ordinary_messages(context).collect(), format);
    }
    let specials = repair::repair_specials(context, format);
    let repaired = repair::repair(context, format);
    let messages = repaired.iter().map(|repaired| &repaired.message).enumerate();
    write(specials.each_ref().map(|special| special.as_ref().map(|message| (0, message))), messages.collect(), format)
}

/// The fields of a request with these messages, each with its position.
fn write(
    specials: [Option<(usize, &Message)>; 2],
    messages: Vec<(usize, &Message)>,
    format: &dyn ProviderFormat,
) -> Result<Object, Error> {
    let moved = match format.requirements().has_result_media {
        true => None,
        false => result_media::behind_results(&messages),
    };
    let messages = match &moved {
        Some(moved) => moved.iter().map(|(position, message)| (*position, message)).collect(),
        None => messages,
    };
    let source = read_source(specials, messages.into_iter(), format, Unsendable::Refused)?;
    Ok(format.write(compose(source, format)))
}

/// The conversation of the body of a request, such as [`to_messages`] returns, or of a bare list of messages.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a field that the format does not allow, or that a context cannot hold; it names the path of
/// the field in the value.
pub fn from_messages(value: Value, format: &dyn ProviderFormat) -> Result<NewConversation, Error> {
    let value = format.renamed(value);
    let builder = format.read(&Field::root(&value)).map_err(|error| error.in_argument("value"))?;
    builder.into_conversation(format)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
