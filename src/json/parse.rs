//! JSON text to a value.
//!
//! serde_json's own reader writes `1e16` as `1e+16`, takes an object with one of its private keys for a number, refuses
//! half a surrogate pair and recurses; what a file holds has to be kept as it stands, so the reader is ours.

use serde_json::{Number, Value};

use super::Object;
use super::oddities::Oddities;
use super::path::FieldPath;

/// Arrays and objects may be nested this deep (the outermost one is level 1). Writing, copying and dropping a value are
/// recursive, here and in most JSON readers; the limit keeps all of them far from the end of a stack.
pub const MAX_DEPTH: usize = 1000;

/// A text may hold this many values. Each takes far more memory than the two bytes it can be written in; the limit keeps
/// what a hostile file makes of itself within the memory of WebAssembly.
pub const MAX_VALUES: usize = 5_000_000;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a text is no JSON that can be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub message: String,
    /// 1 for the first line.
    pub line: usize,
    /// In bytes, 1 for the first of the line.
    pub column: usize,
    /// In bytes from the beginning of the text, a byte order mark included.
    pub offset: usize,
}

/// Reads one JSON value (RFC 8259) from UTF-8 text, which may begin with a byte order mark.
///
/// Numbers keep their text. An escape of half a surrogate pair (`"\ud83d"` alone), which is no Unicode text, is read as
/// U+FFFD. Of keys that stand twice in an object the last one counts.
///
/// # Errors
///
/// Where the text is no JSON, is nested deeper than [`MAX_DEPTH`] or holds more than [`MAX_VALUES`] values.
pub fn parse(text: &[u8]) -> Result<Value, ParseError> {
    parse_within(text, MAX_DEPTH)
}

/// As [`parse`], with a limit of its own for the depth: what becomes a part of a document may be nested less deeply.
///
/// # Errors
///
/// Where the text is no JSON or is nested deeper than `max_depth`.
pub fn parse_within(text: &[u8], max_depth: usize) -> Result<Value, ParseError> {
    read(text, max_depth, None)
}

/// As [`parse`]; also tells what in the text another writer would have written otherwise.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_noting(text: &[u8]) -> Result<(Value, Oddities), ParseError> {
    let mut oddities = Oddities::default();
    let value = read(text, MAX_DEPTH, Some(&mut oddities))?;
    Ok((value, oddities))
}

fn read(text: &[u8], max_depth: usize, oddities: Option<&mut Oddities>) -> Result<Value, ParseError> {
    let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let document = || {
        let mut reader = Reader::new(json, max_depth)?;
        let value = reader.value()?;
        reader.end()?;
        if let Some(oddities) = oddities {
            *oddities = Oddities { byte_order_mark: json.len() < text.len(), ..reader.oddities };
        }
        Ok(value)
    };
    document().map_err(|Fault { offset, message }| {
        let (line, column) = line_and_column(json, offset);
        ParseError { message, line, column, offset: offset + text.len() - json.len() }
    })
}

/// The line and column, each from 1, of the byte at `offset`.
pub(super) fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    (line, column)
}

/// What is wrong with a text, and at which byte.
#[derive(Debug)]
pub(super) struct Fault {
    pub offset: usize,
    pub message: String,
}

/// An array or object that has been opened; the object with the key of the value that is being read.
pub(super) enum Open {
    Array(Vec<Value>),
    Object(Object, String),
}

