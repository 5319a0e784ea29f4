//! What the line numbers of a reply mean.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wap_core::{Call, FileVersion, LastAnswer, SeenVersions, ShownVersions, WapError, Workspace};

use crate::{Block, Dialect, Item, Session};

/// What the line numbers of one reply mean: the versions that the session was shown, and for files that it never was
/// shown their version at the start of the reply.
///
/// The caller stores it with the run, so that a resumed run understands the numbers in the same way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BaseVersions {
    /// What the session was shown before the reply.
    pub(super) shown: ShownVersions,
    /// The versions at the start of the reply of the files that it edits and that were never shown.
    at_start: BTreeMap<String, FileVersion>,
    /// Canonical paths of files that the reply spells otherwise, in a way that only the workspace understands.
    canonical: BTreeMap<String, String>,
    /// The files that the session was shown, as they were when the message was written that the reply answers; `None` if
    /// that is not known.
    pub(super) last_answer: Option<LastAnswer>,
    /// Files that the reply edits and whose line numbers may mean anything: they have changed since that message, and
    /// were never shown.
    pub(super) unknown: BTreeSet<String>,
}

impl BaseVersions {
    /// Returns the canonical path of a file as far as it is known; of an unknown one the path without `.` and doubled
    /// slashes.
    pub(super) fn canonical(&self, path: &str) -> String {
        let path = without_empty_steps(path);
        self.canonical.get(&path).cloned().unwrap_or(path)
    }

    /// Takes note of the canonical path that the workspace answered for a path.
    pub(super) fn learn(&mut self, path: &str, canonical_path: &str) {
        let path = without_empty_steps(path);
        if path != canonical_path {
            self.canonical.insert(path, canonical_path.to_owned());
        }
    }

    /// Takes what a session was shown before a reply, and what the files were then.
    #[must_use]
    pub fn of_session(session: &Session) -> BaseVersions {
        let last_answer = session.last_answer.clone();
        BaseVersions { last_answer, ..BaseVersions::from(session.shown_versions.clone()) }
    }

    /// Returns what line numbers from `line` on may mean in a file; `None` means the file as it is.
    pub(super) fn meant(&self, canonical_path: &str, line: u64) -> Option<SeenVersions> {
        if self.unknown.contains(canonical_path) {
            return Some(SeenVersions { unknown: true, ..SeenVersions::default() });
        }
        if let Some(version) = self.shown.version_for(canonical_path, line) {
            return Some(match &self.last_answer {
                Some(answer) => answer.seen_versions(&self.shown, canonical_path, &[line], None),
                None => SeenVersions { by_operation: vec![Some(version.clone())], ..SeenVersions::default() },
            });
        }
        let version = self.at_start.get(canonical_path)?.clone();
        Some(SeenVersions { last_answer: Some(version), ..SeenVersions::default() })
    }
}

impl From<ShownVersions> for BaseVersions {
    /// Takes what was shown; files that never were shown are meant as they are when their block's turn comes.
    fn from(shown: ShownVersions) -> BaseVersions {
        BaseVersions { shown, ..BaseVersions::default() }
    }
}

/// Finds out what the line numbers of a reply mean. To be called once, before the reply is carried out.
///
/// In the dialect [`Dialect::CodingAgent`] nothing needs to be looked up.
///
/// # Errors
///
/// What the workspace answers when it cannot be read at all. A single path that cannot be read is no error here: the
/// block that names it will fail.
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
        let Block::EditFile { path, .. } = &block.value else { continue };
        let spelled = without_empty_steps(path);
        if base.shown.version_for(&spelled, 1).is_none() && looked_up.insert(spelled) {
            wanted.push(path.to_string());
        }
    }
    if wanted.is_empty() {
        return Ok(base);
    }
    let since = base.last_answer.as_ref().map(|answer| *answer.moment());
    let states = workspace.file_states(call, &wanted, since.as_ref())?;
    for (path, state) in wanted.iter().zip(states.files) {
        let Some(state) = state else { continue };
        base.learn(path, &state.path);
        if base.shown.version_for(&state.path, 1).is_some() {
            continue;
        }
        let now = state.version.as_ref().map(|version| (version, state.has_changed));
        let seen =
            base.last_answer.as_ref().map(|answer| answer.seen_versions(&base.shown, &state.path, &[], now));
        if seen.is_some_and(|seen| seen.unknown) {
            base.unknown.insert(state.path);
        } else if let Some(version) = state.version {
            base.at_start.insert(state.path, version);
        }
    }
    Ok(base)
}

/// Writes a path without `.` steps and doubled slashes.
fn without_empty_steps(path: &str) -> String {
    let steps: Vec<&str> = path.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", steps.join("/"))
}
