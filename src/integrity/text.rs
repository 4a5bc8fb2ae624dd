//! The text of a file: whether it is valid JSON, and what can be recovered if it is not.

use serde_json::Value;

use super::finding::{Report, Rule};
use crate::error::Error;
use crate::json::{self, Anomalies, Anomaly, ParseError, Position, Truncated};

/// A text that cannot be loaded.
pub(super) struct Damage {
    pub rule: Rule,
    pub position: Position,
    pub message: String,
    /// The contents that can be recovered.
    pub truncated: Option<Truncated>,
}

/// The value of a text, and its anomalies, or the damage.
///
/// # Errors
///
/// [`Error::MemoryLimit`]: nothing is known about the text.
pub(super) fn read(text: &[u8], max_values: usize) -> Result<Result<(Value, Anomalies), Damage>, Error> {
    let start = Position { line: 1, column: 1 };
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(Err(damage(Rule::EmptyFile, start, "the file is empty")));
    }
    let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let (text, has_nuls) = (&text[..end], end < text.len());
    if text.is_empty() {
        return Ok(Err(damage(Rule::NulBytes, start, "the file is filled with NUL bytes")));
    }
    match json::parse_noting(text, max_values) {
        Ok((Value::Object(fields), _)) if has_nuls => {
            let truncated = Some(Truncated { fields, unfinished: None, is_whole: true });
            let message = "NUL bytes follow the text";
            Ok(Err(with_truncated(truncated, Rule::NulBytes, position_after(text), message)))
        }
        Ok(read) => Ok(Ok(read)),
        Err(ParseError { out_of_memory: Some(out_of_memory), .. }) => Err(out_of_memory.into()),
        Err(error) => {
            let position = Position { line: error.line, column: error.column };
            if error.has_more_values {
                let message = format!("the file has more values than the limit of {max_values}");
                return Ok(Err(damage(Rule::FileTooLarge, position, &message)));
            }
            let rest = &text[error.offset..];
            if json::is_truncated_at(text, error.offset) {
                let truncated = json::read_truncated(text)?;
                let (rule, message) = match has_nuls {
                    true => (Rule::NulBytes, "NUL bytes replace the rest of the text"),
                    false => (Rule::TornFile, "the text is truncated here"),
                };
                return Ok(Err(with_truncated(truncated, rule, position, message)));
            }
            if rest.first() == Some(&0) {
                return Ok(Err(damage(Rule::NulBytes, position, "the text contains a NUL byte")));
            }
            if ["NaN", "Infinity"].iter().any(|word| rest.starts_with(word.as_bytes())) {
                let message = "not JSON, although Python writes it; replace it with a number or null";
                return Ok(Err(damage(Rule::NonFiniteNumber, position, message)));
            }
            Ok(Err(damage(Rule::NotJson, position, &format!("{}; fix the file by hand", error.message))))
        }
    }
}

fn damage(rule: Rule, position: Position, message: &str) -> Damage {
    with_truncated(None, rule, position, message)
}

fn with_truncated(truncated: Option<Truncated>, rule: Rule, position: Position, message: &str) -> Damage {
    Damage { rule, position, message: message.to_owned(), truncated }
}

fn position_after(text: &[u8]) -> Position {
    let line = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = text.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    Position { line, column }
}

/// Reports the anomalies of a text. Rewriting the file fixes all of them.
pub(super) fn report_anomalies(anomalies: Anomalies, report: &mut Report) {
    if anomalies.byte_order_mark {
        let start = Position { line: 1, column: 1 };
        report.add_repairable(
            Rule::ByteOrderMark,
            start,
            "the file begins with a byte order mark, which other readers reject",
            "removed the byte order mark",
        );
    }
    let Anomaly { count, first, .. } = anomalies.lone_surrogates;
    if let Some(place) = first {
        report.add_repairable(
            Rule::LoneSurrogate,
            place,
            format!("an unpaired surrogate, which is read as U+FFFD; the first of {count} in the file"),
            format!("replaced {count} unpaired surrogates with U+FFFD"),
        );
    }
    let Anomaly { count, first, .. } = anomalies.duplicate_keys;
    if let Some(place) = first {
        report.add_repairable(
            Rule::DuplicateKey,
            place,
            format!("a duplicate key, of which the last value is used; the first of {count} in the file"),
            format!("removed {count} duplicate keys and kept the last values"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_damage() {
        let cases: [(&[u8], Rule, usize, usize, bool); 13] = [
            (b"", Rule::EmptyFile, 1, 1, false),
            (b" \r\n", Rule::EmptyFile, 1, 1, false),
            (b"\0\0\0", Rule::NulBytes, 1, 1, false),
            (b"{\"a\":1}\0\0", Rule::NulBytes, 1, 8, true),
            (b"{\"a\":1,\n\"b\0\0", Rule::NulBytes, 2, 3, true),
            (b"{\"a\":\"x\0y\"}", Rule::NulBytes, 1, 8, false),
            (b"{\"a\":1,\n\"b\":tr", Rule::TornFile, 2, 5, true),
            (b"{", Rule::TornFile, 1, 2, false),
            (b"[1,", Rule::TornFile, 1, 4, false),
            (b"{\"a\":NaN}", Rule::NonFiniteNumber, 1, 6, false),
            (b"{\"a\":-Infinity}", Rule::NonFiniteNumber, 1, 7, false),
            (b"{\"a\":1}}", Rule::NotJson, 1, 8, false),
            (b"{\"a\":\"\xff\"}", Rule::NotJson, 1, 7, false),
        ];
        for (text, rule, line, column, has_truncated) in cases {
            let Ok(Err(damage)) = read(text, 100) else { panic!("{text:?}") };
            let found = (damage.rule, damage.position.line, damage.position.column, damage.truncated.is_some());
            assert_eq!(found, (rule, line, column, has_truncated), "{:?}", String::from_utf8_lossy(text));
        }
        assert!(read(b"{\"a\":1}\r\n", 100).is_ok());
    }
}
