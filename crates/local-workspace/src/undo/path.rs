//! One path of an undo: its current state, the wanted state, and obstacles.

use std::collections::BTreeSet;

use change_journal::{
    Attributes, ChangeNumber, ChangeRecord, Content, ContentHash, Entry, EntryKind, EntryRecord,
    JournalError, JournalReader, RecordedAttributes, RecordedChange,
};
use rel_path::RelPath;
use sandbox_fs::FsError;
use wap_core::WapError;

use crate::adopt::repository_use::is_refreshed_index;
use crate::change::present::{Present, PresentKind, link_above};
use crate::change::publish::{needs_open_root, without_mask};
use crate::errors::{fs_error, journal_error};
use crate::git::guard::is_main_index;
use crate::undo::error::{Left, ObstacleKind, UndoError, UndoObstacle};
use crate::undo::history::WayBack;
use crate::undo::plan::UndoContext;
use crate::undo::reverted::{reverted, way_back_of};
use crate::undo::unified_diff::UnifiedDiff;

/// One path of an undo.
#[derive(Debug)]
pub(crate) struct UndoPath {
    pub path: RelPath,
    /// The state on disk; the bytes of a file only if the journal does not hold them.
    pub now: Option<Present>,
    /// The state to restore.
    pub wanted: Option<Side>,
    /// The steps back, newest change first.
    pub back: Vec<StepBack>,
    /// True if only a root that ignores protection and write bits can restore it, because a command changed it.
    pub needs_open_root: bool,
    /// True if another program has already restored the previous state: the user, or git by checking out another
    /// branch.
    pub is_undone_already: bool,
}

/// Reverting one change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepBack {
    /// The change; `None` for a folder that is made for restored entries.
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
    pub attributes: RecordedAttributes,
}

impl From<&Entry> for Side {
    fn from(entry: &Entry) -> Side {
        Side { kind: entry.kind, content: entry.content, mode: entry.mode, attributes: entry.attributes }
    }
}

impl From<&Present> for Side {
    fn from(present: &Present) -> Side {
        let attributes = match present.attributes.as_deref() {
            None => RecordedAttributes::Unknown,
            Some([]) => RecordedAttributes::None,
            Some(bytes) => RecordedAttributes::Content(ContentHash::of(bytes)),
        };
        Side { kind: present.kind.entry_kind(), content: Some(present.hash), mode: present.mode, attributes }
    }
}

impl UndoPath {
    /// Checks whether it is already in the wanted state, except for folders, whose permission bits are set at the end.
    pub(crate) fn is_as_wanted(&self) -> bool {
        let is_folder = |side: Side| side.kind == EntryKind::Folder;
        self.now.as_ref().map(Side::from) == self.wanted && !self.wanted.is_some_and(is_folder)
    }

    /// Checks whether another program has restored the previous state as a whole, so that there is nothing to do.
    pub(crate) fn is_already_as_before(&self) -> bool {
        let has_rest = match (self.now.as_ref().map(Side::from), self.wanted) {
            (Some(now), Some(wanted)) => {
                let is_known = wanted.attributes != RecordedAttributes::Unknown;
                now.mode == wanted.mode && (!is_known || now.attributes == wanted.attributes)
            }
            _ => true,
        };
        self.is_undone_already && has_rest
    }

    pub(crate) fn is_now_folder(&self) -> bool {
        self.now.as_ref().is_some_and(|now| now.kind == PresentKind::Folder)
    }

    /// Checks whether it is a folder that will be removed or replaced.
    pub(crate) fn is_folder_that_goes(&self) -> bool {
        self.is_now_folder() && self.wanted.is_none_or(|wanted| wanted.kind != EntryKind::Folder)
    }

    /// Checks whether it is a symlink that will be removed or replaced.
    pub(crate) fn is_link_that_goes(&self) -> bool {
        let is_link = self.now.as_ref().is_some_and(|now| now.kind == PresentKind::Other);
        is_link && self.wanted.is_none_or(|wanted| wanted.kind != EntryKind::Symlink)
    }

