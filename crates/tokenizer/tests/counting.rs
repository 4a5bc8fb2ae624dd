//! Compares counts from the vocabulary files with tiktoken-rs and its embedded vocabularies.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use peteos_tokenizer::{Encoding, Error, Tokenizer, Vocabulary};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

struct Pair {
    encoding: Encoding,
    ours: Tokenizer,
    theirs: CoreBPE,
}

static PAIRS: LazyLock<Mutex<Vec<Pair>>> = LazyLock::new(|| {
    let pair = |(encoding, theirs): (Encoding, CoreBPE)| {
        let ours = Tokenizer::new(encoding.vocabulary(), &vocabulary_file(&theirs)).unwrap();
        Pair { encoding, ours, theirs }
    };
    let pairs = [
        (Encoding::R50kBase, tiktoken_rs::r50k_base().unwrap()),
        (Encoding::P50kBase, tiktoken_rs::p50k_base().unwrap()),
        (Encoding::P50kEdit, tiktoken_rs::p50k_edit().unwrap()),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base().unwrap()),
        (Encoding::O200kBase, tiktoken_rs::o200k_base().unwrap()),
        (Encoding::O200kHarmony, tiktoken_rs::o200k_harmony().unwrap()),
    ]
    .map(pair);
    Mutex::new(pairs.into())
});

/// The pairs. Ignores poisoning, so that a failed test does not fail the others.
fn pairs() -> MutexGuard<'static, Vec<Pair>> {
    PAIRS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The contents of a vocabulary's file, made from the tokens that tiktoken-rs decodes.
fn vocabulary_file(bpe: &CoreBPE) -> Vec<u8> {
    let special = bpe.special_tokens();
    let is_special = |token: &[u8]| std::str::from_utf8(token).is_ok_and(|token| special.contains(token));
    let token_of = |rank| bpe.decode_bytes(&[rank]).ok().filter(|token| !is_special(token));
    let mut tokens: Vec<Option<Vec<u8>>> = (0..201_088).map(token_of).collect();
    tokens.truncate(tokens.iter().rposition(Option::is_some).unwrap() + 1);
    let ranks: HashMap<&[u8], usize> =
        tokens.iter().enumerate().filter_map(|(rank, token)| Some((token.as_deref()?, rank))).collect();
    // Any two earlier tokens that make this one.
    let parts = |rank: usize, token: &[u8]| {
        (1..token.len())
            .filter_map(|middle| Some((*ranks.get(&token[..middle])?, *ranks.get(&token[middle..])?)))
            .find(|(left, right)| *left < rank && *right < rank)
            .unwrap()
    };
    let pairs: Vec<(usize, usize)> = (256..tokens.len())
        .map(|rank| tokens[rank].as_deref().map_or((0xFF_FFFF, 0xFF_FFFF), |token| parts(rank, token)))
        .collect();
    let bytes = tokens[..256].iter().flatten().flatten().copied();
    let columns = (0..6).flat_map(|column| {
        pairs.iter().map(move |(left, right)| {
            let [.., high, middle, low] = if column < 3 { *left } else { *right }.to_be_bytes();
            [low, middle, high][column % 3]
        })
    });
    bytes.chain(columns).collect()
}

fn check(text: &str) {
    check_encodings(text, |_| true);
}

/// As [`check`], without the encodings that differ from another only in their special tokens.
fn check_one_of_each_vocabulary(text: &str) {
    check_encodings(text, |encoding| !matches!(encoding, Encoding::P50kEdit | Encoding::O200kHarmony));
}

fn check_encodings(text: &str, wanted: impl Fn(Encoding) -> bool) {
    for Pair { encoding, ours, theirs } in pairs().iter().filter(|pair| wanted(pair.encoding)) {
        let count = ours.count(text).unwrap();
        let expected = theirs.encode_ordinary(text);
        assert_eq!(ours.encode(text.as_bytes()).unwrap(), expected, "{} of {text:?}", encoding.name());
        assert_eq!(count, expected.len() as u64, "{} of {text:?}", encoding.name());
        assert_eq!(ours.decode(&expected, *encoding).unwrap(), text.as_bytes());
    }
}

