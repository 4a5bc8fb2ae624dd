//! Restores numbers after a round trip through doubles.

use serde_json::{Number, Value};

/// Gives each number in `new` the text of the number at the same path in `old`, if both are equal as doubles: a round
/// trip through a double must not turn `1.0` into `1` or 2⁶³ into 9223372036854776000.
pub fn keep_numbers(old: &Value, new: &mut Value) {
    match (old, new) {
        (Value::Number(old), Value::Number(new)) if same_double(old, new) => *new = old.clone(),
        (Value::Array(old), Value::Array(new)) => old.iter().zip(new).for_each(|(old, new)| keep_numbers(old, new)),
        (Value::Object(old), Value::Object(new)) => {
            for (key, new) in new.iter_mut() {
                if let Some(old) = old.get(key) {
                    keep_numbers(old, new);
                }
            }
        }
        _ => {}
    }
}

fn same_double(one: &Number, other: &Number) -> bool {
    let double = |number: &Number| number.as_str().parse::<f64>();
    matches!((double(one), double(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn numbers_keep_their_text() {
        let old = parse(br#"{"a":1.0,"b":[9223372036854775808,1e16,3],"c":{"d":-0.0},"gone":1.0}"#).unwrap();
        let mut new = parse(br#"{"c":{"d":0},"b":[9223372036854776000,10000000000000000,4,1],"a":1}"#).unwrap();
        keep_numbers(&old, &mut new);
        let expected = r#"{"c":{"d":-0.0},"b":[9223372036854775808,1e16,4,1],"a":1.0}"#;
        assert_eq!(serde_json::to_string(&new).unwrap(), expected);
    }
}
