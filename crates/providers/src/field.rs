//! A value from a caller, read field by field. Every error names the path of the field.

use std::rc::Rc;

use serde_json::Value;

use peteos_conversation::error::ShapeError;
use peteos_conversation::shape::wrong;
use peteos_json::{FieldPath, Object};

/// A field of a value, with its path.
#[derive(Clone)]
pub struct Field<'v> {
    pub value: &'v Value,
    path: Option<Rc<LinkedPath<'v>>>,
}

/// The last step of a path, and the path before it. Fields share these steps, because the text of a path is only needed for
/// errors.
struct LinkedPath<'v> {
    parent: Option<Rc<LinkedPath<'v>>>,
    step: Step<'v>,
}

enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

impl<'v> Field<'v> {
    pub fn root(value: &'v Value) -> Self {
        Self { value, path: None }
    }

    /// Another value at the same path.
    pub fn with<'o>(&self, value: &'o Value) -> Field<'o>
    where
        'v: 'o,
    {
        Field { value, path: self.path.clone() }
    }

    pub fn object(&self) -> Result<&'v Object, ShapeError> {
        self.value.as_object().ok_or_else(|| self.wrong("an object"))
    }

    pub fn string(&self) -> Result<&'v str, ShapeError> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    pub fn items(&self) -> Result<Vec<Field<'v>>, ShapeError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("an array"))?;
        Ok(items.iter().enumerate().map(|(index, value)| self.below(Step::Index(index), value)).collect())
    }

    /// The field with this name; `None` if it is absent or null.
    pub fn get(&self, key: &'v str) -> Result<Option<Field<'v>>, ShapeError> {
        let found = self.object()?.get(key).filter(|value| !value.is_null());
        Ok(found.map(|value| self.below(Step::Key(key), value)))
    }

    pub fn required(&self, key: &'v str) -> Result<Field<'v>, ShapeError> {
        self.get(key)?.ok_or_else(|| self.fault_at(key, "is missing"))
    }

    pub fn required_string(&self, key: &'v str) -> Result<&'v str, ShapeError> {
        self.required(key)?.string()
    }

    pub fn optional_string(&self, key: &'v str) -> Result<Option<&'v str>, ShapeError> {
        self.get(key)?.map(|field| field.string()).transpose()
    }

    /// An error: this field has the wrong type.
    #[cold]
    pub fn wrong(&self, expected: &str) -> ShapeError {
        wrong(&self.path(), expected, self.value)
    }

    /// An error about this field.
    #[cold]
    pub fn fault(&self, message: impl Into<String>) -> ShapeError {
        ShapeError::new(self.path(), message)
    }

    /// An error about a field of this one.
    #[cold]
    pub fn fault_at(&self, key: &str, message: impl Into<String>) -> ShapeError {
        ShapeError::new(self.path().key(key), message)
    }

    fn below(&self, step: Step<'v>, value: &'v Value) -> Self {
        Self { value, path: Some(Rc::new(LinkedPath { parent: self.path.clone(), step })) }
    }

    pub fn path(&self) -> FieldPath {
        let mut steps = Vec::new();
        let mut rest = self.path.as_ref();
        while let Some(LinkedPath { parent, step }) = rest.map(Rc::as_ref) {
            steps.push(step);
            rest = parent.as_ref();
        }
        steps.into_iter().rev().fold(FieldPath::root(), |path, step| match step {
            Step::Key(key) => path.key(key),
            Step::Index(index) => path.index(*index),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_names_the_path() {
        let value = json!({"a": [{"b": null}, {"b": 5}]});
        let items = Field::root(&value).required("a").and_then(|field| field.items()).unwrap();
        let fault = |error: ShapeError| error.in_argument("value").to_string();
        assert_eq!(fault(items[0].required("b").err().unwrap()), "value.a[0].b: is missing");
        assert_eq!(fault(items[1].required_string("b").unwrap_err()), "value.a[1].b: expected a string, found 5");
        assert_eq!(fault(Field::root(&value).string().unwrap_err()), "value: expected a string, found an object");
        assert_eq!(items[0].optional_string("b"), Ok(None));
    }
}
