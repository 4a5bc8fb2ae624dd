//! The formats in which model providers accept a conversation, and the conversion of a context to them and back.
//!
//! [`format`] has the trait that a provider's format implements, and [`formats`] one file for each format. Everything that
//! differs between providers is in these files. The rest is shared:
//!
//! - [`part`] parses a stored part for all of the following.
//! - [`rules`] finds content that a provider would refuse, and [`repair`] repairs it.
//! - [`reader`] reads a context into a [`source`]; a format writes that as a request with the help of [`writing`].
//! - A format reads a request with the help of [`field`] and [`reading`]; a [`builder`] makes a conversation of it.
//! - [`reply`] finds the messages in what an API returned, which the format then reads.
//! - [`items`] reads the messages of a list one by one.
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
//! let conversation = from_messages(&json!([{"role": "user", "content": "Hi"}]), anthropic)?;
//! let context = conversation.into_context(environment)?;
//! let request = to_messages(&context, anthropic, false)?;
//! assert_eq!(request["messages"], json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]));
//! # Ok::<(), peteos_conversation::error::Error>(())
//! ```

#![warn(missing_docs)]

mod builder;
mod carried;
mod dict;
mod field;
mod format;
pub mod formats;
mod items;
mod media;
mod part;
mod reader;
mod reading;
pub mod repair;
mod reply;
pub mod rules;
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

use field::Field;
use peteos_conversation::error::Error;
use peteos_conversation::{Context, NewConversation};
use peteos_json::Object;
use reader::read_source;

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
        let source = read_source(rules::specials(context), rules::ordinary_messages(context), format)?;
        return Ok(format.write(source));
    }
    let specials = repair::repair_specials(context, format);
    let repaired = repair::repair(context, format);
    let messages = repaired.iter().map(|repaired| &repaired.message).enumerate();
    let specials = specials.each_ref().map(|special| special.as_ref().map(|message| (0, message)));
    Ok(format.write(read_source(specials, messages, format)?))
}

/// The conversation of the body of a request, such as [`to_messages`] returns, or of a bare list of messages.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a field that the format does not allow, or that a context cannot hold; it names the path of
/// the field in the value.
pub fn from_messages(value: &Value, format: &dyn ProviderFormat) -> Result<NewConversation, Error> {
    let builder = format.read(&Field::root(value)).map_err(|error| error.in_argument("value"))?;
    Ok(builder.into_conversation())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
