//! A batch of changes computed against a staged view, before anything is written.

mod modify;
mod planned_file;
mod repository_check;
mod spellings;
mod syntax_notes;
mod targets;

use std::collections::{BTreeMap, BTreeSet};

use change_journal::RunNumber;
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FsError};
use wap_core::{
    CancelFlag, DeleteFile, DeleteFileResponse, FileChange, FileChanged, JudgedFile, Reason, WapError,
    WriteFile, WriteFileResponse, WriteMode,
};

use wap_edit::{Rewrite, appended, check_content_size, check_expected_lines, check_whole_content};

use crate::change::expected_files::{ExpectedFiles, unexpected};
use crate::change::held_versions::{Edit, HeldVersions, version};
pub(crate) use crate::change::plan::planned_file::PlannedFile;
pub(crate) use crate::change::plan::repository_check::repository_error;
use crate::change::plan::spellings::Spellings;
use crate::change::prepared_edits::PreparedEdits;
use crate::change::present::{CONTENT_LIMIT_BYTES, Present, PresentKind};
use crate::errors::fs_error;
use crate::git::linked_contents::ContentsOnDisk;
use crate::git::repository_parts::folded;
use crate::hidden::Hidden;
use crate::step_record::MapRecord;

/// The maximum number of bytes of contents, before and after, that one plan holds.
const PLAN_LIMIT_BYTES: u64 = 256 << 20;

/// A batch in preparation: the old and new state of each file.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    root: &'a FileRoot,
    /// The files that git obeys, as of the first planned change that depends on them.
    git_files: ContentsOnDisk<'a>,
    hidden: &'a Hidden,
    held: &'a HeldVersions,
    /// By canonical path.
    files: BTreeMap<RelPath, PlannedFile>,
    /// Canonical paths in the order in which they are first changed.
    order: Vec<RelPath>,
    /// The paths of `files` that differ only in case.
    spellings: Spellings,
    /// The number of files that the plan leaves below each folder, by canonical path; an absent folder has 0.
    folders: BTreeMap<RelPath, usize>,
    /// The number of files that the plan leaves at and below each path, by the path in lower case; an absent path has
    /// 0.
    folded: BTreeMap<Vec<u8>, usize>,
    /// The bytes of contents that the plan holds.
    held_bytes: u64,
    /// Edits computed in advance, if any.
    prepared: Option<&'a PreparedEdits>,
    /// The files that the changes are for, if known.
    expected: Option<&'a ExpectedFiles>,
    /// The run of the changes, if it has begun.
    run: Option<RunNumber>,
}

