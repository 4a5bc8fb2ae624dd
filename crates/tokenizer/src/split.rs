//! Splits a text into pieces, each of which is tokenized separately.
//!
//! The rules are the regular expressions of tiktoken (`tiktoken_ext/openai_public.py` of the Python package 0.14), quoted
//! above each function. They are implemented by hand, because a regular expression engine would take longer than the rest
//! of counting.

use super::classes::{Character, LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER, character, end_of, end_without};

/// The regular expression by which an encoding splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitRule {
    R50k,
    Cl100k,
    O200k,
}

impl SplitRule {
    /// The end of the piece that begins at `start`, which must be before the end of the text.
    #[inline]
    pub fn piece_end(self, text: &[u8], start: usize) -> usize {
        match self {
            Self::R50k => r50k(text, start),
            Self::Cl100k => cl100k(text, start),
            Self::O200k => o200k(text, start),
        }
    }
}

/// `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`
fn r50k(text: &[u8], start: usize) -> usize {
    let Some(first) = character(text, start) else { return text.len() };
    if text[start] == b'\'' {
        if let Some(end) = contraction(&text[start..], false) {
            return start + end;
        }
    }
    let (body, at) = match character(text, first.end) {
        Some(second) if text[start] == b' ' && !second.is(SPACE) => (second, second.end),
        _ => (first, first.end),
    };
    match body.classes & (LETTER | NUMBER | SPACE) {
        SPACE => space_end(text, start, first, SpaceRule::WithoutNewlines),
        0 => end_without(text, at, SPACE | LETTER | NUMBER),
        kind => end_of(text, at, kind),
    }
}

/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
fn cl100k(text: &[u8], start: usize) -> usize {
    let Some(first) = character(text, start) else { return text.len() };
    if first.is(LETTER) {
        return end_of(text, first.end, LETTER);
    }
    if text[start] == b'\'' {
        if let Some(end) = contraction(&text[start..], true) {
            return start + end;
        }
    }
    if first.is(NUMBER) {
        return number_end(text, first);
    }
    let second = character(text, first.end);
    if let Some(second) = second.filter(|second| second.is(LETTER) && !first.is(NEWLINE)) {
        return end_of(text, second.end, LETTER);
    }
    match symbols_end(text, start, first, second) {
        Some(end) => end_of(text, end, NEWLINE),
        None => space_end(text, start, first, SpaceRule::WholeAtEnd),
    }
}

/// ```text
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// ```
fn o200k(text: &[u8], start: usize) -> usize {
    let Some(first) = character(text, start) else { return text.len() };
    if let Some(end) = word_end(text, start, first) {
        let contraction = match text.get(end) {
            Some(b'\'') => contraction(&text[end..], true),
            _ => None,
        };
        return end + contraction.unwrap_or(0);
    }
    if first.is(NUMBER) {
        return number_end(text, first);
    }
    match symbols_end(text, start, first, character(text, first.end)) {
        Some(mut end) => {
            while matches!(text.get(end), Some(b'\r' | b'\n' | b'/')) {
                end += 1;
            }
            end
        }
        None => space_end(text, start, first, SpaceRule::UpToNewline),
    }
}

/// The first two alternatives of `o200k`, which match words, without their contraction.
fn word_end(text: &[u8], start: usize, first: Character) -> Option<usize> {
    // The optional character before the letters. A mark may be either this or a part of the word.
    let can_lead = !first.is(LETTER | NUMBER | NEWLINE);
    let lead = can_lead.then_some(first.end);
    let unled = first.is(UPPER | LOWER).then_some(start);
    let mixed = |from: Option<usize>| from.and_then(|from| mixed_case_end(text, from));
    let upper = |from: Option<usize>| {
        let from = from?;
        let end = end_of(text, from, UPPER);
        (end > from).then_some(end)
    };
    mixed(lead).or_else(|| mixed(unled)).or_else(|| upper(lead)).or_else(|| upper(unled))
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`: the first part is greedy. If the second part then finds
/// nothing, the first backtracks to the last character that both can match.
fn mixed_case_end(text: &[u8], start: usize) -> Option<usize> {
    let mut position = start;
    let mut last_shared = None;
    while let Some(next) = character(text, position).filter(|next| next.is(UPPER)) {
        if next.is(LOWER) {
            last_shared = Some(next.end);
        }
        position = next.end;
    }
    match character(text, position) {
        Some(next) if next.is(LOWER) => Some(end_of(text, next.end, LOWER)),
        _ => last_shared,
    }
}

/// `\p{N}{1,3}`
fn number_end(text: &[u8], first: Character) -> usize {
    let mut end = first.end;
    for _ in 0..2 {
        match character(text, end) {
            Some(next) if next.is(NUMBER) => end = next.end,
            _ => break,
        }
    }
    end
}

/// ` ?[^\s\p{L}\p{N}]+`
fn symbols_end(text: &[u8], start: usize, first: Character, second: Option<Character>) -> Option<usize> {
    let is_symbol = |next: Character| !next.is(SPACE | LETTER | NUMBER);
    let symbol = if text[start] == b' ' { second } else { Some(first) }.filter(|symbol| is_symbol(*symbol))?;
    Some(end_without(text, symbol.end, SPACE | LETTER | NUMBER))
}

/// The expression that matches white space.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpaceRule {
    /// `\s++$|\s+(?!\S)|\s`
    WithoutNewlines,
    /// `\s++$|\s*[\r\n]|\s+(?!\S)|\s`
    WholeAtEnd,
    /// `\s*[\r\n]+|\s+(?!\S)|\s+`
    UpToNewline,
}

/// The end of a piece of white space: the run up to its last newline, or without its last character, which belongs to the
/// next piece.
fn space_end(text: &[u8], start: usize, first: Character, rule: SpaceRule) -> usize {
    let mut last_start = start;
    let mut end = first.end;
    let mut newline_end = first.is(NEWLINE).then_some(first.end);
    while let Some(next) = character(text, end).filter(|next| next.is(SPACE)) {
        last_start = end;
        end = next.end;
        if next.is(NEWLINE) {
            newline_end = Some(end);
        }
    }
    let at_end = end == text.len();
    match newline_end {
        Some(newline_end) if rule == SpaceRule::UpToNewline || (rule == SpaceRule::WholeAtEnd && !at_end) => {
            newline_end
        }
        _ if at_end || last_start == start => end,
        _ => last_start,
    }
}

/// The length of an English contraction, the apostrophe included, at the beginning of the text.
fn contraction(text: &[u8], ignore_case: bool) -> Option<usize> {
    let letter = |index: usize| text.get(index).map(|byte| if ignore_case { byte.to_ascii_lowercase() } else { *byte });
    match (letter(1)?, letter(2)) {
        (b's' | b'd' | b'm' | b't', _) => Some(2),
        (b'l', Some(b'l')) | (b'v' | b'r', Some(b'e')) => Some(3),
        // If case is ignored, the long s is an s.
        _ if ignore_case && text[1..].starts_with("ſ".as_bytes()) => Some(3),
        _ => None,
    }
}
