//! The memory of the module: its budget, and growing it in a few large steps.
//!
//! The allocator grows memory page by page. For the engine, each step is a new buffer of the whole size, which triggers garbage
//! collections. With a large session, they would take longer than the work itself.

use std::cell::Cell;

use peteos_memory::{Allocator, OutOfMemory, ensure};
use wasm_bindgen::prelude::*;

use crate::conversation::Context;
use crate::error::Error;
use crate::json;

const PAGE: usize = 1 << 16;
/// Each further step grows memory by this fraction of its size.
const PART: usize = 8;
/// The memory that a message takes in a copy of its context, beyond its dict.
const MESSAGE: usize = 1024;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

thread_local! {
    static PAGES: Cell<usize> = const { Cell::new(0) };
}

/// The bytes in use, the size of the memory, and the budget.
#[wasm_bindgen(js_name = memoryNumbers)]
pub fn memory_numbers() -> Vec<f64> {
    [peteos_memory::used(), pages().saturating_mul(PAGE), peteos_memory::limit()].map(|bytes| bytes as f64).to_vec()
}

/// Sets the budget in bytes. Without a number, it is the default.
#[wasm_bindgen(js_name = setMaxMemory)]
pub fn set_max_memory(bytes: f64) {
    peteos_memory::set_limit(bytes as usize);
}

/// Throws unless this many bytes fit into the budget. To be called before an argument is passed that wasm-bindgen copies.
#[wasm_bindgen(js_name = ensureMemory)]
pub fn ensure_memory(bytes: f64) -> Result<(), JsValue> {
    Ok(ensure(bytes as usize, "an argument").map_err(Error::from)?)
}

/// Makes a failed allocation an error for JavaScript, where it would be a trap.
pub fn prepare() {
    peteos_memory::set_exhausted(|bytes| {
        let (used, limit) = (peteos_memory::used(), peteos_memory::limit());
        let error = Error::from(OutOfMemory { purpose: "this call", needed: bytes, used, limit });
        wasm_bindgen::throw_val(error.into());
    });
}

/// Ensures that this many bytes can be allocated in small pieces without another step, if they fit into the budget. Whoever
/// needs them asks for them again.
fn make_room(bytes: usize) {
    let _as_far_as_possible = ensure(bytes, "a reserve");
    PAGES.set(pages());
}

/// Reserves memory for the value of a JSON text, as far as possible: about the size of the text plus the overhead of each
/// object.
pub fn make_room_for_json(text: &[u8]) {
    const OBJECT: usize = 400;
    let objects = text.iter().filter(|byte| **byte == b'{').count();
    make_room(text.len().saturating_add(objects.saturating_mul(OBJECT)));
}

/// Reserves more memory once the last reserve is used up. To be called wherever memory grows incrementally.
pub fn keep_room() {
    let pages = pages();
    if pages != PAGES.get() {
        make_room(pages * PAGE / PART);
    }
}

/// Ensures that `copies` copies of the messages of a context fit into the memory.
///
/// # Errors
///
/// [`Error::MemoryLimit`] if they do not.
pub fn ensure_copies(context: &Context, copies: usize, purpose: &'static str) -> Result<(), OutOfMemory> {
    // A context takes no more than everything together.
    let all = peteos_memory::used().saturating_mul(copies);
    peteos_memory::check(all, purpose).or_else(|_| {
        let size = json::copy_size(&context.view()) + context.messages().len() * MESSAGE;
        ensure(size.saturating_mul(copies), purpose)
    })
}

fn pages() -> usize {
    core::arch::wasm32::memory_size(0)
}
