//! Moves the current branch and its files forward to a commit, or leaves both unchanged.
//!
//! Git itself leaves half of the files if it fails midway, such as on a full disk. The user's merge options are ignored: they
//! would make another commit than the one that was judged.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::RunnerError;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError};
use crate::repository::planted_links::named;
use crate::repository::tree_changes::{self, Entries, NOTHING, SUBMODULE, TreeChange};
use crate::repository::worktree::file_error;

/// The most bytes of a partly written file that are compared with the intended content.
const MOST_COMPARED_BYTES: u64 = 32 << 20;

/// A move of the current branch, prepared so that it can be reverted on a full disk.
#[derive(Debug)]
pub(super) struct FastForward<'a> {
    repository: &'a Repository,
    old: &'a str,
    new: &'a str,
    touched: Vec<TreeChange>,
    /// Folders that do not exist yet, parents first.
    new_folders: BTreeSet<PathBuf>,
    /// Reads an index of the new entries among the touched ones.
    of_new: Git,
    _index_folder: TempDir,
}

impl<'a> FastForward<'a> {
    /// Prepares the move from `old`, the commit of the clean work tree, to `new`. `scratch` is for small files.
    pub(super) fn prepare(
        repository: &'a Repository,
        [old, new]: [&'a str; 2],
        scratch: &Path,
    ) -> Result<FastForward<'a>, RunnerError> {
        let location = repository.location();
        let touched = tree_changes::between(&repository.git, location, [old, new], Entries::All)?;
        let failed = file_error("write in", scratch);
        let index_folder = tempfile::Builder::new().prefix("taking-").tempdir_in(scratch).map_err(&failed)?;
        let of_new = repository.git.with_index(&index_folder.path().join("index"));
        let mut entries = Vec::new();
        for one in touched.iter().filter(|one| one.has_new_content()) {
            let object = one.new_object.as_bytes();
            entries.extend([&one.new_mode[..], b" ", object, b"\t", &one.path, b"\0"].concat());
        }
        of_new.exchange_bytes(location, &["update-index", "-z", "--index-info"], &entries)?;
        let mut new_folders = BTreeSet::new();
        for one in touched.iter().filter(|one| one.new_mode != NOTHING) {
            for folder in one.path().ancestors().skip(usize::from(one.new_mode != SUBMODULE)) {
                let is_there =
                    fs::symlink_metadata(repository.root.join(folder)).is_ok_and(|data| data.is_dir());
                if is_there || !new_folders.insert(folder.to_owned()) {
                    break;
                }
            }
        }
        Ok(FastForward { repository, old, new, touched, new_folders, of_new, _index_folder: index_folder })
    }

    /// Moves the files, the index and the branch. `note` is for the log of the branch.
    ///
    /// # Errors
    /// [`RunnerError::Git`], after which everything is restored; [`RunnerError::HalfTaken`] with the files that are not.
    pub(super) fn run(&self, note: &str) -> Result<(), RunnerError> {
        let (git, location) = (&self.repository.git, self.repository.location());
        // Files that are only newer than the index would count as changed. Differences are not an error here.
        git.ask(location, &["update-index", "--refresh", "--ignore-submodules"])?;
        if let Err(error) = git.run(location, &["read-tree", "-m", "-u", self.old, self.new]) {
            return Err(self.failure(self.restore(), error));
        }
        if let Err(error) = git.run(location, &["update-ref", "-m", note, "HEAD", self.new, self.old]) {
            let back = git.run(location, &["read-tree", "-m", "-u", self.new, self.old]);
            let all = || self.touched.iter().map(to_path).collect();
            return Err(self.failure(back.map(|_| Vec::new()).unwrap_or_else(|_| all()), error));
        }
        // For `git reset --merge ORIG_HEAD`, as after a merge by git.
        let _ = git.run(location, &["update-ref", "ORIG_HEAD", self.old]);
        Ok(())
    }

    fn failure(&self, left: Vec<PathBuf>, source: GitError) -> RunnerError {
        match left.is_empty() {
            true => source.into(),
            false => RunnerError::HalfTaken { files: named(&left), source },
        }
    }

