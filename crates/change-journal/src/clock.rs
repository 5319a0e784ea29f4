//! Owns the two facts that the journal takes from the machine: the time of day and the current boot.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns milliseconds since 1970-01-01 UTC. They are for people; apart from that they only decide how long
/// unused contents stay.
pub(crate) fn now_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the time that was stored as `ms`.
pub(crate) fn time_of(ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// Returns a name for the current boot of the machine.
///
/// If the kernel provides none, each call returns a different name, so that files count as possible partial
/// writes.
pub(crate) fn boot_id() -> String {
    match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Ok(text) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => format!("unknown-{}-{}", std::process::id(), now_ms()),
    }
}
