//! When a server writes its streams through to the disk.

/// When the server syncs what it has acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Before every acknowledgement, `sync_interval: always`: servers from 2.10 on have the option.
    Always,
    /// By the server's default: 2.9 syncs in intervals and refuses the option. A power cut then costs the last minutes:
    /// home detects missing tasks and publishes them again, so work is done twice but not lost.
    #[default]
    ByInterval,
}

impl SyncPolicy {
    /// Returns the best policy of a server by the text of `nats-server --version`, such as `nats-server: v2.9.10`.
    #[must_use]
    pub fn for_version(text: &str) -> SyncPolicy {
        let digits = text.rsplit(['v', ' ']).next().unwrap_or_default();
        let mut numbers = digits.trim().split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version >= (2, 10) { SyncPolicy::Always } else { SyncPolicy::ByInterval }
    }
}
