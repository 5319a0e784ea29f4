//! What its user decides about an index.

use std::time::Duration;

use rel_path::RelPath;

/// What the files mean to those who search them.
pub trait IndexRules: Send + Sync {
    /// Whether a path does not exist for anybody. What is beneath it does not either.
    fn hides(&self, path: &RelPath) -> bool;

    /// Whether a folder is not looked into in advance. Whoever asks for what is in it is told that it is not known.
    fn leaves_out(&self, folder: &RelPath) -> bool;

    /// What the whole content of a file is to a search.
    fn content_kind(&self, path: &RelPath, content: &[u8]) -> ContentKind;
}

/// What a content is to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// Exactly these bytes are searched, and each line of them by itself. A mark at their beginning may be left out.
    Text,
    /// Something else is searched, or nobody can tell: it is looked at each time.
    Unknown,
    /// It is never searched, and counted as binary.
    Binary,
    /// It is never searched, and counted as undecodable.
    Undecodable,
}

/// What an index may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexLimits {
    /// Bytes of memory for everything. A list that needs more is given up; contents that would need more are scanned.
    pub memory_bytes: usize,
    /// The largest file whose content is known, in bytes. Larger ones are scanned.
    pub file_bytes: u64,
    /// How many files and folders are listed; with more, there is no index.
    pub entries: usize,
    /// How long changes are collected before the thread looks at them. Whoever asks does not wait for that.
    pub collect: Duration,
    /// How long after the last question everything is given back. The next question begins anew.
    pub rest_after: Duration,
    /// How often the list and the files are compared with what is there, in case something was not told.
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
