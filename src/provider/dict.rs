//! JSON objects, built from values without copying them.

use serde_json::Value;

use crate::json::Object;

/// A JSON object of values that are taken as they are. `json!` would serialize each of them again, which costs a copy and,
/// for a deeply nested value, stack.
macro_rules! dict {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::provider::dict::object(&mut [$(($key, serde_json::Value::from($value))),*])
    };
}
pub(super) use dict;

/// What [`dict!`] makes. Not inlined, because a hundred places call it.
#[inline(never)]
pub fn object(fields: &mut [(&str, Value)]) -> Value {
    fields.iter_mut().map(|(key, value)| ((*key).to_owned(), value.take())).collect::<Object>().into()
}

/// Sets a field of an object.
#[inline(never)]
pub fn set(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(key.to_owned(), value);
    }
}
