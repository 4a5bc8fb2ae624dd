//! The memory that values take.

use peteos_memory::{OutOfMemory, check, ensure, used};
use serde_json::Value;

use super::object::Object;
use super::view::View;

/// What the allocator adds to a block, at most.
const BLOCK: usize = 16;
/// A field of an object without its key and its contents: the value, its key, its hash, and its places in the table, which
/// has up to four for each field.
const FIELD: usize = size_of::<Value>() + size_of::<String>() + 4 * size_of::<[usize; 2]>();

/// The memory that a copy of a value takes, at most.
pub fn copy_size(value: &View) -> usize {
    match value {
        View::Value(value) => of_value(value),
        View::Object(object) => of_object(object),
        View::Items(items) => of_items(items),
        View::Text(text) => text.len() + BLOCK,
        View::Number(_) => BLOCK,
        View::Array(items) => items.iter().map(|item| size_of::<Value>() + copy_size(item)).sum::<usize>() + BLOCK,
        View::Fields(fields) => {
            fields.iter().map(|(key, value)| FIELD + BLOCK + key.len() + copy_size(value)).sum::<usize>() + 3 * BLOCK
        }
    }
}

/// Checks that copies of a value fit into the memory.
///
/// # Errors
///
/// If they do not.
pub fn ensure_copies(value: &View, copies: usize, purpose: &'static str) -> Result<(), OutOfMemory> {
    // No value takes more than all of them together.
    check(used().saturating_mul(copies), purpose).or_else(|_| ensure(copy_size(value).saturating_mul(copies), purpose))
}

fn of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(number) => number.as_str().len() + BLOCK,
        Value::String(text) => text.len() + BLOCK,
        Value::Array(items) => of_items(items),
        Value::Object(fields) => of_object(fields),
    }
}

fn of_items(items: &[Value]) -> usize {
    BLOCK + items.iter().map(|item| size_of::<Value>() + of_value(item)).sum::<usize>()
}

fn of_object(fields: &Object) -> usize {
    let sizes = fields.iter().map(|(key, value)| FIELD + BLOCK + key.len() + of_value(value));
    3 * BLOCK + sizes.sum::<usize>()
}
