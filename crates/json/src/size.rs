//! The size of values in a file.

use peteos_memory::OutOfMemory;
use serde_json::Value;

use super::object::Object;
use super::write::to_file_bytes;

/// The size of values in a file: the exact number of values, and an upper bound of the bytes that does not read the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The largest size in bytes.
    pub bytes: u64,
    /// The number of values, nested ones included.
    pub values: u64,
}

/// The most bytes that a file takes for one byte of a text, which is a control character.
const ESCAPED: u64 = 6;
/// The quotes of a key, its colon, and the comma and the line break around a value, without the indent.
const AROUND: u64 = 8;
const INDENT: u64 = 2;

impl Size {
    /// A bound for an object within `depth` others. The time depends on the number of values, not on their texts.
    pub fn of_object(object: &Object, depth: u64) -> Self {
        let mut size = Self { bytes: AROUND + 2 * INDENT * depth, values: 1 };
        for (key, value) in object {
            size.bytes += ESCAPED * key.len() as u64;
            size.add(Self::of_value(value, depth + 1));
        }
        size
    }

    /// A bound for a value within `depth` others, as [`Size::of_object`].
    pub fn of_value(value: &Value, depth: u64) -> Self {
        let mut size = Self { bytes: AROUND + INDENT * depth, values: 1 };
        match value {
            Value::Null | Value::Bool(_) => size.bytes += "false".len() as u64,
            Value::Number(number) => size.bytes += number.as_str().len() as u64,
            Value::String(text) => size.bytes += 2 + ESCAPED * text.len() as u64,
            Value::Array(items) => {
                // The closing bracket has a line of its own.
                size.bytes += AROUND + INDENT * depth;
                items.iter().for_each(|item| size.add(Self::of_value(item, depth + 1)));
            }
            Value::Object(object) => return Self::of_object(object, depth),
        }
        size
    }

    /// The exact number of bytes that an object adds to a list of objects in an object, such as a message to its context: with
    /// its indent, the comma and the line break.
    ///
    /// # Errors
    ///
    /// If the text does not fit into the memory.
    pub fn exact_bytes_of_item(object: &Object) -> Result<u64, OutOfMemory> {
        let bytes = to_file_bytes(&object.into())?;
        // In a text, a line break is escaped.
        let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(bytes.len() as u64 + lines * 2 * INDENT + 2)
    }

    /// Adds another size.
    pub fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.values = self.values.saturating_add(other.values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn sizes_are_those_of_the_file() {
        let texts = [
            "{}",
            r#"{"a":"é\u0001\u007f\"\\\n😀 x","b":[1.5e300,[],{},[[null,true]]],"c":{"d":{"e":"f"}}}"#,
            r#"{"messages":[{"id":"x"}],"n":[[[[[[[]]]]]]]}"#,
        ];
        for text in texts {
            let Value::Object(object) = parse(text.as_bytes()).unwrap() else { panic!("{text}") };
            let bytes = to_file_bytes(&(&object).into()).unwrap().len() as u64;
            assert!(Size::of_object(&object, 0).bytes >= bytes, "{text}");
            let list = |count: usize| {
                let items = vec![Value::Object(object.clone()); count];
                Value::Object(Object::from_iter([("messages".to_owned(), items.into())]))
            };
            let file = |count| to_file_bytes(&(&list(count)).into()).unwrap().len() as u64;
            assert_eq!(Size::exact_bytes_of_item(&object).unwrap(), file(3) - file(2), "{text}");
            assert!(Size::of_object(&object, 2).bytes >= file(3) - file(2));
            assert_eq!(Size::of_value(&list(2), 0).values, 2 + 2 * Size::of_object(&object, 2).values);
        }
        let all = Value::Array(vec![Value::Null, "x".into(), Value::Array(vec![1.into(), 2.into()])]);
        assert_eq!(Size::of_value(&all, 0).values, 6);
    }
}
