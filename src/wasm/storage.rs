//! Implements the core's storage traits over JavaScript's storage adapters.

use js_sys::{Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::args::{array, is_absent, strings};
use super::bytes::{byte_length, copied, copied_out};
use super::memory::make_room_for_json;
use crate::error::{Cause, Error, Operation, StorageError};
use crate::limits::Limits;
use crate::storage::{FileWithTime, Revision, Storage, SyncStorage};

#[wasm_bindgen]
extern "C" {
    // The interface `SessionStorage` of `js/storage/storage.ts`. Not declared `async`: an async import assumes that the
    // function returns a promise, and traps on any other value.
    pub type SessionStorage;

    #[wasm_bindgen(method, catch)]
    fn read(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = readMany)]
    fn read_many(this: &SessionStorage, paths: &Array) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn write(this: &SessionStorage, path: &str, data: Uint8Array, lease: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn list(this: &SessionStorage, directory: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn remove(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn digest(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = writeSync)]
    fn write_sync(this: &SessionStorage, path: &str, data: Uint8Array, lease: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = digestSync)]
    fn digest_sync(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = modifiedTime)]
    fn modified_time(this: &SessionStorage, path: &str) -> Result<JsValue, JsValue>;

    // An item of the result of `Promise.allSettled`.
    type Outcome;

    #[wasm_bindgen(method, getter, catch, structural)]
    fn value(this: &Outcome) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, getter, catch, structural)]
    fn reason(this: &Outcome) -> Result<JsValue, JsValue>;
}

/// A JavaScript storage adapter. Everything that it returns is validated.
pub struct JsStorage {
    adapter: JsValue,
    limits: Limits,
    /// The lease that the adapter gave to the holder of the lock, checked before each write; `undefined` without a lock.
    lease: JsValue,
}

impl JsStorage {
    /// Wraps an adapter, with limits on its files.
    pub fn new(adapter: JsValue, limits: Limits) -> Self {
        Self { adapter, limits, lease: JsValue::UNDEFINED }
    }

    /// The same storage for the holder of a lock, with its lease.
    pub fn with_lease(&self, lease: JsValue) -> Self {
        self.of(self.adapter.clone(), lease)
    }

    /// Another adapter with the same limit, and the lease of the holder of a lock.
    pub fn of(&self, adapter: JsValue, lease: JsValue) -> Self {
        Self { adapter, limits: self.limits, lease }
    }

    /// The contents of the file at `path` from the value that the adapter returned.
    fn contents(&self, path: &str, answer: Result<JsValue, JsValue>) -> Result<Option<Vec<u8>>, Error> {
        let data = answer.map_err(|cause| failure(Operation::Read, path, cause))?;
        if is_absent(&data) {
            return Ok(None);
        }
        // Checked before the bytes are copied into the memory of the module.
        self.limits.check(path, byte_length(&data).unwrap_or(0), 0, false)?;
        let bytes = copied(&data, "a file")?;
        let bytes = bytes.ok_or_else(|| wrong_answer(Operation::Read, path, "a Uint8Array or null"))?;
        make_room_for_json(&bytes);
        Ok(Some(bytes))
    }

    /// As [`Storage::read_with_times`], with one call of the adapter.
    async fn read_many(&self, paths: &[String]) -> Vec<Result<Option<FileWithTime>, Error>> {
        let names: Array = paths.iter().map(JsValue::from).collect();
        let outcomes = match settle(self.adapter().read_many(&names)).await {
            Ok(outcomes) => array(&outcomes).filter(|outcomes| outcomes.length() as usize == paths.len()).ok_or(None),
            Err(cause) => Err(Some(cause)),
        };
        let file = |(path, index): (&String, u32)| {
            let outcomes = match &outcomes {
                Ok(outcomes) => outcomes,
                Err(Some(cause)) => return Err(failure(Operation::Read, path, cause.clone())),
                Err(None) => return Err(wrong_answer(Operation::Read, path, "a result for each file from readMany")),
            };
            let file = result_of(outcomes.get(index)).map_err(|cause| failure(Operation::Read, path, cause))?;
            if is_absent(&file) {
                return Ok(None);
            }
            let part = |name: &str| Reflect::get(&file, &name.into());
            let time = part("modifiedTime").ok().and_then(|time| time.as_f64());
            Ok(self.contents(path, part("data"))?.map(|contents| (contents, time)))
        };
        paths.iter().zip(0..).map(file).collect()
    }

