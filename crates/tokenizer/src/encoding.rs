//! tiktoken's encodings and their vocabularies.

use std::borrow::Cow;

use super::error::Error;
use super::split::SplitRule;

/// The rank of a token, which is also its id: lower ranks are merged first.
pub type Rank = u32;

/// An encoding of tiktoken: a vocabulary, and the rule that splits a text into pieces before they are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `r50k_base`, also called `gpt2`: GPT-3 and earlier.
    R50kBase,
    /// `p50k_base`: the code models of GPT-3.
    P50kBase,
    /// `p50k_edit`: `p50k_base` with the special tokens of the edit models.
    P50kEdit,
    /// `cl100k_base`: GPT-3.5 and GPT-4.
    Cl100kBase,
    /// `o200k_base`: GPT-4o and later.
    O200kBase,
    /// `o200k_harmony`: `o200k_base` with the special tokens of the gpt-oss models.
    O200kHarmony,
}

/// The tokens of one or more encodings without their special tokens. Each vocabulary is a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// The vocabulary of `r50k_base`.
    R50k,
    /// The vocabulary of `p50k_base` and `p50k_edit`.
    P50k,
    /// The vocabulary of `cl100k_base`.
    Cl100k,
    /// The vocabulary of `o200k_base` and `o200k_harmony`.
    O200k,
}

impl Encoding {
    /// All encodings, oldest first.
    pub const ALL: [Self; 6] =
        [Self::R50kBase, Self::P50kBase, Self::P50kEdit, Self::Cl100kBase, Self::O200kBase, Self::O200kHarmony];

    /// The encoding with this name; `gpt2` is another name for `r50k_base`.
    ///
    /// ```
    /// use peteos_tokenizer::Encoding;
    ///
    /// assert_eq!(Encoding::parse("gpt2"), Ok(Encoding::R50kBase));
    /// assert!(Encoding::parse("o200k").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEncoding`] for any other name; [`Encoding::known_names`] lists the known names.
    pub fn parse(name: &str) -> Result<Self, Error> {
        if name == "gpt2" {
            return Ok(Self::R50kBase);
        }
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.name() == name)
            .ok_or_else(|| Error::UnknownEncoding { name: name.to_owned() })
    }

    /// The index in [`Encoding::ALL`].
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

    /// Every name that [`Encoding::parse`] accepts.
    pub fn known_names() -> Vec<&'static str> {
        Self::ALL.into_iter().map(Self::name).chain(["gpt2"]).collect()
    }

    /// The text of the special token of this rank. Special tokens mark the structure of a model's input; a text is never
    /// encoded as one.
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

    /// The vocabulary of this encoding.
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
    /// The number of vocabularies.
    pub const COUNT: usize = 4;

    /// A number below [`Vocabulary::COUNT`], for use as an index.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name of the vocabulary's file without the extension. Vocabularies may share a file.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::R50k | Self::P50k => "p50k_base",
            Self::Cl100k => "cl100k_base",
            Self::O200k => "o200k_base",
        }
    }

    /// Whether the vocabulary is the beginning of its file: `p50k_base` has the tokens of `r50k_base` and then more.
    pub(super) fn is_prefix(self) -> bool {
        self == Self::R50k
    }

    /// The rule that splits a text into pieces before they are looked up.
    pub(super) fn split_rule(self) -> SplitRule {
        match self {
            Self::R50k | Self::P50k => SplitRule::R50k,
            Self::Cl100k => SplitRule::Cl100k,
            Self::O200k => SplitRule::O200k,
        }
    }

    /// The number of ranks in the vocabulary, including those without a token.
    pub(super) fn ranks(self) -> usize {
        match self {
            Self::R50k => 50_256,
            Self::P50k => 50_281,
            Self::Cl100k => 100_256,
            Self::O200k => 199_998,
        }
    }
}
