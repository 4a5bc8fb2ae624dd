//! The arguments of windows and of counts.

use js_sys::Float64Array;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::{args, encodings};
use crate::conversation::{Counter, Counting, Media};
use crate::error::Error;
use crate::window::{Boundary, TokenBudget, WindowOptions};

/// What the glue makes of the options that a caller hands in: an object with these keys alone, whose values may still be
/// anything. The caller's functions have been called; their results are arrays with a number for each message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Crossing {
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

impl Crossing {
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
        let lower_mark = given(&self.to).map(|mark| args::whole_number(&mark, "options.hysteresis.to"));
        let pins = given(&self.pin).map(|ids| {
            args::strings(&ids).ok_or_else(|| args::expected("options.pin", "an array of ids of messages", &ids))
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
        let count = args::whole_number(count, "count")?;
        Ok(Self { count, options: Crossing::read(options)?.window_options()? })
    }
}

/// The arguments of a token window.
pub struct TokenWindow {
    pub budget: TokenBudget,
    pub options: WindowOptions,
    counts: Counts,
}

impl TokenWindow {
    /// To be called before anything is borrowed: reading a vocabulary runs JavaScript.
    pub fn read(max_tokens: &JsValue, encoding: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let max_tokens = args::whole_number(max_tokens, "maxTokens")?;
        let crossing = Crossing::read(options)?;
        let reserve = match args::is_absent(&crossing.reserve) {
            true => 0,
            false => args::whole_number(&crossing.reserve, "options.reserve")?,
        };
        let options = crossing.window_options()?;
        Ok(Self { budget: TokenBudget { max_tokens, reserve }, options, counts: Counts::of(encoding, &crossing)? })
    }

    pub fn counting(&self) -> Counting<'_> {
        self.counts.counting()
    }
}

/// How a caller wants to have tokens counted.
pub struct Counts {
    counter: GivenOr<encodings::Counter>,
    media: GivenOr<Option<u64>>,
}

enum GivenOr<T> {
    Given(Vec<u64>),
    Other(T),
}

impl Counts {
    /// As [`TokenWindow::read`].
    pub fn read(encoding: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        Self::of(encoding, &Crossing::read(options)?)
    }

    fn of(encoding: &JsValue, crossing: &Crossing) -> Result<Self, JsValue> {
        let media = match (crossing.media.dyn_ref::<Float64Array>(), args::is_absent(&crossing.media)) {
            (Some(counts), _) => GivenOr::Given(whole_numbers(counts)),
            (None, true) => GivenOr::Other(None),
            (None, false) => GivenOr::Other(Some(args::whole_number(&crossing.media, "options.media")?)),
        };
        let counter = match crossing.counts.dyn_ref::<Float64Array>() {
            Some(counts) => {
                // Nothing is counted in it, but a name that is none is a mistake.
                args::encoding(encoding)?;
                GivenOr::Given(whole_numbers(counts))
            }
            None => GivenOr::Other(encodings::counter(encoding)?),
        };
        Ok(Self { counter, media })
    }

    pub fn counting(&self) -> Counting<'_> {
        let counter = match &self.counter {
            GivenOr::Given(counts) => Counter::Given(counts),
            GivenOr::Other(counter) => Counter::Encoding(counter),
        };
        let media = match &self.media {
            GivenOr::Given(counts) => Media::Given(counts),
            GivenOr::Other(Some(tokens)) => Media::Each(*tokens),
            GivenOr::Other(None) => Media::Reference,
        };
        Counting { counter, media }
    }
}

/// Numbers of which the glue has seen to it that they are counts.
fn whole_numbers(counts: &Float64Array) -> Vec<u64> {
    counts.to_vec().into_iter().map(|count| count as u64).collect()
}
