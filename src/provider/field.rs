//! A value that a caller hands in, read field by field; every error names the way to the field.

use serde_json::Value;

use crate::conversation::shape::wrong;
use crate::error::ShapeError;
use crate::json::{FieldPath, Object};

/// A field of a value and where it stands.
#[derive(Clone)]
pub struct Field<'v> {
    pub value: &'v Value,
    pub path: FieldPath,
}

impl<'v> Field<'v> {
    pub fn root(value: &'v Value) -> Self {
        Self { value, path: FieldPath::root() }
    }

    pub fn object(&self) -> Result<&'v Object, ShapeError> {
        self.value.as_object().ok_or_else(|| wrong(&self.path, "an object", self.value))
    }

    pub fn string(&self) -> Result<&'v str, ShapeError> {
        self.value.as_str().ok_or_else(|| wrong(&self.path, "a string", self.value))
    }

    pub fn items(&self) -> Result<Vec<Field<'v>>, ShapeError> {
        let items = self.value.as_array().ok_or_else(|| wrong(&self.path, "an array", self.value))?;
        let field = |(index, value)| Field { value, path: self.path.index(index) };
        Ok(items.iter().enumerate().map(field).collect())
    }

    /// The field of this name; `None` where it is absent or null.
    pub fn get(&self, key: &str) -> Result<Option<Field<'v>>, ShapeError> {
        let found = self.object()?.get(key).filter(|value| !value.is_null());
        Ok(found.map(|value| Field { value, path: self.path.key(key) }))
    }

    pub fn required(&self, key: &str) -> Result<Field<'v>, ShapeError> {
        self.get(key)?.ok_or_else(|| ShapeError::new(self.path.key(key), "is missing"))
    }

    pub fn required_string(&self, key: &str) -> Result<&'v str, ShapeError> {
        self.required(key)?.string()
    }

    pub fn optional_string(&self, key: &str) -> Result<Option<&'v str>, ShapeError> {
        self.get(key)?.map(|field| field.string()).transpose()
    }

    /// The error that this field is at fault.
    pub fn fault(&self, message: impl Into<String>) -> ShapeError {
        ShapeError::new(self.path.clone(), message)
    }

    /// The error that a field of this one says what our parts have no place for.
    pub fn unknown(&self, key: &str, found: &str) -> ShapeError {
        let message = format!("{found:?} has no place in a stored conversation; leave it out");
        ShapeError::new(self.path.key(key), message)
    }
}
