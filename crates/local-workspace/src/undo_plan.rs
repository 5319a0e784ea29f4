//! What each path holds when some changes are taken back, worked out before anything is written.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, JournalReader, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::errors::fs_error;
use crate::hidden::Hidden;
use crate::present::Present;
use crate::undo_error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo_path::{Side, StepBack, UndoPath, is_about_folder, obstacle, plan_path};

/// What an undo needs to look at.
#[derive(Debug)]
pub(crate) struct UndoGround<'a> {
    /// A root that takes any name, because what is put back had its name already.
    pub root: &'a FileRoot,
    pub hidden: &'a Hidden,
    pub journal: &'a JournalReader,
}

/// All paths of an undo, in the order in which they are brought back.
#[derive(Debug, Default)]
pub(crate) struct UndoPlan {
    pub paths: Vec<UndoPath>,
    /// Folders that stay, because something else is in them.
    pub kept_folders: Vec<RelPath>,
}

impl UndoPlan {
    /// Works out how to take back the `chosen` changes of these paths, as far as they are in force.
    pub(crate) fn of(
        ground: &UndoGround<'_>,
        chosen: &BTreeSet<ChangeNumber>,
        paths: BTreeSet<Vec<u8>>,
    ) -> Result<UndoPlan, UndoError> {
        let mut plan = UndoPlan::default();
        let mut obstacles = Vec::new();
        for path in paths {
            let Ok(path) = RelPath::from_bytes(&path) else { continue };
            match plan_path(ground, chosen, &path)? {
                Ok(planned) => plan.paths.extend(planned),
                Err(obstacle) => obstacles.push(obstacle),
            }
        }
        plan.keep_used_folders(ground, &mut obstacles);
        plan.check(ground, &mut obstacles);
        if plan.paths.is_empty() {
            obstacles.extend(plan.kept_folders.iter().map(|folder| obstacle(folder, ObstacleKind::NotEmpty)));
        }
        if !obstacles.is_empty() {
            return Err(UndoError::Obstacles(obstacles));
        }
        if plan.paths.is_empty() {
            return Err(UndoError::Nothing);
        }
        plan.make_needed_folders(ground)?;
        plan.order();
        Ok(plan)
    }

    /// Leaves out the removal of folders that something else is in.
    fn keep_used_folders(&mut self, ground: &UndoGround<'_>, obstacles: &mut Vec<UndoObstacle>) {
        let mut going: BTreeSet<RelPath> =
            self.paths.iter().filter(|path| path.wanted.is_none()).map(|path| path.path.clone()).collect();
        let mut folders: Vec<_> =
            self.paths.iter().filter(|path| path.is_now_folder()).map(|path| path.path.clone()).collect();
        folders.sort_unstable();
        // A folder is decided after those in it.
        for folder in folders.into_iter().rev() {
            let is_used = ground
                .root
                .list(&folder)
                .is_ok_and(|entries| entries.iter().any(|entry| !going.contains(&entry.path)));
            if !is_used {
                continue;
            }
            going.remove(&folder);
            let place = self.paths.iter().position(|path| path.path == folder);
            let path = self.paths.remove(place.expect("the folder is one of the paths"));
            if path.wanted.is_some() {
                // Something else is to come into its place, and cannot.
                obstacles.push(obstacle(&folder, ObstacleKind::ChangedSince));
            } else {
                self.kept_folders.push(folder);
            }
        }
    }

    /// Makes sure, as far as can be told before, that everything may be written and removed.
    fn check(&self, ground: &UndoGround<'_>, obstacles: &mut Vec<UndoObstacle>) {
        for path in &self.paths {
            if let Err(error) = path.check(ground) {
                obstacles.push(obstacle(&path.path, ObstacleKind::Closed(error)));
            }
        }
    }

    /// Adds the folders that files are put back into and that are no longer there.
    fn make_needed_folders(&mut self, ground: &UndoGround<'_>) -> Result<(), UndoError> {
        let known: BTreeSet<RelPath> = self.paths.iter().map(|path| path.path.clone()).collect();
        let mut needed = BTreeSet::new();
        for path in self.paths.iter().filter(|path| path.wanted.is_some()) {
            for folder in std::iter::successors(path.path.parent(), RelPath::parent) {
                if folder.is_root() || known.contains(&folder) || needed.contains(&folder) {
                    continue;
                }
                let found = Present::of_any_kind(ground.root, &folder)
                    .map_err(|error| UndoError::Workspace(fs_error(&error, &folder.to_string())))?;
                if found.is_none() {
                    needed.insert(folder);
                }
            }
        }
        let folder = Some(Side::from(&Present::folder()));
        self.paths.extend(needed.into_iter().map(|path| UndoPath {
            path,
            now: None,
            wanted: folder,
            back: vec![StepBack { undoes: None, from: None, to: folder }],
        }));
        Ok(())
    }

    /// What goes makes room for what comes; a folder goes after what is in it, and comes before.
    fn order(&mut self) {
        self.paths.sort_by(|one, other| {
            let (one_goes, other_goes) = (one.wanted.is_none(), other.wanted.is_none());
            let by_path = one.path.cmp(&other.path);
            other_goes.cmp(&one_goes).then(if one_goes { by_path.reverse() } else { by_path })
        });
    }
}

/// The changes of these runs and of single numbers, with the folders that were made for single files.
pub(crate) fn with_made_folders(
    journal: &JournalReader,
    changes: &[RecordedChange],
) -> Result<BTreeMap<ChangeNumber, RecordedChange>, UndoError> {
    let mut chosen: BTreeMap<_, _> = changes.iter().map(|change| (change.number, change.clone())).collect();
    for change in changes.iter().filter(|change| change.before.is_none()) {
        let path = RelPath::from_bytes(&change.path).unwrap_or_default();
        for other in journal.changes_of_run(change.run)? {
            let is_above = RelPath::from_bytes(&other.path).is_ok_and(|folder| path.starts_with(&folder));
            if other.step == change.step && is_about_folder(&other) && is_above {
                chosen.insert(other.number, other);
            }
        }
    }
    Ok(chosen)
}
