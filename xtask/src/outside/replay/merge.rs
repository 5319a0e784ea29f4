//! The meaning of a change for another version of the file, by the merge of git.

use std::ops::Range;
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

/// Lines that another version has instead of some of a text, as 0-based half-open indexes.
pub(super) struct Replaced {
    /// The lines of the text; empty for an insertion.
    pub(super) old: Range<usize>,
    /// The lines of the other version; empty for a deletion.
    pub(super) new: Range<usize>,
}

/// Returns the differences between two versions by git's comparison; `None` if it cannot be run.
pub(super) fn differences(base: &str, other: &str) -> Option<Vec<Replaced>> {
    let folder = tempfile::tempdir().ok()?;
    for (name, text) in [("base", base), ("other", other)] {
        std::fs::write(folder.path().join(name), text).ok()?;
    }
    let output = Command::new("git")
        .args(["diff", "--no-index", "--no-color", "--no-ext-diff", "-U0", "base", "other"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let headers = printed.lines().filter(|line| line.starts_with("@@ -"));
    let replaced = headers.map(|header| {
        let mut sides = header.split(' ').skip(1).map(|side| {
            let (start, count) = side[1..].split_once(',').unwrap_or((&side[1..], "1"));
            let (start, count) = (start.parse::<usize>().ok()?, count.parse::<usize>().ok()?);
            // With no line, git names the line before.
            Some(if count == 0 { start..start } else { start - 1..start - 1 + count })
        });
        Some(Replaced { old: sides.next()??, new: sides.next()?? })
    });
    replaced.collect()
}

/// Returns the position of lines of a text in another version, if none of them has changed there, by git's comparison.
pub(super) fn shifted(base: &str, other: &str, lines: &Range<usize>) -> Option<Range<usize>> {
    let mut by = 0i64;
    for Replaced { old, new } in differences(base, other)? {
        if old.start < lines.end && old.end > lines.start {
            return None;
        }
        if old.end <= lines.start {
            by += new.len() as i64 - old.len() as i64;
        }
    }
    let moved = |index: usize| usize::try_from(index as i64 + by).ok();
    Some(moved(lines.start)?..moved(lines.end)?)
}
