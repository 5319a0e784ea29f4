//! What the line numbers of a reply mean.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wap_core::{Call, FileVersion, Reason, ShownVersions, WapError, Workspace};

use super::read_start;
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

    /// Returns the version of a file at the start of the reply if it was looked up.
    pub(super) fn at_start(&self, canonical_path: &str) -> Option<&FileVersion> {
        self.at_start.get(canonical_path)
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
    let mut base = BaseVersions::from(session.shown_versions.clone());
    if session.dialect == Dialect::CodingAgent {
        return Ok(base);
    }
    let mut looked_up = BTreeSet::new();
    for item in items {
        let Item::Block(block) = item else { continue };
        let Block::EditFile { path, .. } = &block.value else { continue };
        let spelled = without_empty_steps(path);
        if base.shown.version_for(&spelled, 1).is_some() || looked_up.contains(&spelled) {
            continue;
        }
        match read_start(workspace, call, path, 1) {
            Ok(response) => {
                let canonical = response.metadata.path;
                base.learn(path, &canonical);
                if let (None, Some(version)) = (base.shown.version_for(&canonical, 1), response.version) {
                    base.at_start.insert(canonical, version);
                }
            }
            Err(error) if stops_everything(error.reason()) => return Err(error),
            Err(_) => {}
        }
        looked_up.insert(spelled);
    }
    Ok(base)
}

/// Tells whether an answer is about the workspace or the call and not about one path.
fn stops_everything(reason: Reason) -> bool {
    matches!(reason, Reason::Busy | Reason::Cancelled | Reason::Timeout)
}

/// Writes a path without `.` steps and doubled slashes.
fn without_empty_steps(path: &str) -> String {
    let steps: Vec<&str> = path.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", steps.join("/"))
}
