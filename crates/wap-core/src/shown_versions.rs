//! What a conversation was shown, so that its line numbers can be understood later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::FileVersion;

/// Which versions and lines of which files a conversation was shown with line numbers it may refer to.
///
/// Held by the conversation: in the session file, or with a client's connection. Every place that shows lines of a
/// file records them here; an edit by line numbers then names the version with [`version_for`](Self::version_for).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownVersions {
    files: BTreeMap<String, Vec<Shown>>,
}

/// Lines of one version, in the order in which they were shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
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
    /// Every line of a file, whatever its length.
    pub const ALL: LineSpan = LineSpan { first: 1, last: u64::MAX };

    fn contains(self, line: u64) -> bool {
        self.first <= line && line <= self.last
    }
}

impl ShownVersions {
    /// How many versions of one file are remembered; older ones are forgotten first.
    const VERSIONS_PER_FILE: usize = 4;

    /// Records that lines of a version were shown. `path` is canonical.
    pub fn record(&mut self, path: &str, version: FileVersion, lines: LineSpan) {
        let versions = self.files.entry(path.to_owned()).or_default();
        if lines == LineSpan::ALL {
            // The whole file replaces whatever was believed about it.
            versions.clear();
        }
        let mut shown = match versions.iter().position(|shown| shown.version == version) {
            Some(index) => versions.remove(index),
            None => Shown { version, lines: Vec::new() },
        };
        if !shown.lines.contains(&lines) {
            shown.lines.push(lines);
        }
        versions.push(shown);
        if versions.len() > Self::VERSIONS_PER_FILE {
            versions.remove(0);
        }
    }

    /// Returns the version that line numbers from `start_line` on refer to: the one in which that line was shown
    /// last, else the one shown last at all; `None` if the file was never shown.
    #[must_use]
    pub fn version_for(&self, path: &str, start_line: u64) -> Option<&FileVersion> {
        let versions = self.files.get(path)?;
        versions
            .iter()
            .rev()
            .find(|shown| shown.lines.iter().any(|lines| lines.contains(start_line)))
            .or_else(|| versions.last())
            .map(|shown| &shown.version)
    }

    /// Forgets a file, because it was deleted or wholly rewritten by the conversation itself.
    pub fn forget(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// Returns the canonical paths of all files that were shown, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}
