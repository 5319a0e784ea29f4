//! The file versions that the line numbers of a reply refer to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wap_core::{Call, FileVersion, LastAnswer, SeenVersions, ShownVersions, WapError, Workspace};

use crate::{Block, Dialect, Item, Session};

/// The file versions that the line numbers of one reply refer to: the versions that the session was shown, and for other files
/// the versions at the start of the reply.
///
/// The caller stores them with the run, so that the numbers of a resumed run refer to the same versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BaseVersions {
    /// The versions that the session was shown before the reply.
    #[serde(rename = "shown")]
    pub(super) shown_versions: ShownVersions,
    /// The versions at the start of the reply of the files that it edits and that were never shown.
    at_start: BTreeMap<String, FileVersion>,
    /// The canonical paths of files that the reply spells differently, if only the workspace can resolve them.
    canonical: BTreeMap<String, String>,
    /// The state of the shown files when the answered message was written; `None` if it is unknown.
    pub(super) last_answer: Option<LastAnswer>,
    /// Edited files whose line numbers have no certain meaning: they changed since that message and were never shown.
    pub(super) unknown: BTreeSet<String>,
}

impl BaseVersions {
    /// Returns the canonical path of a file if it is known, else the path without `.` steps and doubled slashes.
    pub(super) fn canonical(&self, path: &str) -> String {
        let path = without_empty_steps(path);
        self.canonical.get(&path).cloned().unwrap_or(path)
    }

    /// Records the canonical path of a path, as returned by the workspace.
    pub(super) fn learn(&mut self, path: &str, canonical_path: &str) {
        let path = without_empty_steps(path);
        if path != canonical_path {
            self.canonical.insert(path, canonical_path.to_owned());
        }
    }

    /// Returns the versions that a session was shown before a reply, with the state of the files at that time.
    #[must_use]
    pub fn of_session(session: &Session) -> BaseVersions {
        let last_answer = session.last_answer.clone();
        BaseVersions { last_answer, ..BaseVersions::from(session.shown_versions.clone()) }
    }

    /// Returns the versions to which line numbers from `line` may refer; `None` for the current file.
    pub(super) fn meant(&self, canonical_path: &str, line: u64) -> Option<SeenVersions> {
        // This comes first: with a guessed version, an edit would replace the wrong lines.
        if self.unknown.contains(canonical_path) {
            return Some(SeenVersions { unknown: true, ..SeenVersions::default() });
        }
        if let Some(version) = self.shown_versions.version_for(canonical_path, line) {
            return Some(match &self.last_answer {
                Some(answer) => answer.seen_versions(&self.shown_versions, canonical_path, &[line], None),
                None => SeenVersions { by_operation: vec![Some(version.clone())], ..SeenVersions::default() },
            });
        }
        let version = self.at_start.get(canonical_path)?.clone();
        Some(SeenVersions { last_answer: Some(version), ..SeenVersions::default() })
    }
}

/// Repeats the versions of one operation for a number of operations.
pub(super) fn for_each_operation(mut versions: SeenVersions, operations: usize) -> SeenVersions {
    if let Some(first) = versions.by_operation.first().cloned() {
        versions.by_operation.resize(operations, first);
    }
    versions
}

impl From<ShownVersions> for BaseVersions {
    /// Returns base versions without reading the workspace: line numbers in other files refer to the file at the time when their
    /// block is carried out.
    fn from(shown_versions: ShownVersions) -> BaseVersions {
        BaseVersions { shown_versions, ..BaseVersions::default() }
    }
}

/// Determines the file versions to which the line numbers of a reply refer. Call it once, before the reply is carried out.
///
/// In the dialect [`Dialect::CodingAgent`] nothing needs to be looked up.
///
/// # Errors
///
/// The workspace's error if it cannot be read at all. A single unreadable path is not an error here: the block that names
/// it will fail.
pub fn base_versions<W: Workspace + ?Sized>(
    items: &[Item<'_>],
    session: &Session,
    workspace: &W,
    call: &Call<'_>,
) -> Result<BaseVersions, WapError> {
    let mut base = BaseVersions::of_session(session);
    if session.dialect == Dialect::CodingAgent {
        return Ok(base);
    }
    let mut wanted: Vec<String> = Vec::new();
    let mut looked_up = BTreeSet::new();
    for item in items {
        let Item::Block(block) = item else { continue };
        // Only edits have line numbers that refer to a version.
        let (Block::EditFile { path, .. } | Block::EditText { path, within: Some(_), .. }) = &block.value
        else {
            continue;
        };
        let spelled = without_empty_steps(path);
        if base.shown_versions.version_for(&spelled, 1).is_none() && looked_up.insert(spelled) {
            wanted.push(path.to_string());
        }
    }
    if wanted.is_empty() {
        return Ok(base);
    }
    let since = base.last_answer.as_ref().map(|answer| *answer.moment());
    let states = workspace.file_states(call, &wanted, since.as_ref())?;
    for (path, state) in wanted.iter().zip(states.files) {
        // An unreadable path needs no version: its block fails.
        let Some(state) = state else { continue };
        base.learn(path, &state.path);
        // The file may have been shown under its canonical path.
        if base.shown_versions.version_for(&state.path, 1).is_some() {
            continue;
        }
        let now = state.version.as_ref().map(|version| (version, state.has_changed));
        let versions = base
            .last_answer
            .as_ref()
            .map(|answer| answer.seen_versions(&base.shown_versions, &state.path, &[], now));
        if versions.is_some_and(|versions| versions.unknown) {
            base.unknown.insert(state.path);
        } else if let Some(version) = state.version {
            base.at_start.insert(state.path, version);
        }
    }
    Ok(base)
}

/// Returns a path without `.` steps and doubled slashes.
fn without_empty_steps(path: &str) -> String {
    let steps: Vec<&str> = path.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", steps.join("/"))
}
