//! Removes worktrees, branches, logs and records of agents, unless work would be lost or the files are not the runner's.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cocode_env::{AgentName, IssueNumber};
use serde::Serialize;

use crate::bundle::empty_folder;
use crate::error::{RunnerError, error_chain};
use crate::objects::loose_objects;
use crate::objects::object_import::{LIMIT, ObjectImport};
use crate::record::AgentRecord;
use crate::repository::git::GitError;
use crate::repository::left_file::{self, LeftFile, named};
use crate::repository::own_branches::OwnBranches;
use crate::repository::own_git_folder::OwnGitFolder;
use crate::repository::own_repository::OwnRepository;
use crate::repository::worktree::{self, Worktree, file_error};
use crate::repository::{Repository, foreign_file, planted_links};
use crate::run::log_file;
use crate::runner::{LINK_BYTES, Runner, remove_if_there};

/// The outcome of a removal for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// The agent.
    pub agent: AgentName,
    /// Its issue.
    pub issue: IssueNumber,
    /// Its branch.
    pub branch: String,
    /// Its worktree.
    pub worktree: PathBuf,
    /// True if it was removed, or would be.
    pub removed: bool,
    /// The reason that it is kept.
    pub why: Option<String>,
    /// True if it is kept because work would be lost, which [`Runner::clean_by_force`] accepts.
    pub holds_work: bool,
}

impl Runner {
    /// Removes worktrees, branches, logs and records of agents that have ended: of the newest run, or of every run.
    ///
    /// Keeps every worktree with unmerged commits, or with uncommitted or untracked files, and everything
    /// that the runner did not make.
    ///
    /// # Errors
    /// Those of the records, or a git that cannot be started; an error of one agent is the reason that it is kept.
    pub fn clean(&self, every_run: bool, dry_run: bool) -> Result<Vec<Cleaned>, RunnerError> {
        let records = self.records()?;
        let newest = records.first().map(|record| record.run.clone()).unwrap_or_default();
        let mut cleaned = Vec::new();
        for record in records.iter().filter(|record| every_run || record.run == newest) {
            cleaned.push(self.clean_one(record, false, dry_run)?);
        }
        Ok(cleaned)
    }

    /// Removes the worktree, branch, log and record of one agent that has ended, with its uncommitted files and unmerged
    /// commits. Files that the runner did not make are still kept.
    ///
    /// # Errors
    /// Those of [`Runner::clean`].
    pub fn clean_by_force(&self, record: &AgentRecord, dry_run: bool) -> Result<Cleaned, RunnerError> {
        self.clean_one(record, true, dry_run)
    }

    fn clean_one(&self, record: &AgentRecord, by_force: bool, dry_run: bool) -> Result<Cleaned, RunnerError> {
        let (mut why, holds_work) = match self.foreign(record) {
            Ok(Some(why)) => (Some(why), false),
            Ok(None) if by_force => (None, false),
            Ok(None) => match self.loss(record) {
                Ok(why) => (why.clone(), why.is_some()),
                Err(error @ RunnerError::Git(GitError::NotStarted(_))) => return Err(error),
                // Force also removes a worktree that git cannot read, such as one with an invalid `HEAD`.
                Err(error) => (Some(error_chain(&error)), true),
            },
            Err(error @ RunnerError::Git(GitError::NotStarted(_))) => return Err(error),
            Err(error) => (Some(error_chain(&error)), false),
        };
        if why.is_none() && !dry_run {
            why = self.remove(record, by_force).err().map(|error| error_chain(&error));
        }
        Ok(Cleaned {
            agent: record.agent.clone(),
            issue: record.issue,
            branch: record.branch.clone(),
            worktree: record.worktree.clone(),
            removed: why.is_none(),
            why,
            holds_work,
        })
    }

    /// Returns the reason to keep an agent's files even with force: it runs, or the runner did not make them, or they are in use.
    fn foreign(&self, record: &AgentRecord) -> Result<Option<String>, RunnerError> {
        let other = |why: &str| Ok(Some(why.to_owned()));
        if record.is_pending_elsewhere() {
            return other("it runs on another machine, and its work is not judged yet");
        }
        if !record.state.is_final() {
            return other("it is still running");
        }
        match self.worktree_of(record) {
            _ if self.is_half_removed(record) => {}
            None if record.worktree.symlink_metadata().is_ok() => {
                return other(
                    "its folder is not a worktree that was made for it; move it elsewhere, then clean again",
                );
            }
            Some(worktree) if worktree.path.symlink_metadata().is_ok() && !is_linked(&worktree) => {
                return other(
                    "its folder is no longer the worktree that was made for it; move it elsewhere, then clean again",
                );
            }
            _ => {}
        }
        if let Some(mount) = mount_in(&record.worktree) {
            return other(&format!(
                "a file system is mounted in it: `umount {}` first",
                left_file::name_of(&mount)
            ));
        }
        let reference = format!("refs/heads/{}", record.branch);
        let arguments = ["for-each-ref", "--format=%(worktreepath)", &reference];
        let path = self.bounded().git.run(self.repository.location(), &arguments)?;
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !path.is_empty() && real(Path::new(&path)) != real(&record.worktree) {
            return other(&format!(
                "its branch is checked out in {path}; switch to another branch there first"
            ));
        }
        Ok(None)
    }

