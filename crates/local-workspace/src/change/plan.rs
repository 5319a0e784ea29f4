//! A batch of changes worked out against a staged view, before anything is written.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::ContentHash;
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FsError};
use text_edit::{LineMap, Numbering, Source};
use wap_core::{
    CancelFlag, CarriedLines, DeleteFile, DeleteFileResponse, FileChange, FileChanged, FileVersion, Limits,
    LineNumbers, LineShift, ModifyFile, ModifyFileResponse, ModifyOperation, OUTPUT_PREFIX, Reason,
    RegexReplacements, WapError, WriteFile, WriteFileResponse, WriteMode,
};

use crate::adopt::build_folders::BuildFolders;
use crate::change::edit_request::{content_bytes, operation};
use crate::change::held_versions::{Edit, HeldVersions, compose, version};
use crate::change::meaning::{Known, Meaning, Meant};
use crate::change::prepared_edits::PreparedEdits;
use crate::change::present::{CONTENT_LIMIT_BYTES, Present, PresentKind};
use crate::command::effect::{Effect, EffectSide};
use crate::errors::{edit_error, fs_error, path_error};
use crate::git::guard::Refusal;
use crate::git::repository_context::{RepositoryContext, format_on_disk};
use crate::git::repository_parts::{Transition, folded, may_be_part};
use crate::hidden::Hidden;
use crate::step_record::MapRecord;

/// The most bytes of contents, before and after, that one plan holds.
const PLAN_LIMIT_BYTES: u64 = 256 << 20;

/// A batch in the making: what each file was and what it will be.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    root: &'a FileRoot,
    hidden: &'a Hidden,
    held: &'a HeldVersions,
    /// By canonical path.
    files: BTreeMap<RelPath, PlannedFile>,
    /// Canonical paths in the order in which they are first changed.
    order: Vec<RelPath>,
    /// How many files the plan leaves beneath each folder, by the folder's canonical path; none is 0.
    folders: BTreeMap<RelPath, usize>,
    /// How many files the plan leaves at and beneath each path, by the path in lower case; none is 0.
    folded: BTreeMap<Vec<u8>, usize>,
    /// How many bytes of contents the plan holds.
    held_bytes: u64,
    /// Edits that were worked out already, if some were.
    prepared: Option<&'a PreparedEdits>,
}

/// One file of a plan.
#[derive(Debug)]
pub(crate) struct PlannedFile {
    /// What is there now.
    pub before: Option<Present>,
    /// What will be there, as far as the plan has come.
    pub after: Option<Present>,
    /// Edits by line so far, so that later line numbers can be followed through them.
    edits: Vec<Edit>,
    /// The ways from the versions that the last edits' numbers meant to the ones that they met, so that the edits between
    /// them are not followed again for each further one.
    followed: Vec<Edit>,
}

impl PlannedFile {
    /// The way from one version to another, if it is the known one or one edit longer.
    fn followed_to(&self, from: &ContentHash, to: &ContentHash, current: &Source<'_>) -> Option<LineMap> {
        let known = self.followed.iter().find(|known| known.before == *from)?;
        if known.after == *to {
            return Some(known.line_map.clone());
        }
        let last = self.edits.last().filter(|last| last.before == known.after && last.after == *to)?;
        let map = compose(&known.line_map, &last.line_map)?;
        (map.new_lines() == current.total_lines()).then_some(map)
    }

    /// Remembers a way that was found; of another version than the last few were, one is forgotten.
    fn remember(&mut self, way: Edit) {
        self.followed.retain(|known| known.before != way.before);
        if self.followed.len() >= FOLLOWED_VERSIONS {
            self.followed.remove(0);
        }
        self.followed.push(way);
    }
}

/// The most notes about regular expressions in one answer; the counts of all are in it.
const MOST_NOTES: usize = 20;

/// How many versions of a file are followed through a batch at once: numbers mean one of two.
const FOLLOWED_VERSIONS: usize = 4;

