//! The encodings of tiktoken by name.

use super::split::SplitRule;
use crate::error::Error;

/// An encoding of tiktoken: a vocabulary and the rule that splits a text before it is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    R50kBase,
    P50kBase,
    P50kEdit,
    Cl100kBase,
    O200kBase,
    O200kHarmony,
}

/// What encodings share that differ in their special tokens alone, which are never counted as such here. Each is a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    R50k,
    P50k,
    Cl100k,
    O200k,
}

impl Encoding {
    /// All of them, the oldest first.
    pub const ALL: [Self; 6] =
        [Self::R50kBase, Self::P50kBase, Self::P50kEdit, Self::Cl100kBase, Self::O200kBase, Self::O200kHarmony];

    /// The encoding of this name; `gpt2` is another name of `r50k_base`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEncoding`], which lists the known names.
    pub fn parse(name: &str) -> Result<Self, Error> {
        if name == "gpt2" {
            return Ok(Self::R50kBase);
        }
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.name() == name)
            .ok_or_else(|| Error::UnknownEncoding { argument: "encoding", name: name.to_owned() })
    }

    /// The name in tiktoken.
    pub fn name(self) -> &'static str {
        match self {
            Self::R50kBase => "r50k_base",
            Self::P50kBase => "p50k_base",
            Self::P50kEdit => "p50k_edit",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kBase => "o200k_base",
            Self::O200kHarmony => "o200k_harmony",
        }
    }

    /// Every name that [`Encoding::parse`] takes.
    pub fn known_names() -> Vec<&'static str> {
        Self::ALL.into_iter().map(Self::name).chain(["gpt2"]).collect()
    }

    /// The vocabulary that its tokens are looked up in.
    pub fn vocabulary(self) -> Vocabulary {
        match self {
            Self::R50kBase => Vocabulary::R50k,
            Self::P50kBase | Self::P50kEdit => Vocabulary::P50k,
            Self::Cl100kBase => Vocabulary::Cl100k,
            Self::O200kBase | Self::O200kHarmony => Vocabulary::O200k,
        }
    }
}

impl Vocabulary {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// A number below [`Vocabulary::COUNT`], for tables.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name of its file, without the extension.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::R50k => "r50k_base",
            Self::P50k => "p50k_base",
            Self::Cl100k => "cl100k_base",
            Self::O200k => "o200k_base",
        }
    }

    /// How texts are split before they are looked up.
    pub(super) fn split_rule(self) -> SplitRule {
        match self {
            Self::R50k | Self::P50k => SplitRule::R50k,
            Self::Cl100k => SplitRule::Cl100k,
            Self::O200k => SplitRule::O200k,
        }
    }

    /// How many ranks the vocabulary has, with those that no token holds.
    pub(super) fn ranks(self) -> usize {
        match self {
            Self::R50k => 50_256,
            Self::P50k => 50_281,
            Self::Cl100k => 100_256,
            Self::O200k => 199_998,
        }
    }
}