/// Reads values one after the other. Nesting is kept in a list, not on the stack.
pub(super) struct Reader<'t> {
    text: &'t str,
    position: usize,
    max_depth: usize,
    values: usize,
    oddities: Oddities,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t [u8], max_depth: usize) -> Result<Self, Fault> {
        match std::str::from_utf8(text) {
            Ok(text) => Ok(Self { text, position: 0, max_depth, values: 0, oddities: Oddities::default() }),
            Err(error) => Err(Fault { offset: error.valid_up_to(), message: "this is no UTF-8".to_owned() }),
        }
    }

    pub fn position(&self) -> usize {
        self.position
    }

    pub fn seek(&mut self, position: usize) {
        self.position = position;
    }

    /// Reads a whole value.
    pub fn value(&mut self) -> Result<Value, Fault> {
        self.value_within(&mut Vec::new())
    }

    /// Reads a whole value. After a fault `open` holds the arrays and objects that were open, with what was read of them.
    pub fn value_within(&mut self, open: &mut Vec<Open>) -> Result<Value, Fault> {
        loop {
            self.skip_space();
            self.count_value()?;
            let mut value = match self.peek() {
                Some(b'[') => {
                    self.enter(open.len())?;
                    if !self.pass(b']') {
                        open.push(Open::Array(Vec::new()));
                        continue;
                    }
                    Value::Array(Vec::new())
                }
                Some(b'{') => {
                    self.enter(open.len())?;
                    if !self.pass(b'}') {
                        let key = self.key()?;
                        open.push(Open::Object(Object::new(), key));
                        self.place_oddities(open);
                        continue;
                    }
                    Value::Object(Object::new())
                }
                _ => self.scalar()?,
            };
            self.place_oddities(open);
            // The value may be the last of the arrays and objects around it.
            loop {
                value = match open.pop() {
                    None => return Ok(value),
                    Some(Open::Array(mut items)) => {
                        items.push(value);
                        let more = self.another(b']');
                        if !matches!(more, Ok(false)) {
                            open.push(Open::Array(items));
                            more?;
                            break;
                        }
                        Value::Array(items)
                    }
                    Some(Open::Object(mut fields, key)) => {
                        fields.insert(key, value);
                        match self.another(b'}').and_then(|more| if more { self.key().map(Some) } else { Ok(None) }) {
                            Ok(None) => Value::Object(fields),
                            Ok(Some(key)) => {
                                if fields.contains_key(&key) {
                                    self.oddities.duplicate_keys.note(self.position);
                                }
                                open.push(Open::Object(fields, key));
                                self.place_oddities(open);
                                break;
                            }
                            Err(fault) => {
                                open.push(Open::Object(fields, String::new()));
                                return Err(fault);
                            }
                        }
                    }
                };
            }
        }
    }

    fn count_value(&mut self) -> Result<(), Fault> {
        self.values += 1;
        if self.values > MAX_VALUES { self.fault(&format!("more than {MAX_VALUES} values")) } else { Ok(()) }
    }

    /// Gives the oddities that were noted since the last value the place where the reader is.
    fn place_oddities(&mut self, open: &[Open]) {
        let text = self.text.as_bytes();
        for oddity in [&mut self.oddities.lone_surrogates, &mut self.oddities.duplicate_keys] {
            oddity.place(text, || {
                open.iter().fold(FieldPath::root(), |path, open| match open {
                    Open::Array(items) => path.index(items.len()),
                    Open::Object(_, key) => path.key(key),
                })
            });
        }
    }

    /// Checks that nothing follows.
    pub fn end(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if self.position < self.text.len() { self.fault("nothing may follow the value") } else { Ok(()) }
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    pub fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.position += 1;
        }
    }

    /// Passes the comma to another element, or the closing bracket after the last.
    pub fn another(&mut self, close: u8) -> Result<bool, Fault> {
        self.skip_space();
        let found = self.peek();
        if found != Some(b',') && found != Some(close) {
            return self.unexpected(&format!("',' or '{}'", char::from(close)));
        }
        self.position += 1;
        Ok(found == Some(b','))
    }

    /// Reads the key of a field and its colon.
    pub fn key(&mut self) -> Result<String, Fault> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return self.unexpected("a key in double quotes");
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.unexpected("':'");
        }
        self.position += 1;
        Ok(key)
    }

    /// Passes the bracket of an array or object within `depth` others, and the space after it.
    fn enter(&mut self, depth: usize) -> Result<(), Fault> {
        if depth >= self.max_depth {
            return self.fault(&format!("nested deeper than {} levels", self.max_depth));
        }
        self.position += 1;
        self.skip_space();
        Ok(())
    }

    #[inline(never)]
    fn scalar(&mut self) -> Result<Value, Fault> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            _ => {
                let words = [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
                for (word, value) in words {
                    if self.text[self.position..].starts_with(word) {
                        self.position += word.len();
                        return Ok(value);
                    }
                }
                self.unexpected("a value")
            }
        }
    }

    fn number(&mut self) -> Result<Number, Fault> {
        let start = self.position;
        self.pass(b'-');
        if !self.pass(b'0') {
            self.digits()?;
        }
        if self.pass(b'.') {
            self.digits()?;
        }
        if self.pass(b'e') || self.pass(b'E') {
            let _sign = self.pass(b'+') || self.pass(b'-');
            self.digits()?;
        }
        // A constructor that keeps the text; the text is a JSON number, as it asks for.
        Ok(Number::from_string_unchecked(self.text[start..self.position].to_owned()))
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.position;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.position += 1;
        }
        if self.position == start { self.unexpected("a digit") } else { Ok(()) }
    }

    fn pass(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    // A function of its own, as what takes long has to be: engines exchange slow code from one call to the next.
    #[inline(never)]
    fn string(&mut self) -> Result<String, Fault> {
        self.position += 1;
        let mut content = String::new();
        loop {
            let plain = self.position;
            while matches!(self.peek(), Some(byte) if byte != b'"' && byte != b'\\' && byte >= 0x20) {
                self.position += 1;
            }
            content.push_str(&self.text[plain..self.position]);
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(content);
                }
                Some(b'\\') => content.push(self.escape()?),
                Some(_) => return self.fault("a control character in a string must be escaped"),
                None => return self.fault("the text ends within a string"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let character = match self.text.as_bytes().get(self.position + 1) {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => return self.unicode_escape(),
            _ => return self.fault("this is no escape"),
        };
        self.position += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let Some(first) = self.code_unit(self.position) else {
            return self.fault("\\u takes four hexadecimal digits");
        };
        let second = self.code_unit(self.position + 6);
        let pair = second.map(|second| char::decode_utf16([first, second]).next());
        if let Some(Some(Ok(character))) = pair {
            if character.len_utf16() == 2 {
                self.position += 12;
                return Ok(character);
            }
        }
        let character = char::from_u32(u32::from(first));
        if character.is_none() {
            self.oddities.lone_surrogates.note(self.position);
        }
        self.position += 6;
        Ok(character.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// The UTF-16 code unit that a `\uXXXX` escape at `position` stands for.
    fn code_unit(&self, position: usize) -> Option<u16> {
        let digits = self.text.as_bytes().get(position..position + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)? as u16))
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, Fault> {
        match self.text[self.position..].chars().next() {
            Some(found) => self.fault(&format!("expected {expected}, found {found:?}")),
            None => self.fault(&format!("the text ends where {expected} is expected")),
        }
    }

    fn fault<T>(&self, message: &str) -> Result<T, Fault> {
        Err(Fault { offset: self.position, message: message.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_file_bytes;

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
    fn half_a_surrogate_pair_is_the_replacement_character() {
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
        assert!(to_file_bytes(&deepest.clone()).is_ok());
        let error = refusal(&nested(MAX_DEPTH + 1));
        assert_eq!((error.line, error.column), (1, MAX_DEPTH + 1));
        refusal(&"[".repeat(1_000_000));
        refusal(&"{\"a\":".repeat(1_000_000));
        // Brackets within a string are text.
        assert!(parse(format!("\"{}\"", "[".repeat(5000)).as_bytes()).is_ok());
    }

    #[test]
    fn the_number_of_values_is_bounded() {
        let many = |count: usize| format!("[{}0]", "0,".repeat(count - 2));
        assert!(parse(many(MAX_VALUES).as_bytes()).is_ok());
        assert_eq!(refusal(&many(MAX_VALUES + 1)).message, "more than 5000000 values");
    }

    #[test]
    fn what_is_odd_is_noted_with_its_place() {
        let text = b"\xef\xbb\xbf{\"a\":[1,\"\\ud83d\",\"\\udc00\\udc00\"],\n \"b\":1,\"c\":{\"b\":1, \"b\" :2}}";
        let (value, oddities) = parse_noting(text).unwrap();
        assert_eq!(value["c"]["b"], 2);
        assert!(oddities.byte_order_mark);
        let shown = |oddity: &super::super::oddities::Oddity| {
            let (field, position) = oddity.first.clone().unwrap();
            (oddity.count, field.to_string(), position.line, position.column)
        };
        assert_eq!(shown(&oddities.lone_surrogates), (3, "a[1]".to_owned(), 1, 10));
        assert_eq!(shown(&oddities.duplicate_keys), (1, "c.b".to_owned(), 2, 25));
        assert_eq!(parse_noting(b"{\"a\":\"\\ud83d\\ude00\"}").unwrap().1, Oddities::default());
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
            ("{}x", 1, 3, "nothing may follow the value"),
            ("\"ab", 1, 4, "the text ends within a string"),
            ("\"\\x\"", 1, 2, "this is no escape"),
            ("\"\\u12\"", 1, 2, "\\u takes four hexadecimal digits"),
            ("\"\\u+123\"", 1, 2, "\\u takes four hexadecimal digits"),
            ("\"a\nb\"", 1, 3, "a control character in a string must be escaped"),
            ("NaN", 1, 1, "expected a value, found 'N'"),
            ("-Infinity", 1, 2, "expected a digit, found 'I'"),
            ("01", 1, 2, "nothing may follow the value"),
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
    fn a_byte_order_mark_and_other_line_ends_are_no_fault() {
        assert_eq!(parse(b"\xef\xbb\xbf{\r\n\t\"a\" : 1 }\r\n").unwrap(), serde_json::json!({"a": 1}));
        assert_eq!(parse(br#"{"a":1,"b":2,"a":3}"#).unwrap(), serde_json::json!({"a": 3, "b": 2}));
    }
}
