//! Owns the two facts that the journal takes from the machine: the time of day and which start this is.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01 UTC. People read them; all that depends on them is how long unused contents stay.
pub(crate) fn now_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

/// The time that was written as `ms`.
pub(crate) fn time_of(ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// Names the current start of the machine.
///
/// Where that cannot be told, each call gives another name, so that files count as possibly torn.
pub(crate) fn boot_id() -> String {
    match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Ok(text) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => format!("unknown-{}-{}", std::process::id(), now_ms()),
    }
}