/// The effect of one item of a batch.
#[derive(Debug)]
pub(crate) struct PlannedStep {
    pub path: RelPath,
    pub before: Option<Present>,
    pub after: Option<Present>,
    pub changed: FileChanged,
    pub line_map: Option<MapRecord>,
    /// The missing folders above it, outermost first.
    pub missing_folders: Vec<RelPath>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(root: &'a FileRoot, hidden: &'a Hidden, held: &'a HeldVersions) -> Plan<'a> {
        Plan {
            root,
            git_files: ContentsOnDisk::new(root),
            hidden,
            held,
            files: BTreeMap::new(),
            order: Vec::new(),
            spellings: Spellings::default(),
            folders: BTreeMap::new(),
            folded: BTreeMap::new(),
            held_bytes: 0,
            prepared: None,
            expected: None,
            run: None,
        }
    }

    /// The same with edits computed in advance.
    pub(crate) fn with_prepared(self, prepared: Option<&'a PreparedEdits>) -> Plan<'a> {
        Plan { prepared, ..self }
    }

    /// The same for these files: a change of any other is refused.
    pub(crate) fn expecting(self, expected: &'a ExpectedFiles) -> Plan<'a> {
        Plan { expected: Some(expected), ..self }
    }

    /// The same for a run: the results of its earlier changes do not count as another program's work.
    pub(crate) fn of_run(self, run: RunNumber) -> Plan<'a> {
        Plan { run: Some(run), ..self }
    }

    /// Returns the files of the plan in the order in which they are first changed.
    pub(crate) fn into_files(mut self) -> Vec<(RelPath, PlannedFile)> {
        let files = &mut self.files;
        self.order
            .into_iter()
            .filter_map(|path| files.remove(&path).map(|file| (path, file)))
            // Edits that cancel each other out would otherwise publish a file that does not change.
            .filter(|(_, file)| file.before != file.after)
            .collect()
    }

    /// The folders below which the plan creates a file.
    pub(crate) fn folders_of_new_files(&self) -> BTreeSet<RelPath> {
        let new_files = self.files.iter().filter(|(_, file)| file.before.is_none() && file.after.is_some());
        new_files.flat_map(|(path, _)| folders_above(path)).collect()
    }

    /// Returns the planned state of a canonical path: `None` if it is unchanged, `Some(None)` if it is deleted.
    pub(crate) fn after(&self, path: &RelPath) -> Option<Option<&Present>> {
        self.files.get(path).map(|file| file.after.as_ref())
    }

    /// Plans one more change. A failure leaves the plan unchanged.
    ///
    /// A long edit regularly checks whether it was cancelled.
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
        check_content_size(write.content.len() as u64)?;
        let (path, missing_folders) =
            self.writable(&write.path, write.create_directories.unwrap_or(false))?;
        let before = self.present_file(&path, &write.path)?;
        let now = before.as_ref().map(|present| (version(&present.hash), &*present.bytes));
        let now = now.as_ref().map(|(version, bytes)| (version, *bytes));
        JudgedFile::check(write.judged.as_ref(), &write.path, now)?;
        let bytes = match (write.write_mode(), &before) {
            (_, Some(present)) if write.is_refused_over(&present.bytes) => {
                let text = format!("'{path}' already exists");
                return Err(WapError::new(Reason::FileExists, text).with("path", write.path.as_str()));
            }
            (WriteMode::Append, Some(present)) => appended(&write.path, &present.bytes, &write.content)?,
            _ => {
                let old = before.as_ref().map(|present| &*present.bytes);
                check_whole_content(&write.path, old, &write.content)?;
                write.content.clone().into_bytes()
            }
        };
        let after = Present::file(bytes, before.as_ref().and_then(|present| present.mode))
            .with_attributes(before.as_ref().and_then(|present| present.attributes.clone()));
        self.check_repositories(&path, before.as_ref(), Some(&after))?;
        // Last of the checks: it counts the bytes, and nothing after it fails, so a refused item leaves the plan
        // unchanged.
        self.make_room(before.as_ref(), Some(&after))?;
        let Rewrite { lines_added, lines_removed, changed, format_note } =
            Rewrite::between(before.as_ref().map(|present| &*present.bytes), &after.bytes);
        let written = FileChanged::Written(WriteFileResponse {
            success: true,
            path: path.to_string(),
            bytes_written: write.content.len() as u64,
            version: Some(version(&after.hash)),
            created: before.is_none(),
            lines_added,
            lines_removed,
            changed,
            warnings: self.warnings(&path).into_iter().chain(format_note).collect(),
        });
        let step = self.step(path, before, Some(after), written, None);
        Ok(PlannedStep { missing_folders, ..step })
    }

    fn delete(&mut self, delete: &DeleteFile) -> Result<PlannedStep, WapError> {
        let requested = &delete.path;
        let path = self.deletable(requested)?;
        let Some(before) = self.present(&path, requested)? else {
            return Err(not_found(&path, requested));
        };
        check_expected_lines(&path.to_string(), &before.bytes, delete)?;
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
            self.spellings.add(&path);
        }
        // `before` is the disk's state only for the first change of a path; later ones see the plan's, and must not replace it.
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

    /// Records that the plan now leaves a file, or no file, at a path.
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

    /// Checks whether the plan leaves anything at a path.
    fn is_there(&self, path: &RelPath) -> bool {
        // By folded name first: on a case-insensitive file system, another spelling is the same entry.
        if self.folded.get(&folded(path)).is_some_and(|count| *count > 0) {
            return true;
        }
        self.files.get(path).map_or_else(|| self.root.metadata(path).is_ok(), |file| file.after.is_some())
    }

    /// Checks whether the plan leaves a file below a folder.
    fn has_files_below(&self, folder: &RelPath) -> bool {
        self.folders.get(folder).is_some_and(|count| *count > 0)
    }

    /// Returns the warnings about a change of this file.
    fn warnings(&self, path: &RelPath) -> Vec<String> {
        let obeyed = self.root.policy().protected.reported(path);
        let text = obeyed.map(|name| obeyed_warning(path, name.reason()));
        text.into_iter().collect()
    }

    /// Returns the state of a canonical path: the planned one if the plan has changed it, else the disk's.
    pub(crate) fn present(&self, path: &RelPath, requested: &str) -> Result<Option<Present>, WapError> {
        if let Some(file) = self.files.get(path) {
            return Ok(file.after.clone());
        }
        if self.is_freed(path) {
            return Ok(None);
        }
        let present = Present::on_disk(self.root, path).map_err(|error| match error {
            FsError::TooLarge { bytes, .. } => too_large(path, bytes),
            other => fs_error(&other, requested),
        })?;
        if let Some(expected) = self.expected.filter(|expected| !expected.is_empty()) {
            let path = path.to_string();
            let now = present.as_ref().map(|present| version(&present.hash));
            if expected.get(&path).is_some_and(|expected| *expected != now) {
                return Err(unexpected(&path, requested));
            }
        }
        Ok(present)
    }

    /// The same for a file to be written.
    fn present_file(&self, path: &RelPath, requested: &str) -> Result<Option<Present>, WapError> {
        match self.present(path, requested)? {
            Some(present) if present.kind == PresentKind::Other => {
                let error = FsError::NotAFile { path: path.clone(), kind: FileKind::Unknown };
                Err(fs_error(&error, requested))
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

/// Renders the warning about a change of a file that other programs obey.
pub(crate) fn obeyed_warning(path: &RelPath, reason: &str) -> String {
    format!("edits a file that other programs obey: '{path}' ({reason})")
}

/// The folders that contain a path, the nearest first.
fn folders_above(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(path.parent(), RelPath::parent)
}

fn too_large(path: &RelPath, bytes: u64) -> WapError {
    let text = format!(
        "'{path}' has {bytes} bytes, and files of more than {CONTENT_LIMIT_BYTES} are changed by commands only"
    );
    WapError::new(Reason::FileTooLarge, text).with("size", bytes).with("limit", CONTENT_LIMIT_BYTES)
}

fn not_found(path: &RelPath, requested: &str) -> WapError {
    fs_error(&FsError::NotFound { path: path.clone() }, requested)
}