/// Pieces of text that the split rules treat differently, including some that are easily confused.
const FRAGMENTS: [&str; 64] = [
    "a",
    "Z",
    "word",
    "Word",
    "WORD",
    "wOrD",
    "é",
    "É",
    "ǅ",
    "ʰ",
    "ª",
    "中",
    "文字",
    "かな",
    "한글",
    "العربية",
    "हिन्दी",
    "ไทย",
    "\u{301}",
    "\u{20dd}",
    "\u{93e}",
    "1",
    "22",
    "333",
    "4444",
    "²",
    "Ⅷ",
    "٣",
    "１",
    " ",
    "  ",
    "   ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\u{a0}",
    "\u{3000}",
    "\u{85}",
    "\u{2028}",
    "\u{200b}",
    "\u{feff}",
    "'",
    "'s",
    "'S",
    "'ll",
    "'LL",
    "'rE",
    "'ſ",
    "'K",
    "\u{2019}s",
    "!",
    "...",
    "/",
    "//",
    "-",
    "=",
    "{}",
    "👍",
    "👩\u{200d}💻",
    "🇩🇪",
    "\u{378}",
    "\u{10ffff}",
];

/// Characters of every kind, with relevant neighbours.
fn any_text() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        6 => prop::sample::select(&FRAGMENTS[..]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => (prop::sample::select(&FRAGMENTS[..]), 1..200usize).prop_map(|(fragment, times)| fragment.repeat(times)),
        1 => "[a-z]{1,12}".prop_map(|word| word),
        1 => "[A-Z]{0,40}[a-z]{0,60}[A-Za-z]{0,80}",
        // Longer than a piece that is merged as a whole.
        1 => prop_oneof!["[a-z]{90,900}", "[а-яё]{60,300}", "[\u{e01}-\u{e4e}]{40,300}", "[\u{1780}-\u{17d2}]{40,200}", "[一-龥]{40,300}"],
    ];
    prop::collection::vec(fragment, 0..60).prop_map(|fragments| fragments.concat())
}

proptest! {
    // A few megabytes. `PROPTEST_CASES=100000 cargo test --release -p peteos-tokenizer` compares hundreds.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(3000)))]

    #[test]
    fn any_text_counts_as_in_tiktoken(text in any_text()) {
        check(&text);
    }

    #[test]
    fn random_bytes_count_as_in_tiktoken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn every_code_point_counts_as_in_tiktoken() {
    let mut text = String::new();
    for character in (0..=0x10_ffff).filter_map(char::from_u32) {
        text.push_str(&format!("a{character}B {character}'{character}s1{character}{character}\n{character} "));
        if text.len() > 50_000 {
            check_one_of_each_vocabulary(&text);
            text.clear();
        }
    }
    check_one_of_each_vocabulary(&text);
}

#[test]
fn the_files_of_the_project_count_as_in_tiktoken() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in [
        "README.md",
        "Cargo.lock",
        "package-lock.json",
        "crates/tokenizer/src/split.rs",
        "src/error/mod.rs",
        "js/index.ts",
    ] {
        check(&std::fs::read_to_string(root.join(file)).unwrap());
    }
}

#[test]
fn special_tokens_are_text() {
    for text in ["<|endoftext|>", "a<|endoftext|>b<|endofprompt|>", "<|fim_prefix|>", "<|start|>", "<|endoftext|"] {
        check(text);
    }
    assert!(pairs()[3].ours.count("<|endoftext|>").unwrap() > 1);
}

#[test]
fn long_runs() {
    for unit in ["a", " ", "\n", "7", "-", "中", "👍", " a"] {
        check(&unit.repeat(3000));
    }
}

