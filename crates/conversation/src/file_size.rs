//! The room that the file of a context has within its limits.
//!
//! The size of the file is known only once it is written, which would make every append as slow as a save. So an upper bound
//! is kept, to which a message adds a bound of its own. Only if that reaches a limit is the file measured, once: from then on
//! each message is measured as it is appended.

use peteos_memory::OutOfMemory;

use crate::context::Context;
use crate::error::{Error, FileTooLarge};
use crate::json::{self, Object, Size};
use crate::limits::Limits;
use crate::message::Message;

/// How deeply a message is nested in the file: in a list in an object.
const MESSAGE_DEPTH: u64 = 2;
/// Bytes for what grows besides the messages: the digits of counters and anchors.
const RESERVE: u64 = 64;

/// The size of the file of a context.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileSize {
    size: Size,
    /// Whether it was measured, and so is each message that is added.
    is_exact: bool,
}

impl FileSize {
    /// A bound for the fields of a context, apart from its messages.
    pub fn of_fields(fields: &Object) -> Self {
        Self { size: Size::of_object(fields, 0), is_exact: false }
    }

    /// Adds a bound.
    fn add(&mut self, size: Size) {
        self.size.add(size);
        self.is_exact = false;
    }

    fn set_bytes(&mut self, bytes: u64) {
        self.size.bytes = bytes;
    }

    /// Adds the size of another context, of which a part is copied.
    pub fn add_all_of(&mut self, other: Self) {
        self.add(other.size);
    }

    pub fn add_message(&mut self, message: &Message) {
        self.add(bound(message));
    }

    /// Adds an anchor or a child with this name.
    pub fn add_name(&mut self, name: &str) {
        self.add(Size { bytes: RESERVE + 6 * name.len() as u64, values: 4 });
    }
}

fn bound(message: &Message) -> Size {
    Size::of_object(message.dict(), MESSAGE_DEPTH)
}

impl Context {
    /// The limits on the file of this context.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets the limits, such as those of the session that it belongs to.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Records the file from which this context was read. Its size is that of the file as it will be written, unless another
    /// program wrote it in another layout.
    pub fn set_file(&mut self, text: &[u8]) {
        if text.starts_with(b"{\n  \"") {
            self.file_size.set_bytes(text.len() as u64);
        }
    }

    /// Refuses contents that exceed the limits.
    ///
    /// # Errors
    ///
    /// [`Error::FileTooLarge`], [`Error::MemoryLimit`].
    pub fn check_limits(&mut self) -> Result<(), Error> {
        if !self.fits(self.file_size.size) {
            self.measure()?;
        }
        Ok(self.check_size(self.file_size.size)?)
    }

    /// Makes sure that the file can take a message in addition to the others, or in place of one.
    ///
    /// # Errors
    ///
    /// [`Error::FileTooLarge`], [`Error::MemoryLimit`]; nothing has changed.
    pub(crate) fn make_room(&mut self, message: &Message, replaced: Option<usize>) -> Result<(), Error> {
        let mut larger = self.file_size.size;
        larger.add(bound(message));
        if self.fits(larger) && !self.file_size.is_exact {
            self.file_size.size = larger;
            return Ok(());
        }
        if !self.file_size.is_exact {
            self.measure()?;
        }
        let mut exact = self.file_size.size;
        exact.add(measured(message)?);
        if let Some(replaced) = replaced.and_then(|position| self.message(position)) {
            let replaced = measured(replaced)?;
            exact.bytes = exact.bytes.saturating_sub(replaced.bytes);
            exact.values = exact.values.saturating_sub(replaced.values);
        }
        self.check_size(exact)?;
        self.file_size.size = exact;
        Ok(())
    }

    /// The number of values in the file, measured if a bound exceeds the limit.
    ///
    /// # Errors
    ///
    /// If the memory is too small to measure it.
    pub fn file_values(&self, limits: Limits) -> Result<u64, OutOfMemory> {
        let Size { values, .. } = self.file_size.size;
        Ok(if values <= limits.file_values { values } else { self.measured()?.values })
    }

    fn fits(&self, size: Size) -> bool {
        size.bytes.saturating_add(RESERVE) <= self.limits.file_bytes && size.values <= self.limits.file_values
    }

    fn check_size(&self, size: Size) -> Result<(), FileTooLarge> {
        self.limits.check(&self.id.file_name(), size.bytes.saturating_add(RESERVE), size.values, true)
    }

    fn measure(&mut self) -> Result<(), OutOfMemory> {
        self.file_size = FileSize { size: self.measured()?, is_exact: true };
        Ok(())
    }

    fn measured(&self) -> Result<Size, OutOfMemory> {
        let without_messages = json::to_file_bytes(&self.view_without_messages())?;
        let mut size = Size::of_object(&self.fields, 0);
        size.values += (3 * self.anchors.0.len() + self.anchor_sequences.len()) as u64;
        // The list of messages has a closing bracket on a line of its own.
        size.bytes = without_messages.len() as u64 + 3;
        for message in self.messages() {
            size.add(measured(message)?);
        }
        Ok(size)
    }
}

/// The exact numbers of bytes and values of a message.
fn measured(message: &Message) -> Result<Size, OutOfMemory> {
    Ok(Size { bytes: Size::exact_bytes_of_item(message.dict())?, values: bound(message).values })
}
