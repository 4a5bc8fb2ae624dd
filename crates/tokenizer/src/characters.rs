//! The characters that are merged before anything that they are merged into.

const CODE_POINTS: usize = 1 << 16;

/// Finds where merging may start from a character instead of from its bytes: at the characters of two or three bytes
/// that are tokens, if every token that takes in a part of one, or all of it, with something beside it has a higher rank.
/// None of those is then merged before the character is whole, and nothing else depends on when that happens.
///
/// Many vocabularies have a token early of a space and the first byte of most characters of a script. So what follows
/// ASCII is told from what does not.
#[derive(Default)]
pub struct WholeCharacters {
    after_ascii: CodePoints,
    elsewhere: CodePoints,
}

/// A bit for each code point of the basic plane.
#[derive(Default)]
struct CodePoints(Vec<u64>);

/// What has been merged into something before it was whole.
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
    /// Where the character ends, if it is whole, or the byte that is at `start` in a piece.
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

    /// Takes the tokens of a vocabulary from the lowest rank to the highest.
    ///
    /// `is_token` tells of two bytes whether they are a token already.
    #[inline(never)]
    pub fn add(&mut self, token: &[u8], is_token: impl Fn(&[u8]) -> bool) {
        if token.is_ascii() {
            return;
        }
        match code_point(token) {
            Some((code_point, length)) if length == token.len() => {
                let can_merge = length == 2 || is_token(&token[..2]) || is_token(&token[1..]);
                if can_merge && !self.is_torn(token, code_point) {
                    self.found.elsewhere.add(code_point);
                    if !has_torn_start(&self.starts_after_ascii, token) {
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

    fn is_torn(&self, character: &[u8], code_point: usize) -> bool {
        let has_torn_end = (1..character.len()).any(|part| self.ends[key(&character[part..])]);
        self.characters[code_point] || has_torn_end || has_torn_start(&self.starts_elsewhere, character)
    }

    /// Marks the characters that a token holds with something beside them, or a part of them.
    fn tear(&mut self, token: &[u8]) {
        let is_inner = |byte: &u8| matches!(byte, 0x80..0xc0);
        let end = token.iter().take_while(|byte| is_inner(byte)).count();
        if end == token.len() {
            // Inside of one character.
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
                // At the start of one character, and nowhere else.
                None if start == 0 && length == token.len() => {}
                None if length <= 2 => {
                    let after_ascii = start > 0 && token[start - 1].is_ascii();
                    let starts = if after_ascii { &mut self.starts_after_ascii } else { &mut self.starts_elsewhere };
                    starts[key(character)] = true;
                }
                // Beyond the basic plane.
                None => {}
            }
            start += length;
        }
    }
}

fn has_torn_start(starts: &[bool], character: &[u8]) -> bool {
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
