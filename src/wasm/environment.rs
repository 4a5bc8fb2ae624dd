//! The clock and the random source of the JavaScript engine.

use std::cell::{Cell, RefCell};

use js_sys::Uint8Array;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use wasm_bindgen::prelude::*;

use crate::environment::{Environment, LocalTime};
use crate::error::Error;

/// The random bytes for one call.
type Seed = [u8; 32];

/// The number of seeds drawn at once: a single draw takes longer than the rest of an append.
const SEEDS: usize = 128;

thread_local! {
    static SEED_POOL: RefCell<SeedPool> = const { RefCell::new(SeedPool { source: JsValue::UNDEFINED, seeds: Vec::new() }) };
}

#[wasm_bindgen]
extern "C" {
    // js_sys::Date assumes that its methods do not throw, but a mocked clock can.
    #[wasm_bindgen(js_name = Date)]
    type Clock;

    #[wasm_bindgen(constructor, catch, js_class = "Date")]
    fn new() -> Result<Clock, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getTime)]
    fn milliseconds(this: &Clock) -> Result<f64, JsValue>;

    #[wasm_bindgen(method, catch, js_class = "Date", js_name = getTimezoneOffset)]
    fn minutes_behind_utc(this: &Clock) -> Result<f64, JsValue>;

    #[wasm_bindgen(js_name = crypto)]
    type RandomSource;

    #[wasm_bindgen(catch, static_method_of = RandomSource, getter, js_class = "crypto", js_name = getRandomValues)]
    fn function() -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn fill_with_random_bytes(array: &Uint8Array) -> Result<JsValue, JsValue>;
}

/// The time and the randomness for one call. Both are read before anything is borrowed, because reading them runs
/// JavaScript.
pub struct JsEnvironment {
    now: LocalTime,
    seed: Seed,
    drawn: Cell<u64>,
}

impl JsEnvironment {
    /// # Errors
    ///
    /// [`Error::Internal`] if the clock or the random source of the engine fails.
    pub fn capture() -> Result<Self, Error> {
        let failed = |what: &str| Error::Internal(format!("the {what} of this JavaScript engine failed"));
        let now = local_time().map_err(|_| failed("clock"))?;
        let seed = random_seed().map_err(|_| failed("random source"))?;
        Ok(Self { now, seed, drawn: Cell::new(0) })
    }
}

impl Environment for JsEnvironment {
    fn now(&self) -> LocalTime {
        self.now
    }

    /// The first uuid is one half of the seed. The others are derived from the whole seed, whose other half is never exposed.
    fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        if self.drawn.get() == 0 {
            bytes.copy_from_slice(&self.seed[..16]);
        } else {
            let digest = Sha256::new().chain_update(self.seed).chain_update(self.drawn.get().to_le_bytes()).finalize();
            bytes.copy_from_slice(&digest[..16]);
        }
        self.drawn.set(self.drawn.get() + 1);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

/// Reads the time with two calls, which is faster than one for each field.
fn local_time() -> Result<LocalTime, JsValue> {
    let clock = Clock::new()?;
    let milliseconds = clock.milliseconds()? - clock.minutes_behind_utc()? * 60_000.0;
    if !milliseconds.is_finite() {
        return Err(JsValue::UNDEFINED);
    }
    Ok(LocalTime::from_milliseconds(milliseconds.floor() as i64))
}

fn random_seed() -> Result<Seed, JsValue> {
    let source = RandomSource::function()?;
    if let Some(seed) = SEED_POOL.with_borrow_mut(|pool| pool.take(&source)) {
        return Ok(seed);
    }
    let random = Uint8Array::new_with_length((SEEDS * size_of::<Seed>()) as u32);
    fill_with_random_bytes(&random)?;
    let mut seeds = vec![Seed::default(); SEEDS];
    random.copy_to(seeds.as_flattened_mut());
    let seed = seeds.pop().unwrap_or_default();
    SEED_POOL.set(SeedPool { source, seeds });
    Ok(seed)
}

/// Seeds that were drawn but not yet used.
struct SeedPool {
    /// The function that returned them.
    source: JsValue,
    seeds: Vec<Seed>,
}

impl SeedPool {
    /// The next seed; `None` if none is left, or if the random source has been replaced, for example by a mock.
    fn take(&mut self, source: &JsValue) -> Option<Seed> {
        if *source == self.source { self.seeds.pop() } else { None }
    }
}
