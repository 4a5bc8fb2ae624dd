//! The text that tokens are counted in against what Python's `json.dumps(value, ensure_ascii=False)` gave for the same
//! values, digit for digit: counts of tokens, all that the tests in JavaScript can see, hardly change with a digit.
#![cfg(not(target_arch = "wasm32"))]

use peteos_session::json::{parse, to_python_text};
use serde_json::Value;

/// Pairs of a JSON text and what Python makes of it; `node tests/reference/make-golden.mjs` makes them.
const GOLDEN: &str = include_str!("golden/python-text.json");

#[test]
fn the_counted_text_is_that_of_python() {
    let pairs = parse(GOLDEN.as_bytes()).unwrap();
    let pairs = pairs.as_array().unwrap();
    assert!(pairs.len() > 1000);
    for pair in pairs {
        let [Value::String(json), Value::String(expected)] = pair.as_array().unwrap().as_slice() else {
            panic!("{pair} is no pair of texts");
        };
        let mut text = String::new();
        to_python_text(&(&parse(json.as_bytes()).unwrap()).into(), &mut text).unwrap();
        assert_eq!(text, *expected, "{json}");
    }
}
