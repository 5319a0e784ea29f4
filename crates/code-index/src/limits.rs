//! The limits of an index.

use std::time::Duration;

/// The limits of indexing a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexLimits {
    /// The largest file in bytes; larger ones are left out.
    pub file_bytes: u64,
    /// The most files, in the order of paths; the rest is left out, and the index then never counts as complete.
    pub files: usize,
    /// The time limit for parsing a file, and again for extracting its definitions and imports from the tree; a file that exceeds
    /// either is indexed by its words only.
    pub parse_time: Duration,
    /// The most definitions of one file; the rest is left out.
    pub symbols: usize,
    /// The most imports of one file; the rest is left out.
    pub imports: usize,
    /// The most distinct words of one file; the rest is left out.
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
