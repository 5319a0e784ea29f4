//! Plans the state of each path after an undo, before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use change_journal::{
    ChangeNumber, ChangeState, ContentHash, EntryKind, JournalError, JournalReader, RecordedChange, RunNumber,
};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::adopt::build_folders::BuildFolders;
use crate::adopt::reference_order::sort_for_restoring;
use crate::change::plan::repository_error;
use crate::change::present::{Present, link_above};
use crate::command::effect::{Effect, EffectSide};
use crate::errors::fs_error;
use crate::git::guard::{Refusal, in_git_folder, is_main_index};
use crate::git::kept_references::{may_hold_references, reference_refusal};
use crate::git::linked_contents::{ContentsOnDisk, LinkedContents as _};
use crate::git::repository_context::RepositoryContext;
use crate::git::repository_parts::{TouchedPaths, may_be_part, part_refusal_outside};
use crate::git::stored_names::{Fate, StoredNames, store_around};
use crate::hidden::Hidden;
use crate::undo::error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo::kept_commits::OtherCheckout;
use crate::undo::moved_checkouts::is_head;
use crate::undo::path::{Side, StepBack, UndoPath, is_about_folder, obstacle, plan_path};
use crate::undo::restored_repositories::RestoredRepositories;

/// The context that an undo's plan reads.
#[derive(Debug)]
pub(crate) struct UndoContext<'a> {
    /// A root that allows any name, because restored entries had their names before.
    pub root: &'a FileRoot,
    /// A root that ignores protection and write bits, for changes by commands.
    pub open_root: &'a FileRoot,
    pub hidden: &'a Hidden,
    pub journal: &'a JournalReader,
    /// The path of the workspace, if it has one: git writes absolute paths into files by which its folders point to
    /// each other.
    pub workspace: Option<&'a Path>,
    /// The paths of the undone changes whose previous state the journal does not keep.
    pub unkept: &'a [String],
}

impl UndoContext<'_> {
    /// Returns the root by which a path is restored.
    pub(crate) fn root_for(&self, path: &UndoPath) -> &FileRoot {
        if path.needs_open_root { self.open_root } else { self.root }
    }

    /// Returns the obstacle for a repository with a missing or an additional part.
    pub(crate) fn difference(&self, repository: &RelPath) -> ObstacleKind {
        let is_in = |path: &String| RelPath::parse(path).is_ok_and(|path| path.starts_with(repository));
        if self.unkept.iter().any(is_in) { ObstacleKind::NotKept } else { ObstacleKind::ChangedSince }
    }
}

/// All paths of an undo, in the order in which they are restored.
#[derive(Debug, Default)]
pub(crate) struct UndoPlan {
    pub paths: Vec<UndoPath>,
    /// Folders that stay, because they contain something else.
    pub kept_folders: Vec<RelPath>,
    /// Repositories that stay unchanged, because a part of them cannot be restored, and their working trees: true for
    /// each in which only later changes are obstacles.
    pub kept_repositories: BTreeMap<RelPath, bool>,
    /// Those of them that keep a branch or commit other than before checked out.
    pub other_checkouts: BTreeMap<RelPath, OtherCheckout>,
    /// Those of them in which the user has returned to the previous checkout.
    pub returned: BTreeSet<RelPath>,
    /// Paths that another program has restored already. Their changes stay in force: if that was a checkout of another
    /// branch, they are undone on their own branch.
    pub already_as_before: Vec<RelPath>,
}

