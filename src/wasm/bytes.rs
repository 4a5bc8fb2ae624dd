//! Bytes that JavaScript passes. They may be of another realm, so `instanceof` would not recognise them.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    // js_sys assumes that these do not throw, but a value may be a proxy or an array with a detached buffer.
    #[wasm_bindgen(js_name = Uint8Array, extends = Uint8Array)]
    type Bytes;

    #[wasm_bindgen(constructor, catch, js_class = "Uint8Array")]
    fn copy(data: &JsValue) -> Result<Bytes, JsValue>;

    #[wasm_bindgen(method, getter, catch, structural, js_name = byteLength)]
    fn byte_length(this: &Bytes) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, getter, catch, structural, js_name = BYTES_PER_ELEMENT)]
    fn element_size(this: &Bytes) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ArrayBuffer, js_name = isView)]
    fn is_view(data: &JsValue) -> Result<bool, JsValue>;
}

/// The size of a value, if it is bytes.
pub fn byte_length(value: &JsValue) -> Option<u64> {
    let length = value.unchecked_ref::<Bytes>().byte_length().ok()?.as_f64()?;
    (length >= 0.0).then_some(length as u64)
}

/// A copy of the bytes of a `Uint8Array`; `None` for anything else.
pub fn copied(value: &JsValue) -> Option<Vec<u8>> {
    let element_size = value.unchecked_ref::<Bytes>().element_size().ok()?.as_f64();
    if !is_view(value).unwrap_or(false) || element_size != Some(1.0) {
        return None;
    }
    Some(Bytes::copy(value).ok()?.to_vec())
}
