//! Translates Python's regular expressions to those of ECMAScript.
//!
//! Syntax that means something else in ECMAScript (`\w`, `.`, `$` …) is spelled out; syntax that ECMAScript lacks is
//! rejected. So a pattern either means what it means in Python, or it is an error.

#![warn(missing_docs)]

use std::iter::Peekable;
use std::str::Chars;

const WORD: &str = r"\p{L}\p{N}_";
/// All characters that are not word characters, as members of a class: the other categories, and connectors except `_`.
const NOT_WORD: &str =
    r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\u203F\u2040\u2054\uFE33\uFE34\uFE4D-\uFE4F\uFF3F";
const SPACE: &str = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
const NOT_SPACE: &str = r"\0-\x08\x0e-\x1b\x21-\x84\x86-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\u{10ffff}";

/// A regular expression of ECMAScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EcmaScriptPattern {
    /// The pattern, anchored at both ends.
    pub source: String,
    /// `u`, and `i` if case is ignored.
    pub flags: &'static str,
}

impl EcmaScriptPattern {
    /// The expression that matches a text if Python's `re.fullmatch(pattern, text)` does.
    ///
    /// # Errors
    ///
    /// The syntax that has no counterpart.
    pub fn full_match(pattern: &str) -> Result<Self, String> {
        let mut translation = Translation {
            rest: pattern.chars().peekable(),
            source: String::from("^(?:"),
            ignore_case: false,
            dot_all: false,
        };
        translation.global_flags()?;
        translation.run()?;
        translation.source.push_str(")$");
        let flags = if translation.ignore_case { "iu" } else { "u" };
        Ok(Self { source: translation.source, flags })
    }
}

struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    source: String,
    ignore_case: bool,
    dot_all: bool,
}

