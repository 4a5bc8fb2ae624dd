//! Values to the text of a file.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::error::Error;

/// The bytes that Python's `json.dump(value, file, indent=2)` writes: two-space indent, every character outside of
/// printable ASCII escaped as `\uXXXX`, no newline at the end.
///
/// # Errors
///
/// None that a JSON value can cause.
pub fn to_file_bytes(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, FileFormatter::default()))?;
    Ok(bytes)
}

/// JSON text without whitespace.
///
/// # Errors
///
/// None that a JSON value can cause.
pub fn to_compact_text(value: &impl Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string(value)?)
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
    use crate::json::parse;

    #[test]
    fn writes_what_python_writes() {
        let value =
            parse("{\"a\":[],\"b\":{},\"c\":[1,{\"d\":\"é\u{1f600}\u{7f}\\u001f\\n\\\"/\"}],\"é\":1e16}".as_bytes())
                .unwrap();
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \
                        \"d\": \"\\u00e9\\ud83d\\ude00\\u007f\\u001f\\n\\\"/\"\n    }\n  ],\n  \"\\u00e9\": 1e16\n}";
        assert_eq!(String::from_utf8(to_file_bytes(&value).unwrap()).unwrap(), expected);
    }
}
