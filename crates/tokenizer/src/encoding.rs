//! The encodings of tiktoken by name.

use std::borrow::Cow;

use super::error::Error;
use super::split::SplitRule;

/// The rank of a token, which is its id too: the lower, the earlier it is merged.
pub type Rank = u32;

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
    /// [`Error::UnknownEncoding`] for any other name; [`Encoding::known_names`] lists those it takes.
    pub fn parse(name: &str) -> Result<Self, Error> {
        if name == "gpt2" {
            return Ok(Self::R50kBase);
        }
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.name() == name)
            .ok_or_else(|| Error::UnknownEncoding { name: name.to_owned() })
    }

    /// Its place in [`Encoding::ALL`].
    pub fn number(self) -> usize {
        self as usize
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

    /// The text of the special token of this rank. A text never becomes one: they mark where a model's input begins and
    /// ends, and what is between is not to be taken for a mark.
    pub fn special_token(self, rank: Rank) -> Option<Cow<'static, str>> {
        let name = match (self, rank) {
            (Self::R50kBase | Self::P50kBase | Self::P50kEdit, 50_256)
            | (Self::Cl100kBase, 100_257)
            | (Self::O200kBase | Self::O200kHarmony, 199_999) => "<|endoftext|>",
            (Self::P50kEdit, 50_281) | (Self::Cl100kBase, 100_258) => "<|fim_prefix|>",
            (Self::P50kEdit, 50_282) | (Self::Cl100kBase, 100_259) => "<|fim_middle|>",
            (Self::P50kEdit, 50_283) | (Self::Cl100kBase, 100_260) => "<|fim_suffix|>",
            (Self::Cl100kBase, 100_276) | (Self::O200kBase, 200_018) => "<|endofprompt|>",
            (Self::O200kHarmony, 199_998) => "<|startoftext|>",
            (Self::O200kHarmony, 200_002) => "<|return|>",
            (Self::O200kHarmony, 200_003) => "<|constrain|>",
            (Self::O200kHarmony, 200_005) => "<|channel|>",
            (Self::O200kHarmony, 200_006) => "<|start|>",
            (Self::O200kHarmony, 200_007) => "<|end|>",
            (Self::O200kHarmony, 200_008) => "<|message|>",
            (Self::O200kHarmony, 200_012) => "<|call|>",
            (Self::O200kHarmony, 200_000..=201_087) => return Some(format!("<|reserved_{rank}|>").into()),
            _ => return None,
        };
        Some(name.into())
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
