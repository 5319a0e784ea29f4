//! Owns the limits on what the journal accepts and on how it batches.

use std::time::Duration;

/// Bounds of one journal. `Default` suits a daemon on a developer's machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalLimits {
    /// Contents up to this many bytes, inclusive, are part of the commit itself; larger ones become synced files.
    pub inline_content_bytes: usize,
    /// The largest content that is accepted, in bytes, inclusive.
    pub content_bytes: usize,
    /// The largest outcome of a step or a run that is accepted, in bytes, inclusive.
    pub outcome_bytes: usize,
    /// The largest document that is accepted, in bytes, inclusive.
    pub document_bytes: usize,
    /// At most this many waiting writes share one commit.
    pub group_writes: usize,
    /// No further write joins a commit that already carries this many bytes.
    pub group_bytes: usize,
    /// The longest time until a lazy write reaches the disk, if no other commit includes it.
    pub lazy_delay: Duration,
    /// After about this many committed bytes the log is folded into the database in the background.
    pub checkpoint_bytes: usize,
    /// A database up to this many bytes is checked page by page on each opening; a larger one only when the
    /// last opening was not closed and the machine was restarted since.
    pub check_bytes: u64,
}

impl Default for JournalLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            inline_content_bytes: MIB,
            content_bytes: 512 * MIB,
            outcome_bytes: 16 * MIB,
            document_bytes: 64 * MIB,
            group_writes: 64,
            group_bytes: 16 * MIB,
            lazy_delay: Duration::from_secs(1),
            checkpoint_bytes: 4 * MIB,
            check_bytes: 64 * MIB as u64,
        }
    }
}
