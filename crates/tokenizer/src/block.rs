//! Splits ASCII text, 64 bytes at a time.
//!
//! [`super::split`] has the rules and splits any text. This module finds the same pieces in ASCII, which is most of most
//! texts: 64 bytes are classified together, one bit for each, and the length of a piece is the length of a run of
//! ones.

use super::lanes::{self, Lanes};
use super::piece_key::{PREFIX, Prefix};

/// The length of a block in bytes, including the bytes after it that a [`Prefix`] in it may reach.
pub const PADDED: usize = lanes::SIZE + PREFIX;

/// The piece that begins at a place in a block.
pub enum Piece {
    /// A piece of this length in bytes.
    Of(usize),
    /// The piece may reach beyond this block.
    Beyond,
    /// [`super::split`] must decide.
    Other,
}

/// Sixty-four bytes of a text with their classes, one bit for each byte.
pub struct Block<'t> {
    bytes: &'t [u8; PADDED],
    ascii: u64,
    letters: u64,
    /// The letters that continue the word of the byte before.
    inner: u64,
    digits: u64,
    spaces: u64,
    /// `\r` and `\n`.
    newlines: u64,
    /// All other graphic characters.
    symbols: u64,
    apostrophes: u64,
}

impl<'t> Block<'t> {
    /// With `CAPITALS`, a capital after a small letter begins a word. After the end of the text the bytes are zeros.
    // Not inlined: otherwise the compiler would compute the classes again for each piece.
    #[inline(never)]
    pub fn of<const CAPITALS: bool>(bytes: &'t [u8; PADDED]) -> Self {
        let lanes = Lanes::of(bytes);
        let (small, capitals) = (lanes.between(b'a', b'z'), lanes.between(b'A', b'Z'));
        let letters = small | capitals;
        let digits = lanes.between(b'0', b'9');
        Self {
            bytes,
            ascii: lanes.between(0, 0x7f),
            letters,
            inner: if CAPITALS { letters & !(capitals & small << 1) } else { letters },
            digits,
            spaces: lanes.between(b' ', b' '),
            newlines: lanes.between(b'\n', b'\n') | lanes.between(b'\r', b'\r'),
            symbols: lanes.between(b'!', b'~') & !letters & !digits,
            apostrophes: lanes.between(b'\'', b'\''),
        }
    }

    /// The bytes from this place on.
    #[inline]
    pub fn prefix(&self, place: usize) -> Prefix {
        Prefix::inside(self.bytes, place).unwrap_or_default()
    }

    /// The piece that begins at this place, by the rules of `cl100k_base`, or of `o200k_base` with `CAPITALS`.
    #[inline]
    pub fn piece<const CAPITALS: bool>(&self, place: usize) -> Piece {
        if is(self.letters, place) {
            return self.word::<CAPITALS>(place, 1);
        }
        if is(self.digits, place) {
            return self.number(place);
        }
        let next = place + 1;
        if next >= lanes::SIZE {
            return Piece::Beyond;
        }
        if is(self.newlines, place) {
            return self.newline(next);
        }
        if is(self.letters, next) {
            // A word may begin with any other character except the apostrophe of a contraction.
            let leads = is(self.ascii & !self.apostrophes, place);
            return if leads { self.word::<CAPITALS>(place, 2) } else { Piece::Other };
        }
        if is(self.symbols, place) {
            return self.symbols(place, 0);
        }
        if is(self.spaces, place) {
            return if is(self.symbols, next) { self.symbols(place, 1) } else { self.spaces(place) };
        }
        Piece::Other
    }

    /// A word whose first `known` bytes have been found.
    #[inline]
    fn word<const CAPITALS: bool>(&self, place: usize, known: usize) -> Piece {
        let length = known + run(self.inner, place + known);
        let goes_on = if CAPITALS { !self.ascii | self.apostrophes } else { !self.ascii };
        self.piece_before(place, length, !goes_on)
    }

    /// Up to three digits.
    #[inline]
    fn number(&self, place: usize) -> Piece {
        match run(self.digits, place) {
            3.. if place + 3 <= lanes::SIZE => Piece::Of(3),
            length => self.piece_before(place, length, self.ascii),
        }
    }

    /// A run of symbols with an optional space before and newline after it.
    #[inline]
    fn symbols(&self, place: usize, before: usize) -> Piece {
        let length = before + run(self.symbols, place + before);
        let end = place + length;
        if end + 1 < lanes::SIZE && is(self.newlines, end) {
            // Further newlines belong to the piece as well, and in some encodings slashes.
            return self.piece_before(place, length + 1, self.letters | self.digits | self.spaces);
        }
        self.piece_before(place, length, self.letters | self.digits | self.spaces)
    }

    /// All spaces except the last, which belongs to the next piece unless that is a number.
    #[inline]
    fn spaces(&self, place: usize) -> Piece {
        let length = run(self.spaces, place);
        match self.piece_before(place, length, self.letters | self.digits | self.symbols) {
            Piece::Of(2..) => Piece::Of(length - 1),
            piece => piece,
        }
    }

    /// A newline before a line with text.
    #[inline]
    fn newline(&self, next: usize) -> Piece {
        let indent = run(self.spaces, next);
        match self.piece_before(next, indent, self.letters | self.digits | self.symbols) {
            Piece::Of(_) => Piece::Of(1),
            piece => piece,
        }
    }

    /// A piece of this length, if the byte after it is one of `ends`.
    #[inline]
    fn piece_before(&self, place: usize, length: usize, ends: u64) -> Piece {
        let end = place + length;
        if end >= lanes::SIZE {
            Piece::Beyond
        } else if is(ends, end) {
            Piece::Of(length)
        } else {
            Piece::Other
        }
    }
}

#[inline]
fn is(kind: u64, place: usize) -> bool {
    kind >> place & 1 != 0
}

/// The number of consecutive bytes of a kind from this place on; [`lanes::SIZE`] if they do not end in this block.
#[inline]
fn run(kind: u64, place: usize) -> usize {
    let others = u32::try_from(place).ok().and_then(|place| (!kind).checked_shr(place)).unwrap_or(0);
    (others.trailing_zeros() as usize).min(lanes::SIZE)
}
