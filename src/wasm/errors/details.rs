//! The properties of error objects, under the names that `js/errors.ts` uses.

use js_sys::{Array, Object, Reflect};
use peteos_memory::OutOfMemory;
use wasm_bindgen::prelude::*;

use super::advice::limit_option;
use super::names::argument_path;
use crate::error::{Cause, Error, FileTooLarge};

/// The properties of the error object for a core error.
pub fn details(error: &Error) -> Object {
    match error {
        Error::InvalidArgument { argument, .. } => object([("argument", argument_path(argument).into())]),
        Error::InvalidMessage { field, .. } => object([("field", field.to_string().into())]),
        Error::SessionNotFound { path } => object([("path", path.into())]),
        Error::ContextNotFound { id, path } => object([("id", id.into()), ("path", path.into())]),
        Error::CorruptSession { path, position, field, .. } => object([
            ("path", path.into()),
            ("line", (position.line as f64).into()),
            ("column", (position.column as f64).into()),
            ("field", if field.is_root() { JsValue::NULL } else { field.to_string().into() }),
        ]),
        Error::FileTooLarge(FileTooLarge { path, measure, size, limit, .. }) => object([
            ("path", path.into()),
            ("size", size.map_or(JsValue::NULL, |size| (size as f64).into())),
            ("limit", (*limit as f64).into()),
            ("option", limit_option(*measure).into()),
        ]),
        Error::MemoryLimit(OutOfMemory { needed, used, limit, .. }) => object([
            ("needed", (*needed as f64).into()),
            ("used", (*used as f64).into()),
            ("limit", (*limit as f64).into()),
        ]),
        Error::UnknownEncoding { argument, known, .. } => object([
            ("argument", (*argument).into()),
            ("known", known.iter().map(|name| JsValue::from(*name)).collect::<Array>().into()),
        ]),
        Error::EncodingNotLoaded { encoding } => object([("encoding", (*encoding).into())]),
        Error::WindowTooSmall { limit, special_tokens, needed, media_tokens, .. } => object([
            ("limit", (*limit as f64).into()),
            ("specialTokens", special_tokens.map_or(JsValue::NULL, |tokens| (tokens as f64).into())),
            ("needed", (*needed as f64).into()),
            ("mediaTokens", (*media_tokens as f64).into()),
        ]),
        Error::NoSaving { tokens, replaced } => {
            object([("tokens", (*tokens as f64).into()), ("replaced", (*replaced as f64).into())])
        }
        Error::FileConflict { path, expected, found } => object([
            ("path", path.into()),
            ("expected", expected.as_deref().into()),
            ("found", found.as_deref().into()),
        ]),
        Error::LockLost { path } => object([("path", path.into())]),
        Error::StateConflict { name, .. } => object([("variable", name.into())]),
        Error::Storage(error) => object([
            ("operation", error.operation.verb().into()),
            ("path", (&error.path).into()),
            ("cause", error.cause.as_ref().and_then(Cause::downcast_ref).cloned().unwrap_or(JsValue::UNDEFINED)),
        ]),
        Error::Stopped | Error::Internal(_) => Object::new(),
    }
}

/// An object with these properties.
fn object<const N: usize>(properties: [(&str, JsValue); N]) -> Object {
    let object = Object::new();
    for (key, value) in properties {
        // Setting a property of a new object does not fail.
        let _set = Reflect::set(&object, &key.into(), &value);
    }
    object
}
