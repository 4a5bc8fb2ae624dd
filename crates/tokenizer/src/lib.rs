//! Exact token counts for tiktoken's encodings.
//!
//! A [`Tokenizer`] is made from the file of a [`Vocabulary`]. It counts, encodes and decodes for each [`Encoding`] that uses
//! that vocabulary. The crate reads no files and is independent of its callers. It is a separate crate so that it can be
//! compiled for speed while the code around it is compiled for size. For the same reason, no function that does real work
//! is generic over types of the caller.

#![warn(missing_docs)]

mod block;
mod characters;
mod classes;
mod count_cache;
mod encoding;
mod error;
mod lanes;
mod merge;
mod model;
mod piece_key;
mod ranks;
mod split;
mod tokenizer;

pub use encoding::{Encoding, Rank, Vocabulary};
pub use error::Error;
pub use model::encoding_for_model;
pub use tokenizer::Tokenizer;
