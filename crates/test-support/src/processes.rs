//! Processes of this machine.

use std::fs;

/// Returns whether a process whose command line contains `text` is alive.
#[must_use]
pub fn is_alive(text: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        // A process may end between the listing and this read; its entry then counts as not alive.
        fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(text))
    })
}
