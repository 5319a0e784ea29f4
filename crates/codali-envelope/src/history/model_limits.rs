//! The context window sizes of models.

use std::collections::BTreeMap;

/// The sizes of context windows, by model name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelLimits {
    limits: BTreeMap<String, u64>,
}

impl ModelLimits {
    /// The size for an unknown model, in tokens.
    pub const DEFAULT_TOKENS: u64 = 8_192;

    /// Creates a table of sizes in tokens.
    #[must_use]
    pub fn new<N: Into<String>>(limits: impl IntoIterator<Item = (N, u64)>) -> ModelLimits {
        ModelLimits { limits: limits.into_iter().map(|(name, tokens)| (name.into(), tokens)).collect() }
    }

    /// Returns the window size of a model: by its full name, by the part before a colon (`llama:8b`), or the
    /// default.
    #[must_use]
    pub fn tokens(&self, model: &str) -> u64 {
        let family = model.split(':').next().unwrap_or(model);
        let size = self.limits.get(model).or_else(|| self.limits.get(family));
        size.copied().unwrap_or(ModelLimits::DEFAULT_TOKENS)
    }
}
