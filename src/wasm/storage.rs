//! The storage adapters of JavaScript, called from Rust.

use js_sys::{Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::args::{is_absent, strings};
use super::errors::storage_error;
use super::memory::make_room_for_json;
use crate::error::Error;
use crate::storage::DEFAULT_MAX_FILE_BYTES;

#[wasm_bindgen]
extern "C" {
    // What `js/storage/storage.ts` describes as `SessionStorage`. Not declared `async`: such an import takes it for
    // granted that it is given a promise, and traps on a value.
    pub type SessionStorage;

    #[wasm_bindgen(method, catch)]
    fn read(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn write(this: &SessionStorage, path: &str, data: Uint8Array) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn list(this: &SessionStorage, directory: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn remove(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn digest(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = writeSync)]
    fn write_sync(this: &SessionStorage, path: &str, data: Uint8Array) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = digestSync)]
    fn digest_sync(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = modifiedTime)]
    fn modified_time(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    // What js_sys has of these takes it for granted that nothing throws. What an adapter gives may be a proxy, or an
    // array whose memory has gone elsewhere.
    #[wasm_bindgen(js_name = Uint8Array, extends = Uint8Array)]
    type Bytes;

    #[wasm_bindgen(constructor, catch, js_class = "Uint8Array")]
    fn copy(data: &JsValue) -> Result<Bytes, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ArrayBuffer, js_name = isView)]
    fn is_view(data: &JsValue) -> Result<bool, JsValue>;
}

/// An adapter whose answers are checked and whose failures are `StorageError`s.
#[derive(Clone)]
pub struct Storage {
    adapter: JsValue,
    max_file_bytes: u64,
}

/// What reading a file that is there came to, where it gave no contents.
pub enum ReadFault {
    /// The file has more bytes than are to be read.
    TooLarge { size: u64, limit: u64 },
    /// The `StorageError`, and what the adapter said.
    Failed { error: JsValue, message: String },
}

impl Storage {
    pub fn new(adapter: JsValue) -> Self {
        Self::with_limit(adapter, DEFAULT_MAX_FILE_BYTES)
    }

    /// Reads no file that has more bytes.
    pub fn with_limit(adapter: JsValue, max_file_bytes: u64) -> Self {
        Self { adapter, max_file_bytes }
    }

    /// The contents of a file; `None` where there is none.
    pub async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, JsValue> {
        self.try_read(path).await.map_err(|fault| match fault {
            ReadFault::TooLarge { size, limit } => Error::FileTooLarge { path: path.to_owned(), size, limit }.into(),
            ReadFault::Failed { error, .. } => error,
        })
    }

    /// As [`Storage::read`], for whom a file that is too large is no error.
    pub async fn try_read(&self, path: &str) -> Result<Option<Vec<u8>>, ReadFault> {
        let failed = |cause| ReadFault::Failed { error: failure("read", path, &cause), message: said(&cause) };
        let data = settle(self.adapter().read(path)).await.map_err(failed)?;
        if is_absent(&data) {
            return Ok(None);
        }
        // Before the bytes are copied here.
        let limit = self.max_file_bytes;
        if let Some(size) = byte_length(&data).filter(|size| *size > limit) {
            return Err(ReadFault::TooLarge { size, limit });
        }
        bytes(&data).map(Some).ok_or_else(|| {
            let error = wrong_answer("read", path, "a Uint8Array or null");
            ReadFault::Failed { message: "the storage adapter must give a Uint8Array or null".to_owned(), error }
        })
    }

    /// Removes a file, if it is there.
    pub async fn remove(&self, path: &str) -> Result<(), JsValue> {
        settle(self.adapter().remove(path)).await.map(drop).map_err(|cause| failure("remove", path, &cause))
    }

    /// Replaces a file as a whole.
    pub async fn write(&self, path: &str, data: &[u8]) -> Result<(), JsValue> {
        // The array is a copy: a view into the memory of wasm is gone when that grows.
        let data = Uint8Array::from(data);
        settle(self.adapter().write(path, data)).await.map(drop).map_err(|cause| failure("write", path, &cause))
    }

    /// The names in a directory; none where it does not exist.
    pub async fn list(&self, directory: &str) -> Result<Vec<String>, JsValue> {
        let names = settle(self.adapter().list(directory)).await.map_err(|cause| failure("list", directory, &cause))?;
        strings(&names).ok_or_else(|| wrong_answer("list", directory, "an array of strings"))
    }

