//! The encoding of a model.

use tiktoken_rs::tokenizer::{Tokenizer as ModelTokenizer, get_tokenizer};

use super::encoding::Encoding;
use super::error::Error;

/// The encoding of an OpenAI model by its name, with or without a date (`gpt-4o-2024-08-06`) or a fine-tuning prefix
/// (`ft:gpt-4o:…`), as tiktoken maps them.
///
/// # Errors
///
/// [`Error::UnknownModel`] for a model that tiktoken does not know.
pub fn encoding_for_model(model: &str) -> Result<Encoding, Error> {
    match get_tokenizer(model) {
        Some(ModelTokenizer::Gpt2 | ModelTokenizer::R50kBase) => Ok(Encoding::R50kBase),
        Some(ModelTokenizer::P50kBase) => Ok(Encoding::P50kBase),
        Some(ModelTokenizer::P50kEdit) => Ok(Encoding::P50kEdit),
        Some(ModelTokenizer::Cl100kBase) => Ok(Encoding::Cl100kBase),
        Some(ModelTokenizer::O200kBase) => Ok(Encoding::O200kBase),
        Some(ModelTokenizer::O200kHarmony) => Ok(Encoding::O200kHarmony),
        None => Err(Error::UnknownModel { name: model.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models() {
        for (model, encoding) in [
            ("gpt-4o", Encoding::O200kBase),
            ("gpt-4", Encoding::Cl100kBase),
            ("gpt-oss-20b", Encoding::O200kHarmony),
            ("text-davinci-003", Encoding::P50kBase),
            ("text-davinci-edit-001", Encoding::P50kEdit),
            ("gpt2", Encoding::R50kBase),
            ("ft:gpt-4o:org:name:id", Encoding::O200kBase),
        ] {
            assert_eq!(encoding_for_model(model), Ok(encoding), "{model}");
        }
        assert_eq!(encoding_for_model("claude"), Err(Error::UnknownModel { name: "claude".to_owned() }));
    }
}
