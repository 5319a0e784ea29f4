//! The limits of an outbox in addition to the token budget.

/// The limits of the text that [`gather`](crate::gather) takes from the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxLimits {
    /// The maximum number of listed files; the engine may list fewer.
    pub listed_files: usize,
    /// The maximum number of bytes of one requested file, which is cut between lines.
    pub file_bytes: usize,
    /// The maximum number of bytes of all requested files together; later files get less.
    pub all_files_bytes: usize,
}

impl Default for OutboxLimits {
    /// 1,000 files listed, 128 KiB of one file, 512 KiB of all.
    fn default() -> OutboxLimits {
        OutboxLimits { listed_files: 1_000, file_bytes: 128 * 1_024, all_files_bytes: 512 * 1_024 }
    }
}