/// What one item of a batch does.
#[derive(Debug)]
pub(crate) struct PlannedStep {
    pub path: RelPath,
    pub before: Option<Present>,
    pub after: Option<Present>,
    pub changed: FileChanged,
    pub line_map: Option<MapRecord>,
    /// The folders above that are not there yet, outermost first.
    pub missing_folders: Vec<RelPath>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(root: &'a FileRoot, hidden: &'a Hidden, held: &'a HeldVersions) -> Plan<'a> {
        Plan {
            root,
            hidden,
            held,
            files: BTreeMap::new(),
            order: Vec::new(),
            folders: BTreeMap::new(),
            folded: BTreeMap::new(),
            held_bytes: 0,
            prepared: None,
        }
    }

    /// The same with edits that were worked out before.
    pub(crate) fn with_prepared(self, prepared: Option<&'a PreparedEdits>) -> Plan<'a> {
        Plan { prepared, ..self }
    }

    /// Returns the files of the plan in the order in which they are first changed.
    pub(crate) fn into_files(mut self) -> Vec<(RelPath, PlannedFile)> {
        let files = &mut self.files;
        self.order
            .into_iter()
            .filter_map(|path| files.remove(&path).map(|file| (path, file)))
            .filter(|(_, file)| file.before != file.after)
            .collect()
    }

    /// The folders beneath which the plan creates a file.
    pub(crate) fn folders_of_new_files(&self) -> BTreeSet<RelPath> {
        let new_files = self.files.iter().filter(|(_, file)| file.before.is_none() && file.after.is_some());
        new_files.flat_map(|(path, _)| folders_above(path)).collect()
    }

    /// What the plan makes of a canonical path: `None` if it has not changed it, `Some(None)` if it has deleted it.
    pub(crate) fn after(&self, path: &RelPath) -> Option<Option<&Present>> {
        self.files.get(path).map(|file| file.after.as_ref())
    }

    /// Works out one change after those before it. A failure leaves the plan as it was.
    ///
    /// A long edit looks now and then whether it is still wanted.
    pub(crate) fn change(
        &mut self,
        change: &FileChange,
        cancel: &CancelFlag,
    ) -> Result<PlannedStep, WapError> {
        match change {
            FileChange::Write(write) => self.write(write),
            FileChange::Modify(modify) => self.modify(modify, cancel),
            FileChange::Delete(delete) => self.delete(delete),
        }
    }

    fn write(&mut self, write: &WriteFile) -> Result<PlannedStep, WapError> {
        check_request_size(write.content.len() as u64)?;
        let (path, missing_folders) =
            self.writable(&write.path, write.create_directories.unwrap_or(false))?;
        let before = self.present_file(&path, &write.path)?;
        let bytes = match (write.write_mode(), &before) {
            (WriteMode::Create, Some(_)) => {
                let text = format!("'{path}' exists already");
                return Err(WapError::new(Reason::FileExists, text).with("path", write.path.as_str()));
            }
            (WriteMode::Append, Some(present)) => [&*present.bytes, write.content.as_bytes()].concat(),
            _ => write.content.clone().into_bytes(),
        };
        let after = Present::file(bytes, before.as_ref().and_then(|present| present.mode))
            .with_attributes(before.as_ref().and_then(|present| present.attributes.clone()));
        self.check_repositories(&path, before.as_ref(), Some(&after))?;
        self.make_room(before.as_ref(), Some(&after))?;
        let (lines_added, lines_removed) = changed_lines(before.as_ref(), &after);
        let changed = FileChanged::Written(WriteFileResponse {
            success: true,
            path: path.to_string(),
            bytes_written: write.content.len() as u64,
            version: Some(version(&after.hash)),
            created: before.is_none(),
            lines_added,
            lines_removed,
            warnings: self.warnings(&path),
        });
        let step = self.step(path, before, Some(after), changed, None);
        Ok(PlannedStep { missing_folders, ..step })
    }

    fn modify(&mut self, modify: &ModifyFile, cancel: &CancelFlag) -> Result<PlannedStep, WapError> {
        modify.check_bounds()?;
        let size = modify.operations.iter().map(content_bytes).sum();
        check_request_size(size)?;
        if modify.operations.is_empty() {
            let text = "there are no operations: give at least one";
            return Err(WapError::new(Reason::InvalidField, text).with("field", "operations"));
        }
        let (path, _) = self.writable(&modify.path, false)?;
        let Some(before) = self.present_file(&path, &modify.path)? else {
            return Err(not_found(&path, &modify.path));
        };
        let (edited, carried) = self.edit(&path, &before, modify, cancel)?;
        let after = Present::file(edited.bytes, before.mode).with_attributes(before.attributes.clone());
        self.check_repositories(&path, Some(&before), Some(&after))?;
        self.make_room(Some(&before), Some(&after))?;
        let shifts = edited.line_map.shifts();
        let mut warnings = self.warnings(&path);
        if shifts.len() > Limits::MAX_SHIFTS {
            warnings.push(format!(
                "lines have moved in {} places, of which the first {} are listed: read the file again for line numbers",
                shifts.len(),
                Limits::MAX_SHIFTS
            ));
        }
        let replacements = replacements(modify, &edited.outcomes);
        warnings.extend(replacements.iter().filter_map(RegexReplacements::note).take(MOST_NOTES));
        let shifts = shifts
            .iter()
            .take(Limits::MAX_SHIFTS)
            .map(|shift| LineShift { from_line: shift.from_line as u64, by: shift.by as i64 });
        let changed = FileChanged::Modified(ModifyFileResponse {
            success: true,
            path: path.to_string(),
            version: Some(version(&after.hash)),
            previous_version: Some(version(&before.hash)),
            shifts: shifts.collect(),
            carried,
            replacements,
            lines_added: small(edited.outcomes.iter().map(|outcome| outcome.added_lines).sum()),
            lines_removed: small(edited.outcomes.iter().map(|outcome| outcome.removed_lines).sum()),
            warnings,
        });
        let edit = Edit { before: before.hash, after: after.hash, line_map: edited.line_map };
        Ok(self.step(path, Some(before), Some(after), changed, Some(edit)))
    }

    /// Applies the operations of a request to the file as the plan has it, carried over from the versions that their
    /// numbers may mean.
    fn edit(
        &mut self,
        path: &RelPath,
        before: &Present,
        modify: &ModifyFile,
        cancel: &CancelFlag,
    ) -> Result<(text_edit::Edited, Vec<CarriedLines>), WapError> {
        let current = Source::parse(&before.bytes).map_err(|error| {
            WapError::new(Reason::BinaryFile, format!("'{path}' cannot be edited by lines: {error}"))
        })?;
        let operations: Vec<_> = modify.operations.iter().map(operation).collect();
        let now = version(&before.hash);
        let meaning =
            Meaning { path, current: &current, now: now.clone(), request: modify, operations: &operations };
        // One operation alone is the first in its turn: its numbers mean the text before the call either way.
        let in_turn = modify.line_numbers == Some(LineNumbers::InTurn) && operations.len() > 1;
        let mut find = |expected: &FileVersion| self.known_version(path, before, &current, expected);
        let meant = if meaning.is_plain() {
            None
        } else if in_turn {
            let expected = modify.expected_version.as_ref().filter(|expected| **expected != now);
            if let Some(expected) = expected {
                return Err(moved_under_operations(path, expected, &current, &now));
            }
            meaning.check_in_turn(&mut find)?;
            None
        } else {
            Some(meaning.of_all(&mut find)?)
        };
        let alone = PreparedEdits::default();
        let prepared = self.prepared.unwrap_or(&alone);
        let numbering = if in_turn { Numbering::Sequential } else { Numbering::Original };
        let meant = meant.unwrap_or(Meant { operations, carried: Vec::new() });
        let edited = prepared.apply(&current, before.hash, &meant.operations, numbering, cancel);
        let edited = edited.map_err(|error| edit_error(&error, path, &current, &current, now))?;
        Ok((edited, meant.carried))
    }

    /// Finds a version that line numbers mean, and the way from it to the file as the plan has it.
    fn known_version(
        &mut self,
        path: &RelPath,
        before: &Present,
        current: &Source<'_>,
        expected: &FileVersion,
    ) -> Result<Known, WapError> {
        let gone = || version_gone(path, expected, current, &version(&before.hash));
        let hash: ContentHash = expected.0.parse().map_err(|_| gone())?;
        let bytes = self.held.bytes(&hash).ok_or_else(gone)?;
        Source::parse(&bytes).map_err(|_| gone())?;
        let file = self.files.get(path);
        let known = file.and_then(|file| file.followed_to(&hash, &before.hash, current));
        let planned = file.map_or(&[][..], |file| &file.edits);
        let found = || self.held.line_map(path, &hash, &before.hash, current, planned);
        let map = known.or_else(found).ok_or_else(gone)?;
        if let Some(file) = self.files.get_mut(path) {
            file.remember(Edit { before: hash, after: before.hash, line_map: map.clone() });
        }
        Ok(Known { bytes, map })
    }

    fn delete(&mut self, delete: &DeleteFile) -> Result<PlannedStep, WapError> {
        let asked = &delete.path;
        let path = self.deletable(asked)?;
        let Some(before) = self.present(&path, asked)? else {
            return Err(not_found(&path, asked));
        };
        self.check_repositories(&path, Some(&before), None)?;
        self.make_room(Some(&before), None)?;
        let changed = FileChanged::Deleted(DeleteFileResponse {
            success: true,
            path: path.to_string(),
            warnings: self.warnings(&path),
        });
        Ok(self.step(path, Some(before), None, changed, None))
    }

    fn step(
        &mut self,
        path: RelPath,
        before: Option<Present>,
        after: Option<Present>,
        changed: FileChanged,
        edit: Option<Edit>,
    ) -> PlannedStep {
        if !self.files.contains_key(&path) {
            self.order.push(path.clone());
        }
        let file = self.files.entry(path.clone()).or_insert_with(|| PlannedFile {
            before: before.clone(),
            after: None,
            edits: Vec::new(),
            followed: Vec::new(),
        });
        let was_there = file.after.is_some();
        file.after.clone_from(&after);
        let line_map = edit.as_ref().map(|edit| MapRecord::from(&edit.line_map));
        file.edits.extend(edit);
        self.count_file(&path, was_there, after.is_some());
        PlannedStep { path, before, after, changed, line_map, missing_folders: Vec::new() }
    }

    /// Returns the canonical path that a write would go to, and the folders above it that are not there yet.
    fn writable(&self, asked: &str, create_folders: bool) -> Result<(RelPath, Vec<RelPath>), WapError> {
        let path = self.parse(asked)?;
        let target = match self.root.write_target(&path) {
            Ok(target) => target,
            Err(FsError::IsLink { .. }) if let Some(freed) = self.link_deleted(&path) => {
                return Ok((freed, Vec::new()));
            }
            Err(error) => return Err(fs_error(&error, asked)),
        };
        self.hidden.check(&target.path)?;
        check_name_of_outputs(&target.path, asked)?;
        self.check_planned_folders(&target.path, asked)?;
        match target.missing_folders.iter().find(|folder| !self.has_files_beneath(folder)) {
            Some(folder) if !create_folders => {
                let error = FsError::ParentMissing { folder: folder.clone() };
                Err(fs_error(&error, asked))
            }
            _ => Ok((target.path, target.missing_folders)),
        }
    }

    /// The canonical path of a link that the plan has deleted already, so that its name is free.
    fn link_deleted(&self, path: &RelPath) -> Option<RelPath> {
        let link = self.root.delete_target(path).ok()?;
        self.files.get(&link).is_some_and(|file| file.after.is_none()).then_some(link)
    }

    /// Refuses a file where the plan has a folder, and a folder where the plan has a file.
    fn check_planned_folders(&self, path: &RelPath, asked: &str) -> Result<(), WapError> {
        let is_file = |path: &RelPath| self.files.get(path).is_some_and(|file| file.after.is_some());
        let error = if self.has_files_beneath(path) {
            FsError::NotAFile { path: path.clone(), kind: FileKind::Folder }
        } else if let Some(file) = folders_above(path).find(is_file) {
            FsError::NotAFolder { path: file }
        } else {
            return Ok(());
        };
        Err(fs_error(&error, asked))
    }

    /// Takes note that the plan leaves a file, or no file, where it did otherwise before.
    fn count_file(&mut self, path: &RelPath, was_there: bool, is_there: bool) {
        if was_there == is_there {
            return;
        }
        let change = |count: &mut usize| {
            *count = if is_there { *count + 1 } else { count.saturating_sub(1) };
        };
        change(self.folded.entry(folded(path)).or_default());
        for folder in folders_above(path) {
            change(self.folded.entry(folded(&folder)).or_default());
            change(self.folders.entry(folder).or_default());
        }
    }

    /// Refuses a change with which git would take a folder for a repository, or obey something in one that it is.
    fn check_repositories(
        &self,
        path: &RelPath,
        before: Option<&Present>,
        after: Option<&Present>,
    ) -> Result<(), WapError> {
        if !may_be_part(path) {
            return Ok(());
        }
        let [before, after] = [before, after].map(|side| side.cloned().map(EffectSide::Kept));
        let filled = after.is_some().then(|| folded(path));
        let was_there = |other: &RelPath| self.is_there(other);
        let is_there = |other: &RelPath| match &filled {
            Some(filled) if is_at_or_above(&folded(other), filled) => true,
            None if other == path => false,
            _ => self.is_there(other),
        };
        let context = RepositoryContext {
            workspace: self.root.path(),
            was_there: &was_there,
            is_unjudged: &|path| BuildFolders::new(self.root).surrounds(path),
            format: &|settings| format_on_disk(self.root, settings),
        };
        let transition = Transition { is_there: &is_there, context: &context };
        let effect = Effect { path: path.clone(), before, after };
        transition.refusal(&effect).map_or(Ok(()), |refusal| Err(repository_error(path, &refusal)))
    }

    /// Whether the plan leaves anything at a path.
    fn is_there(&self, path: &RelPath) -> bool {
        if self.folded.get(&folded(path)).is_some_and(|count| *count > 0) {
            return true;
        }
        self.files.get(path).map_or_else(|| self.root.metadata(path).is_ok(), |file| file.after.is_some())
    }

    /// Whether the plan leaves a file beneath a folder.
    fn has_files_beneath(&self, folder: &RelPath) -> bool {
        self.folders.get(folder).is_some_and(|count| *count > 0)
    }

    /// Returns what a caller should know about a change of this file.
    fn warnings(&self, path: &RelPath) -> Vec<String> {
        let asked = self.root.policy().protected.asked(path);
        let text = asked.map(|name| asked_warning(path, name.reason()));
        text.into_iter().collect()
    }

    /// Returns the canonical path of what a deletion would remove: a link stands for itself.
    fn deletable(&self, asked: &str) -> Result<RelPath, WapError> {
        let path = self.parse(asked)?;
        let target = match self.root.delete_target(&path) {
            Ok(target) => target,
            Err(FsError::NotFound { .. } | FsError::ParentMissing { .. }) => {
                self.planned_only(&path).ok_or_else(|| not_found(&path, asked))?
            }
            Err(error) => return Err(fs_error(&error, asked)),
        };
        self.hidden.check(&target)?;
        Ok(target)
    }

    /// The canonical path of a file that only the plan has.
    fn planned_only(&self, path: &RelPath) -> Option<RelPath> {
        let target = self.root.write_target(path).ok()?.path;
        self.files.get(&target).is_some_and(|file| file.after.is_some()).then_some(target)
    }

    fn parse(&self, asked: &str) -> Result<RelPath, WapError> {
        let path = self.root.parse_path(asked).map_err(|error| match error {
            FsError::Path(error) => path_error(&error, asked),
            other => fs_error(&other, asked),
        })?;
        // What is hidden is refused before anything could be said about it.
        self.hidden.check(&path)?;
        Ok(path)
    }

    /// What the plan has at a canonical path: its own content if it has changed it, else the disk's.
    pub(crate) fn present(&self, path: &RelPath, asked: &str) -> Result<Option<Present>, WapError> {
        if let Some(file) = self.files.get(path) {
            return Ok(file.after.clone());
        }
        Present::on_disk(self.root, path).map_err(|error| match error {
            FsError::TooLarge { bytes, .. } => too_large(path, bytes),
            other => fs_error(&other, asked),
        })
    }

    /// The same for what is to be written.
    fn present_file(&self, path: &RelPath, asked: &str) -> Result<Option<Present>, WapError> {
        match self.present(path, asked)? {
            Some(present) if present.kind == PresentKind::Other => {
                let error = FsError::NotAFile { path: path.clone(), kind: FileKind::Unknown };
                Err(fs_error(&error, asked))
            }
            present => Ok(present),
        }
    }

    /// Accounts for the sides of one more change, or refuses it.
    fn make_room(&mut self, before: Option<&Present>, after: Option<&Present>) -> Result<(), WapError> {
        let size = |side: Option<&Present>| side.map_or(0, |present| present.bytes.len() as u64);
        if let Some(after) = after
            && size(Some(after)) > CONTENT_LIMIT_BYTES
        {
            let text = format!("the file would have more than {CONTENT_LIMIT_BYTES} bytes");
            return Err(WapError::new(Reason::RequestTooLarge, text).with("limit", CONTENT_LIMIT_BYTES));
        }
        let bytes = self.held_bytes + size(before) + size(after);
        if bytes > PLAN_LIMIT_BYTES {
            let text = "the files of this batch are too large together: change this one on its own";
            return Err(WapError::new(Reason::RequestTooLarge, text).with("limit", PLAN_LIMIT_BYTES));
        }
        self.held_bytes = bytes;
        Ok(())
    }
}

/// Whether a path, both in lower case, is another one or a folder that it lies in.
fn is_at_or_above(folder: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// What is said of a change of a file that other programs obey.
pub(crate) fn asked_warning(path: &RelPath, reason: &str) -> String {
    format!("edits a file that other programs obey: '{path}' ({reason})")
}

/// The answer to a change that git would obey.
pub(crate) fn repository_error(path: &RelPath, refusal: &Refusal) -> WapError {
    let why = format!("git would obey it: {refusal}");
    let text = format!("'{path}' is not changed, because {why}; use another name or folder");
    WapError::new(Reason::Protected, text).with("path", path.to_string()).with("why", why)
}

/// Refuses to write where reading means whole outputs of commands, so that nothing is written that cannot be read.
fn check_name_of_outputs(path: &RelPath, asked: &str) -> Result<(), WapError> {
    if path.components().next() == Some(OUTPUT_PREFIX.trim_end_matches('/').as_bytes()) {
        let text = format!(
            "names under '{OUTPUT_PREFIX}' stand for whole outputs of commands and cannot be written"
        );
        return Err(WapError::new(Reason::InvalidName, text).with("path", asked));
    }
    Ok(())
}

/// The folders that a path lies in, the nearest first.
fn folders_above(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(path.parent(), RelPath::parent)
}

fn too_large(path: &RelPath, bytes: u64) -> WapError {
    let text = format!(
        "'{path}' has {bytes} bytes, and files of more than {CONTENT_LIMIT_BYTES} are changed by commands only"
    );
    WapError::new(Reason::FileTooLarge, text).with("size", bytes).with("limit", CONTENT_LIMIT_BYTES)
}

fn check_request_size(bytes: u64) -> Result<(), WapError> {
    let limit = wap_core::Limits::MAX_REQUEST_BYTES;
    if bytes > limit {
        let text =
            format!("the request has {bytes} bytes of content, more than {limit}: write the file in parts");
        return Err(WapError::new(Reason::RequestTooLarge, text).with("limit", limit));
    }
    Ok(())
}

fn not_found(path: &RelPath, asked: &str) -> WapError {
    fs_error(&FsError::NotFound { path: path.clone() }, asked)
}

fn version_gone(path: &RelPath, expected: &FileVersion, current: &Source<'_>, now: &FileVersion) -> WapError {
    let text = format!(
        "'{path}' has changed since the version that the line numbers mean, and that version is not held any more: \
         read the file again"
    );
    WapError::new(Reason::Conflict, text)
        .with("expectedVersion", expected.0.as_str())
        .with("currentVersion", now.0.as_str())
        .with("totalLines", current.total_lines() as u64)
}

/// Numbers that mean what earlier operations made of one text cannot be carried over to another text.
fn moved_under_operations(
    path: &RelPath,
    expected: &FileVersion,
    current: &Source<'_>,
    now: &FileVersion,
) -> WapError {
    let text = format!(
        "'{path}' has changed since its lines were shown, and the numbers of several operations that follow each other \
         cannot be carried over: read the file again"
    );
    WapError::new(Reason::Conflict, text)
        .with("expectedVersion", expected.0.as_str())
        .with("currentVersion", now.0.as_str())
        .with("totalLines", current.total_lines() as u64)
}

/// What the regular expressions of a request did.
fn replacements(modify: &ModifyFile, outcomes: &[text_edit::Outcome]) -> Vec<RegexReplacements> {
    let outcomes = modify.operations.iter().zip(outcomes).enumerate();
    let of_expressions =
        outcomes.filter(|(_, (operation, _))| matches!(operation, ModifyOperation::RegexReplace { .. }));
    of_expressions
        .map(|(index, (_, outcome))| RegexReplacements {
            operation: index as u64 + 1,
            replaced: outcome.replacements as u64,
            matches: outcome.matches as u64,
        })
        .collect()
}

/// Counts the lines that a rewrite adds and removes, by comparison.
fn changed_lines(before: Option<&Present>, after: &Present) -> (u32, u32) {
    let Ok(new) = Source::parse(&after.bytes) else { return (0, 0) };
    let Some(before) = before else { return (small(new.total_lines()), 0) };
    let Ok(old) = Source::parse(&before.bytes) else { return (small(new.total_lines()), 0) };
    let map = text_edit::LineMap::between(&old, &new);
    let added = map.hunks().iter().map(|hunk| hunk.new.len()).sum();
    let removed = map.hunks().iter().map(|hunk| hunk.old.len()).sum();
    (small(added), small(removed))
}

fn small(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
