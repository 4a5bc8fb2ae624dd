//! Borrowed values to be written.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::object::Object;

/// A JSON value that can be written without first being copied into a [`Value`].
pub enum View<'v> {
    /// Any value.
    Value(&'v Value),
    /// An object.
    Object(&'v Object),
    /// The items of an array.
    Items(&'v [Value]),
    /// A string.
    Text(&'v str),
    /// A number.
    Number(u64),
    /// An array of these items.
    Array(Vec<View<'v>>),
    /// An object of these fields, in this order.
    Fields(Vec<(&'v str, View<'v>)>),
}

impl<'v> From<&'v Value> for View<'v> {
    fn from(value: &'v Value) -> Self {
        Self::Value(value)
    }
}

impl<'v> From<&'v Object> for View<'v> {
    fn from(object: &'v Object) -> Self {
        Self::Object(object)
    }
}

impl<'v> From<&'v [Value]> for View<'v> {
    fn from(items: &'v [Value]) -> Self {
        Self::Items(items)
    }
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
            Self::Items(items) => items.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Array(items) => items.serialize(serializer),
            Self::Fields(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}
