//! Texts that are only read here, such as those to count: the glue writes them as UTF-8 into a buffer that is kept.
//! wasm-bindgen would copy a text character by character into memory that it allocates for each call.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

/// A larger buffer is given back once its text has been read.
const KEPT: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes the buffer at least `bytes` long and gives its address, which is valid until the next call of any other function.
/// What was written to it before is kept. `None` if the memory of WebAssembly cannot hold it.
#[wasm_bindgen(js_name = textBuffer)]
pub fn text_buffer(bytes: usize) -> Option<usize> {
    BUFFER.with_borrow_mut(|buffer| {
        if let Some(more) = bytes.checked_sub(buffer.len()) {
            buffer.try_reserve(more).ok()?;
            buffer.resize(bytes, 0);
        }
        Some(buffer.as_mut_ptr() as usize)
    })
}

/// What `read` makes of the first `bytes` of the buffer.
pub fn with_text<T>(bytes: usize, read: impl FnOnce(&[u8]) -> T) -> T {
    BUFFER.with_borrow_mut(|buffer| {
        let result = read(buffer.get(..bytes).unwrap_or_default());
        if buffer.len() > KEPT {
            *buffer = Vec::new();
        }
        result
    })
}
