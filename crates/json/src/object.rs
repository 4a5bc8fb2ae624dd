//! JSON objects.

use serde_json::{Map, Value};

/// A JSON object with its keys in order.
pub type Object = Map<String, Value>;

/// The items of the array that a field holds; none where it holds no array.
pub fn items<'o>(object: &'o Object, key: &str) -> &'o [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
