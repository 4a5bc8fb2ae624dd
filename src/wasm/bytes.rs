//! Bytes that JavaScript passes. They may be of another realm, so `instanceof` would not recognise them.

use js_sys::Uint8Array;
use peteos_memory::{OutOfMemory, try_reserve};
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
///
/// # Errors
///
/// If it does not fit into the memory.
pub fn copied(value: &JsValue, purpose: &'static str) -> Result<Option<Vec<u8>>, OutOfMemory> {
    let element_size = value.unchecked_ref::<Bytes>().element_size().ok().and_then(|size| size.as_f64());
    if !is_view(value).unwrap_or(false) || element_size != Some(1.0) {
        return Ok(None);
    }
    let size = byte_length(value).map_or(0, |size| usize::try_from(size).unwrap_or(usize::MAX));
    let mut bytes = Vec::new();
    try_reserve(&mut bytes, size, purpose)?;
    let Ok(copy) = Bytes::copy(value) else { return Ok(None) };
    // A proxy may say another length.
    if copy.length() as usize != size {
        return Ok(None);
    }
    bytes.resize(size, 0);
    copy.copy_to(&mut bytes);
    Ok(Some(bytes))
}

/// A copy of bytes for JavaScript, because a view into the memory of the module is detached when the memory grows.
///
/// # Errors
///
/// If the engine has no memory for it.
pub fn copied_out(bytes: &[u8]) -> Result<Uint8Array, OutOfMemory> {
    // SAFETY: Nothing is allocated here before the view is used up.
    let copy = Bytes::copy(&unsafe { Uint8Array::view(bytes) }.into());
    copy.map(JsCast::unchecked_into).map_err(|_| OutOfMemory {
        purpose: "a copy for the storage",
        needed: bytes.len(),
        used: peteos_memory::used(),
        limit: peteos_memory::limit(),
    })
}
