//! Counts of our vocabulary files against tiktoken-rs with its embedded ones.
#![cfg(not(target_arch = "wasm32"))]

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use peteos_session::error::Error;
use peteos_session::tokens::{Encoding, TokenCounter, Tokenizer, Vocabulary};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

struct Pair {
    encoding: Encoding,
    ours: Tokenizer,
    theirs: CoreBPE,
}

static PAIRS: LazyLock<Mutex<Vec<Pair>>> = LazyLock::new(|| {
    let pair = |(encoding, theirs): (Encoding, CoreBPE)| {
        let ours = Tokenizer::new(encoding.vocabulary(), vocabulary_file(&theirs)).unwrap();
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

/// The pairs; a test that failed is no reason for the others to fail.
fn pairs() -> MutexGuard<'static, Vec<Pair>> {
    PAIRS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The contents of a vocabulary's file, made from what tiktoken-rs can decode.
fn vocabulary_file(bpe: &CoreBPE) -> Vec<u8> {
    let special = bpe.special_tokens();
    let is_special = |token: &[u8]| std::str::from_utf8(token).is_ok_and(|token| special.contains(token));
    let tokens = (0..201_088).map(|rank| bpe.decode_bytes(&[rank]).ok().filter(|token| !is_special(token)));
    let mut file: Vec<u8> = Vec::new();
    let mut end = 0;
    for token in tokens {
        let token = token.unwrap_or_default();
        file.push(u8::try_from(token.len()).unwrap());
        file.extend(&token);
        if !token.is_empty() {
            end = file.len();
        }
    }
    file.truncate(end);
    file
}

fn check(text: &str) {
    for Pair { encoding, ours, theirs } in pairs().iter() {
        let count = ours.counter(*encoding).unwrap().count(text).unwrap();
        let expected = theirs.encode_ordinary(text);
        assert_eq!(ours.encode(text), expected, "{} of {text:?}", encoding.name());
        assert_eq!(count, expected.len() as u64, "{} of {text:?}", encoding.name());
        assert_eq!(ours.decode(&expected).unwrap(), text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn text_like_prose_and_code(text in r#"([a-zA-Z]{1,8}|[0-9]{1,5}|'(s|S|re|LL)| {1,4}|[\r\n\t]{1,3}|[{}();=!?.,/]{1,3}|[中文字éßſİ👩‍💻]{1,4}){0,30}"#) {
        check(&text);
    }
}

#[test]
fn special_tokens_are_text() {
    for text in ["<|endoftext|>", "a<|endoftext|>b<|endofprompt|>", "<|fim_prefix|>", "<|start|>", "<|endoftext|"] {
        check(text);
    }
    assert!(pairs()[3].ours.counter(Encoding::Cl100kBase).unwrap().count("<|endoftext|>").unwrap() > 1);
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
    let refused = |vocabulary, data: &[u8]| match Tokenizer::new(vocabulary, data.to_vec()).err() {
        Some(Error::InvalidArgument { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    assert!(refused(Vocabulary::Cl100k, &good).contains("ranks"));
    assert!(refused(Vocabulary::R50k, &good[..good.len() - 1]).contains("cut off"));
    assert!(refused(Vocabulary::R50k, b"").contains("ranks"));
    let without_bytes: Vec<u8> = std::iter::repeat_n(0, 50_256).collect();
    assert!(refused(Vocabulary::R50k, &without_bytes).contains("single byte"));
    assert!(refused(Vocabulary::R50k, &[&good[..4], &good].concat()).contains("twice"));
    let other = pairs()[0].ours.counter(Encoding::O200kBase).err();
    assert!(matches!(other, Some(Error::Internal(_))));
}
