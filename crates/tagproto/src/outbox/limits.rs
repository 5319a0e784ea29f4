//! How much of the workspace an outbox may hold, whatever the token budget says.

/// Bounds of what [`gather`](crate::gather) takes from the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxLimits {
    /// Most files that are listed; the engine may list fewer.
    pub listed_files: usize,
    /// Most bytes of one requested file; it is cut between lines.
    pub file_bytes: usize,
    /// Most bytes of all requested files together; files that come later get less.
    pub all_files_bytes: usize,
}

impl Default for OutboxLimits {
    /// 1,000 files listed, 128 KiB of one file, 512 KiB of all.
    fn default() -> OutboxLimits {
        OutboxLimits { listed_files: 1_000, file_bytes: 128 * 1_024, all_files_bytes: 512 * 1_024 }
    }
}
