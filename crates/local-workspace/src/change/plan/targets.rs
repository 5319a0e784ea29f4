//! The canonical paths that a batch's changes go to, and the paths that are refused.

use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError};
use wap_core::{OUTPUT_PREFIX, PROCESS_PREFIX, Reason, WapError};

use crate::change::plan::{Plan, folders_above, not_found};
use crate::change::publish::check_new_name;
use crate::errors::{fs_error, path_error};

impl Plan<'_> {
    /// Returns the canonical path that a write would go to, and the missing folders above it.
    pub(super) fn writable(
        &self,
        requested: &str,
        create_folders: bool,
    ) -> Result<(RelPath, Vec<RelPath>), WapError> {
        let parsed = self.parse(requested)?;
        let (path, missing_folders) = match self.root.write_target(&parsed) {
            Ok(target) => (target.path, target.missing_folders),
            Err(FsError::IsLink { .. }) if let Some(freed) = self.link_deleted(&parsed) => {
                // Existing links may have names that are not allowed for new files.
                check_new_name(self.root, &freed).map_err(|error| fs_error(&error, requested))?;
                (freed, Vec::new())
            }
            Err(error) => return Err(fs_error(&error, requested)),
        };
        let freed = self.freed_spelling(path.clone(), &parsed);
        if freed != path {
            check_new_name(self.root, &freed).map_err(|error| fs_error(&error, requested))?;
        }
        let path = self.planned_spelling(freed);
        // In the spelling of that path.
        let mut missing_folders: Vec<_> = folders_above(&path).take(missing_folders.len()).collect();
        missing_folders.reverse();
        // Once more, for the canonical path: a symlink may lead to a hidden one.
        self.hidden.check(&path)?;
        check_name_of_outputs(&path, requested)?;
        self.check_planned_folders(&path, requested)?;
        match missing_folders.iter().find(|folder| !self.has_files_below(folder)) {
            Some(folder) if !create_folders => {
                let error = FsError::ParentMissing { folder: folder.clone() };
                Err(fs_error(&error, requested))
            }
            _ => Ok((path, missing_folders)),
        }
    }

    /// The canonical path of a link that the plan has deleted already, so that its name is free.
    fn link_deleted(&self, path: &RelPath) -> Option<RelPath> {
        let link = self.root.delete_target(path).ok()?;
        self.files.get(&link).is_some_and(|file| file.after.is_none()).then_some(link)
    }

    /// Refuses a file where the plan has a folder, and a folder where the plan has a file.
    fn check_planned_folders(&self, path: &RelPath, requested: &str) -> Result<(), WapError> {
        let is_file = |path: &RelPath| self.files.get(path).is_some_and(|file| file.after.is_some());
        let error = if self.has_files_below(path) {
            FsError::NotAFile { path: path.clone(), kind: FileKind::Folder }
        } else if let Some(file) = folders_above(path).find(is_file) {
            FsError::NotAFolder { path: file }
        } else {
            return Ok(());
        };
        Err(fs_error(&error, requested))
    }

    /// Returns the canonical path of the entry that a deletion would remove: a symlink itself, not its target.
    pub(super) fn deletable(&self, requested: &str) -> Result<RelPath, WapError> {
        let path = self.parse(requested)?;
        let target = match self.root.delete_target(&path) {
            Ok(target) => target,
            Err(FsError::NotFound { .. } | FsError::ParentMissing { .. }) => {
                self.planned_only(&path).ok_or_else(|| not_found(&path, requested))?
            }
            Err(error) => return Err(fs_error(&error, requested)),
        };
        let target = self.planned_spelling(target);
        self.hidden.check(&target)?;
        Ok(target)
    }

    /// The canonical path of a file that only the plan has.
    fn planned_only(&self, path: &RelPath) -> Option<RelPath> {
        let target = self.planned_spelling(self.root.write_target(path).ok()?.path);
        self.files.get(&target).is_some_and(|file| file.after.is_some()).then_some(target)
    }

    pub(super) fn parse(&self, requested: &str) -> Result<RelPath, WapError> {
        let path = self.root.parse_path(requested).map_err(|error| match error {
            FsError::Path(error) => path_error(&error, requested),
            other => fs_error(&other, requested),
        })?;
        // Hidden paths are refused before anything could be revealed about them.
        self.hidden.check(&path)?;
        Ok(path)
    }
}

/// Refuses to write at paths that are read as whole outputs of commands, so that everything written can be read.
fn check_name_of_outputs(path: &RelPath, requested: &str) -> Result<(), WapError> {
    let is_under = |prefix: &str| path.components().next() == Some(prefix.trim_end_matches('/').as_bytes());
    if let Some(prefix) = [OUTPUT_PREFIX, PROCESS_PREFIX].into_iter().find(|prefix| is_under(prefix)) {
        let text = format!("names under '{prefix}' stand for outputs of commands and cannot be written");
        return Err(WapError::new(Reason::InvalidName, text).with("path", requested));
    }
    Ok(())
}
