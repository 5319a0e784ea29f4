//! The files that a command runs on: a layer over the folder, or the folder itself, which is then compared.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use cow_layer::Layer;
use rel_path::RelPath;
use sandbox_exec::{LayerKind, LayerMount, Policy};
use wap_core::WapError;

use crate::adopt::build_folder_check::{BuildFoldersBefore, Moment, check};
use crate::command::answer::CommandOutcome;
use crate::command::effect_notes::EffectNotes;
use crate::command::effects::Before;
use crate::engine::LocalWorkspace;
use crate::runs::EngineRun;

/// The number of build folders that a warning names.
const NAMED_FOLDERS: usize = 4;

/// The files that a command runs on.
#[derive(Debug)]
pub(crate) enum CommandFiles {
    /// A layer, from which changes are adopted when the command has ended.
    Layer(Layer),
    /// The folder itself, and its state before.
    Folder(Box<Before>),
}

impl LocalWorkspace {
    /// Prepares the files that the command of a step runs on.
    pub(crate) fn command_files(&self, run: &EngineRun<'_>, step: u32) -> Result<CommandFiles, WapError> {
        if self.sandbox_report()?.layer == LayerKind::Overlay
            && let Ok(shelf) = &self.layers
        {
            // A concurrent change by a file tool would look like another client's.
            let _no_batch_meanwhile = self.lock_changes();
            if let Ok(layer) = shelf.create(run.number(), step) {
                return Ok(CommandFiles::Layer(layer));
            }
        }
        self.folder_files()
    }

    /// Prepares the folder itself for a command.
    pub(crate) fn folder_files(&self) -> Result<CommandFiles, WapError> {
        Ok(CommandFiles::Folder(Box::new(self.look_before()?)))
    }

    /// The policy of a command on these files.
    pub(crate) fn policy_on(&self, files: &CommandFiles) -> Policy {
        let mut policy = self.config.policy.clone();
        let uncovered = self.uncovered();
        let layer = match files {
            CommandFiles::Layer(layer) => layer,
            CommandFiles::Folder(before) => {
                self.build_folders().former.forget();
                let folders: BTreeSet<RelPath> =
                    before.build_folders().into_iter().chain(self.relative_to_root(&uncovered)).collect();
                policy.writable_mounts = self.in_workspace(&folders);
                *self.written_through() = BuildFoldersBefore::look(&self.root, folders.into_iter().collect());
                return policy;
            }
        };
        let uncovered = self.without_leading_out(uncovered);
        policy.writable_mounts.clone_from(&uncovered);
        let spec = layer.mount_spec();
        let last = std::mem::take(&mut *self.written_through());
        *self.written_through() =
            BuildFoldersBefore::look_again(&self.root, self.relative_to_root(&uncovered), last);
        let mount = LayerMount::new(spec.lower, spec.upper, spec.work).with_uncovered(uncovered);
        // Forbidden writes in a repository are sorted out when changes are adopted.
        policy.with_git_writable().with_layer(mount)
    }

    pub(crate) fn relative_to_root(&self, folders: &[PathBuf]) -> Vec<RelPath> {
        let root = &self.config.policy.workspace;
        let relative = |folder: &PathBuf| {
            RelPath::from_bytes(folder.strip_prefix(root).ok()?.as_os_str().as_bytes()).ok()
        };
        folders.iter().filter_map(relative).collect()
    }

    /// Renames files that git would obey and that a command has left in build folders since a moment, and reports them.
    pub(crate) fn check_build_folders(&self, since: Moment, outcome: CommandOutcome) -> CommandOutcome {
        let mut before = std::mem::take(&mut *self.written_through());
        let findings = check(&self.root, &mut before, since);
        // Reported once, it holds for every command.
        let is_said = findings.is_cut && !self.said_too_large.swap(true, Ordering::Relaxed);
        let too_large = is_said.then(|| too_large(&before.folders));
        // The folders are needed once more, when the other changes are judged.
        *self.written_through() = before.without_contents();
        let notes = EffectNotes {
            taken_away: findings.taken_away,
            not_taken_away: findings.left,
            other: too_large.into_iter().collect(),
            ..EffectNotes::default()
        };
        notes.add_to(outcome)
    }

    /// Returns the existing build folders: their contents can be rebuilt, and would be expensive to copy.
    pub(crate) fn uncovered(&self) -> Vec<PathBuf> {
        let folders = self.build_folders().current(&self.root, &self.hidden);
        self.in_workspace(&folders)
    }

    /// Excludes build folders through which a file outside of them may be changed: they are not written to directly.
    pub(crate) fn without_leading_out(&self, mut build_folders: Vec<PathBuf>) -> Vec<PathBuf> {
        let folders = self.relative_to_root(&build_folders);
        let leading_out = self.build_folders().former.leading_out(&self.root, &folders);
        let leading_out = self.in_workspace(&leading_out);
        build_folders.retain(|folder| !leading_out.contains(folder));
        build_folders
    }

    fn in_workspace<'f>(&self, folders: impl IntoIterator<Item = &'f RelPath>) -> Vec<PathBuf> {
        let root = &self.config.policy.workspace;
        folders.into_iter().map(|folder| root.join(OsStr::from_bytes(folder.as_bytes()))).collect()
    }
}

/// Returns the warning for build folders with more subfolders than are examined.
fn too_large(folders: &[RelPath]) -> String {
    let mut names: Vec<_> = folders.iter().take(NAMED_FOLDERS).map(|folder| format!("`{folder}`")).collect();
    if folders.len() > NAMED_FOLDERS {
        names.push(format!("{} more", folders.len() - NAMED_FOLDERS));
    }
    format!(
        "there are too many folders in {} to look through all of them for what git would obey: before you use git within one, \
         look for repositories there that are not yours, with `find FOLDER -name .git -o -name HEAD`",
        names.join(", ")
    )
}
