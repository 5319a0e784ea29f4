//! A batch of changes worked out against a staged view, before anything is written.

use std::collections::BTreeMap;

use change_journal::ContentHash;
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FsError};
use text_edit::{EditLimits, Lines, Numbering, Operation, Source};
use wap_core::{
    DeleteFile, DeleteFileResponse, FileChange, FileChanged, FileVersion, LineShift, ModifyFile,
    ModifyFileResponse, ModifyOperation, Reason, WapError, WriteFile, WriteFileResponse, WriteMode,
};

use crate::errors::{edit_error, fs_error, path_error};
use crate::held_versions::{Edit, HeldVersions, version};
use crate::hidden::Hidden;
use crate::step_record::MapRecord;

/// The largest content, before or after, that a change may have; larger files are refused for changes.
const CONTENT_LIMIT_BYTES: u64 = 64 << 20;

/// A batch in the making: what each file was and what it will be.
pub(crate) struct Plan<'a> {
    root: &'a FileRoot,
    hidden: &'a Hidden,
    held: &'a HeldVersions,
    /// By canonical path.
    files: BTreeMap<RelPath, PlannedFile>,
    /// Canonical paths in the order in which they are first changed.
    order: Vec<RelPath>,
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
}

/// What a path holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Present {
    pub kind: PresentKind,
    /// The content of a file, the target of a link.
    pub bytes: Vec<u8>,
    pub hash: ContentHash,
    /// Permission bits, where they are known.
    pub mode: Option<u32>,
}

/// What kind of thing a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PresentKind {
    File,
    /// A link or special file, which can only be deleted.
    Other,
}

/// What one item of a batch does.
#[derive(Debug)]
pub(crate) struct PlannedStep {
    pub path: RelPath,
    pub before: Option<Present>,
    pub after: Option<Present>,
    pub changed: FileChanged,
    pub line_map: Option<MapRecord>,
}

impl Present {
    fn file(bytes: Vec<u8>, mode: Option<u32>) -> Present {
        Present { kind: PresentKind::File, hash: ContentHash::of(&bytes), bytes, mode }
    }
}