    /// Checks in advance, as far as possible, that the path can be restored. `is_opened` is true if a symlink among
    /// its parents is removed first.
    pub(crate) fn check(&self, context: &UndoContext<'_>, is_opened: bool) -> Result<(), WapError> {
        context.hidden.check(&self.path)?;
        let requested = self.path.to_string();
        let root = context.root_for(self);
        let checked = match (&self.now, &self.wanted) {
            // It was made and removed again.
            (None, None) => Ok(()),
            (Some(now), _) if now.kind == PresentKind::Folder => self.check_protected(context),
            (_, Some(wanted)) if wanted.kind == EntryKind::Folder => self.check_protected(context),
            (Some(now), Some(wanted)) if now.kind == PresentKind::File && wanted.kind == EntryKind::File => {
                root.write_target(&self.path).map(drop)
            }
            (Some(_), _) => root.delete_target(&self.path).map(drop),
            (None, _) => match root.write_target(&self.path) {
                // A parent folder is currently a file, which is removed first.
                Err(FsError::NotAFolder { .. }) => self.check_protected(context),
                Err(FsError::IsLink { .. } | FsError::Escape { .. } | FsError::LinkLoop { .. })
                    if is_opened =>
                {
                    self.check_protected(context)
                }
                other => other.map(drop),
            },
        };
        checked.map_err(|error| fs_error(&error, &requested))
    }

