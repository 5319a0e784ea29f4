//! Edits by line and by expression, applied to a file as the plan has it.

use change_journal::ContentHash;
use rel_path::RelPath;
use text_edit::Source;
use wap_core::{CancelFlag, FileChanged, FileVersion, JudgedFile, ModifyFile, Reason, WapError};
use wap_edit::{EditedFile, FileEdit, KnownVersion, check_request, has_view_numbers};

use crate::change::held_versions::{Edit, version};
use crate::change::plan::{Plan, PlannedStep, not_found};
use crate::change::prepared_edits::PreparedEdits;
use crate::change::present::Present;

impl Plan<'_> {
    pub(super) fn modify(
        &mut self,
        modify: &ModifyFile,
        cancel: &CancelFlag,
    ) -> Result<PlannedStep, WapError> {
        check_request(modify)?;
        // An edit does not create folders: if one is missing, so is the file, and its path has to be corrected.
        let (path, missing) = self.writable(&modify.path, true)?;
        let is_missing = missing.iter().any(|folder| !self.has_files_below(folder));
        let before = if is_missing { None } else { self.present_file(&path, &modify.path)? };
        let Some(before) = before else { return Err(not_found(&path, &modify.path)) };
        JudgedFile::check(
            modify.judged.as_ref(),
            &modify.path,
            Some((&version(&before.hash), &before.bytes)),
        )?;
        let edited = self.edit(&path, &before, modify, cancel)?;
        let after = Present::file(edited.edited.bytes.clone(), before.mode)
            .with_attributes(before.attributes.clone());
        self.check_repositories(&path, Some(&before), Some(&after))?;
        self.make_room(Some(&before), Some(&after))?;
        let (old, new) = (version(&before.hash), version(&after.hash));
        let response = edited.response(path.to_string(), modify, old, new, self.warnings(&path));
        let edit = Edit { before: before.hash, after: after.hash, line_map: edited.edited.line_map };
        Ok(self.step(path, Some(before), Some(after), FileChanged::Modified(response), Some(edit)))
    }

    /// Applies the operations of a request to the planned file, converting line numbers from the versions that they
    /// may refer to.
    fn edit(
        &mut self,
        path: &RelPath,
        before: &Present,
        modify: &ModifyFile,
        cancel: &CancelFlag,
    ) -> Result<EditedFile, WapError> {
        let current = Source::parse(&before.bytes).map_err(|error| {
            WapError::new(Reason::BinaryFile, format!("'{path}' cannot be edited by lines: {error}"))
        })?;
        let alone = PreparedEdits::default();
        let prepared = self.prepared.unwrap_or(&alone);
        let shown_path = path.to_string();
        let edit = FileEdit {
            path: &shown_path,
            current: &current,
            version: version(&before.hash),
            before_run: self.version_before_run(path, before, modify),
            request: modify,
        };
        edit.apply(
            &mut |expected| self.known_version(path, before, &current, expected),
            &mut |operations, numbering| prepared.apply(&current, before.hash, operations, numbering, cancel),
        )
    }

    /// Returns the version of a file before the run, if only changes of the run have changed the file since. It is
    /// looked up if line numbers, or numbers before new lines, may refer to a version other than the current one.
    fn version_before_run(
        &self,
        path: &RelPath,
        before: &Present,
        modify: &ModifyFile,
    ) -> Option<FileVersion> {
        let present = version(&before.hash);
        let mut operations = modify.operations.iter().enumerate();
        let may_mean_another = |(index, operation)| {
            modify.meant_versions(index).iter().any(|meant| **meant != present) || has_view_numbers(operation)
        };
        if !operations.any(may_mean_another) {
            return None;
        }
        let on_disk = self
            .files
            .get(path)
            .and_then(|file| file.before.as_ref())
            .map_or(before.hash, |on_disk| on_disk.hash);
        let first = self.run.map_or(on_disk, |run| self.held.before_run(path, run, on_disk));
        (first != before.hash).then(|| version(&first))
    }

    /// Finds a version that line numbers refer to, and the map from it to the planned file.
    fn known_version(
        &mut self,
        path: &RelPath,
        before: &Present,
        current: &Source<'_>,
        expected: &FileVersion,
    ) -> Option<KnownVersion> {
        let hash: ContentHash = expected.0.parse().ok()?;
        let bytes = self.held.bytes(&hash)?;
        Source::parse(&bytes).ok()?;
        let file = self.files.get(path);
        let followed = file.and_then(|file| file.followed_to(&hash, &before.hash, current));
        let planned = file.map_or((None, &[][..]), |file| (file.before.as_ref(), &file.edits));
        let map = followed.or_else(|| self.held.line_map(path, &hash, &before.hash, current, planned))?;
        if let Some(file) = self.files.get_mut(path) {
            file.remember(Edit { before: hash, after: before.hash, line_map: map.clone() });
        }
        Some(KnownVersion { bytes, map })
    }
}
