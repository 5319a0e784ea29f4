//! Bounds on the cost of an edit and on the quotes in a refusal.

/// Bounds on one call of [`apply`](crate::apply).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditLimits {
    /// The longest regular expression, in bytes.
    pub pattern_limit_bytes: usize,
    /// The most memory that a compiled regular expression may take, in bytes.
    pub regex_limit_bytes: usize,
    /// The largest text that an edit may produce, in bytes. A text that is already larger may be edited as long as it does not
    /// grow.
    pub result_limit_bytes: usize,
    /// The most steps of a call, apart from [`work_factor`](Self::work_factor) for each byte of the text. A step is about one
    /// examined byte.
    pub base_work: u64,
    /// The additional steps allowed for each byte of the text.
    pub work_factor: u64,
    /// The most hunks that the operations of a call may produce in total, apart from the last operation.
    pub hunk_limit: usize,
    /// The most characters of each text that a refusal quotes.
    pub quote_limit_chars: usize,
}

impl Default for EditLimits {
    /// 16 KiB of pattern, 10 MiB compiled, 16 MiB of result, 256 Mi steps and 64 per byte, 1 Mi hunks, 2,000 characters per
    /// quote.
    fn default() -> Self {
        Self {
            pattern_limit_bytes: 16 * 1024,
            regex_limit_bytes: 10 * 1024 * 1024,
            result_limit_bytes: 16 * 1024 * 1024,
            base_work: 256 * 1024 * 1024,
            work_factor: 64,
            hunk_limit: 1024 * 1024,
            quote_limit_chars: 2_000,
        }
    }
}
