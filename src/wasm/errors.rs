//! The core's errors as error objects of the classes in `js/errors.ts`.

use std::cell::RefCell;

use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::tokens::Encoding;

thread_local! {
    static FACTORY: RefCell<Option<Function>> = const { RefCell::new(None) };
}

pub fn set_factory(factory: Function) {
    FACTORY.set(Some(factory));
}

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        create(error.class(), &error.to_string(), &details(&error))
    }
}

/// The error of a storage adapter that failed, threw, or gave what it must not give.
pub fn storage_error(operation: &str, path: &str, message: &str, cause: &JsValue) -> JsValue {
    let details = Object::new();
    put(&details, "operation", &operation.into());
    put(&details, "path", &path.into());
    put(&details, "cause", cause);
    create("StorageError", &format!("could not {operation} {path}: {message}"), &details)
}

fn create(class: &str, message: &str, details: &Object) -> JsValue {
    // The factory runs JavaScript, so that it is not called from within the borrow.
    let factory = FACTORY.with_borrow(Clone::clone);
    let made = factory.and_then(|factory| factory.call3(&JsValue::NULL, &class.into(), &message.into(), details).ok());
    made.unwrap_or_else(|| {
        let error = js_sys::Error::new(message);
        error.set_name(class);
        error.into()
    })
}

fn details(error: &Error) -> Object {
    let details = Object::new();
    let put = |key: &str, value: JsValue| put(&details, key, &value);
    match error {
        Error::InvalidArgument { argument, .. } => put("argument", argument.into()),
        Error::InvalidMessage { field, .. } => put("field", field.to_string().into()),
        Error::SessionNotFound { path } => put("path", path.into()),
        Error::ContextNotFound { id, path } => {
            put("id", id.into());
            put("path", path.into());
        }
        Error::CorruptSession { path, position, field, .. } => {
            put("path", path.into());
            put("line", (position.line as f64).into());
            put("column", (position.column as f64).into());
            put("field", if field.is_root() { JsValue::NULL } else { field.to_string().into() });
        }
        Error::FileTooLarge { path, size, limit } => {
            put("path", path.into());
            put("size", (*size as f64).into());
            put("limit", (*limit as f64).into());
        }
        Error::UnknownEncoding { argument, .. } => {
            put("argument", (*argument).into());
            put("known", Encoding::known_names().into_iter().map(JsValue::from).collect::<Array>().into());
        }
        Error::WindowTooSmall { limit, special_tokens, needed, .. } => {
            put("limit", (*limit as f64).into());
            put("specialTokens", special_tokens.map_or(JsValue::NULL, |tokens| (tokens as f64).into()));
            put("needed", (*needed as f64).into());
        }
        Error::EncodingNotLoaded { encoding } => put("encoding", (*encoding).into()),
        Error::FileConflict { path, expected, found } => {
            put("path", path.into());
            put("expected", expected.as_deref().into());
            put("found", found.as_deref().into());
        }
        Error::StateConflict { name, .. } => put("variable", name.into()),
        Error::Internal(_) => {}
    }
    details
}

fn put(details: &Object, key: &str, value: &JsValue) {
    // Setting a property of a fresh object does not fail.
    let _set = Reflect::set(details, &key.into(), value);
}
