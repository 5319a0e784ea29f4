//! The meaning of a change for another version of the file, by the merge of git.

use std::process::{Command, Stdio};

/// Merges two changes of a text; `None` if they touch the same lines.
pub(super) fn merged(base: &str, one: &str, other: &str) -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let files = [("one", one), ("base", base), ("other", other)];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).ok()?;
    }
    let output = Command::new("git")
        .args(["merge-file", "-p"])
        .args(files.map(|(name, _)| name))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    // The exit code is the number of conflicts.
    if output.status.success() { String::from_utf8(output.stdout).ok() } else { None }
}
