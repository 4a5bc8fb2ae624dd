//! A buffer for texts that Rust only reads, such as messages and texts to count. JavaScript writes UTF-8 into it. That is
//! much faster than passing a string, which wasm-bindgen copies character by character into newly allocated memory.

use std::cell::RefCell;

use peteos_memory::try_reserve;
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// A buffer larger than this is freed once its text has been read.
const KEPT: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes the buffer at least `bytes` long and returns its address, which is valid until the next call into the module.
/// The contents are kept.
#[wasm_bindgen(js_name = textBuffer)]
pub fn text_buffer(bytes: usize) -> Result<usize, JsValue> {
    BUFFER.with_borrow_mut(|buffer| {
        if let Some(more) = bytes.checked_sub(buffer.len()) {
            try_reserve(buffer, more, "a text").map_err(Error::from)?;
            buffer.resize(bytes, 0);
        }
        Ok(buffer.as_mut_ptr() as usize)
    })
}

/// Passes the first `bytes` of the buffer to `read`, and returns its result.
pub fn with_text<T>(bytes: usize, read: impl FnOnce(&[u8]) -> T) -> T {
    BUFFER.with_borrow_mut(|buffer| {
        let result = read(buffer.get(..bytes).unwrap_or_default());
        if buffer.len() > KEPT {
            *buffer = Vec::new();
        }
        result
    })
}
