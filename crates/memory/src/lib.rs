//! A budget for memory. An allocation that fails ends the program, in WebAssembly with a trap that no caller can catch. So
//! work whose size depends on input asks first, with [`ensure`] or [`try_reserve`], and returns an error.
//!
//! The [`Allocator`] counts what is in use. Without it, nothing counts as used and only the engine sets a limit.
//!
//! ```
//! let mut bytes = Vec::<u8>::new();
//! peteos_memory::try_reserve(&mut bytes, 100, "a buffer")?;
//! assert!(bytes.capacity() >= 100);
//! # Ok::<(), peteos_memory::OutOfMemory>(())
//! ```

#![warn(missing_docs)]

mod allocator;
mod budget;

pub use allocator::{Allocator, set_exhausted};
pub use budget::{DEFAULT_LIMIT, OutOfMemory, check, ensure, limit, set_limit, try_reserve, used};