    fn has_method(&self, name: &str) -> bool {
        Reflect::get(&self.adapter, &name.into()).is_ok_and(|method| method.is_function())
    }

    fn adapter(&self) -> &SessionStorage {
        self.adapter.unchecked_ref()
    }
}

impl Storage for JsStorage {
    fn limits(&self) -> Limits {
        self.limits
    }

    async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        self.contents(path, settle(self.adapter().read(path)).await)
    }

    async fn read_with_times(&self, paths: &[String]) -> Vec<Result<Option<FileWithTime>, Error>> {
        if self.has_method("readMany") {
            return self.read_many(paths).await;
        }
        let answers = settle_all(paths.iter().map(|path| self.adapter().read(path))).await;
        let files: Vec<_> = paths.iter().zip(answers).map(|(path, answer)| self.contents(path, answer)).collect();
        let is_found = |file: &Result<Option<Vec<u8>>, Error>| matches!(file, Ok(Some(_)));
        let found: Vec<String> =
            paths.iter().zip(&files).filter(|(_, file)| is_found(file)).map(|(path, _)| path.clone()).collect();
        let mut times = self.modified_times(&found).await.into_iter();
        let with_time = |file: Result<Option<Vec<u8>>, Error>| match file {
            Ok(Some(contents)) => Ok(Some((contents, times.next().transpose()?.flatten()))),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        files.into_iter().map(with_time).collect()
    }

    async fn write(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        let data = copied_out(contents)?;
        let written = settle(self.adapter().write(path, data, &self.lease)).await;
        written.map(drop).map_err(|cause| write_failure(path, cause))
    }

    async fn list(&self, directory: &str) -> Result<Vec<String>, Error> {
        let names = settle(self.adapter().list(directory)).await;
        let names = names.map_err(|cause| failure(Operation::List, directory, cause))?;
        strings(&names).ok_or_else(|| wrong_answer(Operation::List, directory, "an array of strings"))
    }

    async fn remove(&self, path: &str) -> Result<(), Error> {
        let removed = settle(self.adapter().remove(path)).await;
        removed.map(drop).map_err(|cause| failure(Operation::Remove, path, cause))
    }

    async fn digest(&self, path: &str) -> Result<Revision, Error> {
        if !self.has_method("digest") {
            return Ok(Revision::Unknown);
        }
        let digest = settle(self.adapter().digest(path)).await;
        digest_of(&digest.map_err(|cause| failure(Operation::Write, path, cause))?, path)
    }

    async fn modified_time(&self, path: &str) -> Result<Option<f64>, Error> {
        if !self.has_method("modifiedTime") {
            return Ok(None);
        }
        time(path, settle(self.adapter().modified_time(path)).await)
    }

    async fn modified_times(&self, paths: &[String]) -> Vec<Result<Option<f64>, Error>> {
        if !self.has_method("modifiedTime") {
            return paths.iter().map(|_| Ok(None)).collect();
        }
        let answers = settle_all(paths.iter().map(|path| self.adapter().modified_time(path))).await;
        paths.iter().zip(answers).map(|(path, answer)| time(path, answer)).collect()
    }
}

impl SyncStorage for JsStorage {
    fn write_sync(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        if !self.has_method("writeSync") {
            let message = "saveSync requires a storage adapter with writeSync; use save";
            return Err(storage_error(Operation::Write, path, message.to_owned(), None));
        }
        let answer = self.adapter().write_sync(path, copied_out(contents)?, &self.lease);
        let answer = answer.map_err(|cause| write_failure(path, cause))?;
        match is_absent(&answer) {
            true => Ok(()),
            false => Err(wrong_answer(Operation::Write, path, "nothing from writeSync")),
        }
    }

