//! The loaded vocabularies, one of each for the whole module.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Function;
use peteos_memory::ensure;
use wasm_bindgen::prelude::*;

use super::{args, bytes};
use crate::conversation::error::Error as ConversationError;
use crate::error::Error;
use crate::tokens::{Encoding, TokenCounter, Tokenizer, Vocabulary};

/// What the memory is for, in errors.
const PURPOSE: &str = "a vocabulary";

thread_local! {
    static READER: RefCell<Option<Function>> = const { RefCell::new(None) };
    static LOADED: RefCell<[Option<Rc<Tokenizer>>; Vocabulary::COUNT]> = const { RefCell::new([const { None }; Vocabulary::COUNT]) };
}

pub fn set_reader(reader: Function) {
    READER.set(Some(reader));
}

pub fn is_loaded(vocabulary: Vocabulary) -> bool {
    LOADED.with_borrow(|loaded| loaded[vocabulary.index()].is_some())
}

pub fn load(vocabulary: Vocabulary, data: &JsValue) -> Result<(), JsValue> {
    let data = bytes::copied(data, PURPOSE).map_err(Error::from)?.unwrap_or_default();
    // Its tables take several times as much as the file.
    ensure(data.len().saturating_mul(8), PURPOSE).map_err(Error::from)?;
    let tokenizer = Tokenizer::new(vocabulary, &data).map_err(Error::from)?;
    LOADED.with_borrow_mut(|loaded| loaded[vocabulary.index()] = Some(Rc::new(tokenizer)));
    Ok(())
}

/// The tokenizer of an encoding, loaded now if that is possible synchronously. To be called before anything is borrowed,
/// because reading a vocabulary runs JavaScript.
pub fn tokenizer(encoding: Encoding) -> Result<Rc<Tokenizer>, JsValue> {
    let vocabulary = encoding.vocabulary();
    let loaded = || LOADED.with_borrow(|loaded| loaded[vocabulary.index()].clone());
    if let Some(tokenizer) = loaded() {
        return Ok(tokenizer);
    }
    let not_loaded = || Error::EncodingNotLoaded { encoding: encoding.name() };
    let reader = READER.with_borrow(Clone::clone).ok_or_else(not_loaded)?;
    let data = reader.call1(&JsValue::NULL, &vocabulary.file_stem().into())?;
    if args::is_absent(&data) {
        return Err(not_loaded().into());
    }
    load(vocabulary, &data)?;
    loaded().ok_or_else(|| not_loaded().into())
}

/// The encoding with this [`Encoding::number`].
pub fn numbered(number: usize) -> Result<Encoding, Error> {
    let encoding = Encoding::ALL.get(number).copied();
    encoding.ok_or_else(|| Error::argument("encoding", "expected the number of an encoding"))
}

/// A counter for the encoding with this name. As [`tokenizer`], to be called before anything is borrowed.
pub fn counter(encoding: &JsValue) -> Result<Counter, JsValue> {
    let encoding = args::encoding(encoding)?;
    Ok(Counter { encoding, tokenizer: tokenizer(encoding)? })
}

/// Counts, and reports the name that the caller passed.
pub struct Counter {
    encoding: Encoding,
    tokenizer: Rc<Tokenizer>,
}

impl TokenCounter for Counter {
    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn count(&self, text: &str) -> Result<u64, ConversationError> {
        Ok(self.tokenizer.count(text)?)
    }

    fn count_sections(&self, text: &str, ends: &[usize]) -> Result<Vec<u64>, ConversationError> {
        Ok(self.tokenizer.count_sections(text.as_bytes(), ends)?)
    }
}
