//! Turns the errors of the core into error objects of the classes in `js/errors.ts`.

mod advice;
mod details;
mod names;

use std::cell::RefCell;

use js_sys::{Function, Object};
use wasm_bindgen::prelude::*;

use advice::advice;
use details::details;
use names::argument_path;

use crate::error::Error;

thread_local! {
    static FACTORY: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Sets the function of `js/` that creates error objects.
pub fn set_factory(factory: Function) {
    FACTORY.set(Some(factory));
}

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        create(error.kind().name(), &message(&error), &details(&error))
    }
}

fn message(error: &Error) -> String {
    let sentence = match error {
        Error::InvalidArgument { argument, message } => format!("{}: {message}", argument_path(argument)),
        _ => error.to_string(),
    };
    match advice(error) {
        Some(advice) => format!("{sentence}; {advice}"),
        None => sentence,
    }
}

fn create(class: &str, message: &str, details: &Object) -> JsValue {
    // The factory runs JavaScript, so it must not be called while the cell is borrowed.
    let factory = FACTORY.with_borrow(Clone::clone);
    let made = factory.and_then(|factory| factory.call3(&JsValue::NULL, &class.into(), &message.into(), details).ok());
    made.unwrap_or_else(|| {
        let error = js_sys::Error::new(message);
        error.set_name(class);
        error.into()
    })
}