impl Translation<'_> {
    /// `(?is)` at the beginning.
    fn global_flags(&mut self) -> Result<(), String> {
        let ahead: String = self.rest.clone().collect();
        let Some((flags, _)) = ahead.strip_prefix("(?").and_then(|rest| rest.split_once(')')) else { return Ok(()) };
        if flags.is_empty() || !flags.chars().all(|flag| flag.is_ascii_lowercase()) {
            return Ok(());
        }
        for flag in flags.chars() {
            match flag {
                'i' => self.ignore_case = true,
                's' => self.dot_all = true,
                'u' => {}
                _ => return Err(format!("the flag '{flag}' is not supported")),
            }
        }
        self.rest.nth(flags.len() + 2);
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        while let Some(character) = self.rest.next() {
            match character {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '{' => self.braces(),
                '.' => self.source.push_str(if self.dot_all { "[^]" } else { "[^\\n]" }),
                '$' => self.source.push_str("(?=\\n?$)"),
                ']' | '}' => self.literal(character),
                other => self.source.push(other),
            }
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let source = match self.rest.next().ok_or("the pattern ends with a backslash")? {
            'w' => format!("[{WORD}]"),
            'W' => format!("[^{WORD}]"),
            's' => format!("[{SPACE}]"),
            'S' => format!("[^{SPACE}]"),
            'd' => "\\p{Nd}".to_owned(),
            'D' => "[^\\p{Nd}]".to_owned(),
            'b' => format!("(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"),
            'B' => format!("(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))"),
            'A' => "^".to_owned(),
            'Z' => "$".to_owned(),
            other => return self.character_escape(other),
        };
        self.source.push_str(&source);
        Ok(())
    }

    /// An escape for one character, inside or outside a class.
    fn character_escape(&mut self, escaped: char) -> Result<(), String> {
        match escaped {
            'n' | 'r' | 't' | 'f' | 'v' => self.source.extend(['\\', escaped]),
            'a' => self.source.push_str("\\x07"),
            'x' => self.code_point(2)?,
            'u' => self.code_point(4)?,
            'U' => self.code_point(8)?,
            '1'..='9' => return Err("backreferences are not supported".to_owned()),
            other if other.is_ascii_alphanumeric() => return Err(format!("\\{other} is not supported")),
            other => self.literal(other),
        }
        Ok(())
    }

    fn code_point(&mut self, digits: usize) -> Result<(), String> {
        let digits: String = self.rest.by_ref().take(digits).collect();
        match u32::from_str_radix(&digits, 16) {
            Ok(code_point) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                self.source.push_str(&format!("\\u{{{code_point:x}}}"));
                Ok(())
            }
            _ => Err(format!("{digits:?} is not a hexadecimal number")),
        }
    }

    fn class(&mut self) -> Result<(), String> {
        self.source.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.source.push('^');
        }
        // A bracket at the beginning is a literal character.
        if self.rest.next_if_eq(&']').is_some() {
            self.literal(']');
        }
        loop {
            match self.rest.next().ok_or("a character class is not closed")? {
                ']' => break,
                '-' => self.source.push('-'),
                '\\' => match self.rest.next().ok_or("the pattern ends with a backslash")? {
                    'w' => self.source.push_str(WORD),
                    'W' => self.source.push_str(NOT_WORD),
                    's' => self.source.push_str(SPACE),
                    'S' => self.source.push_str(NOT_SPACE),
                    'd' => self.source.push_str("\\p{Nd}"),
                    'D' => self.source.push_str("\\P{Nd}"),
                    'b' => self.source.push_str("\\x08"),
                    '-' => self.source.push_str("\\-"),
                    other => self.character_escape(other)?,
                },
                other => self.literal(other),
            }
        }
        self.source.push(']');
        Ok(())
    }

    fn group(&mut self) -> Result<(), String> {
        self.source.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        match self.rest.next() {
            Some(kind @ (':' | '=' | '!')) => self.source.extend(['?', kind]),
            Some('<') => match self.rest.next() {
                Some(kind @ ('=' | '!')) => self.source.extend(['?', '<', kind]),
                _ => return Err("(?< is not supported".to_owned()),
            },
            Some('P') => match self.rest.next() {
                Some('<') => self.source.push_str("?<"),
                // In ECMAScript, each iteration of a repetition resets the groups.
                Some('=') => return Err("backreferences are not supported".to_owned()),
                _ => return Err("(?P is not supported".to_owned()),
            },
            Some('#') => {
                self.source.push_str("?:)");
                if !self.rest.any(|character| character == ')') {
                    return Err("a comment is not closed".to_owned());
                }
            }
            other => return Err(format!("(?{} is not supported", other.map_or(String::new(), String::from))),
        }
        Ok(())
    }

    /// A repetition count, or a literal brace.
    fn braces(&mut self) {
        let ahead: String =
            self.rest.clone().take_while(|character| character.is_ascii_digit() || *character == ',').collect();
        let closed = self.rest.clone().nth(ahead.len()) == Some('}');
        let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let bounds = match ahead.split_once(',') {
            Some((least, most)) if is_number(least) && is_number(most) => {
                Some(format!("{{{},{most}}}", if least.is_empty() { "0" } else { least }))
            }
            None if is_number(&ahead) && !ahead.is_empty() => Some(format!("{{{ahead}}}")),
            _ => None,
        };
        match bounds.filter(|_| closed) {
            Some(bounds) => {
                self.rest.nth(ahead.len());
                self.source.push_str(&bounds);
            }
            None => self.literal('{'),
        }
    }

    fn literal(&mut self, character: char) {
        if "^$\\.*+?()[]{}|/".contains(character) {
            self.source.push('\\');
        }
        self.source.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(pattern: &str) -> String {
        let translated = EcmaScriptPattern::full_match(pattern).unwrap().source;
        translated.strip_prefix("^(?:").and_then(|source| source.strip_suffix(")$")).unwrap().to_owned()
    }

    #[test]
    fn syntax_with_the_same_meaning_is_kept() {
        for pattern in
            ["read_.*?", "(a|b)+", "(?:a)?", "x{2}", "x{2,3}?", "(?=a)(?!b)(?<=a)(?<!b)", "é|中", "[a-z0-9]*"]
        {
            assert_eq!(source(pattern).replace("[^\\n]", "."), pattern);
        }
    }

    #[test]
    fn syntax_with_another_meaning_is_spelled_out() {
        let cases = [
            (r"\d", r"\p{Nd}"),
            (r"[\d-]", r"[\p{Nd}-]"),
            (r"a{,2}", "a{0,2}"),
            (r"a{,}", "a{0,}"),
            ("a{x}", r"a\{x\}"),
            ("a{", r"a\{"),
            ("a}]", r"a\}\]"),
            ("a$", r"a(?=\n?$)"),
            (r"\Aa\Z", "^a$"),
            (r"(?P<n>a)", r"(?<n>a)"),
            ("a(?#why)b", "a(?:)b"),
            ("(?s).", "[^]"),
            (r"\x41\u00e9", r"\u{41}\u{e9}"),
            (r"\.\-\ ", r"\.- "),
            (r"[]a]", r"[\]a]"),
            (r"[^]a]", r"[^\]a]"),
            (r"[[.]", r"[\[\.]"),
        ];
        for (pattern, expected) in cases {
            assert_eq!(source(pattern), expected, "{pattern}");
        }
        assert_eq!(EcmaScriptPattern::full_match("(?i)a").unwrap().flags, "iu");
    }

    #[test]
    fn syntax_without_a_counterpart_is_rejected() {
        for pattern in [
            r"\N{SPACE}",
            r"\q",
            "\\",
            r"\012",
            "(?x)a",
            "(?i:a)",
            "(?>a)",
            "(?(1)a)",
            "[a",
            "[\\",
            r"\xg0",
            "(?",
            "a(?#b",
        ] {
            assert!(EcmaScriptPattern::full_match(pattern).is_err(), "{pattern}");
        }
    }
}
