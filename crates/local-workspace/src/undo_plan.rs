//! What each path holds when some changes are taken back, worked out before anything is written.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{
    ChangeNumber, ChangeRecord, Content, ContentHash, Entry, EntryKind, EntryRecord, JournalReader,
    RecordedChange,
};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};
use wap_core::WapError;

use crate::errors::fs_error;
use crate::hidden::Hidden;
use crate::present::{Present, PresentKind};
use crate::undo_error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo_history::{InForce, WayBack};
use crate::unified_diff::UnifiedDiff;

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

/// One path of an undo.
#[derive(Debug)]
pub(crate) struct UndoPath {
    pub path: RelPath,
    /// What is there now; the bytes of a file only where the journal does not hold them.
    pub now: Option<Present>,
    /// What is to be there.
    pub wanted: Option<Side>,
    /// The way back, newest change first.
    pub back: Vec<StepBack>,
}

/// Taking back one change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepBack {
    /// The change; `None` for a folder that is made for what is put back into it.
    pub undoes: Option<ChangeNumber>,
    pub from: Option<Side>,
    pub to: Option<Side>,
}

/// One side of a change without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub kind: EntryKind,
    pub content: Option<ContentHash>,
    pub mode: Option<u32>,
}

impl From<&Entry> for Side {
    fn from(entry: &Entry) -> Side {
        Side { kind: entry.kind, content: entry.content, mode: entry.mode }
    }
}

impl From<&Present> for Side {
    fn from(present: &Present) -> Side {
        Side { kind: present.kind.entry_kind(), content: Some(present.hash), mode: present.mode }
    }
}