    /// Returns whether only a part of an agent's worktree is left: git removes its own folder for it, and the file that names
    /// that folder, even if it fails to remove other files.
    fn is_half_removed(&self, record: &AgentRecord) -> bool {
        let is_folder = record.worktree.symlink_metadata().is_ok_and(|data| data.is_dir());
        let is_gone = record.git_folder.as_ref().is_some_and(|folder| is_missing(folder));
        let link = record.worktree.join(".git");
        // A repository that the user has made there is not the agent's.
        let is_link_of = |folder: &PathBuf| {
            foreign_file::read_short(&link, LINK_BYTES)
                .is_ok_and(|text| text.trim_end().strip_prefix("gitdir: ") == folder.to_str())
        };
        let is_own = is_missing(&link) || record.git_folder.as_ref().is_some_and(is_link_of);
        is_folder && is_gone && is_own && self.has_own_path(record)
    }

    /// Returns the reason that work would be lost.
    fn loss(&self, record: &AgentRecord) -> Result<Option<String>, RunnerError> {
        let keep = |why: &str| Ok(Some(why.to_owned()));
        if self.is_half_removed(record) {
            return keep("git no longer knows its worktree, of which files are left");
        }
        let repository = &self.bounded();
        let mut commits = Vec::new();
        match self.worktree_of(record) {
            None => {}
            Some(worktree) => {
                if worktree.path.symlink_metadata().is_ok() {
                    let files = self.left_in(record, &worktree)?.1;
                    if !files.is_empty() {
                        return keep(&format!("it holds files that are not committed: {}", named(&files)));
                    }
                }
                if OwnGitFolder::of(&worktree).is_left() {
                    return keep(
                        "a part of its git folder could not be searched for links, and holds what git keeps there",
                    );
                }
                if worktree.git_folder.is_dir() {
                    let submodules = worktree.used_submodules(repository)?;
                    if !submodules.is_empty() {
                        let names = planted_links::named(&submodules);
                        return keep(&format!(
                            "it holds submodules, whose commits may exist nowhere else: {names}"
                        ));
                    }
                    let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
                    commits.extend(repository.git.ask(worktree.location(&repository.common_folder), &head)?);
                    if record.own_branches {
                        let own = OwnRepository::of(&worktree, repository, &record.branch);
                        let Some(mut own_commits) = own.branches.branch_commits() else {
                            return keep("its own folder of branches is not as git makes it");
                        };
                        own_commits.extend(own.branches.head_commit());
                        own_commits.sort_unstable();
                        own_commits.dedup();
                        // A commit that the repository lacks is lost work only if the agent's own folder has it.
                        let is_here = |commit: &String| repository.commit(commit).is_some();
                        let (here, elsewhere): (Vec<_>, Vec<_>) = own_commits.into_iter().partition(is_here);
                        commits.extend(here);
                        if record.own_objects
                            && holds_any(
                                ObjectImport::new(repository, own.objects, &record.start_commit),
                                &elsewhere,
                            )?
                        {
                            return keep("it has commits that could not be imported into the repository");
                        }
                    }
                }
            }
        }
        commits.extend(repository.commit(&format!("refs/heads/{}", record.branch)));
        commits.extend(record.head.clone().filter(|head| repository.commit(head).is_some()));
        for commit in commits {
            if commit != record.start_commit && !self.is_merged(&commit, record)? {
                return keep("it has unmerged commits");
            }
        }
        Ok(None)
    }

