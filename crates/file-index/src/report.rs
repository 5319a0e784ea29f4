//! What an index is doing.

/// What an index is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPhase {
    /// Files are listed. Nothing is answered.
    Listing,
    /// Files are listed and changes are noticed, but contents are still read.
    Reading,
    /// All that can be known is.
    Ready,
    /// Nobody has asked for long, and everything was given back. The next question begins anew.
    Resting,
    /// There is none, for a reason that lasts.
    Off(OffReason),
}

/// Why there is no index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffReason {
    /// The file system does not tell of changes.
    FileSystem,
    /// This system lacks what watching takes.
    System,
    /// The system lets this user watch fewer folders.
    TooManyFolders,
    /// There are more files than [`IndexLimits::entries`](crate::IndexLimits::entries), or their list takes more memory
    /// than [`IndexLimits::memory_bytes`](crate::IndexLimits::memory_bytes).
    TooManyFiles,
}

/// What an index is doing, and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexReport {
    /// What it is doing.
    pub phase: IndexPhase,
    /// Files, links and other things that are no folders.
    pub files: usize,
    /// Folders, those that were left out included.
    pub folders: usize,
    /// Files that are to be read.
    pub unread: usize,
    /// Bytes of memory that it takes, about.
    pub memory_bytes: usize,
    /// Bytes of memory that it may take.
    pub memory_limit_bytes: usize,
    /// How often everything had to be listed again, because changes had not been told.
    pub restarts: u64,
}
