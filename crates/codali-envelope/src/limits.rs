//! How much of an envelope is read.

/// What an envelope may cost its reader; more is refused as too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Most bytes of one envelope.
    pub envelope_bytes: usize,
    /// Most values: texts, lists and maps, keys apart.
    pub values: usize,
    /// Most lists and maps within one another.
    pub depth: usize,
    /// Most needs of a request.
    pub needs: usize,
}

impl ReadLimits {
    /// The limits for requests, which models write: 1 MiB, 10,000 values, 16 levels, 256 needs.
    #[must_use]
    pub const fn for_requests() -> ReadLimits {
        ReadLimits { envelope_bytes: 1 << 20, values: 10_000, depth: 16, needs: 256 }
    }

    /// The limits for responses, which hold files: 64 MiB, a million values, 64 levels.
    #[must_use]
    pub const fn for_responses() -> ReadLimits {
        ReadLimits { envelope_bytes: 64 << 20, values: 1_000_000, depth: 64, needs: 256 }
    }
}
