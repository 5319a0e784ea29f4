//! The time that processors have worked, which a busy machine disturbs less than the clock.

use std::fs;

/// Ticks of processor time, of programs and of the system for them.
#[derive(Clone, Copy, Default)]
pub(crate) struct ProcessorTime {
    /// Of this process, all of its threads.
    pub own: u64,
    /// Of its children that have ended.
    pub children: u64,
}

impl ProcessorTime {
    /// Returns the time used until now; nothing where the system does not report it.
    pub(crate) fn now() -> ProcessorTime {
        let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The second field is a name in parentheses, which may hold anything. Behind it, the times are fields 12 to 15.
        let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let times: Vec<u64> = fields.skip(11).take(4).map(|field| field.parse().unwrap_or(0)).collect();
        match times[..] {
            [user, system, children_user, children_system] => {
                ProcessorTime { own: user + system, children: children_user + children_system }
            }
            _ => ProcessorTime::default(),
        }
    }
}