const FOLDER: fn() -> Side = || Side::from(&Present::folder());

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
        self.paths.extend(needed.into_iter().map(|path| UndoPath {
            path,
            now: None,
            wanted: Some(FOLDER()),
            back: vec![StepBack { undoes: None, from: None, to: Some(FOLDER()) }],
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

impl UndoPath {
    fn is_now_folder(&self) -> bool {
        self.now.as_ref().is_some_and(|now| now.kind == PresentKind::Folder)
    }

    fn check(&self, ground: &UndoGround<'_>) -> Result<(), WapError> {
        ground.hidden.check(&self.path)?;
        let asked = self.path.to_string();
        let checked = match (&self.now, &self.wanted) {
            (Some(now), _) if now.kind == PresentKind::Folder => self.check_protected(ground),
            (_, Some(wanted)) if wanted.kind == EntryKind::Folder => self.check_protected(ground),
            (Some(now), Some(wanted)) if now.kind == PresentKind::File && wanted.kind == EntryKind::File => {
                ground.root.write_target(&self.path).map(drop)
            }
            (Some(_), _) => ground.root.delete_target(&self.path).map(drop),
            (None, _) => match ground.root.write_target(&self.path) {
                // A folder on the way is a file that goes first.
                Err(FsError::NotAFolder { .. }) => self.check_protected(ground),
                other => other.map(drop),
            },
        };
        checked.map_err(|error| fs_error(&error, &asked))
    }

    fn check_protected(&self, ground: &UndoGround<'_>) -> Result<(), FsError> {
        let path = self.path.clone();
        match ground.root.policy().protected.protected_by(&path) {
            Some(entry) => Err(FsError::Protected { path, entry: entry.to_owned() }),
            None => Ok(()),
        }
    }

    /// The changes that take this path back, for the journal. `now` is its present side.
    pub(crate) fn records(&self, held: impl Fn(&ContentHash) -> bool) -> Vec<ChangeRecord<'_>> {
        let entry = |side: Side, is_now: bool| {
            let content = match (side.content, &self.now) {
                (Some(hash), _) if held(&hash) => Content::Held(hash),
                (_, Some(now)) if is_now => Content::Bytes(&now.bytes),
                (hash, _) => Content::NotKept(hash),
            };
            EntryRecord { kind: side.kind, content, mode: side.mode }
        };
        let records = self.back.iter().enumerate().map(|(index, step)| ChangeRecord {
            undoes: step.undoes,
            ..ChangeRecord::intended(
                self.path.as_bytes(),
                step.from.map(|side| entry(side, index == 0)),
                step.to.map(|side| entry(side, false)),
            )
        });
        records.collect()
    }
}

/// Works out one path; `Ok(None)` if there is nothing to do. The inner error is what stands in the way.
fn plan_path(
    ground: &UndoGround<'_>,
    chosen: &BTreeSet<ChangeNumber>,
    path: &RelPath,
) -> Result<Result<Option<UndoPath>, UndoObstacle>, UndoError> {
    let mut changes = ground.journal.changes_of_path(path.as_bytes(), u32::MAX)?;
    changes.reverse();
    let WayBack { back, buried, later } = InForce::of(changes).way_back(&|number| chosen.contains(&number));
    if back.is_empty() && buried.is_none() {
        return Ok(Ok(None));
    }
    let is_folder = buried.iter().chain(back.iter().map(|(_, change)| change)).all(is_about_folder);
    let now = match Present::of_any_kind(ground.root, path) {
        Ok(now) => now,
        Err(error) => {
            let closed = ObstacleKind::Closed(fs_error(&error, &path.to_string()));
            return Ok(Err(obstacle(path, closed)));
        }
    };
    if is_folder {
        return Ok(if buried.is_none() { plan_folder(path, now, &back) } else { Ok(None) });
    }
    if let (Some(buried), Some(later)) = (buried, later) {
        let diff = diff_since(ground, path, buried.after.as_ref(), now.as_ref());
        return Ok(Err(UndoObstacle { diff, ..obstacle(path, ObstacleKind::LaterChange(later)) }));
    }
    Ok(plan_file(ground, path, now, &back))
}

/// A path at which only folders were made or removed.
fn plan_folder(
    path: &RelPath,
    now: Option<Present>,
    back: &[(ChangeNumber, RecordedChange)],
) -> Result<Option<UndoPath>, UndoObstacle> {
    let wanted = back.last().and_then(|(_, oldest)| oldest.before).map(|entry| Side::from(&entry));
    match (&now, wanted) {
        (None, None) => Ok(None),
        (Some(now), _) if (now.kind == PresentKind::Folder) == wanted.is_some() => Ok(None),
        (Some(now), Some(_)) if now.kind != PresentKind::Folder => {
            Err(obstacle(path, ObstacleKind::ChangedSince))
        }
        _ => Ok(Some(way_back(path, now, wanted, back))),
    }
}

fn plan_file(
    ground: &UndoGround<'_>,
    path: &RelPath,
    now: Option<Present>,
    back: &[(ChangeNumber, RecordedChange)],
) -> Result<Option<UndoPath>, UndoObstacle> {
    // Each change must have left what the next one found, the newest what is there now.
    let mut side = now.as_ref().map(Side::from);
    for (_, change) in back {
        let left = change.after.as_ref().map(Side::from);
        if !is_same(side, left) {
            let diff = diff_since(ground, path, change.after.as_ref(), now.as_ref());
            return Err(UndoObstacle { diff, ..obstacle(path, ObstacleKind::ChangedSince) });
        }
        side = change.before.as_ref().map(Side::from);
    }
    let mut wanted = side;
    if let Some(wanted) = &mut wanted {
        wanted.mode = wanted_mode(now.as_ref(), wanted.mode, back);
        check_kept(ground, wanted).map_err(|why| obstacle(path, why))?;
    }
    let now = now.map(|now| without_held_bytes(ground, now));
    Ok(Some(way_back(path, now, wanted, back)))
}

fn way_back(
    path: &RelPath,
    now: Option<Present>,
    wanted: Option<Side>,
    back: &[(ChangeNumber, RecordedChange)],
) -> UndoPath {
    let mut from = now.as_ref().map(Side::from);
    let mut steps = Vec::with_capacity(back.len());
    for (index, (number, change)) in back.iter().enumerate() {
        let is_last = index + 1 == back.len();
        let to = if is_last { wanted } else { change.before.as_ref().map(Side::from) };
        // A folder that somebody has removed already needs no step.
        if from.is_some() || to.is_some() {
            steps.push(StepBack { undoes: Some(*number), from, to });
        }
        from = to;
    }
    UndoPath { path: path.clone(), now, wanted, back: steps }
}

/// The permission bits to give. Where no change of ours has touched them, those that are there stay: they are the user's.
fn wanted_mode(
    now: Option<&Present>,
    recorded: Option<u32>,
    back: &[(ChangeNumber, RecordedChange)],
) -> Option<u32> {
    let touches = |change: &RecordedChange| match (change.before, change.after) {
        (Some(before), Some(after)) => {
            before.kind != EntryKind::File
                || after.kind != EntryKind::File
                || (before.mode != after.mode && before.mode.is_some() && after.mode.is_some())
        }
        _ => true,
    };
    let is_ours = back.iter().any(|(_, change)| touches(change));
    // Set-user, set-group and sticky bit are never given.
    let mode = if is_ours { recorded.map(|mode| mode & 0o777) } else { now.and_then(|now| now.mode) };
    mode.or(now.and_then(|now| now.mode))
}

fn check_kept(ground: &UndoGround<'_>, wanted: &Side) -> Result<(), ObstacleKind> {
    if wanted.kind == EntryKind::Folder {
        return Ok(());
    }
    // A link always says something; what was recorded without a word was no link.
    if wanted.kind == EntryKind::Symlink && wanted.content == Some(ContentHash::of(&[])) {
        return Err(ObstacleKind::SpecialFile);
    }
    let bytes = wanted.content.and_then(|hash| ground.journal.content(&hash).ok().flatten());
    if bytes.is_some() { Ok(()) } else { Err(ObstacleKind::NotKept) }
}

/// Many files may be brought back at once: their bytes are read again one by one.
fn without_held_bytes(ground: &UndoGround<'_>, now: Present) -> Present {
    let is_held = ground.journal.holds_content(&now.hash).unwrap_or(false);
    if is_held && now.kind == PresentKind::File { Present { bytes: [].into(), ..now } } else { now }
}

/// Whether two sides are the same but for permission bits.
fn is_same(one: Option<Side>, other: Option<Side>) -> bool {
    let essence = |side: Side| (side.kind, side.content);
    one.map(essence) == other.map(essence)
}

fn is_about_folder(change: &RecordedChange) -> bool {
    [change.before, change.after].iter().flatten().all(|entry| entry.kind == EntryKind::Folder)
}

fn obstacle(path: &RelPath, why: ObstacleKind) -> UndoObstacle {
    UndoObstacle { path: path.to_string(), why, diff: String::new() }
}

fn diff_since(
    ground: &UndoGround<'_>,
    path: &RelPath,
    left: Option<&Entry>,
    now: Option<&Present>,
) -> String {
    let path = path.to_string();
    if [left.map(|entry| entry.kind), now.map(|now| now.kind.entry_kind())].contains(&Some(EntryKind::Folder))
    {
        return UnifiedDiff::said(&format!("{path} is or was a folder")).text;
    }
    let left = match left {
        None => None,
        Some(entry) => match entry.content.and_then(|hash| ground.journal.content(&hash).ok().flatten()) {
            None => return UnifiedDiff::said(&format!("what was left at {path} is not kept any more")).text,
            bytes => bytes,
        },
    };
    UnifiedDiff::between(&path, left.as_deref(), now.map(Present::content)).text
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
