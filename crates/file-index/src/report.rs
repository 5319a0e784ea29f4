//! The state of an index.

/// The phase of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPhase {
    /// Files are being listed. Requests get no answer.
    Listing,
    /// All files are listed and changes are tracked, but contents are still being read.
    Reading,
    /// Everything within the limits is listed and read.
    Ready,
    /// There was no request for long, and all memory is freed. The next request starts the listing again.
    Resting,
    /// The index is off, for a reason that lasts.
    Off(OffReason),
}

/// The reason why the index is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffReason {
    /// The file system does not report changes.
    FileSystem,
    /// The system does not support watching.
    System,
    /// The system lets this user watch fewer folders.
    TooManyFolders,
    /// There are more files than [`IndexLimits::entries`](crate::IndexLimits::entries), or their list takes more memory
    /// than [`IndexLimits::memory_bytes`](crate::IndexLimits::memory_bytes).
    TooManyFiles,
}

/// The state of an index and its use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexReport {
    /// The current phase.
    pub phase: IndexPhase,
    /// Files, links and other entries except folders.
    pub files: usize,
    /// Folders, those that were left out included.
    pub folders: usize,
    /// Files that are still to be read.
    pub unread: usize,
    /// About how many bytes of memory it takes.
    pub memory_bytes: usize,
    /// The limit on its memory, in bytes.
    pub memory_limit_bytes: usize,
    /// The number of times that everything had to be listed again, because changes were lost.
    pub restarts: u64,
}