#[test]
fn a_file_that_is_no_vocabulary_is_refused() {
    let good = vocabulary_file(&pairs()[0].theirs);
    let refused = |vocabulary, file: &[u8]| match Tokenizer::new(vocabulary, file).err() {
        Some(Error::InvalidVocabulary { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        refused(Vocabulary::R50k, &file)
    };
    assert!(refused(Vocabulary::Cl100k, &good).contains("ranks"));
    assert!(refused(Vocabulary::R50k, &good[..good.len() - 6]).contains("ranks"));
    assert!(refused(Vocabulary::R50k, &good[..good.len() - 1]).contains("ranks"));
    assert!(refused(Vocabulary::R50k, b"").contains("cut off"));
    assert!(changed(0, &[good[1]]).contains("twice"));
    let column = (good.len() - 256) / 6;
    // The second merged token is made of itself, or of the same parts as the first one.
    assert!(changed(257 + column, &[1]).contains("earlier"));
    let mut twice = good.clone();
    for number in 0..6 {
        twice[257 + number * column] = twice[256 + number * column];
    }
    assert!(refused(Vocabulary::R50k, &twice).contains("twice"));
    assert!(refused(Vocabulary::R50k, &vec![0; good.len()]).contains("twice"));
    // Half of a rank without a token.
    let halves: Vec<u8> =
        good.iter().enumerate().map(|(at, byte)| if at < 256 + 3 * column { *byte } else { 255 }).collect();
    assert!(refused(Vocabulary::R50k, &halves).contains("earlier"));
}

#[test]
fn a_vocabulary_may_be_the_beginning_of_its_file() {
    let pairs = pairs();
    let file = vocabulary_file(&pairs[1].theirs);
    let tokenizer = Tokenizer::new(Vocabulary::R50k, &file).unwrap();
    let text = "    spaces, which p50k_base has tokens for";
    assert_eq!(tokenizer.count(text), pairs[0].ours.count(text));
    assert_ne!(tokenizer.count(text), pairs[1].ours.count(text));
    assert!(Tokenizer::new(Vocabulary::P50k, &vocabulary_file(&pairs[0].theirs)).is_err());
}

#[test]
fn special_tokens_are_decoded_to_their_names() {
    for Pair { encoding, ours, theirs } in pairs().iter() {
        for name in theirs.special_tokens() {
            let tokens = theirs.encode_with_special_tokens(name);
            assert_eq!(ours.decode(&tokens, *encoding).unwrap(), name.as_bytes(), "{} {tokens:?}", encoding.name());
        }
        for rank in (50_000..50_400).chain(100_200..100_400).chain(199_900..201_200).chain([u32::MAX]) {
            let theirs = theirs.decode_bytes(&[rank]).ok();
            assert_eq!(ours.decode(&[rank], *encoding).ok(), theirs, "{rank} in {}", encoding.name());
        }
    }
}

#[test]
fn counting_stops_at_the_limit() {
    let text = "One, two, three: ".repeat(500) + &"a".repeat(3000) + "日本語 ".repeat(100).as_str();
    for Pair { ours, .. } in pairs().iter() {
        let count = ours.count(&text).unwrap();
        for limit in (0..300).chain(count - 300..count + 300).chain([u64::MAX]) {
            assert_eq!(ours.count_up_to(text.as_bytes(), limit).unwrap(), count.min(limit));
        }
    }
}

#[test]
fn bytes_that_are_no_utf_8_are_counted_somehow() {
    for Pair { ours, .. } in pairs().iter() {
        for byte in 0..=u8::MAX {
            for length in [1, 2, 3, 5, 63, 64, 65, 200] {
                let bytes = vec![byte; length];
                let count = ours.count_up_to(&bytes, u64::MAX).unwrap();
                assert!((1..=length as u64).contains(&count));
                assert_eq!(ours.encode(&bytes).unwrap().len() as u64, count);
                ours.count_up_to(&[b"word ", &bytes[..], b"ab"].concat(), u64::MAX).unwrap();
            }
        }
    }
}
