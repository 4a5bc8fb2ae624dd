//! The dict of a session: the shapes and defaults of its fields.

use serde_json::Value;

use crate::conversation::shape;
use crate::error::{Error, ShapeError};
use crate::id::ContextId;
use crate::json::{self, FieldPath, Object};
use crate::layout::Layout;
use crate::limits::Limits;

pub(crate) mod keys {
    pub const UUID: &str = "uuid";
    pub const ACTIVE_CONTEXT_ID: &str = "active_context_id";
    pub const AUTO_APPROVE_TOOLS: &str = "auto_approve_tools";
    pub const STATE_DATA: &str = "state_data";
    pub const IS_ACTIVE: &str = "is_active";
}

/// The id of the active context, if there is one.
pub(super) fn active_context_id(dict: &Object) -> Option<&str> {
    json::field(dict, keys::ACTIVE_CONTEXT_ID).and_then(Value::as_str).filter(|id| !id.is_empty())
}

/// The names of the tools that run without asking.
pub(super) fn auto_approve_tools(dict: &Object) -> impl Iterator<Item = &str> {
    json::items(dict, keys::AUTO_APPROVE_TOOLS).iter().filter_map(Value::as_str)
}

/// Whether a running agent uses the session.
pub(super) fn is_active(dict: &Object) -> bool {
    json::field(dict, keys::IS_ACTIVE).and_then(Value::as_bool).unwrap_or(false)
}

/// Every fault for which [`of_file`] would refuse a dict, field by field.
pub(crate) fn shape_faults(dict: &Object, layout: &Layout) -> Vec<ShapeError> {
    let known = [keys::UUID, keys::ACTIVE_CONTEXT_ID, keys::AUTO_APPROVE_TOOLS, keys::STATE_DATA, keys::IS_ACTIVE];
    let field = |(key, value): (&String, &Value)| {
        // The variables may be large, so they are not copied; they only need to be an object.
        let value = if value.is_object() { Value::Object(Object::new()) } else { value.clone() };
        Value::Object(Object::from_iter([(key.clone(), value)]))
    };
    let known = dict.iter().filter(|(key, _)| known.contains(&key.as_str()));
    known.map(field).filter_map(|field| checked(field, layout).err()).collect()
}

/// The dict of a `session.json`, without defaults for missing fields.
///
/// # Errors
///
/// [`Error::CorruptSession`] if the text is not valid, or belongs to another session; [`Error::FileTooLarge`].
pub(super) fn of_file(layout: &Layout, text: &[u8], limits: Limits) -> Result<Object, Error> {
    let path = layout.session_file();
    let value = json::parse_within(text, json::MAX_DEPTH, limits.values());
    let value = value.map_err(|error| Error::not_parsed(error, &path, limits))?;
    checked(value, layout).map_err(|fault| Error::in_file(fault, &path, text))
}

/// Checks that a value is a valid dict of the session.
///
/// # Errors
///
/// The field with the wrong shape.
pub(super) fn checked(dict: Value, layout: &Layout) -> Result<Object, ShapeError> {
    let root = FieldPath::root();
    let Value::Object(dict) = dict else { return Err(shape::wrong(&root, "an object", &dict)) };
    let is_id = |value: &Value| value.is_null() || value.is_string();
    shape::optional(&dict, keys::UUID, "a string", Value::is_string)?;
    shape::optional(&dict, keys::ACTIVE_CONTEXT_ID, "a string or null", is_id)?;
    shape::optional(&dict, keys::AUTO_APPROVE_TOOLS, "an array of strings", shape::is_string_array)?;
    shape::optional(&dict, keys::STATE_DATA, "an object", Value::is_object)?;
    shape::optional(&dict, keys::IS_ACTIVE, "true or false", Value::is_boolean)?;
    if let Some(uuid) = json::field(&dict, keys::UUID).filter(|uuid| *uuid != layout.id().as_str()) {
        let message = format!("expected \"{}\", the name of the session's directory, found {uuid}", layout.id());
        return Err(ShapeError::new(root.key(keys::UUID), message));
    }
    if let Some(id) = active_context_id(&dict) {
        ContextId::parse(id).map_err(|fault| ShapeError::new(root.key(keys::ACTIVE_CONTEXT_ID), fault))?;
    }
    Ok(dict)
}

/// Adds default values for missing fields.
pub(super) fn add_missing_fields(dict: &mut Object, layout: &Layout) {
    dict.entry(keys::UUID).or_insert_with(|| layout.id().as_str().into());
    dict.entry(keys::ACTIVE_CONTEXT_ID).or_insert(Value::Null);
    dict.entry(keys::AUTO_APPROVE_TOOLS).or_insert_with(|| Value::Array(Vec::new()));
    dict.entry(keys::STATE_DATA).or_insert_with(|| Value::Object(Object::new()));
    dict.entry(keys::IS_ACTIVE).or_insert(Value::Bool(false));
}
