//! The classes of characters that the split rules distinguish.

include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// A letter, `\p{L}`.
pub const LETTER: u8 = 1;
/// A number, `\p{N}`.
pub const NUMBER: u8 = 2;
/// White space, `\s`.
pub const SPACE: u8 = 4;
/// A letter that is not lower case, or a mark: the beginning of a word of `o200k_base`.
pub const UPPER: u8 = 8;
/// A letter that is not upper or title case, or a mark: the rest of a word of `o200k_base`.
pub const LOWER: u8 = 16;
/// `\r` or `\n`.
pub const NEWLINE: u8 = 32;

/// The classes of ASCII.
static ASCII: &[u8; BLOCK] = &BLOCKS[0];

/// A character of a text: its classes and its end in bytes.
#[derive(Clone, Copy)]
pub struct Character {
    pub classes: u8,
    pub end: usize,
}

impl Character {
    pub fn is(self, classes: u8) -> bool {
        self.classes & classes != 0
    }
}

/// The character at `start` in UTF-8 text; `None` at the end. Invalid bytes give an arbitrary character.
#[inline]
pub fn character(text: &[u8], start: usize) -> Option<Character> {
    let first = *text.get(start)?;
    if first < 0x80 {
        return Some(Character { classes: ASCII[usize::from(first)], end: start + 1 });
    }
    Some(beyond_ascii(text, start, first))
}

/// The end of the run of characters with one of the classes that continues at `position`.
#[inline]
pub fn end_of(text: &[u8], position: usize, classes: u8) -> usize {
    end_while(text, position, |found| found & classes != 0)
}

/// The end of the run of characters with none of the classes that continues at `position`.
#[inline]
pub fn end_without(text: &[u8], position: usize, classes: u8) -> usize {
    end_while(text, position, |found| found & classes == 0)
}

#[inline(always)]
fn end_while(text: &[u8], mut position: usize, goes_on: impl Fn(u8) -> bool) -> usize {
    while let Some(&byte) = text.get(position) {
        if byte < 0x80 {
            if !goes_on(ASCII[usize::from(byte)]) {
                break;
            }
            position += 1;
        } else {
            let next = beyond_ascii(text, position, byte);
            if !goes_on(next.classes) {
                break;
            }
            position = next.end;
        }
    }
    position
}

#[inline]
fn beyond_ascii(text: &[u8], start: usize, first: u8) -> Character {
    let rest = |byte: u8| u32::from(byte & 0x3f);
    let first = u32::from(first);
    let [_, second, third, fourth] = match text[start..].first_chunk::<4>() {
        Some(bytes) => *bytes,
        None => last_bytes(&text[start..]),
    };
    let (code_point, length) = match first {
        0xc0..0xe0 => ((first & 0x1f) << 6 | rest(second), 2),
        0xe0..0xf0 => ((first & 0x0f) << 12 | rest(second) << 6 | rest(third), 3),
        _ => ((first & 0x07) << 18 | rest(second) << 12 | rest(third) << 6 | rest(fourth), 4),
    };
    // An invalid byte may announce more bytes than there are.
    Character { classes: classes_of(code_point as usize), end: (start + length).min(text.len()) }
}

/// Fewer than four bytes, with zeros after them.
#[inline(never)]
fn last_bytes(text: &[u8]) -> [u8; 4] {
    let mut bytes = [0; 4];
    bytes[..text.len()].copy_from_slice(text);
    bytes
}

#[inline]
fn classes_of(code_point: usize) -> u8 {
    INDEX.get(code_point / BLOCK).map_or(0, |&block| BLOCKS[usize::from(block)][code_point % BLOCK])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(character: char) -> u8 {
        let mut buffer = [0; 4];
        let text = character.encode_utf8(&mut buffer).as_bytes();
        let found = super::character(text, 0).unwrap();
        assert_eq!(found.end, text.len());
        found.classes
    }

    #[test]
    fn each_class_has_its_bit() {
        for (character, expected) in [
            ('a', LETTER | LOWER),
            ('Z', LETTER | UPPER),
            ('ǅ', LETTER | UPPER),
            ('ʰ', LETTER | UPPER | LOWER),
            ('中', LETTER | UPPER | LOWER),
            ('\u{301}', UPPER | LOWER),
            ('7', NUMBER),
            ('²', NUMBER),
            ('Ⅷ', NUMBER),
            (' ', SPACE),
            ('\n', SPACE | NEWLINE),
            ('\u{a0}', SPACE),
            ('\u{3000}', SPACE),
            ('\'', 0),
            ('👍', 0),
            ('\u{10ffff}', 0),
        ] {
            assert_eq!(classes(character), expected, "{character:?}");
        }
    }
}