    /// When a file was last written, in milliseconds since 1970, where the adapter has the optional method for it.
    pub async fn modified_time(&self, path: &str) -> Result<Option<f64>, JsValue> {
        if !self.has_method("modifiedTime") {
            return Ok(None);
        }
        let time = settle(self.adapter().modified_time(path))
            .await
            .map_err(|cause| failure("read the time of", path, &cause))?;
        Ok(time.as_f64())
    }

    /// The SHA-256 of a file's contents in hexadecimal digits; `None` where there is no file, and where the adapter does
    /// not have the optional method for it or cannot tell.
    pub async fn digest(&self, path: &str) -> Result<Option<String>, JsValue> {
        if !self.has_method("digest") {
            return Ok(None);
        }
        let digest = settle(self.adapter().digest(path)).await.map_err(|cause| failure("write", path, &cause))?;
        digest_of(&digest, path)
    }

    /// As [`Storage::write`], with the optional method that is done when it returns.
    pub fn write_sync(&self, path: &str, data: &[u8]) -> Result<(), JsValue> {
        if !self.has_method("writeSync") {
            let message = "the storage adapter has no writeSync, which saveSync needs; use save";
            return Err(storage_error("write", path, message, &JsValue::UNDEFINED));
        }
        let answer = self.adapter().write_sync(path, Uint8Array::from(data));
        let answer = answer.map_err(|cause| failure("write", path, &cause))?;
        if is_absent(&answer) { Ok(()) } else { Err(wrong_answer("write", path, "nothing back from writeSync")) }
    }

    /// As [`Storage::digest`], with the optional method for that.
    pub fn digest_sync(&self, path: &str) -> Result<Option<String>, JsValue> {
        if !self.has_method("digestSync") {
            return Ok(None);
        }
        let digest = self.adapter().digest_sync(path).map_err(|cause| failure("write", path, &cause))?;
        digest_of(&digest, path)
    }

    fn has_method(&self, name: &str) -> bool {
        Reflect::get(&self.adapter, &name.into()).is_ok_and(|method| method.is_function())
    }

    fn adapter(&self) -> &SessionStorage {
        self.adapter.unchecked_ref()
    }
}

/// What an adapter said of the revision of a file.
fn digest_of(digest: &JsValue, path: &str) -> Result<Option<String>, JsValue> {
    match digest.as_string() {
        Some(digest) => Ok(Some(digest)),
        None if is_absent(digest) => Ok(None),
        None => Err(wrong_answer("write", path, "a string or null as the digest")),
    }
}

/// What a call of an adapter came to: it may have given a value or a promise of one, or thrown.
async fn settle(answer: Result<JsValue, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::resolve(&answer?)).await
}

/// The size of what an adapter gave, where it is bytes.
fn byte_length(value: &JsValue) -> Option<u64> {
    let length = Reflect::get(value, &"byteLength".into()).ok()?.as_f64()?;
    (length >= 0.0).then_some(length as u64)
}

/// The bytes of a `Uint8Array`, of another realm as well, which `instanceof` does not know.
fn bytes(value: &JsValue) -> Option<Vec<u8>> {
    let number = |key: &str| Reflect::get(value, &key.into()).ok()?.as_f64();
    if !is_view(value).unwrap_or(false) || number("BYTES_PER_ELEMENT") != Some(1.0) {
        return None;
    }
    let bytes = Bytes::copy(value).ok()?.to_vec();
    make_room_for_json(&bytes);
    Some(bytes)
}

fn failure(operation: &str, path: &str, cause: &JsValue) -> JsValue {
    storage_error(operation, path, &said(cause), cause)
}

/// What an adapter said when it failed.
fn said(cause: &JsValue) -> String {
    let message = Reflect::get(cause, &"message".into()).ok().and_then(|message| message.as_string());
    message.or_else(|| cause.as_string()).unwrap_or_else(|| "the storage failed".to_owned())
}

fn wrong_answer(operation: &str, path: &str, expected: &str) -> JsValue {
    let message = format!("the storage adapter must give {expected}");
    storage_error(operation, path, &message, &JsValue::UNDEFINED)
}
