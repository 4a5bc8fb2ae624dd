//! A reader of JSON values.

use peteos_memory::{OutOfMemory, check, ensure, try_reserve};
use serde_json::{Number, Value};

use super::anomalies::Anomalies;
use super::object::Object;
use super::path::FieldPath;

/// The maximum nesting of arrays and objects; the outermost one is level 1. Writing, copying and dropping a value are
/// recursive, here and in most JSON libraries; the limit keeps all of them far from a stack overflow.
pub const MAX_DEPTH: usize = 1000;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A fault of a text, and its byte offset.
#[derive(Debug)]
pub(super) struct Fault {
    pub offset: usize,
    pub message: String,
    /// Set if the text is not at fault.
    pub out_of_memory: Option<OutOfMemory>,
}

/// What the memory is for, in errors.
const PURPOSE: &str = "parsing JSON";
/// The allocations of a value that are not checked one by one: the value itself, and a short string or a small object.
const SMALL: usize = 1 << 12;
/// A field of an object in memory, including its place in the table of the keys, while the object grows.
const FIELD: usize = 4 * size_of::<Value>();

/// An array or object whose end has not been reached; an object with the key of the value that is being read.
pub(super) enum Open {
    Array(Vec<Value>),
    Object(Object, String),
}

/// Reads one value after another. Nesting is kept in a list, not on the stack.
pub(super) struct Reader<'t> {
    text: &'t str,
    position: usize,
    max_depth: usize,
    max_values: usize,
    values: usize,
    anomalies: Anomalies,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t [u8], max_depth: usize) -> Result<Self, Fault> {
        match std::str::from_utf8(text) {
            Ok(text) => Ok(Self {
                text,
                position: 0,
                max_depth,
                max_values: usize::MAX,
                values: 0,
                anomalies: Anomalies::default(),
            }),
            Err(error) => {
                Err(Fault { offset: error.valid_up_to(), message: "invalid UTF-8".to_owned(), out_of_memory: None })
            }
        }
    }

    /// The same reader, which stops after this number of values.
    pub fn up_to(self, max_values: usize) -> Self {
        Self { max_values, ..self }
    }

    /// Whether it stopped because there are more values.
    pub fn has_more_values(&self) -> bool {
        self.values > self.max_values
    }

    pub fn position(&self) -> usize {
        self.position
    }

    pub fn seek(&mut self, position: usize) {
        self.position = position;
    }

    /// The anomalies in the values that were read.
    pub fn into_anomalies(self) -> Anomalies {
        self.anomalies
    }

    /// Reads a whole value.
    pub fn value(&mut self) -> Result<Value, Fault> {
        self.value_within(&mut Vec::new())
    }

    /// Reads a whole value. After a fault, `open` has the incomplete arrays and objects with their complete contents.
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
                        self.place_anomalies(open);
                        continue;
                    }
                    Value::Object(Object::new())
                }
                _ => self.scalar()?,
            };
            self.place_anomalies(open);
            // The value may be the last one in the enclosing arrays and objects.
            loop {
                value = match open.pop() {
                    None => return Ok(value),
                    Some(Open::Array(mut items)) => {
                        self.make_room(&mut items)?;
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
                        self.make_field(&fields)?;
                        fields.insert(key, value);
                        match self.another(b'}').and_then(|more| if more { self.key().map(Some) } else { Ok(None) }) {
                            Ok(None) => Value::Object(fields),
                            Ok(Some(key)) => {
                                if fields.contains_key(&key) {
                                    self.anomalies.duplicate_keys.note(self.position);
                                }
                                open.push(Open::Object(fields, key));
                                self.place_anomalies(open);
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
        if self.has_more_values() {
            return self.fault(&format!("more than {} values", self.max_values));
        }
        self.fits(check(SMALL, PURPOSE))
    }

    /// The fault if something does not fit into the memory.
    fn fits(&self, fits: Result<(), OutOfMemory>) -> Result<(), Fault> {
        fits.map_err(|out_of_memory| Fault {
            offset: self.position,
            message: out_of_memory.to_string(),
            out_of_memory: Some(out_of_memory),
        })
    }

    /// Makes room for another item of an array.
    fn make_room(&self, items: &mut Vec<Value>) -> Result<(), Fault> {
        let count = items.len();
        if count < items.capacity() || count * size_of::<Value>() < SMALL {
            return Ok(());
        }
        self.fits(try_reserve(items, count, PURPOSE))
    }

    /// Ensures that an object can take another field.
    fn make_field(&self, fields: &Object) -> Result<(), Fault> {
        let count = fields.len();
        // The table of an object of this size is full: it grows by copying all fields.
        if count * FIELD < SMALL || count % 7 != 0 || !(count / 7).is_power_of_two() {
            return Ok(());
        }
        self.fits(ensure(count * FIELD, PURPOSE))
    }

    /// Ensures that a string can take `more` bytes.
    #[inline]
    fn make_text(&self, content: &String, more: usize) -> Result<(), Fault> {
        let length = content.len() + more;
        if length < SMALL || length <= content.capacity() {
            return Ok(());
        }
        self.fits(ensure(length.max(2 * content.capacity()), PURPOSE))
    }

    /// Sets the field of the anomalies noted since the last value.
    fn place_anomalies(&mut self, open: &[Open]) {
        let text = self.text.as_bytes();
        for anomaly in [&mut self.anomalies.lone_surrogates, &mut self.anomalies.duplicate_keys] {
            anomaly.place(text, || {
                open.iter().fold(FieldPath::root(), |path, open| match open {
                    Open::Array(items) => path.index(items.len()),
                    Open::Object(_, key) => path.key(key),
                })
            });
        }
    }

    /// Checks that the text ends here.
    pub fn end(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if self.position < self.text.len() { self.fault("unexpected text after the value") } else { Ok(()) }
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    pub fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.position += 1;
        }
    }

    /// Skips a comma or the closing bracket; returns whether another element follows.
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

    /// Skips the opening bracket of an array or object within `depth` others, and the space after it.
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
        self.make_text(&String::new(), self.position - start)?;
        // The constructor that keeps the text, which is a JSON number.
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

    // A separate function: engines replace slow code with optimised code only between calls.
    #[inline(never)]
    fn string(&mut self) -> Result<String, Fault> {
        self.position += 1;
        let mut content = String::new();
        loop {
            let plain = self.position;
            while matches!(self.peek(), Some(byte) if byte != b'"' && byte != b'\\' && byte >= 0x20) {
                self.position += 1;
            }
            // And another character.
            self.make_text(&content, self.position - plain + 4)?;
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
            _ => return self.fault("invalid escape sequence"),
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
            self.anomalies.lone_surrogates.note(self.position);
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
        Err(Fault { offset: self.position, message: message.to_owned(), out_of_memory: None })
    }
}
