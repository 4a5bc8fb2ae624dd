//! Generates the table of character classes for `src/classes.rs` from the Unicode data of regex-syntax, which tiktoken's
//! regular expressions are matched with as well.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

use regex_syntax::hir::{Class, HirKind};

const CODE_POINTS: usize = 0x11_0000;
/// The number of code points in a block. Equal blocks are stored once.
const BLOCK: usize = 128;

/// The classes with their bits, which `src/classes.rs` names.
const CLASSES: [(&str, u8); 6] = [
    (r"\p{L}", 1),
    (r"\p{N}", 2),
    (r"\s", 4),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", 8),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", 16),
    (r"[\r\n]", 32),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut classes = vec![0u8; CODE_POINTS];
    for (pattern, bit) in CLASSES {
        for range in ranges(pattern) {
            classes[range].iter_mut().for_each(|class| *class |= bit);
        }
    }

    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut numbers = HashMap::new();
    let index: Vec<u16> = classes
        .chunks(BLOCK)
        .map(|block| {
            *numbers.entry(block).or_insert_with(|| {
                blocks.push(block);
                u16::try_from(blocks.len() - 1).expect("fewer than 65,536 blocks")
            })
        })
        .collect();

    let mut code = String::new();
    writeln!(code, "const BLOCK: usize = {BLOCK};").expect("writing to a string cannot fail");
    writeln!(code, "static INDEX: [u16; {}] = {index:?};", index.len()).expect("writing to a string cannot fail");
    writeln!(code, "static BLOCKS: [[u8; BLOCK]; {}] = {blocks:?};", blocks.len())
        .expect("writing to a string cannot fail");
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo sets OUT_DIR"))?;
    fs::write(Path::new(&folder).join("classes.rs"), code)
}

/// The code points that a character class matches.
fn ranges(pattern: &str) -> impl Iterator<Item = std::ops::RangeInclusive<usize>> {
    let hir = regex_syntax::parse(pattern).expect("valid patterns");
    let HirKind::Class(Class::Unicode(class)) = hir.into_kind() else { panic!("{pattern} is a class") };
    let ranges: Vec<_> = class.ranges().iter().map(|range| range.start() as usize..=range.end() as usize).collect();
    ranges.into_iter()
}