    /// Returns whether a commit is part of another branch that is checked out, or of the branch that the agent started from.
    fn is_merged(&self, commit: &str, record: &AgentRecord) -> Result<bool, GitError> {
        // A detached `HEAD` keeps no commit, and the agent's own branch is about to be removed.
        let current = ["symbolic-ref", "--quiet", "HEAD"];
        let repository = self.bounded();
        let current = repository.git.ask(repository.location(), &current)?;
        let base = Some(record.base.clone()).filter(|base| base != "HEAD");
        let own = [record.branch.clone(), format!("refs/heads/{}", record.branch)];
        for name in [current, base].into_iter().flatten().filter(|name| !own.contains(name)) {
            if let Some(target) = repository.commit(&name)
                && repository.is_ancestor(commit, &target)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the uncommitted files of a worktree: all of them, and those that are not unchanged leftovers of the agent's
    /// check.
    fn left_in(
        &self,
        record: &AgentRecord,
        worktree: &Worktree,
    ) -> Result<(Vec<LeftFile>, Vec<LeftFile>), RunnerError> {
        let all = left_file::find(&self.repository, worktree)?;
        let others = all.iter().filter(|file| !record.left_by_check.contains(file)).cloned().collect();
        Ok((all, others))
    }

    /// Returns the repository with a time limit for git, which reads files of all worktrees: an unconfined agent may have put a pipe
    /// there.
    fn bounded(&self) -> Repository {
        self.repository.within(LIMIT)
    }

    fn remove(&self, record: &AgentRecord, by_force: bool) -> Result<(), RunnerError> {
        // A worktree can hold a million files.
        let repository = &self.repository.within(4 * LIMIT);
        if let Some(worktree) = self.worktree_of(record)
            && worktree.git_folder.is_dir()
        {
            let path = worktree.path.to_string_lossy().into_owned();
            // Git would remove the worktree, fail at such a folder, and no longer recognise the rest.
            loose_objects::reopen_all(&worktree.git_folder);
            let is_there = worktree.path.symlink_metadata().is_ok();
            let is_left_by_check = || -> Result<bool, RunnerError> {
                let (all, others) = self.left_in(record, &worktree)?;
                Ok(!all.is_empty() && others.is_empty())
            };
            if by_force {
                worktree::remove_by_force(repository, &worktree.path, Some(&worktree.git_folder))?;
            } else {
                let mut arguments = vec!["worktree", "remove"];
                // Without force if possible: git itself then refuses to remove files that appeared after the listing above.
                if is_there && is_left_by_check()? {
                    arguments.push("--force");
                }
                arguments.extend(["--", &path]);
                if let Err(error) = repository.git.run(repository.location(), &arguments) {
                    // Git removes its own folder for the worktree even if it fails at a file, such as one with too long a path.
                    // Otherwise it has refused, and removed nothing.
                    if !is_missing(&worktree.git_folder) && !is_missing(&worktree.path.join(".git")) {
                        return Err(error.into());
                    }
                    worktree::remove_by_force(repository, &worktree.path, Some(&worktree.git_folder))?;
                }
            }
        } else if self.is_half_removed(record) {
            empty_folder::remove(&record.worktree).map_err(file_error("remove", &record.worktree))?;
        }
        let reference = format!("refs/heads/{}", record.branch);
        if let Some(commit) = repository.commit(&reference) {
            // With the commit as the condition, so that a branch that moved meanwhile stays.
            repository
                .git
                .run(repository.location(), &["update-ref", "--no-deref", "-d", &reference, &commit])?;
        }
        for file in log_file::files(&self.log_path(record)) {
            remove_if_there(&file)?;
        }
        self.remove_home(&record.worktree);
        self.store.remove(&record.key())?;
        if self.store.records()?.is_empty() {
            OwnBranches::remove_shared(&repository.common_folder);
        }
        // The folder of this repository's worktrees is removed with the last of them; a failure means that it is not empty.
        let _ = fs::remove_dir(self.worktrees_folder());
        Ok(())
    }
}

/// Returns whether the agent's own objects have any of these commits.
fn holds_any(mut import: ObjectImport, commits: &[String]) -> Result<bool, RunnerError> {
    let mut holds_one = false;
    for commit in commits {
        holds_one = holds_one || import.holds(commit)?;
    }
    import.finish()?;
    Ok(holds_one)
}

fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Returns a file system that is mounted in a folder: its contents would be removed with the folder.
fn mount_in(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    let paths = mounts.split(|byte| *byte == b'\n').filter_map(|line| {
        let path = line.split(|byte| *byte == b' ').nth(4)?;
        Some(PathBuf::from(OsString::from_vec(without_escapes(path))))
    });
    paths.into_iter().find(|path| path.starts_with(&folder))
}

/// Decodes a path of the list of mounts, in which whitespace and the like is written as octal numbers.
fn without_escapes(text: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((first, others)) = rest.split_first() {
        let number = others
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(number.unwrap_or(*first));
        rest = if number.is_some() { &others[3..] } else { others };
    }
    bytes
}

/// Returns whether worktree and git folder name each other, as they did when they were made.
fn is_linked(worktree: &Worktree) -> bool {
    let names = |file: &Path, prefix: &str, target: &Path| {
        foreign_file::read_short(file, LINK_BYTES).is_ok_and(|text| {
            text.trim_end().strip_prefix(prefix).is_some_and(|path| Path::new(path) == target)
        })
    };
    let link = worktree.link();
    // Only a plain file: a symlink could name the `.git` file of another worktree.
    link.symlink_metadata().is_ok_and(|data| data.is_file())
        && names(&link, "gitdir: ", &worktree.git_folder)
        && names(&worktree.git_folder.join("gitdir"), "", &link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_in_a_folder_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(mount_in(folder.path()), None);
        assert_eq!(mount_in(&folder.path().join("missing")), None);
        assert!(mount_in(Path::new("/")).is_some(), "the control");
        assert_eq!(without_escapes(br"/a\040b\134x\9"), br"/a b\x\9");
    }
}
