//! The boundary, called from Rust as `js/` calls it; runs under Node and in a browser.
#![cfg(target_arch = "wasm32")]

use js_sys::{Array, Function, Object, Promise, Reflect};
use peteos_session::wasm::{
    ContextHandle, SessionHandle, configure, count_tokens, encoding_for_model, encoding_number, expect_string,
    text_buffer,
};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

const NONE: JsValue = JsValue::UNDEFINED;

/// A storage adapter of four functions over a Map, each given as JavaScript.
fn storage(read: &str, write: &str, list: &str) -> JsValue {
    let adapter = Object::new();
    let files = js_sys::eval("new Map()").unwrap();
    set(&adapter, "files", &files);
    let method = |name: &str, args: &str, body: &str| {
        let function = Function::new_with_args(args, body);
        set(&adapter, name, &function);
    };
    method("read", "path", read);
    method("write", "path, data", write);
    method("list", "directory", list);
    method("remove", "path", "this.files.delete(path)");
    adapter.into()
}

const READ: &str = "return this.files.get(path) ?? null";
const WRITE: &str = "this.files.set(path, data)";
const LIST: &str = "return [...this.files.keys()].filter(p => p.startsWith(directory + '/'))
    .map(p => p.slice(directory.length + 1).split('/')[0]).filter((n, i, all) => all.indexOf(n) === i)";

fn memory() -> JsValue {
    storage(READ, WRITE, LIST)
}

fn set(object: &Object, key: &str, value: &JsValue) {
    Reflect::set(object, &key.into(), value).unwrap();
}

fn property(value: &JsValue, key: &str) -> String {
    let property = Reflect::get(value, &key.into()).unwrap();
    property.as_string().or_else(|| property.as_f64().map(|number| number.to_string())).unwrap_or_default()
}

fn user_message(text: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"type":"text","text":{text:?}}}]}}"#)
}

/// Writes a text into the buffer, as `js/` does; returns its length.
fn pass(text: &str) -> usize {
    let address = text_buffer(text.len()).unwrap();
    // SAFETY: the buffer is at least as long as asked for, and nothing else refers to it.
    let buffer = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, text.len()) };
    buffer.copy_from_slice(text.as_bytes());
    text.len()
}

fn append(context: &ContextHandle, message: &str) -> Result<String, JsValue> {
    context.append(pass(message), &NONE)
}

fn from_dict(dict: &str) -> Result<ContextHandle, JsValue> {
    ContextHandle::from_dict(pass(dict), &NONE)
}

fn new_session(storage: &JsValue) -> (SessionHandle, ContextHandle) {
    let session = SessionHandle::create(&"agents".into(), storage.clone(), None, None, &NONE).ok().unwrap();
    let context = session.active_context().unwrap();
    (session, context)
}

async fn save(session: &SessionHandle, storage: &JsValue) -> Result<JsValue, JsValue> {
    JsFuture::from(session.save(false, storage.clone(), NONE)).await
}

/// The pages of a list as one text.
async fn list(storage: JsValue) -> Result<String, JsValue> {
    let pages = Array::new();
    let add = Function::new_with_args("page", "this.push(page)").bind0(&pages);
    let ignore = Function::default();
    SessionHandle::list("agents".into(), storage, NONE, 0.0, NONE, NONE, NONE, add, ignore).await?;
    Ok(String::from(pages.join("")))
}

async fn load(uuid: &str, storage: &JsValue) -> Result<SessionHandle, JsValue> {
    SessionHandle::load("agents".into(), uuid.into(), storage.clone(), storage.clone(), NONE, NONE).await
}

