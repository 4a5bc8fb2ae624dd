//! Functions that formats share to read a request.

use serde_json::Value;

use super::field::Field;
use super::stored;
use peteos_conversation::error::ShapeError;

/// The body of a request (`None` for a bare list of messages) and the messages.
///
/// # Errors
///
/// The field that is missing or has the wrong type.
pub fn open<'v>(root: &Field<'v>, keys: &[&'static str]) -> Result<(Option<Field<'v>>, Field<'v>), ShapeError> {
    if root.value.is_array() {
        return Ok((None, root.clone()));
    }
    if !root.value.is_object() {
        let expected = format!("an array of messages, or an object with them in `{}`", keys.join("` or `"));
        return Err(root.wrong(&expected));
    }
    for key in keys {
        if let Some(messages) = root.get(key)? {
            return Ok((Some(root.clone()), messages));
        }
    }
    root.required(keys.first().copied().unwrap_or_default()).map(|messages| (Some(root.clone()), messages))
}

/// Reads one block as a stored part.
pub type ReadPart = fn(&Field) -> Result<Value, ShapeError>;

/// The elements of a field that is a list, or the field itself.
///
/// # Errors
///
/// None for a field of any type.
pub fn one_or_more<'v>(field: Field<'v>) -> Result<Vec<Field<'v>>, ShapeError> {
    if field.value.is_array() { field.items() } else { Ok(vec![field]) }
}

/// The stored parts of a content, which is a text or a list of blocks.
///
/// # Errors
///
/// The field that is missing or has the wrong type.
pub fn content(field: Option<Field>, read: ReadPart) -> Result<Vec<Value>, ShapeError> {
    match field {
        None => Ok(Vec::new()),
        Some(Field { value: Value::String(text), .. }) => Ok(vec![stored::text(text)]),
        Some(field) => field.items()?.iter().map(read).collect(),
    }
}
