//! How much an agent can be sent.

/// An agent's context window, and how much of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextWindow {
    /// The size of the window, in tokens.
    pub limit_tokens: u64,
    /// How much of it may be filled before older messages are summarised, in percent.
    pub threshold_percent: u8,
    /// The most messages that are kept; older ones are left out without a summary.
    pub most_messages: Option<usize>,
    /// The most tokens of a summary.
    pub summary_tokens: u64,
}

impl ContextWindow {
    /// Returns a window of which nine tenths are used, and a tenth of that for a summary.
    #[must_use]
    pub fn of(limit_tokens: u64) -> ContextWindow {
        ContextWindow {
            limit_tokens,
            threshold_percent: 90,
            most_messages: None,
            summary_tokens: (limit_tokens / 10).max(16),
        }
    }

    /// Returns how many tokens may be sent.
    pub(super) fn usable_tokens(&self) -> u64 {
        let usable = u128::from(self.limit_tokens) * u128::from(self.threshold_percent) / 100;
        u64::try_from(usable).unwrap_or(u64::MAX)
    }
}
