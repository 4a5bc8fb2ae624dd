//! The budget, and the error if it does not suffice.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::allocator::{self, fallibly};

/// The budget unless another one is set: 3 GiB. A module of WebAssembly has at most 4 GiB; the rest is for what the
/// allocator cannot use, because it is in pieces, and for the small allocations that do not ask.
pub const DEFAULT_LIMIT: usize = 3 << 30;

/// From this size on, it matters whether there is a block of this size in one piece.
const LARGE: usize = 1 << 16;

static LIMIT: AtomicUsize = AtomicUsize::new(DEFAULT_LIMIT);

/// The memory for something does not fit into the budget. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// What the memory is for.
    pub purpose: &'static str,
    /// The bytes that are needed in addition to those in use.
    pub needed: usize,
    /// The bytes in use.
    pub used: usize,
    /// The budget in bytes.
    pub limit: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { purpose, needed, used, limit } = self;
        if used.saturating_add(*needed) > *limit {
            write!(
                formatter,
                "{purpose} needs {needed} more bytes of memory, but {used} of the limit of {limit} are in use"
            )
        } else {
            write!(
                formatter,
                "{purpose} needs {needed} more bytes of memory than the engine provides; {used} are in use"
            )
        }
    }
}

impl std::error::Error for OutOfMemory {}

/// The budget in bytes.
pub fn limit() -> usize {
    LIMIT.load(Relaxed)
}

/// Sets the budget. It may be less than what is in use: then nothing more fits until enough is freed.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Relaxed);
}

/// The bytes in use.
pub fn used() -> usize {
    allocator::used()
}

/// Checks that `bytes` more fit into the budget. Cheap enough for every step of a loop.
///
/// # Errors
///
/// [`OutOfMemory`] if they do not.
#[inline]
pub fn check(bytes: usize, purpose: &'static str) -> Result<(), OutOfMemory> {
    if used().saturating_add(bytes) > limit() { refuse(bytes, purpose) } else { Ok(()) }
}

/// Checks that `bytes` more fit into the budget and can be allocated in one piece.
///
/// # Errors
///
/// [`OutOfMemory`] if they do not, or cannot.
pub fn ensure(bytes: usize, purpose: &'static str) -> Result<(), OutOfMemory> {
    check(bytes, purpose)?;
    if bytes < LARGE {
        return Ok(());
    }
    // The allocator reuses the block that is freed here.
    try_reserve(&mut Vec::<u8>::new(), bytes, purpose)
}

/// Makes room for `additional` more items, as `Vec::reserve_exact` does.
///
/// # Errors
///
/// [`OutOfMemory`] if they do not fit into the budget, or the engine does not provide the memory.
pub fn try_reserve<T>(items: &mut Vec<T>, additional: usize, purpose: &'static str) -> Result<(), OutOfMemory> {
    if items.capacity() - items.len() >= additional {
        return Ok(());
    }
    let bytes = items.len().saturating_add(additional).saturating_mul(size_of::<T>());
    check(bytes, purpose)?;
    fallibly(|| std::hint::black_box(items).try_reserve_exact(additional)).or_else(|_| refuse(bytes, purpose))
}

#[cold]
fn refuse(needed: usize, purpose: &'static str) -> Result<(), OutOfMemory> {
    Err(OutOfMemory { purpose, needed, used: used(), limit: limit() })
}
