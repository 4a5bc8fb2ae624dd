//! A storage in memory that can fail and answer late.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use peteos_session::digest::sha256_hex;
use peteos_session::error::{Cause, Error, Operation, StorageError};
use peteos_session::storage::{Revision, Storage, SyncStorage};

/// The contents of files by their paths.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A storage in memory. Clones share the files.
#[derive(Clone, Default)]
pub struct Disk(Rc<State>);

#[derive(Default)]
struct State {
    files: RefCell<Files>,
    written: RefCell<Vec<String>>,
    /// The files after each write.
    states: RefCell<Vec<Files>>,
    calls: Cell<usize>,
    failure: Cell<Option<Failure>>,
    /// Seeds the number of polls that each call takes.
    lateness: Cell<Option<u64>>,
}

#[derive(Clone, Copy)]
struct Failure {
    call: usize,
    /// Whether a failing write takes effect nonetheless.
    has_effect: bool,
    /// Whether the call fails because another writer has taken over the lock.
    is_lock_lost: bool,
}

impl Disk {
    pub fn of(files: Files) -> Self {
        let disk = Self::default();
        disk.0.files.replace(files);
        disk
    }

    pub fn files(&self) -> Files {
        self.0.files.borrow().clone()
    }

    pub fn insert(&self, path: &str, contents: &[u8]) {
        self.0.files.borrow_mut().insert(path.to_owned(), contents.to_vec());
    }

    pub fn clear(&self) {
        self.0.files.borrow_mut().clear();
    }

    /// The paths written since the last call of this, in order.
    pub fn take_written(&self) -> Vec<String> {
        self.0.written.take()
    }

    /// The files after each write since the last call of this, in order.
    pub fn take_states(&self) -> Vec<Files> {
        self.0.states.take()
    }

    /// The number of calls so far.
    pub fn calls(&self) -> usize {
        self.0.calls.get()
    }

    /// Makes the `call`-th call from now fail; the first is 1. With `has_effect` a write is done all the same.
    pub fn fail_at(&self, call: usize, has_effect: bool) {
        self.0.failure.set(Some(Failure { call: self.0.calls.get() + call, has_effect, is_lock_lost: false }));
    }

    /// Makes the `call`-th call from now fail, if it is a write, as that of a writer who has lost the lock.
    pub fn lose_lock_at(&self, call: usize) {
        self.0.failure.set(Some(Failure { call: self.0.calls.get() + call, has_effect: false, is_lock_lost: true }));
    }

    /// Whether the call that was to fail has been made. No later call fails.
    pub fn stop_failing(&self) -> bool {
        self.0.failure.take().is_some_and(|failure| failure.call <= self.0.calls.get())
    }

    /// Makes calls take up to four polls more; which take how many depends on the seed.
    pub fn answer_late(&self, seed: u64) {
        self.0.lateness.set(Some(seed));
    }

    /// Waits as long as the call is late, and takes note of it.
    async fn call(&self) -> usize {
        let call = self.0.calls.get() + 1;
        self.0.calls.set(call);
        if let Some(seed) = self.0.lateness.get() {
            let mixed = (seed ^ call as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            polls(mixed >> 61).await;
        }
        call
    }

    fn failure(&self, call: usize) -> Option<Failure> {
        self.0.failure.get().filter(|failure| failure.call == call)
    }

    fn check(&self, call: usize, operation: Operation, path: &str) -> Result<(), Error> {
        match (self.failure(call), operation) {
            (Some(Failure { is_lock_lost: true, .. }), Operation::Write) => {
                Err(Error::LockLost { path: path.to_owned() })
            }
            (Some(_), _) => Err(failed(call, operation, path)),
            (None, _) => Ok(()),
        }
    }

    fn replace(&self, call: usize, path: &str, contents: &[u8]) -> Result<(), Error> {
        let failure = self.failure(call);
        if failure.is_none_or(|failure| failure.has_effect) {
            self.insert(path, contents);
            self.0.written.borrow_mut().push(path.to_owned());
            self.0.states.borrow_mut().push(self.files());
        }
        self.check(call, Operation::Write, path)
    }

    fn digest_now(&self, path: &str) -> Revision {
        let files = self.0.files.borrow();
        files.get(path).map_or(Revision::Absent, |contents| Revision::Digest(sha256_hex(contents)))
    }
}

/// Is pending this many times.
pub async fn polls(mut count: u64) {
    poll_fn(|context| {
        if count == 0 {
            return Poll::Ready(());
        }
        count -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn failed(call: usize, operation: Operation, path: &str) -> Error {
    let message = format!("call {call} fails");
    Error::Storage(StorageError { operation, path: path.to_owned(), message, cause: Some(Cause::new(call)) })
}

impl Storage for Disk {
    async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let call = self.call().await;
        self.check(call, Operation::Read, path)?;
        Ok(self.0.files.borrow().get(path).cloned())
    }

    async fn write(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        let call = self.call().await;
        self.replace(call, path, contents)
    }

    async fn list(&self, directory: &str) -> Result<Vec<String>, Error> {
        let call = self.call().await;
        self.check(call, Operation::List, directory)?;
        let prefix = if directory == "." { String::new() } else { format!("{directory}/") };
        let files = self.0.files.borrow();
        let below = files.keys().filter_map(|path| path.strip_prefix(&prefix));
        let mut names: Vec<String> = below.filter_map(|path| path.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        Ok(names)
    }

    async fn remove(&self, path: &str) -> Result<(), Error> {
        let call = self.call().await;
        self.check(call, Operation::Remove, path)?;
        self.0.files.borrow_mut().remove(path);
        Ok(())
    }

    async fn digest(&self, path: &str) -> Result<Revision, Error> {
        let call = self.call().await;
        self.check(call, Operation::Write, path)?;
        Ok(self.digest_now(path))
    }

    async fn modified_time(&self, path: &str) -> Result<Option<f64>, Error> {
        let call = self.call().await;
        self.check(call, Operation::ReadTime, path)?;
        Ok(None)
    }
}

impl SyncStorage for Disk {
    fn write_sync(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        let call = self.0.calls.get() + 1;
        self.0.calls.set(call);
        self.replace(call, path, contents)
    }

    fn digest_sync(&self, path: &str) -> Result<Revision, Error> {
        Ok(self.digest_now(path))
    }
}
