//! Growing the memory of the module in few large steps.
//!
//! The allocator asks for what it needs, page by page. To an engine each step is a new buffer of the whole size, which
//! makes it look for garbage: with a large session that would take longer than all else.

use std::cell::Cell;
use std::hint::black_box;

const PAGE: usize = 1 << 16;
/// When the memory has grown, it grows further by this part of it.
const PART: usize = 8;

thread_local! {
    static PAGES: Cell<usize> = const { Cell::new(0) };
}

/// Makes sure that so many bytes can be allocated, in small parts, without another step; as far as the memory can grow.
pub fn make_room(bytes: usize) {
    // What is given back here is what the allocator uses next.
    let mut room = Vec::<u8>::new();
    let _as_far_as_possible = room.try_reserve_exact(bytes);
    drop(black_box(room));
    PAGES.set(pages());
}

/// Makes room for what is made of a JSON text: about as much again, and what each object takes, however small it is.
pub fn make_room_for_json(text: &[u8]) {
    const OBJECT: usize = 400;
    let objects = text.iter().filter(|byte| **byte == b'{').count();
    make_room(text.len().saturating_add(objects.saturating_mul(OBJECT)));
}

/// Makes room when what there was is used up; to be called wherever memory grows by little and little.
pub fn keep_room() {
    let pages = pages();
    if pages != PAGES.get() {
        make_room(pages * PAGE / PART);
    }
}

fn pages() -> usize {
    core::arch::wasm32::memory_size(0)
}