impl UndoPlan {
    /// Plans the reversal of the `chosen` changes of these paths, as far as they are in force.
    pub(crate) fn of(
        context: &UndoContext<'_>,
        chosen: &BTreeSet<ChangeNumber>,
        paths: BTreeSet<Vec<u8>>,
    ) -> Result<UndoPlan, UndoError> {
        let mut plan = UndoPlan::default();
        let mut obstacles = Vec::new();
        let mut heads = Vec::new();
        for path in paths {
            let Ok(path) = RelPath::from_bytes(&path) else { continue };
            heads.extend(is_head(context.root, &path).then(|| path.clone()));
            match plan_path(context, chosen, &path)? {
                Ok(planned) => plan.paths.extend(planned),
                Err(obstacle) => obstacles.push(obstacle),
            }
        }
        plan.add_left_objects(context)?;
        plan.keep_used_folders(context, &mut obstacles);
        plan.keep_used_repositories(context, &mut obstacles);
        plan.keep_objects(context);
        plan.check(context, &mut obstacles);
        plan.check_repositories(context, &mut obstacles)?;
        plan.check_branches(context, &mut obstacles);
        plan.check_indexes(context, &mut obstacles);
        plan.check_locks(context, &mut obstacles);
        plan.keep_repositories(context, chosen, &heads, &mut obstacles)?;
        plan.leave_as_before();
        if plan.paths.is_empty() && obstacles.is_empty() {
            let as_before = plan.already_as_before.iter().map(|path| obstacle(path, ObstacleKind::AsBefore));
            obstacles.extend(as_before);
        }
        if plan.paths.is_empty() && plan.already_as_before.is_empty() {
            obstacles.extend(plan.kept_folders.iter().map(|folder| obstacle(folder, ObstacleKind::NotEmpty)));
        }
        if !obstacles.is_empty() {
            return Err(UndoError::Obstacles(obstacles));
        }
        if plan.paths.is_empty() {
            return Err(UndoError::Nothing);
        }
        plan.make_needed_folders(context)?;
        sort_for_restoring(&mut plan.paths, |path| (&path.path, path.wanted.map(|wanted| wanted.kind)));
        Ok(plan)
    }

