//! Exact token counts of the encodings of tiktoken.
//!
//! A [`Tokenizer`] is made of the file of a [`Vocabulary`]. It counts, encodes and decodes for each [`Encoding`] that uses
//! that vocabulary. The crate reads no files and knows nothing of its callers: it takes bytes and gives numbers. It is a
//! crate of its own so that it can be compiled for speed while the code around it is compiled for size; for the same
//! reason no function that does work is generic over types of the caller.

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
