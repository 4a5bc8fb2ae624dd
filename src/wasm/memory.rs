//! Grows the memory of the module in a few large steps.
//!
//! The allocator grows it page by page. For the engine, each step is a new buffer of the whole size, which triggers garbage
//! collections. With a large session, they would take longer than the work itself.

use std::cell::Cell;
use std::hint::black_box;

const PAGE: usize = 1 << 16;
/// Each further step grows memory by this fraction of its size.
const PART: usize = 8;

thread_local! {
    static PAGES: Cell<usize> = const { Cell::new(0) };
}

/// Ensures that this many bytes can be allocated in small pieces without another step, if the memory can grow that far.
pub fn make_room(bytes: usize) {
    // The allocator reuses the space that is freed here.
    let mut room = Vec::<u8>::new();
    let _as_far_as_possible = room.try_reserve_exact(bytes);
    drop(black_box(room));
    PAGES.set(pages());
}

/// Reserves memory for the value of a JSON text: about the size of the text plus the overhead of each object.
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

fn pages() -> usize {
    core::arch::wasm32::memory_size(0)
}
