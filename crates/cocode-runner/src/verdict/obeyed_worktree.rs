//! The files in a worktree that other programs would obey, committed or not: users open worktrees in editors.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use rel_path::NameRule;

use crate::error::{RunnerError, error_chain};
use crate::objects::object_import::LIMIT;
use crate::record::AgentRecord;
use crate::repository::git::literal_pattern;
use crate::repository::own_comparison::OwnComparison;
use crate::repository::worktree::Worktree;
use crate::run::stop::StopFlag;
use crate::runner::Runner;
use crate::verdict::obeyed_files::{ObeyedFile, ObeyedFiles};
use crate::verdict::obeyed_names::{EntryKind, ObeyedNames};
use crate::verdict::search_limit::{LookBudget, MOST_LOOKS, SearchLimit};
use crate::verdict::tree_links::TreeLinks;

/// The most paths in one call of git.
const PATHS_AT_ONCE: usize = 200;

/// The time limit of the search, which a runner repeats when it is opened after a crash.
const SEARCH_LIMIT: Duration = Duration::from_secs(120);

/// The time that is left of it when the user ends the run.
const PARTING: Duration = Duration::from_secs(10);

impl Runner {
    /// Returns a warning that names the files by which programs would start others in a worktree.
    pub(crate) fn obeyed_in_worktree(&self, record: &AgentRecord, stop: &StopFlag) -> Option<String> {
        let worktree = self.worktree_of(record).filter(|worktree| worktree.path.is_dir())?;
        let limit = SearchLimit::new(SEARCH_LIMIT, stop, PARTING);
        match self.obeyed_files_in(record, &worktree, &limit) {
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

    fn obeyed_files_in(
        &self,
        record: &AgentRecord,
        worktree: &Worktree,
        limit: &SearchLimit,
    ) -> Result<ObeyedFiles, RunnerError> {
        limit.check()?;
        let repository = &self.repository.within(LIMIT);
        let mut files = ObeyedFiles::default();
        let comparison = OwnComparison::of(repository, worktree)?;
        let tree = comparison.head.as_ref().unwrap_or(&record.start_commit);
        if let Some(head) = comparison.head.as_ref().filter(|head| **head != record.start_commit) {
            files = self.obeyed_changes(repository, limit).between([&record.start_commit, head])?.0;
        }
        limit.check()?;
        let links = TreeLinks::of(repository, tree, &self.config.state_folder)?;
        let budget = LookBudget::new(MOST_LOOKS, limit.clone());
        let names = ObeyedNames::of(&self.config.names, links, Vec::new(), &worktree.path, budget);
        // Otherwise each file is refused, and git would look at all of them.
        let check = || match names.has_all() {
            true => limit.check(),
            false => {
                limit.check()?;
                Err(RunnerError::SearchEnded { why: "it has more links than can be followed" })
            }
        };
        check()?;
        let refusal = |path: &[u8]| -> Result<Option<String>, RunnerError> {
            // Git lists another repository's folder with a trailing slash.
            let path = path.strip_suffix(b"/").unwrap_or(path);
            let Ok(on_disk) = worktree.path.join(OsStr::from_bytes(path)).symlink_metadata() else {
                return Ok(None);
            };
            let kind = match (on_disk.is_symlink(), on_disk.is_dir()) {
                (true, _) => EntryKind::Symlink,
                (_, true) => EntryKind::Submodule,
                _ => EntryKind::File,
            };
            let mut findings = names.findings(path, kind).into_iter();
            let never = findings.find(|(rule, _)| *rule == NameRule::Never).map(|(_, reason)| reason);
            check()?;
            Ok(never)
        };
        let mut changed = BTreeSet::new();
        let others =
            comparison.run_for_bytes(&[OsStr::new("ls-files"), OsStr::new("--others"), OsStr::new("-z")])?;
        changed.extend(others.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec));
        // Only the listed ones are read: a worktree can be large.
        let tracked = comparison.run_for_bytes(&[OsStr::new("ls-files"), OsStr::new("-z")])?;
        let tracked: Vec<&[u8]> = tracked.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
        let mut listed: Vec<&[u8]> = Vec::new();
        for path in tracked {
            listed.extend(refusal(path)?.map(|_| path));
        }
        for some in listed.chunks(PATHS_AT_ONCE) {
            limit.check()?;
            // A submodule counts by its commit, whatever settings say, and git does not enter it.
            let fixed = [
                "status",
                "--porcelain",
                "-z",
                "--no-renames",
                "--untracked-files=no",
                "--ignore-submodules=dirty",
                "--",
            ];
            let patterns = some.iter().map(|path| literal_pattern(OsStr::from_bytes(path)));
            let arguments: Vec<_> = fixed.into_iter().map(Into::into).chain(patterns).collect();
            let status = comparison.run_for_bytes(&arguments)?;
            changed.extend(
                status.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..)).map(<[u8]>::to_vec),
            );
        }
        let committed: BTreeSet<String> = files.0.iter().map(|file| file.path.clone()).collect();
        for path in changed {
            let name = String::from_utf8_lossy(&path).into_owned();
            if let Some(reason) = refusal(&path)?
                && !committed.contains(&name)
            {
                files.0.push(ObeyedFile { path: name, reason });
            }
        }
        Ok(files)
    }
}