    /// Skips the paths that are in the previous state already.
    fn leave_as_before(&mut self) {
        let (already, paths): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.paths).into_iter().partition(UndoPath::is_already_as_before);
        self.paths = paths;
        self.already_as_before = already.into_iter().map(|path| path.path).collect();
        // Git also moves objects into packs. They are not worth reporting next to other paths.
        let is_object = |path: &RelPath| store_around(path).is_some();
        if !self.paths.is_empty() || !self.already_as_before.iter().all(is_object) {
            self.already_as_before.retain(|path| !is_object(path));
        }
    }

    /// Skips the removal of folders that contain something else.
    fn keep_used_folders(&mut self, context: &UndoContext<'_>, obstacles: &mut Vec<UndoObstacle>) {
        let mut going: BTreeSet<RelPath> =
            self.paths.iter().filter(|path| path.wanted.is_none()).map(|path| path.path.clone()).collect();
        let mut folders: Vec<_> = self
            .paths
            .iter()
            .filter(|path| path.is_folder_that_goes())
            .map(|path| path.path.clone())
            .collect();
        folders.sort_unstable();
        let mut used = BTreeSet::new();
        // A folder is decided after its subfolders.
        for folder in folders.into_iter().rev() {
            let is_used = context
                .root
                .list(&folder)
                .is_ok_and(|entries| entries.iter().any(|entry| !going.contains(&entry.path)));
            if !is_used {
                continue;
            }
            going.remove(&folder);
            used.insert(folder);
        }
        let (stay, paths): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.paths).into_iter().partition(|path| used.contains(&path.path));
        self.paths = paths;
        for UndoPath { path: folder, wanted, .. } in stay.into_iter().rev() {
            if wanted.is_some() {
                // Something else is to replace it, and cannot.
                obstacles.push(obstacle(&folder, ObstacleKind::ChangedSince));
            } else {
                self.kept_folders.push(folder);
            }
        }
    }

    /// Checks in advance, as far as possible, that everything may be written and removed.
    fn check(&self, context: &UndoContext<'_>, obstacles: &mut Vec<UndoObstacle>) {
        let links: BTreeSet<_> =
            self.paths.iter().filter(|path| path.is_link_that_goes()).map(|path| path.path.clone()).collect();
        for path in &self.paths {
            let is_opened =
                !links.is_empty() && with_ancestors(&path.path).any(|folder| links.contains(&folder));
            if let Err(error) = path.check(context, is_opened) {
                let link = link_above(context.root, &path.path).filter(|_| !is_opened);
                let why = link.map_or(ObstacleKind::Closed(error), |link| ObstacleKind::behind(&link));
                obstacles.push(obstacle(&path.path, why));
            }
        }
    }

    /// Checks that nothing is restored that would make git treat a folder as a repository, unless it was one and is
    /// restored as a whole, or that git would obey in a folder that has become a repository since.
    fn check_repositories(
        &self,
        context: &UndoContext<'_>,
        obstacles: &mut Vec<UndoObstacle>,
    ) -> Result<(), UndoError> {
        if !self.paths.iter().any(|path| may_be_part(&path.path)) {
            return Ok(());
        }
        let restored = RestoredRepositories::of(context, &self.paths)?;
        let mut after = TouchedPaths::default();
        for path in &self.paths {
            after.add(&path.path, path.wanted.is_some());
        }
        // Restored entries may need missing folders.
        for path in self.paths.iter().filter(|path| path.wanted.is_some()) {
            std::iter::successors(path.path.parent(), RelPath::parent)
                .for_each(|folder| after.add(&folder, true));
        }
        let was_there = |path: &RelPath| context.root.metadata(path).is_ok();
        let is_there = |path: &RelPath| after.is_filled(path).unwrap_or_else(|| was_there(path));
        let contents = ContentsOnDisk::new(context.root);
        // Objects that the user's git has removed since are missing, though a reference to them would be restored.
        let stored: Vec<Effect> = self.paths.iter().filter_map(|path| stored_effect(context, path)).collect();
        let positions: BTreeMap<&RelPath, usize> =
            stored.iter().enumerate().map(|(position, effect)| (&effect.path, position)).collect();
        let names = StoredNames::new(context.root, &stored, &positions, true);
        let is_made = |_| Fate::Adopted;
        let names = names.after(&is_made);
        let surroundings = RepositoryContext {
            workspace: context.workspace,
            is_layered: false,
            was_there: &was_there,
            is_there: &is_there,
            is_unjudged: &|path| BuildFolders::new(context.root).surrounds(path),
            format: &|settings| contents.format(settings),
            lacks_object: &|folder, object| names.lacks(folder, object),
            text: &|path| contents.content(path),
            packed: &|list| contents.packed(list),
            content: Some(&contents),
        };
        for path in self.paths.iter().filter(|path| may_be_part(&path.path)) {
            let is_restored = |folder: &RelPath| restored.contains(folder);
            if let Some(part) = in_git_folder(&path.path) {
                let is_back = path.wanted.is_some() && may_hold_references(&path.path);
                let refusal =
                    is_back.then(|| reference_refusal(&part, &effect(context, path), &surroundings));
                let lacks_staged = || {
                    let folder = part.folder_with_objects(&surroundings)?;
                    let format = surroundings.format_of_index(&path.path)?;
                    Some(names.lacks_object_of_index(&folder, &effect(context, path), format))
                };
                let is_index = path.wanted.is_some() && is_main_index(&path.path);
                if refusal.flatten() == Some(Refusal::MissingObject)
                    || is_index && lacks_staged() == Some(true)
                {
                    obstacles.push(obstacle(&path.path, context.difference(&part.folder)));
                }
                continue;
            }
            let refusal = part_refusal_outside(&effect(context, path), &surroundings, &is_restored);
            // The journal only has the user's.
            if let Some(refusal) = refusal.filter(|refusal| *refusal != Refusal::ObjectCache) {
                let error = repository_error(&path.path, &refusal);
                obstacles.push(obstacle(&path.path, ObstacleKind::Closed(error)));
            }
        }
        Ok(())
    }

    /// Adds the missing folders of restored files.
    fn make_needed_folders(&mut self, context: &UndoContext<'_>) -> Result<(), UndoError> {
        let planned: BTreeSet<RelPath> = self.paths.iter().map(|path| path.path.clone()).collect();
        let mut needed = BTreeSet::new();
        for path in self.paths.iter().filter(|path| path.wanted.is_some()) {
            for folder in std::iter::successors(path.path.parent(), RelPath::parent) {
                if folder.is_root() || planned.contains(&folder) || needed.contains(&folder) {
                    continue;
                }
                let on_disk = Present::of_any_kind(context.root, &folder)
                    .map_err(|error| UndoError::Workspace(fs_error(&error, &folder.to_string())))?;
                if on_disk.is_none() {
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
            needs_open_root: true,
            is_undone_already: false,
        }));
        Ok(())
    }
}

