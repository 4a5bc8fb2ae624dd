//! The shape of a context's dict.

use serde_json::Value;

use crate::error::ShapeError;
use crate::id::ContextId;
use crate::json::{self, FieldPath, Object};
use crate::keys;
use crate::shape::{self, wrong};
use crate::special::Special;

/// The largest counter that a file may have, so that counting never overflows.
pub(crate) const MAX_COUNTER: u64 = json::MAX_SAFE_INTEGER;

/// Every fault for which `Context::from_dict` would refuse a dict: of each field, then of each message.
pub fn shape_faults(dict: &Object) -> Vec<ShapeError> {
    let root = FieldPath::root();
    let mut faults: Vec<ShapeError> = Vec::new();
    let mut checked = vec![keys::MESSAGES, keys::ID, keys::CONTENT_MAP, keys::ANCHOR_POINTS, keys::MESSAGE_SEQUENCE];
    checked.extend([keys::MUTATION_COUNTER, keys::CHILDREN, keys::ANCHOR_SEQUENCES, keys::ORIGIN]);
    checked.extend(Special::ALL.map(Special::id_key));
    for (key, value) in dict.iter().filter(|(key, _)| checked.contains(&key.as_str())) {
        // Large values are not copied; they only need to be a list or an object.
        let value = match value {
            Value::Array(_) if key == keys::MESSAGES => Value::Array(Vec::new()),
            Value::Object(_) => Value::Object(Object::new()),
            other => other.clone(),
        };
        faults.extend(check_fields(&Object::from_iter([(key.clone(), value)])).err());
    }
    if let Some(Err(fault)) = dict.get(keys::ID).and_then(Value::as_str).map(ContextId::parse) {
        faults.push(ShapeError::new(root.key(keys::ID), fault));
    }
    for (index, message) in json::items(dict, keys::MESSAGES).iter().enumerate() {
        let fault = match message {
            Value::Object(message) => shape::check_stored(message).err(),
            other => Some(wrong(&root, "an object", other)),
        };
        let at = root.key(keys::MESSAGES).index(index);
        faults.extend(fault.map(|fault| fault.below(&at)));
    }
    faults
}

fn is_counter(value: &Value) -> bool {
    value.as_u64().is_some_and(|counter| counter <= MAX_COUNTER)
}

/// Checks the fields of a context, except its messages.
pub(crate) fn check_fields(fields: &Object) -> Result<(), ShapeError> {
    let root = FieldPath::root();
    let is_counter_array = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(is_counter));
    let is_id = |value: &Value| value.is_null() || value.is_string();
    shape::optional(fields, keys::MESSAGES, "an array", Value::is_array)?;
    shape::optional(fields, keys::ID, "a string", Value::is_string)?;
    shape::optional(fields, keys::CONTENT_MAP, "an object", Value::is_object)?;
    shape::optional(fields, keys::ANCHOR_POINTS, "an array", Value::is_array)?;
    shape::optional(fields, keys::MESSAGE_SEQUENCE, "a non-negative integer", is_counter)?;
    shape::optional(fields, keys::MUTATION_COUNTER, "a non-negative integer", is_counter)?;
    shape::optional(fields, keys::CHILDREN, "an array of strings", shape::is_string_array)?;
    shape::optional(fields, keys::ANCHOR_SEQUENCES, "an array of non-negative integers", is_counter_array)?;
    shape::optional(fields, keys::ORIGIN, "a string or null", is_id)?;
    for kind in Special::ALL {
        shape::optional(fields, kind.id_key(), "a string or null", is_id)?;
    }
    let anchors = json::items(fields, keys::ANCHOR_POINTS);
    anchors.iter().enumerate().try_for_each(|(index, anchor)| match anchor.as_array().map(Vec::as_slice) {
        Some([Value::String(_), position]) if is_counter(position) => Ok(()),
        _ => Err(wrong(&root.key(keys::ANCHOR_POINTS).index(index), "a name and a message index", anchor)),
    })
}