    fn check_protected(&self, context: &UndoContext<'_>) -> Result<(), FsError> {
        let path = self.path.clone();
        match context.root_for(self).policy().protected.never(&path) {
            Some(name) => Err(FsError::Protected {
                path,
                entry: name.pattern().to_owned(),
                reason: name.reason().to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// The changes that revert this path, for the journal. `now` is its current side.
    pub(crate) fn records(&self, held: impl Fn(&ContentHash) -> bool) -> Vec<ChangeRecord<'_>> {
        let entry = |side: Side, is_now: bool| {
            // Or another program has replaced it since.
            let is_now = is_now && self.now.as_ref().is_some_and(|now| side.content == Some(now.hash));
            let content = match (side.content, &self.now) {
                (Some(hash), _) if held(&hash) => Content::Held(hash),
                // Its bytes were dropped because the journal held them. If it no longer does, the commit has to fail.
                (Some(hash), Some(now)) if is_now && is_dropped(now) => Content::Held(hash),
                (_, Some(now)) if is_now => Content::Bytes(&now.bytes),
                (hash, _) => Content::NotKept(hash),
            };
            let attributes = match (side.attributes, self.now.as_ref()) {
                (RecordedAttributes::Content(_), Some(now)) if is_now => {
                    now.attributes.as_deref().map_or(Attributes::Unknown, Attributes::Bytes)
                }
                (recorded, _) => Attributes::Recorded(recorded),
            };
            EntryRecord { kind: side.kind, content, mode: side.mode, attributes }
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

/// Plans one path; `Ok(None)` if there is nothing to do. The inner error is the obstacle.
pub(crate) fn plan_path(
    context: &UndoContext<'_>,
    chosen: &BTreeSet<ChangeNumber>,
    path: &RelPath,
) -> Result<Result<Option<UndoPath>, UndoObstacle>, UndoError> {
    let mut changes = context.journal.changes_of_path(path.as_bytes(), u32::MAX)?;
    // The journal lists the newest first.
    changes.reverse();
    let WayBack { back, buried, later } = way_back_of(context, chosen, path, changes);
    if back.is_empty() && buried.is_none() {
        return Ok(Ok(None));
    }
    let is_folder = buried.iter().chain(back.iter().map(|(_, change)| change)).all(is_about_folder);
    let left = back.first().and_then(|(_, newest)| newest.after);
    let now = match Present::where_left(context.root, path, left.as_ref()) {
        Ok(now) => now,
        Err(error) => {
            let closed = ObstacleKind::Closed(fs_error(&error, &path.to_string()));
            return Ok(Err(obstacle(path, closed)));
        }
    };
    if is_folder {
        return Ok(if buried.is_none() { plan_folder(context, path, now, &back) } else { Ok(None) });
    }
    if let (Some(buried), Some(later)) = (buried, later) {
        let left = Some(Box::new(Left(buried.after)));
        return Ok(Err(UndoObstacle { left, ..obstacle(path, ObstacleKind::LaterChange(later)) }));
    }
    let planned = plan_file(context, path, now, &back);
    // It has changed because another process has put a symlink among its parents.
    let link = |refused: &UndoObstacle| {
        let is_changed = refused.why == ObstacleKind::ChangedSince;
        is_changed.then(|| link_above(context.root, path)).flatten()
    };
    Ok(planned.map_err(|refused| match link(&refused) {
        Some(link) => obstacle(path, ObstacleKind::behind(&link)),
        None => refused,
    }))
}

/// A path at which only folders were made or removed.
fn plan_folder(
    context: &UndoContext<'_>,
    path: &RelPath,
    now: Option<Present>,
    back: &[(ChangeNumber, RecordedChange)],
) -> Result<Option<UndoPath>, UndoObstacle> {
    let wanted = back.last().and_then(|(_, oldest)| oldest.before).map(|entry| Side::from(&entry));
    let wanted = wanted.map(|wanted| wanted_folder(now.as_ref(), wanted, back));
    match (&now, wanted) {
        (None, None) => Ok(None),
        (Some(now), Some(wanted)) if now.kind == PresentKind::Folder && wanted.mode.is_some() => {
            Ok(Some(way_back(context, path, Some(now.clone()), Some(wanted), back)))
        }
        (Some(now), _) if (now.kind == PresentKind::Folder) == wanted.is_some() => Ok(None),
        (Some(now), Some(_)) if now.kind != PresentKind::Folder => {
            Err(obstacle(path, ObstacleKind::ChangedSince))
        }
        _ => Ok(Some(way_back(context, path, now, wanted, back))),
    }
}

fn plan_file(
    context: &UndoContext<'_>,
    path: &RelPath,
    now: Option<Present>,
    back: &[(ChangeNumber, RecordedChange)],
) -> Result<Option<UndoPath>, UndoObstacle> {
    // Each change must have left the state that the next one found, and the newest the current state, unless another
    // program has reverted it.
    let present = now.as_ref().map(Side::from);
    let reverted = reverted(context, path, now.as_ref(), back);
    let mut side = present;
    for (index, (_, change)) in back.iter().enumerate() {
        let left = change.after.as_ref().map(Side::from);
        let is_next = is_same(side, left) || is_refreshed(context, path, now.as_ref(), [side, left]);
        if !is_next && index >= reverted {
            let left = Some(Box::new(Left(change.after)));
            return Err(UndoObstacle { left, ..obstacle(path, ObstacleKind::ChangedSince) });
        }
        side = change.before.as_ref().map(Side::from);
    }
    let mut wanted = side;
    if let Some(wanted) = &mut wanted {
        wanted.mode = wanted_mode(now.as_ref(), wanted.mode, back);
        wanted.attributes = wanted_attributes(now.as_ref(), wanted.attributes, back);
        check_kept(context, wanted).map_err(|why| obstacle(path, why))?;
    }
    let now = now.map(|now| without_held_bytes(context, now));
    Ok(Some(way_back(context, path, now, wanted, back)))
}

fn way_back(
    context: &UndoContext<'_>,
    path: &RelPath,
    now: Option<Present>,
    wanted: Option<Side>,
    back: &[(ChangeNumber, RecordedChange)],
) -> UndoPath {
    let present = now.as_ref().map(Side::from);
    let left = back.first().and_then(|(_, newest)| newest.after).as_ref().map(Side::from);
    // If another program has reverted some of them, the steps are those of the changes, so that they can be redone.
    let is_reverted = reverted(context, path, now.as_ref(), back) > 0
        && wanted.is_none_or(|wanted| wanted.kind != EntryKind::Folder);
    let is_undone_already = is_reverted && is_at(context, path, now.as_ref(), wanted);
    let mut from = if is_reverted { left } else { present };
    let mut steps = Vec::with_capacity(back.len());
    for (index, (number, change)) in back.iter().enumerate() {
        let is_last = index + 1 == back.len();
        let to = if is_last { wanted } else { change.before.as_ref().map(Side::from) };
        // A folder that another process has removed already needs no step.
        if from.is_some() || to.is_some() {
            steps.push(StepBack { undoes: Some(*number), from, to });
        }
        from = to;
    }
    let changes: Vec<_> = back.iter().map(|(_, change)| change.clone()).collect();
    let needs_open_root = needs_open_root(path, &changes);
    UndoPath { path: path.clone(), now, wanted, back: steps, needs_open_root, is_undone_already }
}

/// The state in which to restore a folder. An existing one keeps its attributes.
fn wanted_folder(now: Option<&Present>, wanted: Side, back: &[(ChangeNumber, RecordedChange)]) -> Side {
    let mode = folder_mode(now, wanted.mode, back);
    match (now, wanted.attributes) {
        (Some(_), _) => Side { mode, attributes: RecordedAttributes::Unknown, ..wanted },
        (None, RecordedAttributes::Unknown) => Side { mode: mode.map(without_mask), ..wanted },
        (None, _) => Side { mode, ..wanted },
    }
}

/// The permission bits to restore on a folder, if our changes have set the current ones.
fn folder_mode(
    now: Option<&Present>,
    recorded: Option<u32>,
    back: &[(ChangeNumber, RecordedChange)],
) -> Option<u32> {
    let recorded = recorded.map(|mode| mode & 0o777)?;
    let Some(now) = now else { return Some(recorded) };
    let has = now.mode? & 0o777;
    let left = back.first().and_then(|(_, newest)| newest.after).and_then(|after| after.mode);
    (left == Some(has) && has != recorded).then_some(recorded)
}

/// The permission bits to set. If our changes have not touched them, or others have since, the current ones stay: they
/// are the user's.
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
    let left = back.first().and_then(|(_, newest)| newest.after);
    let is_users = now.filter(|now| now.kind == PresentKind::File).is_some_and(|now| match left {
        Some(left) if left.kind == EntryKind::File => {
            left.mode.zip(now.mode).is_some_and(|(left, now)| (left ^ now) & 0o777 != 0)
        }
        // It was there no more.
        _ => true,
    });
    let is_ours = !is_users && back.iter().any(|(_, change)| touches(change));
    // The set-user, set-group and sticky bits are never set.
    let mode = if is_ours { recorded.map(|mode| mode & 0o777) } else { now.and_then(|now| now.mode) };
    mode.or(now.and_then(|now| now.mode))
}

/// The attributes to set, by the same rule: the current ones stay, unless our changes have touched them.
fn wanted_attributes(
    now: Option<&Present>,
    recorded: RecordedAttributes,
    back: &[(ChangeNumber, RecordedChange)],
) -> RecordedAttributes {
    let is_known = |entry: &Entry| entry.attributes != RecordedAttributes::Unknown;
    let touches = |change: &RecordedChange| match (change.before, change.after) {
        (Some(before), Some(after)) if before.kind == EntryKind::File && after.kind == EntryKind::File => {
            is_known(&before) && is_known(&after) && before.attributes != after.attributes
        }
        _ => true,
    };
    match now.filter(|now| now.kind == PresentKind::File) {
        Some(now) if !back.iter().any(|(_, change)| touches(change)) => Side::from(now).attributes,
        _ => recorded,
    }
}

fn check_kept(context: &UndoContext<'_>, wanted: &Side) -> Result<(), ObstacleKind> {
    if wanted.kind == EntryKind::Folder {
        return Ok(());
    }
    // A symlink always has a target; an entry recorded without one was not a symlink.
    if wanted.kind == EntryKind::Symlink && wanted.content == Some(ContentHash::of(&[])) {
        return Err(ObstacleKind::SpecialFile);
    }
    match wanted.content.map(|hash| context.journal.content(&hash)) {
        Some(Ok(Some(_))) => Ok(()),
        Some(Err(error)) => Err(unread(error)),
        Some(Ok(None)) | None => Err(ObstacleKind::NotKept),
    }
}

/// Returns the obstacle for a content that could not be read: unlike one that is not kept, it may be readable at the
/// next attempt.
pub(crate) fn unread(error: JournalError) -> ObstacleKind {
    match error {
        JournalError::ContentMissing { .. } => ObstacleKind::NotKept,
        error => ObstacleKind::Closed(journal_error(error)),
    }
}

/// Checks whether [`without_held_bytes`] has dropped the bytes of a present file.
fn is_dropped(now: &Present) -> bool {
    now.kind == PresentKind::File && now.bytes.is_empty() && now.hash != ContentHash::of(&[])
}

/// Drops the bytes that the journal holds: many files may be restored at once, and are read again one by one.
fn without_held_bytes(context: &UndoContext<'_>, now: Present) -> Present {
    let is_held = context.journal.holds_content(&now.hash).unwrap_or(false);
    if is_held && now.kind == PresentKind::File { Present { bytes: [].into(), ..now } } else { now }
}

/// Checks whether two sides are the same except for permission bits.
pub(super) fn is_same(one: Option<Side>, other: Option<Side>) -> bool {
    let essence = |side: Side| (side.kind, side.content);
    one.map(essence) == other.map(essence)
}

/// Checks whether a path is in a recorded state, except for permission bits; an index also if it only has the same entries.
pub(super) fn is_at(
    context: &UndoContext<'_>,
    path: &RelPath,
    now: Option<&Present>,
    side: Option<Side>,
) -> bool {
    let present = now.map(Side::from);
    is_same(present, side) || is_refreshed(context, path, now, [present, side])
}

/// Checks whether both sides are an index with the same entries: the user's `git status` rewrites it when files have
/// new times.
fn is_refreshed(
    context: &UndoContext<'_>,
    path: &RelPath,
    now: Option<&Present>,
    sides: [Option<Side>; 2],
) -> bool {
    let [Some(one), Some(left)] = sides else { return false };
    let is_file = |side: Side| side.kind == EntryKind::File;
    if !is_main_index(path) || !is_file(one) || !is_file(left) {
        return false;
    }
    let recorded = |hash: Option<ContentHash>| context.journal.content(&hash?).ok().flatten();
    let bytes = match now.filter(|now| Some(now.hash) == one.content && !is_dropped(now)) {
        Some(now) => Some(now.content().to_vec()),
        None => recorded(one.content),
    };
    bytes.zip(recorded(left.content)).is_some_and(|(now, left)| is_refreshed_index(path, &left, &now))
}

pub(crate) fn is_about_folder(change: &RecordedChange) -> bool {
    [change.before, change.after].iter().flatten().all(|entry| entry.kind == EntryKind::Folder)
}

pub(crate) fn obstacle(path: &RelPath, why: ObstacleKind) -> UndoObstacle {
    UndoObstacle::new(path.to_string(), why)
}

/// Returns the diff of a path since a change, and the diff of the path and both texts as masked by `view`.
pub(crate) fn diffs_since(
    journal: &JournalReader,
    path: &RelPath,
    left: Option<&Entry>,
    now: Option<&Present>,
    view: Option<&dyn Fn(&str) -> String>,
) -> (String, Option<String>) {
    let path = path.to_string();
    let said =
        |line: String| (UnifiedDiff::said(&line).text, view.map(|view| UnifiedDiff::said(&view(&line)).text));
    if [left.map(|entry| entry.kind), now.map(|now| now.kind.entry_kind())].contains(&Some(EntryKind::Folder))
    {
        return said(format!("{path} is or was a folder"));
    }
    let left = match left {
        None => None,
        Some(entry) => match entry.content.and_then(|hash| journal.content(&hash).ok().flatten()) {
            None => return said(format!("the state left at {path} is no longer kept")),
            bytes => bytes,
        },
    };
    let now = now.map(Present::content);
    let visible = view.map(|view| {
        // Mask the texts rather than the diff, whose lines lack context.
        let text = |bytes: &[u8]| {
            str::from_utf8(bytes).map_or_else(|_| bytes.to_vec(), |text| view(text).into_bytes())
        };
        let sides = [left.as_deref().map(text), now.map(text)];
        UnifiedDiff::between(&view(&path), sides[0].as_deref(), sides[1].as_deref()).text
    });
    (UnifiedDiff::between(&path, left.as_deref(), now).text, visible)
}