    /// Restores the files that git has written or removed, after a failure that has left the index unchanged. Returns those that
    /// have neither the old nor the intended content.
    fn restore(&self) -> Vec<PathBuf> {
        let (Ok(differ_from_new), Ok(differ_from_old)) =
            (self.modified(&self.of_new), self.modified(&self.repository.git))
        else {
            return self.touched.iter().map(to_path).collect();
        };
        let (mut to_write, mut left) = (Vec::new(), Vec::new());
        for one in &self.touched {
            if one.had_content() && !differ_from_old.contains(&one.path) {
                continue;
            }
            if let Some(data) = self.on_disk(&one.path).filter(|data| !data.is_dir()) {
                let is_new = one.has_new_content() && !differ_from_new.contains(&one.path);
                let is_written = is_new || one.has_new_content() && self.is_begun(one, &data);
                if !is_written || fs::remove_file(self.repository.root.join(one.path())).is_err() {
                    left.push(to_path(one));
                    continue;
                }
            }
            if one.had_content() {
                to_write.push(one);
            }
        }
        for folder in self.new_folders.iter().rev() {
            // A folder that holds a user's file stays.
            let _ = fs::remove_dir(self.repository.root.join(folder));
        }
        for one in self.touched.iter().filter(|one| one.old_mode == SUBMODULE) {
            let _ = fs::create_dir(self.repository.root.join(one.path()));
        }
        let to_write = to_write.into_iter().filter(|one| self.is_free(&one.path));
        let to_write: Vec<u8> = to_write.flat_map(|one| [&one.path[..], b"\0"].concat()).collect();
        // Without force, which would replace existing files. Files that fail here differ afterwards.
        let arguments = ["checkout-index", "--quiet", "-z", "--stdin"];
        let _ = self.repository.git.exchange_bytes(self.repository.location(), &arguments, &to_write);
        match self.modified(&self.repository.git) {
            Ok(modified) => {
                let is_modified = |one: &&TreeChange| one.had_content() && modified.contains(&one.path);
                left.extend(self.touched.iter().filter(is_modified).map(to_path));
                left.sort();
                left.dedup();
                left
            }
            Err(_) => self.touched.iter().map(to_path).collect(),
        }
    }

    /// Returns the paths of an index whose files are missing or have another content.
    fn modified(&self, git: &Git) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let output =
            git.run_for_bytes(self.repository.location(), &["ls-files", "-m", "-z", "--full-name"])?;
        Ok(output.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
    }

    /// Returns the metadata of the entry at a path, if no symlink leads there.
    fn on_disk(&self, path: &[u8]) -> Option<fs::Metadata> {
        let path = Path::new(OsStr::from_bytes(path));
        let is_folder = |folder: &Path| self.at(folder).is_some_and(|data| data.is_dir());
        if path.ancestors().skip(1).all(is_folder) { self.at(path) } else { None }
    }

    /// Returns whether a path is free, and its existing part consists only of folders.
    fn is_free(&self, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        let is_folder = |folder: &Path| self.at(folder).is_none_or(|data| data.is_dir());
        self.at(path).is_none() && path.ancestors().skip(1).all(is_folder)
    }

    fn at(&self, path: &Path) -> Option<fs::Metadata> {
        fs::symlink_metadata(self.repository.root.join(path)).ok()
    }

    /// Returns whether a file is a prefix of the one that git was about to write.
    fn is_begun(&self, one: &TreeChange, on_disk: &fs::Metadata) -> bool {
        if !on_disk.is_file() {
            return false;
        }
        let path = one.path();
        let compared = on_disk.len().min(MOST_COMPARED_BYTES);
        let name = [self.new.as_bytes(), b":", &one.path].concat();
        let arguments = [OsStr::new("cat-file"), OsStr::new("--filters"), OsStr::from_bytes(&name)];
        let begins = |(wanted, is_whole): (Vec<u8>, bool)| {
            let is_short = !is_whole || on_disk.len() <= wanted.len() as u64;
            let read = fs::File::open(self.repository.root.join(path)).and_then(|file| {
                let mut bytes = Vec::new();
                file.take(compared).read_to_end(&mut bytes)?;
                Ok(bytes)
            });
            is_short && read.is_ok_and(|bytes| wanted.starts_with(&bytes))
        };
        let wanted = self.repository.git.run_for_start(self.repository.location(), &arguments, compared + 1);
        wanted.is_ok_and(begins)
    }
}

fn to_path(change: &TreeChange) -> PathBuf {
    change.path().to_owned()
}

#[cfg(test)]
mod tests;
