//! Parses JSON text.
//!
//! Files must be preserved exactly. serde_json's own reader does not do that: it turns `1e16` into `1e+16`, reads an object
//! with one of its private keys as a number, refuses lone surrogates, and recurses.

use std::cell::Cell;

use peteos_memory::OutOfMemory;
use serde_json::Value;

use super::anomalies::Anomalies;
use super::position::Position;
use super::reader::{BYTE_ORDER_MARK, Fault, MAX_DEPTH, Reader};

/// Why a text could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What was expected and what was found.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// The offset in bytes from the beginning of the text, including a byte order mark.
    pub offset: usize,
    /// Set if the text may be valid, but its value does not fit into the memory.
    pub out_of_memory: Option<OutOfMemory>,
    /// Whether the text has more values than the limit, and was read no further.
    pub has_more_values: bool,
}

/// Parses one JSON value (RFC 8259) from UTF-8 text, which may begin with a byte order mark.
///
/// Numbers keep their text. The escape of a lone surrogate (`"\ud83d"`) is read as U+FFFD. The last value of a duplicate
/// key is used.
///
/// # Errors
///
/// If the text is not JSON, is nested deeper than [`MAX_DEPTH`], or its value does not fit into the memory.
pub fn parse(text: &[u8]) -> Result<Value, ParseError> {
    parse_within(text, MAX_DEPTH, usize::MAX)
}

/// Like [`parse`], with other limits on the depth, for text that becomes a part of a document, and on the number of values,
/// nested ones included.
///
/// # Errors
///
/// If the text is not JSON, is nested deeper than `max_depth` or has more than `max_values` values.
pub fn parse_within(text: &[u8], max_depth: usize, max_values: usize) -> Result<Value, ParseError> {
    read(text, max_depth, max_values, None)
}

/// Like [`parse_within`] with [`MAX_DEPTH`], but also returns the anomalies of the text.
///
/// # Errors
///
/// Those of [`parse_within`].
pub fn parse_noting(text: &[u8], max_values: usize) -> Result<(Value, Anomalies), ParseError> {
    let mut anomalies = Anomalies::default();
    let value = read(text, MAX_DEPTH, max_values, Some(&mut anomalies))?;
    Ok((value, anomalies))
}

