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

/// The lines that count as the same in a comparison of two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    /// Those of the same text.
    Exactly,
    /// Those that differ by blanks at most.
    ButForBlanks,
}

/// Returns the position of lines of a text in another version, if none of them has changed there, by git's comparison.
pub(super) fn shifted(base: &str, other: &str, lines: &Range<usize>, same: Same) -> Option<Range<usize>> {
    let folder = tempfile::tempdir().ok()?;
    for (name, text) in [("base", base), ("other", other)] {
        // A last line without a line break is the same one with a break, when others have put lines behind it.
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        std::fs::write(folder.path().join(name), [text, end].concat()).ok()?;
    }
    let output = Command::new("git")
        .args(["diff", "--no-index", "--no-color", "--no-ext-diff", "-U0"])
        .args((same == Same::ButForBlanks).then_some("--ignore-all-space"))
        .args(["base", "other"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut by = 0i64;
    for header in printed.lines().filter(|line| line.starts_with("@@ -")) {
        let mut sides = header.split(' ').skip(1).map(|side| {
            let (start, count) = side[1..].split_once(',').unwrap_or((&side[1..], "1"));
            Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        });
        let ((start, gone), (_, come)) = (sides.next()??, sides.next()??);
        // With no line gone, git names the line before.
        let changed = if gone == 0 { start..start } else { start - 1..start - 1 + gone };
        let is_within = changed.start < lines.end && changed.end > lines.start;
        if is_within {
            return None;
        }
        if changed.end <= lines.start {
            by += come as i64 - gone as i64;
        }
    }
    let moved = |index: usize| usize::try_from(index as i64 + by).ok();
    Some(moved(lines.start)?..moved(lines.end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_without_a_break_is_the_same_behind_which_others_write() {
        let at = |other: &str| shifted("a\nb", other, &(1..2), Same::Exactly);
        assert_eq!(at("a\nnew\nb\nc"), Some(2..3));
        assert_eq!(at("a\nb\nc\n"), Some(1..2));
        // The control: that line is another one.
        assert_eq!(at("a\nB\nc\n"), None);
    }
}
