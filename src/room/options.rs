//! Options given as JSON: each is read by name, and the ones that are left over are errors.

use serde_json::Value;

use crate::conversation::shape::wrong;
use crate::error::{Error, ShapeError};
use crate::json::{FieldPath, MAX_SAFE_INTEGER, Object};

/// The options of a step, at a path that errors name, such as `policy[1]`.
pub(super) struct Options<'v> {
    object: &'v Object,
    path: FieldPath,
    argument: &'static str,
    known: Vec<&'static str>,
}

impl<'v> Options<'v> {
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the value is not an object.
    pub fn new(value: &'v Value, path: FieldPath, argument: &'static str) -> Result<Self, Error> {
        match value {
            Value::Object(object) => Ok(Self { object, path, argument, known: Vec::new() }),
            other => Err(wrong(&path, "an object", other).in_argument(argument).into()),
        }
    }

    /// The options below an option; `None` if it is absent.
    pub fn below(&mut self, key: &'static str) -> Result<Option<Self>, Error> {
        let path = self.path.key(key);
        let argument = self.argument;
        self.get(key).map(|value| Options::new(value, path, argument)).transpose()
    }

    /// An option that must be present.
    pub fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| self.fault(key, "is missing"))
    }

    pub fn integer(&mut self, key: &'static str) -> Result<Option<u64>, Error> {
        let whole = |value: &Value| {
            let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
            number.filter(|number| *number <= MAX_SAFE_INTEGER as f64).map(|number| number as u64)
        };
        self.read(key, "a non-negative integer", &whole)
    }

    /// A number from 0 to 1.
    pub fn share(&mut self, key: &'static str) -> Result<Option<f64>, Error> {
        self.read(key, "a number from 0 to 1", &|value| value.as_f64().filter(|share| (0.0..=1.0).contains(share)))
    }

    /// A non-negative number.
    pub fn price(&mut self, key: &'static str) -> Result<Option<f64>, Error> {
        let price = |value: &Value| value.as_f64().filter(|price| price.is_finite() && *price >= 0.0);
        self.read(key, "a non-negative number", &price)
    }

    pub fn boolean(&mut self, key: &'static str) -> Result<Option<bool>, Error> {
        self.read(key, "true or false", &Value::as_bool)
    }

    pub fn string(&mut self, key: &'static str) -> Result<Option<String>, Error> {
        self.read(key, "a string", &|value| value.as_str().map(str::to_owned))
    }

    pub fn strings(&mut self, key: &'static str) -> Result<Option<Vec<String>>, Error> {
        let strings = |value: &Value| {
            value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        };
        self.read(key, "an array of strings", &strings)
    }

    fn read<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        convert: &dyn Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let path = self.path.key(key);
        let argument = self.argument;
        let wrong = |value| Error::from(wrong(&path, expected, value).in_argument(argument));
        self.get(key).map(|value| convert(value).ok_or_else(|| wrong(value))).transpose()
    }

    /// The value of an option; `None` if it is absent or null.
    pub fn get(&mut self, key: &'static str) -> Option<&'v Value> {
        self.known.push(key);
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// An error about an option.
    pub fn fault(&self, key: &str, message: impl Into<String>) -> Error {
        ShapeError::new(self.path.key(key), message).in_argument(self.argument).into()
    }

    /// Checks that every option was read.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an option that no call asked for.
    pub fn finish(self) -> Result<(), Error> {
        match self.object.keys().find(|key| !self.known.contains(&key.as_str())) {
            None => Ok(()),
            Some(unknown) => {
                Err(self.fault(unknown, format!("is not an option; known options: {}", self.known.join(", "))))
            }
        }
    }
}
