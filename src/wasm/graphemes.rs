//! Borders between graphemes, found by the JavaScript engine.

use wasm_bindgen::prelude::*;

use crate::room::GraphemeBorder;

/// How many characters before and after a place are looked at: more than a grapheme has in any script.
const REACH: usize = 64;

#[wasm_bindgen]
extern "C" {
    // Some engines have no segmenter, so the constructor may be missing.
    #[wasm_bindgen(js_namespace = Intl, js_name = Segmenter)]
    type Segmenter;

    #[wasm_bindgen(constructor, catch, js_namespace = Intl, js_class = "Segmenter")]
    fn new() -> Result<Segmenter, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn segment(this: &Segmenter, text: &str) -> Result<Segments, JsValue>;

    type Segments;

    #[wasm_bindgen(method, catch)]
    fn containing(this: &Segments, unit: u32) -> Result<Segment, JsValue>;

    type Segment;

    #[wasm_bindgen(method, getter)]
    fn index(this: &Segment) -> u32;
}

/// Asks `Intl.Segmenter`. Without it, every border between characters will do.
pub struct Graphemes(Option<Segmenter>);

impl Graphemes {
    pub fn new() -> Self {
        Self(Segmenter::new().ok())
    }
}

impl GraphemeBorder for Graphemes {
    fn at_or_before(&self, text: &str, offset: usize) -> usize {
        let (Some(segmenter), Some((before, after))) = (&self.0, text.split_at_checked(offset)) else { return offset };
        let start = before.char_indices().rev().nth(REACH - 1).map_or(0, |(index, _)| index);
        let end = after.char_indices().nth(REACH).map_or(text.len(), |(index, _)| offset + index);
        let (Some(near), Some(near_before)) = (text.get(start..end), text.get(start..offset)) else { return offset };
        if after.is_empty() {
            return offset;
        }
        let units = near_before.chars().map(char::len_utf16).sum::<usize>();
        let segment = u32::try_from(units).ok().and_then(|unit| segmenter.segment(near).ok()?.containing(unit).ok());
        let Some(border) = segment.map(|segment| segment.index() as usize) else { return offset };
        let mut rest = border;
        let length = near_before.chars().take_while(|character| {
            let fits = rest > 0;
            rest = rest.saturating_sub(character.len_utf16());
            fits
        });
        start + length.map(char::len_utf8).sum::<usize>()
    }
}
