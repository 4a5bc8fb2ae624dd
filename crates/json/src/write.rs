//! Writes values as text.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::view::View;

/// The bytes that Python's `json.dump(value, file, indent=2)` writes: an indent of two spaces, every character outside
/// printable ASCII escaped as `\uXXXX`, no newline at the end.
pub fn to_file_bytes(value: &View) -> Vec<u8> {
    write(value, FileFormatter::default(), Vec::new())
}

/// JSON text without spaces.
pub fn to_compact_text(value: &View) -> String {
    to_text(write(value, serde_json::ser::CompactFormatter, Vec::new()))
}

/// Appends the text of a value to `bytes`.
pub(super) fn write(value: &View, formatter: impl Formatter, mut bytes: Vec<u8>) -> Vec<u8> {
    // Writing to memory cannot fail, and the keys of a view are strings.
    let _written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    bytes
}

/// The written bytes as text; they are UTF-8.
pub(super) fn to_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
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
        assert_eq!(String::from_utf8(to_file_bytes(&View::from(&value))).unwrap(), expected);
    }
}