impl<'a> Plan<'a> {
    pub(crate) fn new(root: &'a FileRoot, hidden: &'a Hidden, held: &'a HeldVersions) -> Plan<'a> {
        Plan { root, hidden, held, files: BTreeMap::new(), order: Vec::new() }
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

    /// Works out one change after those before it. A failure leaves the plan as it was.
    pub(crate) fn change(&mut self, change: &FileChange) -> Result<PlannedStep, WapError> {
        match change {
            FileChange::Write(write) => self.write(write),
            FileChange::Modify(modify) => self.modify(modify),
            FileChange::Delete(delete) => self.delete(delete),
        }
    }

    fn write(&mut self, write: &WriteFile) -> Result<PlannedStep, WapError> {
        check_request_size(write.content.len() as u64)?;
        let path = self.writable(&write.path, write.create_directories.unwrap_or(false))?;
        let before = self.present(&path, &write.path)?;
        if before.as_ref().is_some_and(|present| present.kind == PresentKind::Other) {
            let text = format!("'{path}' is not a regular file");
            return Err(WapError::new(Reason::NotAFile, text).with("path", write.path.as_str()));
        }
        let bytes = match (write.write_mode(), &before) {
            (WriteMode::Create, Some(_)) => {
                let text = format!("'{path}' exists already");
                return Err(WapError::new(Reason::FileExists, text).with("path", write.path.as_str()));
            }
            (WriteMode::Append, Some(present)) => [&present.bytes, write.content.as_bytes()].concat(),
            _ => write.content.clone().into_bytes(),
        };
        let after = Present::file(bytes, before.as_ref().and_then(|present| present.mode));
        let (lines_added, lines_removed) = changed_lines(before.as_ref(), &after);
        let changed = FileChanged::Written(WriteFileResponse {
            success: true,
            path: path.to_string(),
            bytes_written: write.content.len() as u64,
            version: Some(version(&after.hash)),
            created: before.is_none(),
            lines_added,
            lines_removed,
            warnings: Vec::new(),
        });
        Ok(self.step(path, before, Some(after), changed, None))
    }

    fn modify(&mut self, modify: &ModifyFile) -> Result<PlannedStep, WapError> {
        let size = modify.operations.iter().map(content_bytes).sum();
        check_request_size(size)?;
        if modify.operations.is_empty() {
            let text = "there are no operations: give at least one";
            return Err(WapError::new(Reason::InvalidField, text).with("field", "operations"));
        }
        let path = self.writable(&modify.path, false)?;
        let Some(before) = self.present(&path, &modify.path)? else {
            return Err(not_found(&path, &modify.path));
        };
        if before.kind == PresentKind::Other {
            return Err(fs_error(&FsError::NotAFile { path, kind: FileKind::Unknown }, &modify.path));
        }
        let (edited, operations) = self.edit(&path, &before, modify)?;
        let after = Present::file(edited.bytes, before.mode);
        let shifts = edited.line_map.shifts();
        let shifts =
            shifts.iter().map(|shift| LineShift { from_line: shift.from_line as u64, by: shift.by as i64 });
        let changed = FileChanged::Modified(ModifyFileResponse {
            success: true,
            path: path.to_string(),
            version: Some(version(&after.hash)),
            shifts: shifts.collect(),
            lines_added: small(edited.outcomes.iter().map(|outcome| outcome.added_lines).sum()),
            lines_removed: small(edited.outcomes.iter().map(|outcome| outcome.removed_lines).sum()),
            warnings: operations,
        });
        let edit = Edit { before: before.hash, after: after.hash, line_map: edited.line_map };
        Ok(self.step(path, Some(before), Some(after), changed, Some(edit)))
    }

    /// Applies the operations of a request to the file as the plan has it, carried over from the version that their
    /// numbers mean. Returns warnings beside the edit.
    fn edit(
        &self,
        path: &RelPath,
        before: &Present,
        modify: &ModifyFile,
    ) -> Result<(text_edit::Edited, Vec<String>), WapError> {
        let current = Source::parse(&before.bytes).map_err(|error| {
            WapError::new(Reason::BinaryFile, format!("'{path}' cannot be edited by lines: {error}"))
        })?;
        let limits = EditLimits::default();
        let operations: Vec<_> = modify.operations.iter().map(operation).collect();
        let now = version(&before.hash);
        let refused = |error: &text_edit::EditError, shown: &Source<'_>| {
            edit_error(error, path, shown, &current, now.clone())
        };
        let expected = modify.expected_version.as_ref().filter(|expected| **expected != now);
        let Some(expected) = expected else {
            let edited = text_edit::apply(&before.bytes, &operations, Numbering::Original, &limits);
            return edited.map(|edited| (edited, Vec::new())).map_err(|error| refused(&error, &current));
        };
        let gone = || version_gone(path, expected, &current, &now);
        let hash: ContentHash = expected.0.parse().map_err(|_| gone())?;
        let shown = self.held.bytes(&hash).ok_or_else(gone)?;
        let shown = Source::parse(&shown).map_err(|_| gone())?;
        let planned = self.files.get(path).map_or(&[][..], |file| &file.edits);
        let map = self.held.line_map(path, &hash, &before.hash, &current, planned).ok_or_else(gone)?;
        let operations = text_edit::rebase(&operations, &shown, &current, &map, &limits)
            .map_err(|error| refused(&error, &shown))?;
        let edited = text_edit::apply(&before.bytes, &operations, Numbering::Original, &limits)
            .map_err(|error| refused(&error, &current))?;
        Ok((edited, Vec::new()))
    }

    fn delete(&mut self, delete: &DeleteFile) -> Result<PlannedStep, WapError> {
        let asked = &delete.path;
        let path = self.deletable(asked)?;
        let Some(before) = self.present(&path, asked)? else {
            return Err(not_found(&path, asked));
        };
        let changed = FileChanged::Deleted(DeleteFileResponse { success: true, path: path.to_string() });
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
        });
        file.after.clone_from(&after);
        let line_map = edit.as_ref().map(|edit| MapRecord::from(&edit.line_map));
        file.edits.extend(edit);
        PlannedStep { path, before, after, changed, line_map }
    }

    /// Returns the canonical path that a write would go to.
    fn writable(&self, asked: &str, create_folders: bool) -> Result<RelPath, WapError> {
        let path = self.parse(asked)?;
        let target = self.root.write_target(&path).map_err(|error| fs_error(&error, asked))?;
        self.hidden.check(&target.path)?;
        let folder_planned = |folder: &RelPath| {
            self.files.iter().any(|(path, file)| {
                file.after.is_some() && path.parent().is_some_and(|parent| is_beneath(&parent, folder))
            })
        };
        match target.missing_folders.iter().find(|folder| !folder_planned(folder)) {
            Some(folder) if !create_folders => {
                let error = FsError::ParentMissing { folder: folder.clone() };
                Err(fs_error(&error, asked))
            }
            _ => Ok(target.path),
        }
    }

    /// Returns the canonical path of what a deletion would remove: a link stands for itself.
    fn deletable(&self, asked: &str) -> Result<RelPath, WapError> {
        let path = self.parse(asked)?;
        let target = self.root.delete_target(&path).map_err(|error| match error {
            FsError::ParentMissing { .. } => not_found(&path, asked),
            other => fs_error(&other, asked),
        })?;
        self.hidden.check(&target)?;
        Ok(target)
    }

    fn parse(&self, asked: &str) -> Result<RelPath, WapError> {
        self.root.parse_path(asked).map_err(|error| match error {
            FsError::Path(error) => path_error(&error, asked),
            other => fs_error(&other, asked),
        })
    }

    /// What the plan has at a canonical path: its own content if it has changed it, else the disk's.
    fn present(&self, path: &RelPath, asked: &str) -> Result<Option<Present>, WapError> {
        if let Some(file) = self.files.get(path) {
            return Ok(file.after.clone());
        }
        present_on_disk(self.root, path).map_err(|error| fs_error(&error, asked))
    }
}

