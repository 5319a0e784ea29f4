//! Reverting an undo that failed at one of its paths, because an undo restores all paths or none.

use std::collections::BTreeSet;

use change_journal::{ChangeNumber, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use wap_core::{Reason, WapError};

use crate::change::present::Present;
use crate::change::publish::has_moment_without_entry;
use crate::engine::LocalWorkspace;
use crate::runs::EngineRun;
use crate::step_record::encode;
use crate::undo::error::{ObstacleKind, UndoError, UndoObstacle, obstacles_text};
use crate::undo::path::UndoPath;
use crate::undo::record::UndoRecord;
use crate::undo::{Chosen, Taken, Undo};

/// Paths that an undo has restored and that could not be reverted.
pub(super) struct StaysRestored {
    paths: Vec<String>,
    cause: String,
}

impl LocalWorkspace {
    /// Reverts the paths that an undo has restored already, because the rest of it failed. Concurrent changes by other
    /// processes stay.
    ///
    /// # Errors
    ///
    /// The paths that stay restored, because it could not be recorded or carried out.
    pub(super) fn put_back(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        roots: (&FileRoot, &FileRoot),
        published: &[(ChangeNumber, RelPath)],
    ) -> Result<(), StaysRestored> {
        let numbers: BTreeSet<_> = published.iter().map(|(number, _)| *number).collect();
        let all = || published.iter().map(|(_, path)| path.to_string()).collect::<Vec<_>>();
        let changes = self.journal.reader().changes_of_run(run.number());
        let changes = changes.map_err(|error| StaysRestored { paths: all(), cause: error.to_string() })?;
        let changes = changes.into_iter().filter(|change| numbers.contains(&change.number));
        let mut chosen =
            Chosen { changes: changes.map(|change| (change.number, change)).collect(), ..Chosen::default() };
        while !chosen.changes.is_empty() {
            let again = Undo::Changes(chosen.changes.keys().copied().collect());
            let obstacles = match self.take_back(run, step, roots, &chosen, &again) {
                Ok(Taken::All(_)) | Err(UndoError::Nothing) => return Ok(()),
                Ok(Taken::Later { lost }) => return stays_of(lost),
                Ok(Taken::Partly { failures, lost, .. }) => {
                    return stays_of(failures.into_iter().chain(lost).collect());
                }
                Err(UndoError::Obstacles(obstacles)) => obstacles,
                Err(error) => {
                    return Err(StaysRestored { paths: paths_of(&chosen), cause: error.to_string() });
                }
            };
            // The same before the commit: changes by others do not keep the other paths from being reverted.
            let is_in_the_way = |change: &RecordedChange| {
                RelPath::from_bytes(&change.path)
                    .is_ok_and(|path| obstacles.iter().any(|obstacle| obstacle.path == path.to_string()))
            };
            let before = chosen.changes.len();
            chosen.changes.retain(|_, change| !is_in_the_way(change));
            if chosen.changes.len() == before {
                return Err(StaysRestored { paths: paths_of(&chosen), cause: obstacles_text(&obstacles) });
            }
        }
        Ok(())
    }

    /// Records and returns the answer of an undo that was published in part and could not be reverted; its step gives
    /// the same answer from then on.
    pub(super) fn left_in_parts(
        &self,
        stays: StaysRestored,
        failed: &[ChangeNumber],
        obstacles: Vec<UndoObstacle>,
    ) -> UndoError {
        let StaysRestored { paths: mut brought_back, cause } = stays;
        brought_back.dedup();
        let error = UndoError::InParts { brought_back, obstacles, cause };
        let reported = WapError::new(Reason::WriteError, error.to_string());
        let outcome = encode(&UndoRecord { outcome: Err(reported) });
        // It is part of the next successful commit.
        let _ = self.journal.conflict_changes(failed, &outcome);
        error
    }
}

/// Sorts failures: a path that another process has changed concurrently keeps its version, and any other stays as the
/// undo has left it.
pub(super) fn stays_of(failures: Vec<UndoObstacle>) -> Result<(), StaysRestored> {
    let ours: Vec<_> =
        failures.into_iter().filter(|failure| failure.why != ObstacleKind::ChangedSince).collect();
    if ours.is_empty() {
        return Ok(());
    }
    let cause = obstacles_text(&ours);
    Err(StaysRestored { paths: ours.into_iter().map(|failure| failure.path).collect(), cause })
}

/// Checks whether a path is empty that was not and should not be: an entry was removed, because only files are
/// exchanged, and neither its successor nor itself could be created.
pub(super) fn is_lost(root: &FileRoot, path: &UndoPath, failure: &UndoObstacle) -> bool {
    let (Some(now), Some(wanted)) = (&path.now, &path.wanted) else { return false };
    failure.why != ObstacleKind::ChangedSince
        && has_moment_without_entry(now.kind.entry_kind(), wanted.kind)
        && matches!(Present::of_any_kind(root, &path.path), Ok(None))
}

/// Returns the failure at such a path.
pub(super) fn lost_path(failure: UndoObstacle) -> UndoObstacle {
    let why = match &failure.why {
        ObstacleKind::Closed(error) => error.message().to_owned(),
        other => other.to_string(),
    };
    let path = &failure.path;
    let text =
        format!("{why}; nothing is at `{path}` now, and it is restored when the workspace is next opened");
    UndoObstacle::new(failure.path, ObstacleKind::Closed(WapError::new(Reason::WriteError, text)))
}

fn paths_of(chosen: &Chosen) -> Vec<String> {
    let path = |change: &RecordedChange| RelPath::from_bytes(&change.path).unwrap_or_default().to_string();
    chosen.changes.values().map(path).collect()
}
