//! The files in a worktree that other programs would obey, committed or not: users open worktrees in editors.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rel_path::NameRule;

use crate::error::{RunnerError, error_chain};
use crate::objects::object_import::LIMIT;
use crate::record::AgentRecord;
use crate::repository::git::literal_pattern;
use crate::repository::own_comparison::OwnComparison;
use crate::repository::worktree::Worktree;
use crate::runner::Runner;
use crate::verdict::obeyed_files::{ObeyedFile, ObeyedFiles};
use crate::verdict::obeyed_names::ObeyedNames;
use crate::verdict::tree_links::TreeLinks;

/// The most paths that one call of git looks at.
const PATHS_AT_ONCE: usize = 200;

impl Runner {
    /// Returns a warning that names the files by which programs would start others in a worktree.
    pub(crate) fn obeyed_in_worktree(&self, record: &AgentRecord) -> Option<String> {
        let worktree = self.worktree_of(record).filter(|worktree| worktree.path.is_dir())?;
        match self.obeyed_files_in(record, &worktree) {
            Ok(files) if files.0.is_empty() => None,
            Ok(files) => Some(format!(
                "it has changed what other programs obey: {files}; look at that before you open its worktree in an editor"
            )),
            Err(error) => Some(format!(
                "its worktree could not be searched for what editors obey, so look before you open it in one: {}",
                error_chain(&error)
            )),
        }
    }

    fn obeyed_files_in(&self, record: &AgentRecord, worktree: &Worktree) -> Result<ObeyedFiles, RunnerError> {
        let repository = &self.repository.within(LIMIT);
        let mut files = ObeyedFiles::default();
        let comparison = OwnComparison::of(repository, worktree)?;
        let tree = comparison.head.as_ref().unwrap_or(&record.start_commit);
        if let Some(head) = comparison.head.as_ref().filter(|head| **head != record.start_commit) {
            files = self.obeyed_changes(repository).between([&record.start_commit, head])?.0;
        }
        let links = TreeLinks::of(repository, tree, &self.config.state_folder)?;
        let names = ObeyedNames::of(&self.config.names, links, Vec::new(), &worktree.path);
        let refusal = |path: &[u8]| {
            let on_disk = worktree.path.join(OsStr::from_bytes(path)).symlink_metadata().ok()?;
            let mut findings = names.findings(path, on_disk.is_symlink()).into_iter();
            findings.find(|(rule, _)| *rule == NameRule::Never).map(|(_, reason)| reason)
        };
        let mut changed = BTreeSet::new();
        let others =
            comparison.run_for_bytes(&[OsStr::new("ls-files"), OsStr::new("--others"), OsStr::new("-z")])?;
        changed.extend(others.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec));
        // Only the listed ones are read: a worktree can be large.
        let tracked = comparison.run_for_bytes(&[OsStr::new("ls-files"), OsStr::new("-z")])?;
        let tracked: Vec<&[u8]> = tracked.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
        let listed: Vec<&[u8]> = tracked.into_iter().filter(|path| refusal(path).is_some()).collect();
        for some in listed.chunks(PATHS_AT_ONCE) {
            let fixed = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--"];
            let patterns = some.iter().map(|path| literal_pattern(OsStr::from_bytes(path)));
            let arguments: Vec<_> = fixed.into_iter().map(Into::into).chain(patterns).collect();
            let status = comparison.run_for_bytes(&arguments)?;
            changed.extend(
                status.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..)).map(<[u8]>::to_vec),
            );
        }
        for path in changed {
            let name = String::from_utf8_lossy(&path).into_owned();
            if let Some(reason) = refusal(&path)
                && !files.0.iter().any(|file| file.path == name)
            {
                files.0.push(ObeyedFile { path: name, reason });
            }
        }
        Ok(files)
    }
}
