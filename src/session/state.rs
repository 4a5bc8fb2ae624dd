//! The key-value store of a session, which is part of its dict.

use serde_json::Value;

use super::Session;
use super::dict::keys;
use crate::error::Error;
use crate::json::Object;

impl Session {
    /// The value of a variable; `None` if it does not exist.
    pub fn state_value(&self, name: &str) -> Option<&str> {
        self.state()?.get(name)?.as_str()
    }

    /// The names of all variables, in order of creation.
    pub fn state_names(&self) -> Vec<&str> {
        self.state().into_iter().flat_map(Object::keys).map(String::as_str).collect()
    }

    /// Creates a variable.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if it exists.
    pub fn create_state(&mut self, name: &str, value: String) -> Result<(), Error> {
        if self.state().is_some_and(|state| state.contains_key(name)) {
            return Err(Error::argument("name", format!("the variable '{name}' already exists; update it instead")));
        }
        self.put_state(name, value);
        Ok(())
    }

    /// Changes the value of a variable from `old` to `new`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if it does not exist; [`Error::StateConflict`] if it has another value.
    pub fn update_state(&mut self, name: &str, old: &str, new: String) -> Result<(), Error> {
        let current = self.existing_state(name)?;
        if current != old {
            return Err(Error::StateConflict { name: name.to_owned(), found: current.clone() });
        }
        self.put_state(name, new);
        Ok(())
    }

    /// Removes a variable.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if it does not exist.
    pub fn delete_state(&mut self, name: &str) -> Result<(), Error> {
        self.existing_state(name)?;
        if let Some(Value::Object(state)) = self.dict.get_mut(keys::STATE_DATA) {
            state.shift_remove(name);
            self.revision += 1;
        }
        Ok(())
    }

    fn state(&self) -> Option<&Object> {
        self.dict.get(keys::STATE_DATA)?.as_object()
    }

    fn existing_state(&self, name: &str) -> Result<&Value, Error> {
        let missing = || Error::argument("name", format!("the variable '{name}' does not exist; create it first"));
        self.state().and_then(|state| state.get(name)).ok_or_else(missing)
    }

    fn put_state(&mut self, name: &str, value: String) {
        if let Some(Value::Object(state)) = self.dict.get_mut(keys::STATE_DATA) {
            state.insert(name.to_owned(), value.into());
            self.revision += 1;
        }
    }
}
