//! The settings that the owner of an index chooses.

use std::time::Duration;

use rel_path::RelPath;

/// The rules for the files of one index.
pub trait IndexRules: Send + Sync {
    /// Returns whether a path is invisible to every caller, with everything below it.
    fn hides(&self, path: &RelPath) -> bool;

    /// Returns whether a folder is excluded from listing. Requests for its entries get no answer.
    fn leaves_out(&self, folder: &RelPath) -> bool;

    /// Classifies the whole content of a file for searches.
    fn content_kind(&self, path: &RelPath, content: &[u8]) -> ContentKind;
}

/// The treatment of a content by searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// Searches read exactly these bytes, line by line. A byte-order mark may be skipped.
    Text,
    /// Searches read something else than these bytes, or that cannot be determined: the file is scanned each
    /// time.
    Unknown,
    /// It is never searched, and counts as binary.
    Binary,
    /// It is never searched, and counts as undecodable.
    Undecodable,
}

/// The limits of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexLimits {
    /// The limit on memory for everything, in bytes. A list that needs more is discarded; contents that would
    /// need more are scanned.
    pub memory_bytes: usize,
    /// The largest file that gets a signature, in bytes. Larger ones are scanned.
    pub file_bytes: u64,
    /// The largest number of files and folders that are listed; with more, the index is off.
    pub entries: usize,
    /// The time for which changes are collected before the thread processes them. Requests do not wait for
    /// that.
    pub collect: Duration,
    /// The time without a request after which all memory is freed. The next request starts the listing again.
    pub rest_after: Duration,
    /// The interval at which the list and the files are compared with the disk, in case a change was not
    /// reported.
    pub compare_every: Duration,
}

/// 256 MiB, files up to 1 MiB, 900,000 entries, 50 ms, half an hour, 5 minutes.
impl Default for IndexLimits {
    fn default() -> IndexLimits {
        IndexLimits {
            memory_bytes: 256 << 20,
            file_bytes: 1 << 20,
            entries: 900_000,
            collect: Duration::from_millis(50),
            rest_after: Duration::from_secs(1800),
            compare_every: Duration::from_secs(300),
        }
    }
}