fn read(
    text: &[u8],
    max_depth: usize,
    max_values: usize,
    anomalies: Option<&mut Anomalies>,
) -> Result<Value, ParseError> {
    let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let has_more_values = Cell::new(false);
    let document = || {
        let mut reader = Reader::new(json, max_depth)?.up_to(max_values);
        let value = reader.value();
        has_more_values.set(reader.has_more_values());
        let value = value?;
        reader.end()?;
        if let Some(anomalies) = anomalies {
            *anomalies = Anomalies { byte_order_mark: json.len() < text.len(), ..reader.into_anomalies() };
        }
        Ok(value)
    };
    document().map_err(|Fault { offset, message, out_of_memory }| {
        let Position { line, column } = Position::of(json, offset);
        ParseError {
            message,
            line,
            column,
            offset: offset + text.len() - json.len(),
            out_of_memory,
            has_more_values: has_more_values.get(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::to_file_bytes;

    fn refusal(text: &str) -> ParseError {
        parse(text.as_bytes()).expect_err(text)
    }

    #[test]
    fn numbers_and_keys_stay_as_written() {
        let text = r#"{"b":1.0,"a":1e16,"c":[9223372036854775808,-0,-0.0,1E5,5e-324,1e+400],"__proto__":{"x":1},
            "$serde_json::private::Number":"1","e":[],"f":{},"g":[ ],"h":{ },"i":[[],[{}]],"j":null}"#;
        let compact: String = text.split_whitespace().collect();
        assert_eq!(serde_json::to_string(&parse(text.as_bytes()).unwrap()).unwrap(), compact);
    }

    #[test]
    fn a_lone_surrogate_is_the_replacement_character() {
        let cases = [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ude00""#, "\u{fffd}"),
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\u0041\u0042""#, "AB"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\uD83D\uDE00""#, "\u{1f600}"),
            (r#""\b\f\n\r\t\"\\\/""#, "\u{8}\u{c}\n\r\t\"\\/"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text.as_bytes()).unwrap(), Value::from(expected), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let deepest = parse(nested(MAX_DEPTH).as_bytes()).unwrap();
        assert!(!to_file_bytes(&(&deepest.clone()).into()).unwrap().is_empty());
        let error = refusal(&nested(MAX_DEPTH + 1));
        assert_eq!((error.line, error.column), (1, MAX_DEPTH + 1));
        refusal(&"[".repeat(1_000_000));
        refusal(&"{\"a\":".repeat(1_000_000));
        // Brackets within a string do not count.
        assert!(parse(format!("\"{}\"", "[".repeat(5000)).as_bytes()).is_ok());
    }

    #[test]
    fn the_number_of_values_is_bounded() {
        let many = |count: usize| format!("[{}0]", "0,".repeat(count - 2));
        assert!(parse_within(many(500).as_bytes(), MAX_DEPTH, 500).is_ok());
        let error = parse_within(many(501).as_bytes(), MAX_DEPTH, 500).unwrap_err();
        assert_eq!((error.message.as_str(), error.has_more_values), ("more than 500 values", true));
        assert!(!parse_within(b"[0,", MAX_DEPTH, 500).unwrap_err().has_more_values);
    }

    #[test]
    fn anomalies_are_noted_with_their_position() {
        let text = b"\xef\xbb\xbf{\"a\":[1,\"\\ud83d\",\"\\udc00\\udc00\"],\n \"b\":1,\"c\":{\"b\":1, \"b\" :2}}";
        let (value, anomalies) = parse_noting(text, usize::MAX).unwrap();
        assert_eq!(value["c"]["b"], 2);
        assert!(anomalies.byte_order_mark);
        let shown = |anomaly: &crate::Anomaly| {
            let (field, position) = anomaly.first.clone().unwrap();
            (anomaly.count, field.to_string(), position.line, position.column)
        };
        assert_eq!(shown(&anomalies.lone_surrogates), (3, "a[1]".to_owned(), 1, 10));
        assert_eq!(shown(&anomalies.duplicate_keys), (1, "c.b".to_owned(), 2, 25));
        assert_eq!(parse_noting(b"{\"a\":\"\\ud83d\\ude00\"}", usize::MAX).unwrap().1, Anomalies::default());
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            ("", 1, 1, "the text ends where a value is expected"),
            ("{\n  \"a\": nope\n}", 2, 8, "expected a value, found 'n'"),
            ("[1 2]", 1, 4, "expected ',' or ']', found '2'"),
            ("[1,]", 1, 4, "expected a value, found ']'"),
            ("{\"a\" 1}", 1, 6, "expected ':', found '1'"),
            ("{\"a\":1,}", 1, 8, "expected a key in double quotes, found '}'"),
            ("{a:1}", 1, 2, "expected a key in double quotes, found 'a'"),
            ("{\"a\":1", 1, 7, "the text ends where ',' or '}' is expected"),
            ("{}x", 1, 3, "unexpected text after the value"),
            ("\"ab", 1, 4, "the text ends within a string"),
            ("\"\\x\"", 1, 2, "invalid escape sequence"),
            ("\"\\u12\"", 1, 2, "\\u takes four hexadecimal digits"),
            ("\"\\u+123\"", 1, 2, "\\u takes four hexadecimal digits"),
            ("\"a\nb\"", 1, 3, "a control character in a string must be escaped"),
            ("NaN", 1, 1, "expected a value, found 'N'"),
            ("-Infinity", 1, 2, "expected a digit, found 'I'"),
            ("01", 1, 2, "unexpected text after the value"),
            ("1.", 1, 3, "the text ends where a digit is expected"),
            ("1e", 1, 3, "the text ends where a digit is expected"),
            ("\0\0", 1, 1, "expected a value, found '\\0'"),
        ];
        for (text, line, column, message) in cases {
            let error = refusal(text);
            assert_eq!((error.message.as_str(), error.line, error.column), (message, line, column), "{text:?}");
        }
        assert_eq!(parse(b"[\"\xff\"]").unwrap_err().column, 3);
    }

    #[test]
    fn a_byte_order_mark_and_other_line_ends_are_accepted() {
        assert_eq!(parse(b"\xef\xbb\xbf{\r\n\t\"a\" : 1 }\r\n").unwrap(), serde_json::json!({"a": 1}));
        assert_eq!(parse(br#"{"a":1,"b":2,"a":3}"#).unwrap(), serde_json::json!({"a": 3, "b": 2}));
    }
}
