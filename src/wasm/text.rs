//! Texts that are only read, such as those to count: the glue writes them as UTF-8 into memory that is kept here.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::error::Error;

/// Room beyond this is given back once a text has been used.
const KEPT: usize = 1 << 20;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a text of so many bytes, and gives its address, which holds until anything else is called. What was
/// written to the room before is kept.
#[wasm_bindgen(js_name = textRoom)]
pub fn text_room(bytes: usize) -> Result<*mut u8, JsValue> {
    ROOM.with_borrow_mut(|room| {
        if let Some(more) = bytes.checked_sub(room.len()) {
            if room.try_reserve(more).is_err() {
                let message = "is too large for the memory of WebAssembly; count it in parts";
                return Err(Error::argument("text", message).into());
            }
            room.resize(bytes, 0);
        }
        Ok(room.as_mut_ptr())
    })
}

/// What `read` makes of the text that was written to the first `bytes` of the room, as UTF-8.
pub fn with_text<T>(bytes: usize, read: impl FnOnce(&[u8]) -> T) -> T {
    ROOM.with_borrow_mut(|room| {
        let result = read(room.get(..bytes).unwrap_or_default());
        if room.len() > KEPT {
            *room = Vec::new();
        }
        result
    })
}
