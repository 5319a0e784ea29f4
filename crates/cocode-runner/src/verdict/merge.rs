//! The commit that merges an agent's work, made from the tree that was judged.
//!
//! Git's own `merge` follows options of the user that make another tree, or no commit. Those that concern only the commit are
//! followed here: its signature, a sign-off, and the demand for signed work.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::error::RunnerError;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::git::GitError;
use crate::repository::planted_links::named;

/// Returns the tree that a merge of `commit` into `head` makes. Merges in memory: neither the work tree nor the index changes.
pub(super) fn merged_tree(
    repository: &Repository,
    record: &AgentRecord,
    [head, commit]: [&str; 2],
) -> Result<String, RunnerError> {
    let trial = ["merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", head, commit];
    let merged = repository.git.ask_for_bytes(repository.location(), &trial)?;
    let is_clean = merged.is_ok();
    let (Ok(output) | Err(output)) = merged;
    // The tree comes first, then the files with conflicts.
    let mut names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    match names.next() {
        Some(tree) if is_clean => Ok(String::from_utf8_lossy(tree).into_owned()),
        _ => {
            let files: Vec<PathBuf> = names.map(|name| OsStr::from_bytes(name).into()).collect();
            Err(RunnerError::Conflicts { branch: record.branch.clone(), files: named(&files) })
        }
    }
}

/// The user's settings for merges into one branch.
#[derive(Debug)]
pub(super) struct MergeSettings<'a> {
    repository: &'a Repository,
    /// The options that `branch.NAME.mergeOptions` has.
    options: Vec<String>,
}

impl<'a> MergeSettings<'a> {
    /// Reads those of a branch, given by its full name.
    pub(super) fn of(repository: &'a Repository, branch: &str) -> MergeSettings<'a> {
        let name = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        let options = repository.setting(&format!("branch.{name}.mergeoptions")).unwrap_or_default();
        MergeSettings { repository, options: options.split_whitespace().map(str::to_owned).collect() }
    }

    /// Refuses work without a valid signature if the user demands one.
    pub(super) fn check_signature(&self, record: &AgentRecord, commit: &str) -> Result<(), RunnerError> {
        if !self.has("--verify-signatures") && !self.is_on("merge.verifySignatures")? {
            return Ok(());
        }
        let (git, location) = (&self.repository.git, self.repository.location());
        let not_signed = || Err(RunnerError::NotSigned { agent: record.agent.clone() });
        match git.run(location, &["verify-commit", commit]) {
            Err(GitError::Failed { .. }) => return not_signed(),
            verified => drop(verified?),
        }
        // Without that setting, `git merge` demands at least a marginally trusted key, and `verify-commit` none.
        if self.repository.setting("gpg.mintrustlevel").is_some() {
            return Ok(());
        }
        let letter = git.run(location, &["log", "-1", "--no-show-signature", "--format=%G?", commit])?;
        if letter == "G" { Ok(()) } else { not_signed() }
    }

    /// Checks that git can name the author of a merge.
    pub(super) fn check_identity(&self) -> Result<(), RunnerError> {
        for role in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            match self.repository.git.run(self.repository.location(), &["var", role]) {
                Err(GitError::Failed { .. }) => return Err(RunnerError::NoIdentity),
                identity => drop(identity?),
            }
        }
        Ok(())
    }

    /// Makes the commit of a merged tree. No branch has it yet.
    pub(super) fn commit(&self, [head, commit, tree]: [&str; 3], title: &str) -> Result<String, RunnerError> {
        let (git, location) = (&self.repository.git, self.repository.location());
        let mut arguments = vec!["commit-tree", "-p", head, "-p", commit, "-m", title];
        let signer = match self.has("--signoff") {
            // A time and a time zone follow the name.
            true => git.run(location, &["var", "GIT_COMMITTER_IDENT"])?,
            false => String::new(),
        };
        let trailer = signer.rsplitn(3, ' ').nth(2).map(|name| format!("Signed-off-by: {name}"));
        arguments.extend(trailer.iter().flat_map(|trailer| ["-m", trailer]));
        let is_signed = self.is_on("commit.gpgSign")? && !self.has("--no-gpg-sign");
        let signature =
            self.options.iter().find(|one| one.starts_with("-S") || one.starts_with("--gpg-sign"));
        arguments.extend(signature.map(String::as_str).or(is_signed.then_some("-S")));
        arguments.push(tree);
        Ok(git.run(location, &arguments)?)
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|one| one == option)
    }

    /// Returns whether a setting is on.
    fn is_on(&self, name: &str) -> Result<bool, GitError> {
        let arguments = ["config", "--type=bool", "--get", name];
        Ok(self.repository.git.ask(self.repository.location(), &arguments)?.as_deref() == Some("true"))
    }
}