#[wasm_bindgen_test]
async fn a_session_travels_through_storage() {
    for (read, write) in [
        (READ, WRITE),
        (
            "return Promise.resolve(this.files.get(path) ?? undefined)",
            "return Promise.resolve(this.files.set(path, data))",
        ),
        ("return new Promise(r => setTimeout(() => r(this.files.get(path)), 1))", WRITE),
    ] {
        let storage = storage(read, write, LIST);
        let (session, context) = new_session(&storage);
        append(&context, &user_message("Grüße 👋")).unwrap();
        save(&session, &storage).await.unwrap();
        let loaded = load(&session.uuid(), &storage).await.ok().unwrap();
        let text = loaded.active_context().unwrap().messages_text(&[0]).unwrap();
        assert!(text.contains("Grüße 👋"), "{text}");
        let ids: Array = JsFuture::from(loaded.list_contexts(storage.clone())).await.unwrap().unchecked_into();
        assert_eq!(ids.get(0).as_string(), Some(context.id()));
        let summaries = list(storage).await.unwrap();
        assert!(summaries.contains(&session.uuid()), "{summaries}");
    }
}

#[wasm_bindgen_test]
async fn calls_made_while_a_save_awaits_storage_work() {
    let slow = "return new Promise(r => setTimeout(() => r(this.files.set(path, data)), 5))";
    let adapter = storage(READ, slow, LIST);
    let (session, context) = new_session(&adapter);
    append(&context, &user_message("before")).unwrap();
    let saving = session.save(false, adapter.clone(), NONE);
    append(&context, &user_message("during")).unwrap();
    let window = session.rolling_sequence_window(&1.into(), &NONE).ok().flatten().unwrap();
    session.set_is_active(&true.into()).unwrap();
    assert_eq!(window.message_count(), 1);
    let second = session.save(false, adapter.clone(), NONE);
    JsFuture::from(Promise::all(&Array::of2(&saving, &second))).await.unwrap();
    drop(session);
}

#[wasm_bindgen_test]
async fn a_call_back_into_the_session_from_storage_works() {
    let adapter = memory();
    let (session, context) = new_session(&adapter);
    let context_of_callback = session.active_context().unwrap();
    let write = Closure::<dyn Fn()>::new(move || {
        append(&context_of_callback, &user_message("from within")).unwrap();
    });
    set(adapter.unchecked_ref(), "write", write.as_ref());
    save(&session, &adapter).await.unwrap();
    assert_eq!(context.message_count(), 2);
}

#[wasm_bindgen_test]
async fn a_storage_that_fails_is_named_and_nothing_is_lost() {
    let full = "throw Object.assign(new Error('no space'), { code: 'ENOSPC' })";
    let adapter = storage(READ, full, LIST);
    let (session, context) = new_session(&adapter);
    append(&context, &user_message("kept")).unwrap();
    let error = save(&session, &adapter).await.unwrap_err();
    assert_eq!(property(&error, "name"), "StorageError");
    assert!(property(&error, "message").contains("no space"));
    set(adapter.unchecked_ref(), "write", &Function::new_with_args("path, data", WRITE));
    save(&session, &adapter).await.unwrap();
    assert_eq!(load(&session.uuid(), &adapter).await.ok().unwrap().active_context().unwrap().message_count(), 1);
}

#[wasm_bindgen_test]
async fn answers_that_are_no_bytes_are_refused() {
    for answer in ["'text'", "7", "Promise.resolve('text')", "[1, 2]", "new ArrayBuffer(2)", "new Uint16Array(2)", "{}"]
    {
        let adapter = storage(&format!("return {answer}"), WRITE, LIST);
        let error = load("x", &adapter).await.err().unwrap();
        assert_eq!(property(&error, "name"), "StorageError", "{answer}");
        assert!(property(&error, "message").contains("Uint8Array"), "{answer}");
    }
    let error = load("x", &storage("return Promise.reject('just so')", WRITE, LIST)).await.err().unwrap();
    assert!(property(&error, "message").contains("just so"));
    let error = list(storage(READ, WRITE, "return 7")).await.unwrap_err();
    assert_eq!(property(&error, "name"), "StorageError");
}

