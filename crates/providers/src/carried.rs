//! Fields of one format that a stored part carries along.

use serde_json::Value;

use super::dict::set;
use peteos_json::Object;

/// A field of one format: its name in a stored part, its name in the format, and whether a value is valid.
pub type Carried = (&'static str, &'static str, fn(&Value) -> bool);

/// Copies such fields from a stored part to the part of a request.
pub fn carry(from: &Object, to: &mut Value, fields: &[Carried]) {
    for (ours, theirs, is_valid) in fields {
        if let Some(value) = from.get(*ours).filter(|value| is_valid(value)) {
            set(to, theirs, value.clone());
        }
    }
}

/// Copies such fields from the part of a request to a stored part.
pub fn carry_back(from: &Object, to: &mut Value, fields: &[Carried]) {
    for (ours, theirs, is_valid) in fields {
        if let Some(value) = from.get(*theirs).filter(|value| is_valid(value)) {
            set(to, ours, value.clone());
        }
    }
}
