//! Writes values as text.

use std::io;

use peteos_memory::{OutOfMemory, try_reserve};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::view::View;

/// What the memory is for, in errors.
const PURPOSE: &str = "writing JSON";

/// The bytes that Python's `json.dump(value, file, indent=2)` writes: an indent of two spaces, every character outside
/// printable ASCII escaped as `\uXXXX`, no newline at the end.
///
/// # Errors
///
/// If they do not fit into the memory. A deeply nested value takes far more bytes as text than in memory.
pub fn to_file_bytes(value: &View) -> Result<Vec<u8>, OutOfMemory> {
    write(value, FileFormatter::default(), Vec::new())
}

/// JSON text without spaces.
///
/// # Errors
///
/// If it does not fit into the memory.
pub fn to_compact_text(value: &View) -> Result<String, OutOfMemory> {
    Ok(to_text(write(value, serde_json::ser::CompactFormatter, Vec::new())?))
}

/// Appends the text of a value to `bytes`.
pub(super) fn write(value: &View, formatter: impl Formatter, bytes: Vec<u8>) -> Result<Vec<u8>, OutOfMemory> {
    let mut text = TextBuffer { bytes, failure: None };
    // Only the memory can fail, because the keys of a view are strings.
    let _written = value.serialize(&mut Serializer::with_formatter(&mut text, formatter));
    text.finish()
}

/// The written bytes as text; they are UTF-8.
pub(super) fn to_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// A buffer for the text that a serializer writes. It refuses what does not fit into the memory.
#[derive(Default)]
pub struct TextBuffer {
    bytes: Vec<u8>,
    failure: Option<OutOfMemory>,
}

impl TextBuffer {
    /// The bytes that were written.
    ///
    /// # Errors
    ///
    /// If not all of them fit into the memory.
    pub fn finish(self) -> Result<Vec<u8>, OutOfMemory> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.bytes),
        }
    }

    /// Doubles the buffer, or makes it large enough for `additional` bytes.
    #[cold]
    fn grow(&mut self, additional: usize) -> io::Result<()> {
        let more = additional.max(self.bytes.len()).max(128);
        let grown = try_reserve(&mut self.bytes, more, PURPOSE);
        grown.or_else(|_| try_reserve(&mut self.bytes, additional, PURPOSE)).map_err(|failure| {
            self.failure = Some(failure);
            io::ErrorKind::OutOfMemory.into()
        })
    }
}

impl io::Write for TextBuffer {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            self.grow(bytes.len())?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct FileFormatter {
    pretty: PrettyFormatter<'static>,
}

impl Formatter for FileFormatter {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(writer)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(end) = rest.find(|character: char| !matches!(character, ' '..='~')) {
            writer.write_all(&rest.as_bytes()[..end])?;
            let mut characters = rest[end..].chars();
            if let Some(character) = characters.next() {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn writes_what_python_writes() {
        let value =
            parse("{\"a\":[],\"b\":{},\"c\":[1,{\"d\":\"é\u{1f600}\u{7f}\\u001f\\n\\\"/\"}],\"é\":1e16}".as_bytes())
                .unwrap();
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \
                        \"d\": \"\\u00e9\\ud83d\\ude00\\u007f\\u001f\\n\\\"/\"\n    }\n  ],\n  \"\\u00e9\": 1e16\n}";
        assert_eq!(String::from_utf8(to_file_bytes(&View::from(&value)).unwrap()).unwrap(), expected);
    }
}
