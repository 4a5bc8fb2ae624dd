//! The clock and the random source of the JavaScript engine.

use std::cell::Cell;

use js_sys::Uint8Array;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use wasm_bindgen::prelude::*;

use crate::environment::{Environment, LocalTime};
use crate::error::Error;

#[wasm_bindgen]
extern "C" {
    // js_sys::Date takes it for granted that nothing throws; a clock may be a mock.
    #[wasm_bindgen(js_name = Date)]
    type Clock;

    #[wasm_bindgen(constructor, catch, js_class = "Date")]
    fn new() -> Result<Clock, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getFullYear)]
    fn full_year(this: &Clock) -> Result<u32, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getMonth)]
    fn month(this: &Clock) -> Result<u32, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getDate)]
    fn date(this: &Clock) -> Result<u32, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getHours)]
    fn hours(this: &Clock) -> Result<u32, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getMinutes)]
    fn minutes(this: &Clock) -> Result<u32, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getSeconds)]
    fn seconds(this: &Clock) -> Result<u32, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getMilliseconds)]
    fn milliseconds(this: &Clock) -> Result<u32, JsValue>;

    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn fill_with_random_bytes(array: &Uint8Array) -> Result<JsValue, JsValue>;
}

/// The time of one call, and randomness for it. Both are taken before anything is borrowed: taking them runs JavaScript.
pub struct JsEnvironment {
    now: LocalTime,
    seed: [u8; 32],
    drawn: Cell<u64>,
}

impl JsEnvironment {
    /// # Errors
    ///
    /// Where the clock or the random source of the engine fails.
    pub fn capture() -> Result<Self, Error> {
        let failed = |what: &str| Error::Internal(format!("the {what} of this JavaScript engine failed"));
        let now = local_time().map_err(|_| failed("clock"))?;
        let random = Uint8Array::new_with_length(32);
        fill_with_random_bytes(&random).map_err(|_| failed("random source"))?;
        let mut seed = [0; 32];
        random.copy_to(&mut seed);
        Ok(Self { now, seed, drawn: Cell::new(0) })
    }
}

impl Environment for JsEnvironment {
    fn now(&self) -> LocalTime {
        self.now
    }

    /// Of a random seed that nobody sees, any number of uuids can be made.
    fn uuid(&self) -> Uuid {
        self.drawn.set(self.drawn.get() + 1);
        let digest = Sha256::new().chain_update(self.seed).chain_update(self.drawn.get().to_le_bytes()).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

fn local_time() -> Result<LocalTime, JsValue> {
    let clock = Clock::new()?;
    Ok(LocalTime {
        year: clock.full_year()?,
        month: clock.month()? + 1,
        day: clock.date()?,
        hour: clock.hours()?,
        minute: clock.minutes()?,
        second: clock.seconds()?,
        microsecond: clock.milliseconds()? * 1000,
    })
}