/// Returns the effect of restoring one path of an object store, without irrelevant contents; `None` for other paths.
fn stored_effect(context: &UndoContext<'_>, path: &UndoPath) -> Option<Effect> {
    store_around(&path.path)?;
    if path.path.as_bytes().ends_with(b".idx") {
        return Some(effect(context, path));
    }
    let side = |is_there: bool| {
        is_there.then(|| EffectSide::Kept(Present::recorded(EntryKind::File, Vec::new(), None)))
    };
    let (before, after) = (side(path.now.is_some()), side(path.wanted.is_some()));
    Some(Effect { path: path.path.clone(), before, after })
}

/// Returns the effect of restoring one path.
pub(super) fn effect(context: &UndoContext<'_>, path: &UndoPath) -> Effect {
    let bytes = |hash: Option<ContentHash>| context.journal.content(&hash?).ok().flatten();
    let now = path.now.clone().map(|now| {
        // Bytes that the journal holds are not loaded.
        let held = if now.bytes.is_empty() { bytes(Some(now.hash)) } else { None };
        Present { bytes: held.map_or_else(|| now.bytes.clone(), Into::into), ..now }
    });
    let wanted = path.wanted.map(|side| match side.kind {
        EntryKind::Folder => Present { mode: side.mode, ..Present::folder() },
        kind => Present::recorded(kind, bytes(side.content).unwrap_or_default(), side.mode),
    });
    Effect { path: path.path.clone(), before: now.map(EffectSide::Kept), after: wanted.map(EffectSide::Kept) }
}

/// Single changes, with related ones: the folders made for a file, and the same command's changes to the same
/// repository. `changes_of_run` reads the journal, once for each run.
pub(crate) fn with_what_belongs(
    changes: &[RecordedChange],
    mut changes_of_run: impl FnMut(RunNumber) -> Result<Vec<RecordedChange>, JournalError>,
) -> Result<BTreeMap<ChangeNumber, RecordedChange>, UndoError> {
    let mut steps: BTreeMap<RunNumber, BTreeMap<u32, Belonging>> = BTreeMap::new();
    for change in changes {
        steps.entry(change.run).or_default().entry(change.step).or_default().look_for(change);
    }
    let mut chosen: BTreeMap<_, _> = changes.iter().map(|change| (change.number, change.clone())).collect();
    for (run, steps) in steps {
        if steps.values().all(Belonging::is_nothing) {
            continue;
        }
        for other in changes_of_run(run)? {
            if other.state != ChangeState::Conflicted
                && steps.get(&other.step).is_some_and(|belonging| belonging.holds(&other))
            {
                chosen.insert(other.number, other);
            }
        }
    }
    Ok(chosen)
}

/// The other changes related to chosen ones of one step.
#[derive(Debug, Default)]
struct Belonging {
    /// Every folder above a created entry.
    above: BTreeSet<RelPath>,
    /// The repositories that were changed.
    repositories: BTreeSet<RelPath>,
}

