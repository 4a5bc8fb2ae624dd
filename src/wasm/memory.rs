//! Grows the memory of the module in few large steps.
//!
//! The allocator grows it page by page. For an engine each step is a new buffer of the whole size, which triggers garbage
//! collections: with a large session they would take longer than everything else.

use std::cell::Cell;
use std::hint::black_box;

const PAGE: usize = 1 << 16;
/// Memory that has grown grows further by this fraction of its size.
const PART: usize = 8;

thread_local! {
    static PAGES: Cell<usize> = const { Cell::new(0) };
}

/// Makes sure that this many bytes can be allocated in small parts without another step, if the memory can grow so far.
pub fn make_room(bytes: usize) {
    // The allocator uses what is freed here next.
    let mut room = Vec::<u8>::new();
    let _as_far_as_possible = room.try_reserve_exact(bytes);
    drop(black_box(room));
    PAGES.set(pages());
}

/// Makes room for the value of a JSON text: about the size of the text, and the overhead of each object.
pub fn make_room_for_json(text: &[u8]) {
    const OBJECT: usize = 400;
    let objects = text.iter().filter(|byte| **byte == b'{').count();
    make_room(text.len().saturating_add(objects.saturating_mul(OBJECT)));
}

/// Makes room once the last is used up. Call it wherever memory grows incrementally.
pub fn keep_room() {
    let pages = pages();
    if pages != PAGES.get() {
        make_room(pages * PAGE / PART);
    }
}

fn pages() -> usize {
    core::arch::wasm32::memory_size(0)
}
