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

/// Reads one part of a message and adds the stored parts for it.
pub type ReadPart = fn(&Field, &mut Vec<Value>) -> Result<(), ShapeError>;

/// The stored parts of the content of a message, which is a text or a list of parts.
///
/// # Errors
///
/// The field that is missing or has the wrong type.
pub fn content(field: Option<Field>, read: ReadPart) -> Result<Vec<Value>, ShapeError> {
    let mut parts = Vec::new();
    match field {
        None => {}
        Some(Field { value: Value::String(text), .. }) => parts.push(stored::text(text)),
        Some(field) => {
            for item in field.items()? {
                read(&item, &mut parts)?;
            }
        }
    }
    Ok(parts)
}