impl Belonging {
    fn look_for(&mut self, change: &RecordedChange) {
        let path = RelPath::from_bytes(&change.path).unwrap_or_default();
        self.repositories.extend(in_git_folder(&path).map(|part| part.folder));
        if change.before.is_none() {
            // If a folder is already included, so are all above it.
            let new = with_ancestors(&path).take_while(|folder| !self.above.contains(folder));
            let new: Vec<_> = new.collect();
            self.above.extend(new);
        }
    }

    fn is_nothing(&self) -> bool {
        self.above.is_empty() && self.repositories.is_empty()
    }

    fn holds(&self, change: &RecordedChange) -> bool {
        let Ok(path) = RelPath::from_bytes(&change.path) else { return false };
        let is_made_folder = change.before.is_none() && is_about_folder(change);
        is_made_folder && self.above.contains(&path)
            || !self.repositories.is_empty()
                && with_ancestors(&path).any(|folder| self.repositories.contains(&folder))
    }
}

/// A path and the folders above it, without the root.
pub(super) fn with_ancestors(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(Some(path.clone()), RelPath::parent).take_while(|path| !path.is_root())
}

#[cfg(test)]
mod tests {
    use change_journal::{ChangeRecord, EntryRecord, Journal, RunKey, RunState, StepKind, StepRecord};

    use super::*;

    const FILES: usize = 1_000;

    #[test]
    fn the_journal_is_read_once_for_each_run() {
        let folder = || Some(EntryRecord { kind: EntryKind::Folder, ..EntryRecord::file(b"") });
        let text = || Some(EntryRecord::file(b"text"));
        let mut paths: Vec<(String, bool)> =
            ["new", "new/deep", "other", ".git"].map(|path| (path.to_owned(), true)).into();
        paths.extend((0..FILES).map(|index| (format!("new/deep/{index}"), false)));
        paths.extend((0..FILES).map(|index| (format!(".git/objects/{index}"), false)));
        let changes = paths.iter().map(|(path, is_folder)| {
            ChangeRecord::intended(path.as_bytes(), None, if *is_folder { folder() } else { text() })
        });
        let step = |changes: Vec<_>| StepRecord {
            kind: StepKind::ShellCommand,
            description: "make",
            outcome: b"",
            changes,
        };
        let journal = Journal::in_memory().unwrap();
        let key = |content: &[u8]| {
            let content = ContentHash::of(content);
            RunKey { conversation: "test".into(), sequence: 0, content }
        };
        let RunState::New(run) = journal.begin_run(&key(b"one")).unwrap() else { panic!("it is new") };
        let extra = ChangeRecord::intended(b".git/extra", None, text());
        let steps = [step(changes.collect()), step(vec![extra])];
        journal.record_steps(run.number(), 0, &steps).unwrap();
        let RunState::New(other) = journal.begin_run(&key(b"two")).unwrap() else { panic!("it is new") };
        let edit = ChangeRecord::intended(b"edited", text(), text());
        journal.record_steps(other.number(), 0, &[step(vec![edit])]).unwrap();

        let all = journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        let is_chosen =
            |path: &[u8]| path.starts_with(b"new/deep/") || path == b".git/objects/1" || path == b"edited";
        let chosen: Vec<_> = all.iter().filter(|change| is_chosen(&change.path)).cloned().collect();
        let mut reads = Vec::new();
        let belonging = with_what_belongs(&chosen, |run| {
            reads.push(run);
            journal.reader().changes_of_run(run)
        });
        // For an edit, nothing is searched for.
        assert_eq!(reads, [run.number()]);
        let left: Vec<_> =
            all.iter().filter(|change| !belonging.as_ref().unwrap().contains_key(&change.number)).collect();
        let left: Vec<_> = left.iter().map(|change| String::from_utf8_lossy(&change.path)).collect();
        assert_eq!(left, ["other", ".git/extra"]);
    }
}
