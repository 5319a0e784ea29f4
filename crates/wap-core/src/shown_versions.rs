//! The versions and lines that a conversation was shown, for interpreting its line numbers later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{FileVersion, LineShift};

/// The versions and lines of files that a conversation was shown and may refer to by number.
///
/// Kept by the conversation: in the session file, or with a client's connection. All code that shows lines of a file records them
/// here; an edit by line numbers then names the version with [`version_for`](Self::version_for).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownVersions {
    files: BTreeMap<String, Vec<ShownLines>>,
}

/// Lines of one version: sorted, separate, and not shown in a later version since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ShownLines {
    version: FileVersion,
    lines: Vec<LineSpan>,
}

/// A range of lines, 1-based and inclusive. The empty file is `1..=0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSpan {
    /// First line.
    pub first: u64,
    /// Last line.
    pub last: u64,
}

impl LineSpan {
    /// Every line of a file of any length.
    pub const ALL: LineSpan = LineSpan { first: 1, last: u64::MAX };

    /// Describes the lines: `line 5`, `lines 5-7`, or the gap that an empty span stands for.
    #[must_use]
    pub fn named(self) -> String {
        match self {
            LineSpan { first, last } if last < first => format!("the gap after line {last}"),
            LineSpan { first, last } if first == last => format!("line {first}"),
            LineSpan { first, last } => format!("lines {first}-{last}"),
        }
    }

    fn contains(self, line: u64) -> bool {
        self.first <= line && line <= self.last
    }

    /// Returns the difference of two spans: none, one or two spans.
    fn without(self, other: LineSpan) -> impl Iterator<Item = LineSpan> {
        let before = LineSpan { first: self.first, last: self.last.min(other.first.saturating_sub(1)) };
        let after = LineSpan { first: self.first.max(other.last.saturating_add(1)), last: self.last };
        // The sum saturates: without this check, line `u64::MAX` would count as following `other`.
        let reaches_end = other.last == u64::MAX;
        [Some(before), (!reaches_end).then_some(after)]
            .into_iter()
            .flatten()
            .filter(|span| span.first <= span.last)
    }
}

/// Joins spans that touch; they are sorted and do not overlap.
fn merged(spans: Vec<LineSpan>) -> Vec<LineSpan> {
    let mut merged: Vec<LineSpan> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.last.saturating_add(1) >= span.first => last.last = last.last.max(span.last),
            _ => merged.push(span),
        }
    }
    merged
}

impl ShownVersions {
    /// The bound on remembered versions of one file; older ones are forgotten first. Only versions whose lines were not shown
    /// again later count, so conversations do not reach the bound in practice.
    const VERSIONS_PER_FILE: usize = 32;

    /// Records that lines of a version were shown. `path` is canonical.
    ///
    /// From now on these line numbers mean this version. An empty span stands for an empty file shown in full.
    pub fn record(&mut self, path: &str, version: FileVersion, lines: LineSpan) {
        // An empty file has no line to record; every number then means that version.
        let lines = if lines.last < lines.first { LineSpan::ALL } else { lines };
        let versions = self.files.entry(path.to_owned()).or_default();
        for older in versions.iter_mut() {
            older.lines = older.lines.iter().flat_map(|span| span.without(lines)).collect();
        }
        let mut spans = match versions.iter().position(|one| one.version == version) {
            Some(index) => versions.remove(index).lines,
            None => Vec::new(),
        };
        spans.push(lines);
        spans.sort_by_key(|span| span.first);
        versions.retain(|one| !one.lines.is_empty());
        // The version shown last comes last in the list, where `version_for` falls back to it.
        versions.push(ShownLines { version, lines: merged(spans) });
        if versions.len() > Self::VERSIONS_PER_FILE {
            versions.remove(0);
        }
    }

    /// Returns the version that line numbers from `start_line` on refer to: the one in which that line was last shown, or else
    /// the one last shown; `None` if the file was never shown.
    #[must_use]
    pub fn version_for(&self, path: &str, start_line: u64) -> Option<&FileVersion> {
        let versions = self.files.get(path)?;
        versions
            .iter()
            .find(|one| one.lines.iter().any(|lines| lines.contains(start_line)))
            .or_else(|| versions.last())
            .map(|one| &one.version)
    }

    /// Returns the version in which a line was last shown; `None` if that line never was.
    #[must_use]
    pub fn version_at(&self, path: &str, line: u64) -> Option<&FileVersion> {
        let versions = self.files.get(path)?;
        let latest = versions.iter().find(|one| one.lines.iter().any(|lines| lines.contains(line)))?;
        Some(&latest.version)
    }

    /// Checks whether all shown lines of a file are of this version. Also true if none were shown.
    #[must_use]
    pub fn is_only(&self, path: &str, version: &FileVersion) -> bool {
        self.files.get(path).is_none_or(|versions| versions.iter().all(|one| one.version == *version))
    }

    /// Records an edit of version `previous` by the conversation itself that moved lines by `shifts`.
    ///
    /// Shown lines of `previous` whose numbers did not change count as shown in `version` from now on. The others stay with the
    /// version in which they were shown: the conversation may still refer to it.
    pub fn note_own_edit(
        &mut self,
        path: &str,
        previous: &FileVersion,
        version: &FileVersion,
        shifts: &[LineShift],
    ) {
        // The last line before the first shift, in the old numbers and in the new ones.
        let last = shifts.first().map_or(u64::MAX, |shift| {
            let now = shift.from_line.saturating_add_signed(shift.by);
            shift.from_line.min(now).saturating_sub(1)
        });
        let Some(versions) = self.files.get(path) else { return };
        let Some(edited) = versions.iter().find(|one| one.version == *previous) else { return };
        let unmoved: Vec<LineSpan> = edited
            .lines
            .iter()
            .map(|lines| LineSpan { first: lines.first, last: lines.last.min(last) })
            .filter(|lines| lines.first <= lines.last)
            .collect();
        for lines in unmoved {
            self.record(path, version.clone(), lines);
        }
    }

    /// Forgets a file that the conversation itself deleted or rewrote as a whole.
    pub fn forget(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// Returns the canonical paths of all files that were shown, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}
