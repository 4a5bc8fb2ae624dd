//! JSON objects.

use serde_json::{Map, Value};

/// A JSON object with its keys in order.
pub type Object = Map<String, Value>;

/// Objects up to this size are searched field by field, which is faster than the hash of a key.
const FEW: usize = 16;

/// The value of a field.
pub fn field<'o>(object: &'o Object, key: &str) -> Option<&'o Value> {
    if object.len() > FEW {
        return object.get(key);
    }
    object.iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| value)
}

/// The items of the array in a field; empty if the field is absent or not an array.
pub fn items<'o>(object: &'o Object, key: &str) -> &'o [Value] {
    field(object, key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
