//! Reads a truncated text.

use peteos_memory::OutOfMemory;
use serde_json::Value;

use super::object::Object;
use super::reader::{BYTE_ORDER_MARK, Fault, MAX_DEPTH, Open, Reader};

/// The certain contents of a truncated text.
#[derive(Debug, PartialEq, Eq)]
pub struct Truncated {
    /// The complete fields. If the text ends within an array or object, the complete items of that are included.
    pub fields: Object,
    /// The name of the field that the text ends in, if its value is an array or object.
    pub unfinished: Option<String>,
    /// Whether the object is complete.
    pub is_whole: bool,
}

/// Whether the fault at this byte is truncation: nothing follows, or only the beginning of a word, an escape or a
/// character.
pub fn is_truncated_at(text: &[u8], offset: usize) -> bool {
    let rest = text.get(offset..).unwrap_or_default();
    let begins = |word: &str| word.as_bytes().starts_with(rest);
    if ["null", "true", "false"].into_iter().any(begins) {
        return true;
    }
    match rest {
        [b'\\'] => true,
        [b'\\', b'u', digits @ ..] => digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit),
        _ => matches!(std::str::from_utf8(rest), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none()),
    }
}

/// Reads the object at the beginning of a truncated text. `None` if no field is complete, if the text has another fault,
/// or if it is not truncated.
///
/// # Errors
///
/// If the object does not fit into the memory.
pub fn read_truncated(text: &[u8]) -> Result<Option<Truncated>, OutOfMemory> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let text = match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => &text[..error.valid_up_to()],
        _ => text,
    };
    let text = without_cut_number(text);
    let Ok(mut reader) = Reader::new(text, MAX_DEPTH) else { return Ok(None) };
    let mut open = Vec::new();
    let Err(Fault { offset, out_of_memory, .. }) = reader.value_within(&mut open) else { return Ok(None) };
    if let Some(out_of_memory) = out_of_memory {
        return Err(out_of_memory);
    }
    if !is_truncated_at(text, offset) {
        return Ok(None);
    }
    let mut open = open.into_iter();
    let Some(Open::Object(mut fields, key)) = open.next() else { return Ok(None) };
    let unfinished = open.next().map(|inner| {
        let value = match inner {
            Open::Array(items) => Value::Array(items),
            Open::Object(inner, _) => Value::Object(inner),
        };
        fields.insert(key.clone(), value);
        key
    });
    Ok((!fields.is_empty()).then_some(Truncated { fields, unfinished, is_whole: false }))
}

/// The text without a number at its end, which may lack digits.
fn without_cut_number(text: &[u8]) -> &[u8] {
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    match text.last() {
        Some(b'0'..=b'9') => &text[..text.iter().rposition(|byte| !is_of_number(byte)).map_or(0, |last| last + 1)],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn read(text: &str) -> Option<(String, Option<String>)> {
        let truncated = read_truncated(text.as_bytes()).unwrap();
        truncated.map(|truncated| (serde_json::to_string(&truncated.fields).unwrap(), truncated.unfinished))
    }

    #[test]
    fn keeps_what_is_whole() {
        let cases = [
            (r#"{"a":[{"b":1},{"b":2},{"b""#, r#"{"a":[{"b":1},{"b":2}]}"#, Some("a")),
            (r#"{"a":[{"b":1},{"b":[2"#, r#"{"a":[{"b":1}]}"#, Some("a")),
            (r#"{"a":{"x":"y","z":"w"#, r#"{"a":{"x":"y"}}"#, Some("a")),
            (r#"{"a":1,"b":12"#, r#"{"a":1}"#, None),
            (r#"{"a":1,"b":12 "#, r#"{"a":1,"b":12}"#, None),
            (r#"{"a":1,"b":[12,34"#, r#"{"a":1,"b":[12]}"#, Some("b")),
            (r#"{"a":1,"b":tr"#, r#"{"a":1}"#, None),
            (r#"{"a":1,"b":"\ud8"#, r#"{"a":1}"#, None),
            (r#"{"a":true"#, r#"{"a":true}"#, None),
            (r#"{"a":[]"#, r#"{"a":[]}"#, None),
        ];
        for (text, fields, unfinished) in cases {
            assert_eq!(read(text), Some((fields.to_owned(), unfinished.map(str::to_owned))), "{text}");
        }
        let cut_character = &"{\"a\":1,\"b\":\"é".as_bytes()[..13];
        assert_eq!(
            serde_json::to_string(&read_truncated(&cut_character[..12]).unwrap().unwrap().fields).unwrap(),
            r#"{"a":1}"#
        );
    }

    #[test]
    fn gives_nothing_where_nothing_is_certain() {
        for text in ["", "{", "{\"a\"", "{\"a\":1}", "{\"a\":1,\"b\" x", "[1,2", "\"a", "{\"a\":nope", "{\"a\":12"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn every_cut_is_told_from_other_faults() {
        let text = "{\"a\": [true, \"\\ud83d\\ude00é\", -1.5e+3, null], \"b\": {\"c\": \"\u{1f600}\"}}".as_bytes();
        for end in 1..text.len() {
            let error = parse(&text[..end]).unwrap_err();
            assert!(is_truncated_at(&text[..end], error.offset), "{end}: {error:?}");
        }
    }
}
