//! How much work a file and a folder may make.

use std::time::Duration;

/// What is indexed at most, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexLimits {
    /// Files with more bytes are left out.
    pub file_bytes: u64,
    /// Files behind this many, in the order of paths, are left out.
    pub files: usize,
    /// How long one file may be parsed; after it the file is known by its words alone.
    pub parse_time: Duration,
    /// Definitions of one file behind this many are left out.
    pub symbols: usize,
    /// Imports of one file behind this many are left out.
    pub imports: usize,
    /// Words of one file behind this many, each counted once, are left out.
    pub words: usize,
}

/// 1 MiB, 200,000 files, half a second, 5,000 definitions, 2,000 imports and 50,000 words.
impl Default for IndexLimits {
    fn default() -> IndexLimits {
        IndexLimits {
            file_bytes: 1 << 20,
            files: 200_000,
            parse_time: Duration::from_millis(500),
            symbols: 5_000,
            imports: 2_000,
            words: 50_000,
        }
    }
}
