//! The limits of reading envelopes.

/// The limits of one envelope; a larger one is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The most bytes.
    pub envelope_bytes: usize,
    /// The most values: texts, lists and maps, not counting keys.
    pub values: usize,
    /// The deepest nesting of lists and maps.
    pub depth: usize,
    /// The most needs of a request.
    pub needs: usize,
}

impl ReadLimits {
    /// Returns the limits for requests, which models write: 1 MiB, 10,000 values, 16 levels, 256 needs.
    #[must_use]
    pub const fn for_requests() -> ReadLimits {
        ReadLimits { envelope_bytes: 1 << 20, values: 10_000, depth: 16, needs: 256 }
    }

    /// Returns the limits for responses, which contain files: 64 MiB, a million values, 64 levels.
    #[must_use]
    pub const fn for_responses() -> ReadLimits {
        ReadLimits { envelope_bytes: 64 << 20, values: 1_000_000, depth: 64, needs: 256 }
    }
}
