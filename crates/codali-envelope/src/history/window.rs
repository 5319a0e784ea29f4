//! Context windows.

/// An agent's context window, and the part of it to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextWindow {
    /// The size of the window, in tokens.
    pub limit_tokens: u64,
    /// The percentage that may be filled before older messages are summarized.
    pub threshold_percent: u8,
    /// The most messages to keep; older ones are dropped without a summary.
    pub most_messages: Option<usize>,
    /// The most tokens of a summary.
    pub summary_tokens: u64,
}

impl ContextWindow {
    /// Returns a window with a threshold of 90 % and a tenth of the size for a summary.
    #[must_use]
    pub fn of(limit_tokens: u64) -> ContextWindow {
        ContextWindow {
            limit_tokens,
            threshold_percent: 90,
            most_messages: None,
            summary_tokens: (limit_tokens / 10).max(16),
        }
    }

    /// Returns the number of tokens below the threshold.
    pub(super) fn usable_tokens(&self) -> u64 {
        let usable = u128::from(self.limit_tokens) * u128::from(self.threshold_percent) / 100;
        u64::try_from(usable).unwrap_or(u64::MAX)
    }
}
