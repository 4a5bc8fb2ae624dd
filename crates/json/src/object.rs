//! JSON objects.

use serde_json::{Map, Value};

/// A JSON object with its keys in order.
pub type Object = Map<String, Value>;

/// The items of the array in a field; empty if the field is absent or not an array.
pub fn items<'o>(object: &'o Object, key: &str) -> &'o [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
