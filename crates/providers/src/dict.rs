//! JSON objects, built from values without copying them.

use serde_json::Value;

use peteos_json::Object;

/// A JSON object of existing values. `json!` would serialize each value again, which costs a copy and, for a deeply nested
/// value, stack.
macro_rules! dict {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::dict::object(&mut [$(($key, serde_json::Value::from($value))),*])
    };
}
pub(super) use dict;

/// The function behind [`dict!`]. Not inlined, because it has about a hundred call sites.
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