    fn digest_sync(&self, path: &str) -> Result<Revision, Error> {
        if !self.has_method("digestSync") {
            return Ok(Revision::Unknown);
        }
        let digest = self.adapter().digest_sync(path);
        digest_of(&digest.map_err(|cause| failure(Operation::Write, path, cause))?, path)
    }
}

/// The revision from the value that an adapter returned.
fn digest_of(digest: &JsValue, path: &str) -> Result<Revision, Error> {
    match digest.as_string() {
        Some(digest) => Ok(Revision::Digest(digest)),
        None if digest.is_null() => Ok(Revision::Absent),
        None if digest.is_undefined() => Ok(Revision::Unknown),
        None => Err(wrong_answer(Operation::Write, path, "a string or null as the digest")),
    }
}

/// The result of an adapter's method, which returns a value or a promise, or throws.
async fn settle(answer: Result<JsValue, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::resolve(&answer?)).await
}

/// The results of several calls, awaited as one promise: that costs far less than a promise for each.
async fn settle_all(answers: impl Iterator<Item = Result<JsValue, JsValue>>) -> Vec<Result<JsValue, JsValue>> {
    let answers: Array = answers.map(|answer| answer.unwrap_or_else(|cause| Promise::reject(&cause).into())).collect();
    let outcomes = match JsFuture::from(Promise::all_settled(&answers)).await {
        Ok(outcomes) => Array::from(&outcomes),
        Err(cause) => return answers.iter().map(|_| Err(cause.clone())).collect(),
    };
    outcomes.iter().map(result_of).collect()
}

/// The result in an item of `Promise.allSettled`.
fn result_of(outcome: JsValue) -> Result<JsValue, JsValue> {
    let value = outcome.unchecked_ref::<Outcome>().value()?;
    if value.is_undefined() && Reflect::has(&outcome, &"reason".into()) != Ok(false) {
        return Err(outcome.unchecked_ref::<Outcome>().reason()?);
    }
    Ok(value)
}

/// The time from the value that an adapter returned.
fn time(path: &str, answer: Result<JsValue, JsValue>) -> Result<Option<f64>, Error> {
    Ok(answer.map_err(|cause| failure(Operation::ReadTime, path, cause))?.as_f64())
}

/// The code of an adapter's error if the caller has lost the lock.
const LOCK_LOST: &str = "ELOCKLOST";

/// The code of the error that ends a call because its caller has stopped waiting. See `js/storage/bounded.ts`.
const STOPPED: &str = "ESTOPPED";

/// The error for an adapter that failed to write.
fn write_failure(path: &str, cause: JsValue) -> Error {
    if code_of(&cause).as_deref() == Some(LOCK_LOST) {
        return Error::LockLost { path: path.to_owned() };
    }
    failure(Operation::Write, path, cause)
}

fn code_of(cause: &JsValue) -> Option<String> {
    Reflect::get(cause, &"code".into()).ok()?.as_string()
}

/// The error for an adapter that failed.
fn failure(operation: Operation, path: &str, cause: JsValue) -> Error {
    if code_of(&cause).as_deref() == Some(STOPPED) {
        return Error::Stopped;
    }
    let message = Reflect::get(&cause, &"message".into()).ok().and_then(|message| message.as_string());
    let message = message.or_else(|| cause.as_string()).unwrap_or_else(|| "the storage failed".to_owned());
    storage_error(operation, path, message, Some(Cause::new(cause)))
}

/// The error for an adapter that returned something other than `expected`.
fn wrong_answer(operation: Operation, path: &str, expected: &str) -> Error {
    storage_error(operation, path, format!("the storage adapter must return {expected}"), None)
}

fn storage_error(operation: Operation, path: &str, message: String, cause: Option<Cause>) -> Error {
    Error::Storage(StorageError { operation, path: path.to_owned(), message, cause })
}
