//! The characters that are always merged before anything around them.

const CODE_POINTS: usize = 1 << 16;

/// The characters that merging may start from, instead of from their bytes: characters of two or three bytes that are
/// tokens, if every token that combines all or a part of one with a neighbour has a higher rank. None of those tokens is
/// merged before the character, and nothing else depends on when the character is merged.
///
/// Many vocabularies have an early token of a space and the first byte of most characters of a script. So characters after
/// ASCII are kept in a separate set.
#[derive(Default)]
pub struct WholeCharacters {
    after_ascii: CodePoints,
    elsewhere: CodePoints,
}

/// A set of code points of the Basic Multilingual Plane.
#[derive(Default)]
struct CodePoints(Vec<u64>);

/// Finds [`WholeCharacters`] in a vocabulary.
pub struct Finder {
    found: WholeCharacters,
    /// Code points.
    characters: Vec<bool>,
    /// The first one or two bytes of characters.
    starts_after_ascii: Vec<bool>,
    starts_elsewhere: Vec<bool>,
    /// The last one or two bytes of characters.
    ends: Vec<bool>,
}

impl WholeCharacters {
    /// The end of the character at `start` in a piece if merging may start from it, or else of the byte there.
    #[inline]
    pub fn end(&self, piece: &[u8], start: usize) -> usize {
        let byte_end = start + 1;
        let Some((code_point, length)) = piece.get(start..).and_then(code_point) else { return byte_end };
        let follows_ascii = start > 0 && piece[start - 1].is_ascii();
        let whole = if follows_ascii { &self.after_ascii } else { &self.elsewhere };
        if whole.contains(code_point) { start + length } else { byte_end }
    }
}

impl CodePoints {
    #[inline]
    fn contains(&self, code_point: usize) -> bool {
        self.0.get(code_point / 64).is_some_and(|bits| bits >> (code_point % 64) & 1 != 0)
    }

    fn add(&mut self, code_point: usize) {
        self.0.resize(CODE_POINTS / 64, 0);
        self.0[code_point / 64] |= 1 << (code_point % 64);
    }
}

impl Finder {
    pub fn new() -> Self {
        let marks = || vec![false; CODE_POINTS];
        Self {
            found: WholeCharacters::default(),
            characters: marks(),
            starts_after_ascii: marks(),
            starts_elsewhere: marks(),
            ends: marks(),
        }
    }

    /// Adds a token. To be called for each token of a vocabulary in the order of ranks. `is_token` tells whether two bytes
    /// are a token that was added before.
    #[inline(never)]
    pub fn add(&mut self, token: &[u8], is_token: impl Fn(&[u8]) -> bool) {
        if token.is_ascii() {
            return;
        }
        match code_point(token) {
            Some((code_point, length)) if length == token.len() => {
                let can_merge = length == 2 || is_token(&token[..2]) || is_token(&token[1..]);
                if can_merge && !self.is_split(token, code_point) {
                    self.found.elsewhere.add(code_point);
                    if !has_split_start(&self.starts_after_ascii, token) {
                        self.found.after_ascii.add(code_point);
                    }
                }
            }
            _ => self.tear(token),
        }
    }

    pub fn finish(self) -> WholeCharacters {
        self.found
    }

    fn is_split(&self, character: &[u8], code_point: usize) -> bool {
        let has_split_end = (1..character.len()).any(|part| self.ends[key(&character[part..])]);
        self.characters[code_point] || has_split_end || has_split_start(&self.starts_elsewhere, character)
    }

    /// Marks the characters, and parts of characters, that a token combines with something else.
    fn tear(&mut self, token: &[u8]) {
        let is_inner = |byte: &u8| matches!(byte, 0x80..0xc0);
        let end = token.iter().take_while(|byte| is_inner(byte)).count();
        if end == token.len() {
            // Within a character.
            return;
        }
        if let 1 | 2 = end {
            self.ends[key(&token[..end])] = true;
        }
        let mut start = end;
        while start < token.len() {
            let length = 1 + token[start + 1..].iter().take_while(|byte| is_inner(byte)).count();
            let character = &token[start..start + length];
            match code_point(character) {
                Some((code_point, _)) => self.characters[code_point] = true,
                // Only at the start of a character.
                None if start == 0 && length == token.len() => {}
                None if length <= 2 => {
                    let after_ascii = start > 0 && token[start - 1].is_ascii();
                    let starts = if after_ascii { &mut self.starts_after_ascii } else { &mut self.starts_elsewhere };
                    starts[key(character)] = true;
                }
                // Beyond the Basic Multilingual Plane.
                None => {}
            }
            start += length;
        }
    }
}

fn has_split_start(starts: &[bool], character: &[u8]) -> bool {
    (1..character.len()).any(|part| starts[key(&character[..part])])
}

/// The code point and the length of the character of two or three bytes that begins the text.
#[inline]
fn code_point(text: &[u8]) -> Option<(usize, usize)> {
    let inner = |byte: u8| (byte & 0xc0 == 0x80).then_some(usize::from(byte & 0x3f));
    match *text {
        [first @ 0xc0..0xe0, second, ..] => Some((usize::from(first & 0x1f) << 6 | inner(second)?, 2)),
        [first @ 0xe0..0xf0, second, third, ..] => {
            Some((usize::from(first & 0x0f) << 12 | inner(second)? << 6 | inner(third)?, 3))
        }
        _ => None,
    }
}

/// One or two bytes as a number.
fn key(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |key, byte| key << 8 | usize::from(*byte))
}
