//! The text of Python's `json.dumps(value, ensure_ascii=False)`, in which tokens are counted.

use std::borrow::Cow;
use std::io;

use peteos_memory::{OutOfMemory, try_reserve};
use serde_json::ser::Formatter;

use super::view::View;
use super::write::{to_text, write};

/// The bytes that can be added to a text without copying it.
const SEPARATORS: usize = 16;

/// Appends the text of Python's `json.dumps(value, ensure_ascii=False)` to `text`: the separators `", "` and `": "`,
/// floats as `repr` writes them, characters other than quotes, backslashes and controls as they are.
///
/// # Errors
///
/// If it does not fit into the memory; then `text` is empty.
pub fn to_python_text(value: &View, text: &mut String) -> Result<(), OutOfMemory> {
    let mut bytes = write(value, PythonFormatter, std::mem::take(text).into_bytes())?;
    // The caller adds separators.
    try_reserve(&mut bytes, SEPARATORS, "a text to count")?;
    *text = to_text(bytes);
    Ok(())
}

struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_number_str<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: &str) -> io::Result<()> {
        writer.write_all(python_number(value).as_bytes())
    }
}

/// A JSON number as Python writes it after reading it: an `int` digit for digit, anything else as a `float`.
fn python_number(text: &str) -> Cow<'_, str> {
    if text == "-0" {
        return Cow::Borrowed("0");
    }
    if !text.contains(['.', 'e', 'E']) {
        return Cow::Borrowed(text);
    }
    // A JSON number always parses; one that is too large becomes infinite, as in Python.
    text.parse().map_or(Cow::Borrowed(text), |number| Cow::Owned(python_float(number)))
}

/// Python's `repr(float)`: the shortest digits that read back as the same number; of several, the nearest to it, and of
/// two equally near ones the even one. Has an exponent below 1e-4 and from 1e16 on.
fn python_float(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    // Rust rounds ties up for the shortest digits, but to even for a given number of digits.
    let shortest = format!("{number:e}");
    let digits = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    let scientific = format!("{number:.*e}", digits.saturating_sub(1));
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return fixed_point(digits, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `1.5` with the exponent 1 is `15.0`.
fn fixed_point(digits: &str, exponent: i32) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    match usize::try_from(exponent) {
        Ok(whole) if whole + 1 >= digits.len() => format!("{sign}{digits:0<width$}.0", width = whole + 1),
        Ok(whole) => format!("{sign}{}.{}", &digits[..=whole], &digits[whole + 1..]),
        Err(_) => format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn python(text: &str) -> String {
        let mut out = String::new();
        to_python_text(&View::from(&parse(text.as_bytes()).unwrap()), &mut out).unwrap();
        out
    }

    #[test]
    fn numbers() {
        let cases = [
            ("1", "1"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("9223372036854775808", "9223372036854775808"),
            ("1.0", "1.0"),
            ("1e5", "100000.0"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("123456789012345678.0", "1.2345678901234568e+17"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("5e-324", "5e-324"),
            ("1.5E-7", "1.5e-07"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
            ("1e-400", "0.0"),
            ("0.1", "0.1"),
            ("-12.5", "-12.5"),
            ("100.0", "100.0"),
            ("0.00012", "0.00012"),
            ("173790143849334.625", "173790143849334.62"),
            ("-0.5", "-0.5"),
            ("1e22", "1e+22"),
        ];
        for (json, expected) in cases {
            assert_eq!(python(json), expected, "{json}");
        }
    }

    #[test]
    fn separators_and_escapes() {
        assert_eq!(
            python("[{\"a\":1,\"b\":[true,null]},\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\/\\u007f\\u2028é\"]"),
            "[{\"a\": 1, \"b\": [true, null]}, \"\\u0001\\b\\f\\n\\r\\t\\\"\\\\/\u{7f}\u{2028}é\"]"
        );
    }
}
