//! The changes of a command past the end of a comparison that git or an editor would obey.
//!
//! The earlier state there is unknown, so such paths can be named but not restored.

use std::time::Duration;

use git_index::is_reference;
use rel_path::{ProtectedNames, RelPath};
use sandbox_fs::{FileKind, FileRoot, Visit, WalkLimits};

use crate::adopt::build_folder_check::Moment;
use crate::command::tree_snapshot::reference_stays;
use crate::git::guard::{in_git_folder, is_watched_by_git};
use crate::git::repository_parts::is_repository;
use crate::hidden::Hidden;

/// The limits for checking names, which is cheap.
const LIMITS: WalkLimits =
    WalkLimits { depth: rel_path::MAX_COMPONENTS, entries: 2_000_000, timeout: Duration::from_secs(20) };

/// The maximum number of paths that are named.
const NAMED: usize = 1_000;

/// The changes past the end of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Beyond {
    /// New or changed files that git or an editor obeys.
    pub obeyed: Vec<String>,
    /// True if this walk ended early as well.
    pub is_cut: bool,
}

/// Finds files past `known_up_to` that git or an editor obeys and that were changed since a moment.
pub(crate) fn look(
    root: &FileRoot,
    (protected, hidden): (&ProtectedNames, &Hidden),
    known_up_to: &RelPath,
    since: Moment,
) -> Beyond {
    let mut beyond = Beyond::default();
    let Ok(walk) = root.walk(&RelPath::root(), LIMITS) else {
        return Beyond { is_cut: true, ..beyond };
    };
    let mut walk = walk.visited_by(|entry| {
        // Complete parts were compared.
        let is_compared = entry.path < *known_up_to && !known_up_to.starts_with(&entry.path);
        let is_folder = entry.kind == FileKind::Folder;
        if hidden.hides(&entry.path) {
            return Visit::Skip;
        }
        let is_obeyed = || {
            is_watched_by_git(&entry.path)
                || is_reference(entry.path.components())
                || in_git_folder(&entry.path).is_none() && protected.protects(&entry.path)
        };
        if !is_folder && !is_compared && is_obeyed() { Visit::Take } else { Visit::Pass }
    });
    for entry in walk.by_ref() {
        let is_new = root
            .metadata(&entry.path)
            .is_ok_and(|metadata| since.is_before(metadata.status_changed_nanoseconds));
        // Many files are called `config` without being part of a repository.
        let is_obeyed = || {
            let folder = entry.path.parent().unwrap_or_default();
            if is_reference(entry.path.components()) && !reference_stays(root, &entry.path) {
                return true;
            }
            in_git_folder(&entry.path).is_some() && is_watched_by_git(&entry.path)
                || protected.protects(&entry.path)
                || is_repository(&folder, &|path| root.metadata(path).is_ok())
        };
        if is_new && beyond.obeyed.len() < NAMED && is_obeyed() {
            beyond.obeyed.push(format!("`{}`", entry.path));
        }
    }
    let summary = walk.summary();
    beyond.is_cut = summary.out_of_entries || summary.out_of_time;
    beyond
}