/// What is at a canonical path.
pub(crate) fn present_on_disk(root: &FileRoot, path: &RelPath) -> Result<Option<Present>, FsError> {
    let metadata = match root.metadata(path) {
        Ok(metadata) => metadata,
        Err(FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFolder { .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    match metadata.kind {
        FileKind::File => {
            let bytes = root.open_file(path)?.read_to_end(CONTENT_LIMIT_BYTES)?;
            Ok(Some(Present::file(bytes, Some(metadata.mode & 0o7777))))
        }
        FileKind::Folder => Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder }),
        _ => {
            let bytes = root.link_target(path)?.unwrap_or_default();
            Ok(Some(Present { kind: PresentKind::Other, hash: ContentHash::of(&bytes), bytes, mode: None }))
        }
    }
}

fn is_beneath(path: &RelPath, folder: &RelPath) -> bool {
    path.as_bytes().strip_prefix(folder.as_bytes()).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
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

fn content_bytes(operation: &ModifyOperation) -> u64 {
    match operation {
        ModifyOperation::Replace { new_content, .. } | ModifyOperation::Insert { new_content, .. } => {
            new_content.len() as u64
        }
        ModifyOperation::Delete { .. } => 0,
        ModifyOperation::RegexReplace { pattern, replacement, .. } => {
            (pattern.len() + replacement.len()) as u64
        }
    }
}

fn operation(operation: &ModifyOperation) -> Operation {
    match operation {
        ModifyOperation::Replace { start_line, end_line, new_content } => Operation::Replace {
            start_line: *start_line,
            end_line: *end_line,
            content: Lines::from_content(new_content),
        },
        ModifyOperation::Insert { after_line, new_content } => {
            Operation::Insert { after_line: *after_line, content: Lines::from_content(new_content) }
        }
        ModifyOperation::Delete { start_line, end_line } => {
            Operation::Delete { start_line: *start_line, end_line: *end_line }
        }
        ModifyOperation::RegexReplace { pattern, replacement, flags } => Operation::RegexReplace {
            pattern: pattern.clone(),
            replacement: replacement.clone(),
            flags: flags.clone().unwrap_or_default(),
        },
    }
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
