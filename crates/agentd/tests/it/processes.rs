//! Looking for processes.

use std::fs;

/// Whether a process with this text among its arguments is alive.
pub(crate) fn is_alive(text: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(text))
    })
}
