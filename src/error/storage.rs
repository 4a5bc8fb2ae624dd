//! The failures of a storage.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

/// A storage failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageError {
    /// What was attempted.
    pub operation: Operation,
    /// The path of the file or directory.
    pub path: String,
    /// The message of the storage.
    pub message: String,
    /// The original error of the storage, if there is one.
    pub cause: Option<Cause>,
}

impl fmt::Display for StorageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "could not {} {}: {}", self.operation.verb(), self.path, self.message)
    }
}

/// An operation of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reading a file.
    Read,
    /// Replacing a file, and reading its digest before that.
    Write,
    /// Listing a directory.
    List,
    /// Removing a file.
    Remove,
    /// Reading the time of the last write.
    ReadTime,
}

impl Operation {
    /// The verb before the path in a sentence.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::List => "list",
            Self::Remove => "remove",
            Self::ReadTime => "read the time of",
        }
    }
}

/// The original error of a storage's implementation. The core passes it on without inspecting it.
#[derive(Clone)]
pub struct Cause(Rc<dyn Any>);

impl Cause {
    /// Wraps an error of the implementation.
    pub fn new(value: impl Any) -> Self {
        Self(Rc::new(value))
    }

    /// The value, if it has this type.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cause")
    }
}

/// Clones of a cause are equal; two causes are not.
impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cause {}
