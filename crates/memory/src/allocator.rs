//! The allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The bytes in allocated blocks.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Whether the allocation under way may fail.
static MAY_FAIL: AtomicBool = AtomicBool::new(false);
/// The function that is called if an allocation fails that must not.
static EXHAUSTED: OnceLock<fn(usize)> = OnceLock::new();

/// What the allocator of the system adds to a block, and the unit of its sizes.
const HEADER: usize = size_of::<usize>();
const UNIT: usize = 2 * size_of::<usize>();

/// The allocator of the system, with a count of the bytes in use. For `#[global_allocator]`.
pub struct Allocator;

/// Sets the function that is called with the size if an allocation fails that nobody prepared for. If it returns, the program
/// ends.
pub fn set_exhausted(function: fn(usize)) {
    let _first_one_stays = EXHAUSTED.set(function);
}

/// The bytes in allocated blocks, with what the allocator adds to each.
pub(crate) fn used() -> usize {
    USED.load(Relaxed)
}

/// Runs an allocation whose failure is handled.
pub(crate) fn fallibly<T>(allocate: impl FnOnce() -> T) -> T {
    MAY_FAIL.store(true, Relaxed);
    let result = allocate();
    MAY_FAIL.store(false, Relaxed);
    result
}

/// The size of a block of `size` bytes.
const fn block(size: usize) -> usize {
    (size + HEADER + UNIT - 1) & !(UNIT - 1)
}

/// Reports a failed allocation of `size` bytes, unless its failure is handled.
#[cold]
fn failed(size: usize) {
    if let Some(exhausted) = EXHAUSTED.get().filter(|_| !MAY_FAIL.load(Relaxed)) {
        exhausted(size);
    }
}

// SAFETY: Every call is passed on unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller keeps the contract of this function, which is the same.
        counted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: As in `alloc`.
        counted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(block(layout.size()), Relaxed);
        // SAFETY: As in `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: As in `alloc`.
        let moved = counted(unsafe { System.realloc(pointer, layout, new_size) }, new_size);
        if !moved.is_null() {
            USED.fetch_sub(block(layout.size()), Relaxed);
        }
        moved
    }
}

fn counted(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        failed(size);
    } else {
        USED.fetch_add(block(size), Relaxed);
    }
    pointer
}