#[wasm_bindgen_test]
async fn arguments_of_any_type_are_refused_by_name() {
    let (session, context) = new_session(&memory());
    let numbers: Vec<JsValue> = vec![
        (-1).into(),
        1.5.into(),
        f64::NAN.into(),
        f64::INFINITY.into(),
        9_007_199_254_740_992.0.into(),
        "3".into(),
        true.into(),
        JsValue::NULL,
        NONE,
        Object::new().into(),
        js_sys::BigInt::from(3).into(),
        js_sys::Symbol::iterator().into(),
    ];
    for number in &numbers {
        let error = context.rolling_sequence_window(number, &NONE).err().unwrap();
        assert!(property(&error, "message").starts_with("count: expected a non-negative integer"), "{number:?}");
        let error = session.rolling_token_window(number, &NONE, &NONE).err().unwrap();
        assert!(property(&error, "message").starts_with("maxTokens: "), "{number:?}");
        assert!(expect_string(number, "text").is_err() || number.is_string());
        assert!(encoding_number(number).is_err() || number.is_undefined());
        let error = load_error(number).await;
        assert!(number.is_string() || property(&error, "message").starts_with("uuid: "), "{number:?}");
    }
    for options in [JsValue::from(7), "message".into()] {
        let error = context.plan_sequence_window(&1.into(), &options).unwrap_err();
        assert!(property(&error, "message").starts_with("options: "), "{options:?}");
    }
    let options = Object::new();
    set(&options, "boundary", &7.into());
    let error = context.plan_sequence_window(&1.into(), &options).unwrap_err();
    assert!(property(&error, "message").starts_with("options.boundary: "));
    assert!(encoding_for_model(&7.into()).is_err());
}

async fn load_error(uuid: &JsValue) -> JsValue {
    SessionHandle::load("agents".into(), uuid.clone(), memory(), memory(), NONE, NONE).await.err().unwrap()
}

#[wasm_bindgen_test]
fn the_factory_of_javascript_creates_the_errors() {
    let factory = Function::new_with_args(
        "name, message, details",
        "return Object.assign(new Error(message), { name: 'made ' + name }, details)",
    );
    configure(factory, Function::new_no_args("return undefined"));
    let error = encoding_number(&"nope".into()).unwrap_err();
    assert_eq!(property(&error, "name"), "made UnknownEncodingError");
    assert_eq!(property(&error, "argument"), "encoding");
    let error = count_tokens(0, encoding_number(&NONE).unwrap(), &NONE).unwrap_err();
    assert_eq!(property(&error, "name"), "made EncodingNotLoadedError");
    let failing = Function::new_no_args("throw new Error('no errors today')");
    configure(failing, Function::new_no_args("return new Uint8Array(3)"));
    let error = count_tokens(0, encoding_number(&NONE).unwrap(), &NONE).unwrap_err();
    assert!(property(&error, "message").contains("cl100k_base.bin"), "a factory that fails is done without");
    let plain = "const error = new Error(message); error.name = name; return error";
    configure(Function::new_with_args("name, message, details", plain), Function::new_no_args("return undefined"));
}

#[wasm_bindgen_test]
async fn the_deepest_nesting_that_is_allowed_is_survived() {
    // A message is three levels into a context's file, and its metadata one level into the message.
    let depth = 1000 - 2 - 2;
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let message = |depth: usize| format!(r#"{{"role":"user","metadata":{{"deep":{}}}}}"#, nested(depth));
    let storage = memory();
    let (session, context) = new_session(&storage);
    append(&context, &message(depth)).unwrap();
    let fork = context.fork(&NONE, &NONE, None, None).ok().unwrap();
    assert_eq!(fork.message_count(), 1);
    save(&session, &storage).await.unwrap();
    let loaded = load(&session.uuid(), &storage).await.ok().unwrap();
    let text = loaded.active_context().unwrap().messages_text(&[0]).unwrap();
    assert!(text.contains(&nested(depth)));
    assert!(from_dict(&nested(1_000_000)).is_err());
    assert!(append(&context, &message(1_000_000)).is_err());
    assert_eq!(context.message_count(), 1);
}
