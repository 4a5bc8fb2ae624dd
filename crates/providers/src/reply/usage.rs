//! The tokens that a call used.

use serde_json::Value;

use crate::dict::{dict, set};
use crate::field::Field;
use peteos_conversation::error::ShapeError;

/// The tokens that a call used, in the terms of all providers.
pub struct Usage<'v> {
    raw: &'v Value,
    counts: Vec<(&'static str, u64)>,
}

/// How a provider's counts become one of ours: their sum.
pub type Sum = (&'static str, &'static [&'static [&'static str]]);

impl<'v> Usage<'v> {
    /// Reads the counts. A sum of which no count is there is left out.
    ///
    /// # Errors
    ///
    /// A usage that is not an object.
    pub fn read(usage: Option<Field<'v>>, sums: &[Sum]) -> Result<Option<Self>, ShapeError> {
        let Some(usage) = usage else { return Ok(None) };
        usage.object()?;
        let raw = usage.value;
        let count = |path: &&[&str]| path.iter().try_fold(raw, |value, key| value.get(key))?.as_u64();
        let counts = sums.iter().filter_map(|(name, paths)| {
            let found: Vec<u64> = paths.iter().filter_map(count).collect();
            (!found.is_empty()).then(|| (*name, found.into_iter().fold(0, u64::saturating_add)))
        });
        Ok(Some(Self { raw, counts: counts.collect() }))
    }

    /// The object that is stored.
    pub fn to_value(&self) -> Value {
        let mut value = dict! {};
        for (name, count) in &self.counts {
            set(&mut value, name, (*count).into());
        }
        set(&mut value, "raw", self.raw.clone());
        value
    }
}
