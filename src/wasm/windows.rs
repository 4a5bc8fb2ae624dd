//! Reads the arguments of windows and counts.

use js_sys::Float64Array;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::{args, encodings};
use crate::conversation::{Counter, Counting, Media};
use crate::error::Error;
use crate::window::{Boundary, TokenBudget, WindowOptions};

/// The options as `js/` passes them: an object with only these keys, but with values of any type. The caller's functions
/// have already been called; their results are arrays with a number for each message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WireOptions {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    boundary: JsValue,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    to: JsValue,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    pin: JsValue,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    reserve: JsValue,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    media: JsValue,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    counts: JsValue,
}

impl WireOptions {
    fn read(options: &JsValue) -> Result<Self, Error> {
        if args::is_absent(options) {
            return Ok(Self::default());
        }
        let wrong = |error: serde_wasm_bindgen::Error| Error::argument("options", error.to_string());
        serde_wasm_bindgen::from_value(options.clone()).map_err(wrong)
    }

    fn window_options(&self) -> Result<WindowOptions, Error> {
        let given = |value: &JsValue| (!args::is_absent(value)).then(|| value.clone());
        let boundary = given(&self.boundary).map(|name| Boundary::parse(&args::string(&name, "options.boundary")?));
        let lower_mark = given(&self.to).map(|mark| args::non_negative_integer(&mark, "options.hysteresis.to"));
        let pins = given(&self.pin).map(|ids| {
            args::strings(&ids).ok_or_else(|| args::expected("options.pin", "an array of message ids", &ids))
        });
        Ok(WindowOptions {
            boundary: boundary.transpose()?.unwrap_or_default(),
            lower_mark: lower_mark.transpose()?,
            pins: pins.transpose()?.unwrap_or_default(),
        })
    }
}

/// The arguments of a sequence window.
pub struct SequenceWindow {
    pub count: u64,
    pub options: WindowOptions,
}

impl SequenceWindow {
    pub fn read(count: &JsValue, options: &JsValue) -> Result<Self, Error> {
        let count = args::non_negative_integer(count, "count")?;
        Ok(Self { count, options: WireOptions::read(options)?.window_options()? })
    }
}

/// The arguments of a token window.
pub struct TokenWindow {
    pub budget: TokenBudget,
    pub options: WindowOptions,
    counts: Counts,
}

impl TokenWindow {
    /// Must be called before anything is borrowed, because reading a vocabulary runs JavaScript.
    pub fn read(max_tokens: &JsValue, encoding: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let max_tokens = args::non_negative_integer(max_tokens, "maxTokens")?;
        let wire = WireOptions::read(options)?;
        let reserve = match args::is_absent(&wire.reserve) {
            true => 0,
            false => args::non_negative_integer(&wire.reserve, "options.reserve")?,
        };
        let options = wire.window_options()?;
        Ok(Self { budget: TokenBudget { max_tokens, reserve }, options, counts: Counts::of(encoding, &wire)? })
    }

    pub fn counting(&self) -> Counting<'_> {
        self.counts.counting()
    }
}

/// The options that decide how tokens are counted.
pub struct Counts {
    counter: CounterChoice,
    media: MediaCost,
}

/// What counts the tokens of messages.
enum CounterChoice {
    /// The tokens of each message, from a function of the caller.
    PerMessage(Vec<u64>),
    Encoding(encodings::Counter),
}

/// The cost of media.
enum MediaCost {
    /// The tokens of their text in the message.
    Reference,
    /// The same cost for each.
    Each(u64),
    /// The cost in each message, from a function of the caller.
    PerMessage(Vec<u64>),
}

impl Counts {
    /// As [`TokenWindow::read`].
    pub fn read(encoding: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        Self::of(encoding, &WireOptions::read(options)?)
    }

    fn of(encoding: &JsValue, wire: &WireOptions) -> Result<Self, JsValue> {
        let media = match (wire.media.dyn_ref::<Float64Array>(), args::is_absent(&wire.media)) {
            (Some(counts), _) => MediaCost::PerMessage(integers(counts)),
            (None, true) => MediaCost::Reference,
            (None, false) => MediaCost::Each(args::non_negative_integer(&wire.media, "options.media")?),
        };
        let counter = match wire.counts.dyn_ref::<Float64Array>() {
            Some(counts) => {
                // The encoding is not used, but an unknown name is an error.
                args::encoding(encoding)?;
                CounterChoice::PerMessage(integers(counts))
            }
            None => CounterChoice::Encoding(encodings::counter(encoding)?),
        };
        Ok(Self { counter, media })
    }

    pub fn counting(&self) -> Counting<'_> {
        let counter = match &self.counter {
            CounterChoice::PerMessage(counts) => Counter::Given(counts),
            CounterChoice::Encoding(counter) => Counter::Encoding(counter),
        };
        let media = match &self.media {
            MediaCost::PerMessage(counts) => Media::Given(counts),
            MediaCost::Each(tokens) => Media::Each(*tokens),
            MediaCost::Reference => Media::Reference,
        };
        Counting { counter, media }
    }
}

/// Counts, already checked by `js/`.
fn integers(counts: &Float64Array) -> Vec<u64> {
    counts.to_vec().into_iter().map(|count| count as u64).collect()
}
