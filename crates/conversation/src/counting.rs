//! How the tokens of a context's messages are counted.

use crate::context::Context;
use crate::error::Error;
use crate::part::PartTokens;
use crate::tokens::{TokenCounter, total};

/// How to count.
pub struct Counting<'c> {
    /// The counter of messages.
    pub counter: Counter<'c>,
    /// The cost of an image, a video, audio or a PDF document.
    pub media: Media<'c>,
}

/// The counter of messages.
pub enum Counter<'c> {
    /// A counter for an encoding.
    Encoding(&'c dyn TokenCounter),
    /// Counts from the caller, by position in the context. They exclude media, unless media are counted by their text.
    Given(&'c [u64]),
}

/// The cost of an image, a video, audio or a PDF document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Media<'c> {
    /// The tokens of its text in the message, including base64 data, as the Python package counts.
    #[default]
    Reference,
    /// This number of tokens for each.
    Each(u64),
    /// Counts from the caller: the tokens of all media of a message, by position in the context.
    Given(&'c [u64]),
}

impl<'c> Counting<'c> {
    /// Counts as the Python package does.
    pub fn reference(counter: &'c dyn TokenCounter) -> Self {
        Self { counter: Counter::Encoding(counter), media: Media::Reference }
    }

    /// The name of the encoding; `None` if the caller counts.
    pub fn encoding(&self) -> Option<&'static str> {
        match self.counter {
            Counter::Encoding(counter) => Some(counter.encoding().name()),
            Counter::Given(_) => None,
        }
    }

    /// The tokens of the message at a position.
    ///
    /// # Errors
    ///
    /// Those of the counter, and [`Error::InvalidArgument`] if the caller's counts do not match this context.
    pub fn tokens(&self, context: &Context, position: usize) -> Result<u64, Error> {
        Ok(self.without_media(context, position)?.saturating_add(self.media(context, position)?))
    }

    /// The tokens of the message at a position by kind of part. A token of an encoding belongs to the part that it begins
    /// in; the caller's counts are divided in proportion to the length of the parts.
    ///
    /// # Errors
    ///
    /// Those of [`Counting::tokens`].
    pub fn by_part(&self, context: &Context, position: usize) -> Result<PartTokens, Error> {
        let Some(message) = context.message(position) else { return Ok(PartTokens::default()) };
        let tokens = self.without_media(context, position)?;
        let with_media = self.media == Media::Reference;
        let mut parts = match &self.counter {
            Counter::Encoding(counter) => message.tokens_by_part(*counter, with_media)?,
            Counter::Given(_) => message.length_by_part(with_media)?,
        }
        .scaled_to(tokens);
        parts.media = parts.media.saturating_add(self.media(context, position)?);
        Ok(parts)
    }

    /// The tokens of all messages.
    ///
    /// # Errors
    ///
    /// As [`Counting::tokens`].
    pub fn total(&self, context: &Context) -> Result<u64, Error> {
        total((0..context.messages().len()).map(|position| self.tokens(context, position)))
    }

    fn without_media(&self, context: &Context, position: usize) -> Result<u64, Error> {
        let Some(message) = context.message(position) else { return Ok(0) };
        match &self.counter {
            Counter::Given(counts) => given(counts, position),
            Counter::Encoding(counter) if self.media == Media::Reference => message.tokens(*counter),
            Counter::Encoding(counter) => message.tokens_without_media(*counter),
        }
    }

    fn media(&self, context: &Context, position: usize) -> Result<u64, Error> {
        match &self.media {
            Media::Reference => Ok(0),
            Media::Each(tokens) => {
                let parts = context.message(position).map_or(0, |message| message.media().count());
                Ok(tokens.saturating_mul(parts as u64))
            }
            Media::Given(tokens) => given(tokens, position),
        }
    }
}

fn given(counts: &[u64], position: usize) -> Result<u64, Error> {
    let changed = || Error::argument("options", "a function in the options changed the context while it was counted");
    counts.get(position).copied().ok_or_else(changed)
}
