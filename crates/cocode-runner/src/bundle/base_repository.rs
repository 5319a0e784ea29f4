//! The repository of a worker machine: the commits from which its tasks start.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

use crate::bundle::BUNDLE_LIMIT_BYTES;
use crate::bundle::empty_folder::EmptyFolder;
use crate::bundle::header::is_object_name;
use crate::bundle::incoming::Receiver;
use crate::bundle::refusal::BundleRefusal;
use crate::bundle::task_list::TaskList;
use crate::bundle::task_repository::{self, is_branch_name};
use crate::plan::host::Host;
use crate::repository::closed_folder;
use crate::repository::git::{Git, GitError, GitLocation};

/// The time limit of each call of git on a base: checking a long history takes minutes.
const LIMIT: Duration = Duration::from_secs(900);

/// The folder of the references to bases.
const REFERENCES: &str = "refs/bases";

/// The limits of a base repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseLimits {
    /// The most bytes of a bundle.
    pub bundle_bytes: u64,
    /// The most bases. Beyond the limit, the least recently used is removed, unless a task's repository still needs it.
    pub bases: usize,
}

impl Default for BaseLimits {
    fn default() -> BaseLimits {
        BaseLimits { bundle_bytes: BUNDLE_LIMIT_BYTES, bases: 32 }
    }
}

/// An error of a base repository.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaseError {
    /// Another process has it open.
    #[error("another process uses the folder of bases {}", .path.display())]
    Held {
        /// Its folder.
        path: PathBuf,
    },
    /// A bundle is refused, and none of its objects is reachable.
    #[error(transparent)]
    Refused(#[from] BundleRefusal),
    /// The commit is not here with all that it refers to.
    #[error("the commit {commit} is not among the bases here")]
    MissingBase {
        /// The commit.
        commit: String,
    },
    /// The names of the bundle's objects are of another kind than those of this repository.
    #[error(
        "the commit {commit} belongs to a repository with object names of another length than the bases here"
    )]
    OtherFormat {
        /// The commit.
        commit: String,
    },
    /// A text is not the name of a branch.
    #[error("'{name}' is not a name of a branch")]
    Branch {
        /// The text.
        name: String,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file or folder cannot be used.
    #[error("cannot {what} {}", .path.display())]
    File {
        /// The operation, as a verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// A bare repository with commits from bundles, each complete. Only one process has it open.
#[derive(Debug)]
pub struct BaseRepository {
    folder: PathBuf,
    repository: PathBuf,
    git: Git,
    limits: BaseLimits,
    tasks: TaskList,
    /// The commits that this process has found complete. The lock is held while objects are added or removed.
    whole: Mutex<HashSet<String>>,
    /// Locked while this is open.
    lock_file: File,
}

impl BaseRepository {
    /// Opens the folder, and makes it with its parents if it is missing.
    ///
    /// # Errors
    /// [`BaseError::Held`], [`BaseError::File`].
    pub fn open(folder: &Path, host: &Host, limits: BaseLimits) -> Result<BaseRepository, BaseError> {
        closed_folder::make(folder).map_err(file_error("make", folder))?;
        let folder = fs::canonicalize(folder).map_err(file_error("find", folder))?;
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(file_error("make", &path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(BaseError::Held { path: folder }),
            result => result.map_err(|errno| file_error("lock", &path)(errno.into()))?,
        }
        let hooks = folder.join("no-hooks");
        closed_folder::make(&hooks).map_err(file_error("make", &hooks))?;
        let tasks = folder.join("tasks");
        Ok(BaseRepository {
            repository: folder.join("bases.git"),
            git: Git::new(host, hooks).within(LIMIT),
            limits,
            tasks: TaskList::open(tasks.clone()).map_err(file_error("make", &tasks))?,
            whole: Mutex::default(),
            lock_file: lock,
            folder,
        })
    }

    /// Returns whether a commit, by its full name, is here with all objects that it refers to. A positive answer is cached;
    /// the first one for a base takes as long as reading its history.
    ///
    /// # Errors
    /// [`BaseError::Git`].
    pub fn has(&self, commit: &str) -> Result<bool, BaseError> {
        Ok(self.has_whole(&mut self.lock(), commit)?)
    }

    /// Adds the commit `tip` from a bundle, and removes old bases beyond the limit. Does nothing if it is already here.
    ///
    /// # Errors
    /// [`BaseError::Refused`] with the reason, after which no object of the bundle is reachable;
    /// [`BaseError::OtherFormat`], [`BaseError::Git`], [`BaseError::File`].
    pub fn add(&self, bundle: &Path, tip: &str) -> Result<(), BaseError> {
        let mut whole = self.lock();
        self.make_repository(tip)?;
        if !self.has_whole(&mut whole, tip)? {
            self.receive(&mut whole, bundle, tip)?;
        }
        // Only now that it is complete, it is protected from removal.
        let reference = format!("{REFERENCES}/{tip}");
        self.git.run(self.location(), &["update-ref", &reference, tip])?;
        self.mark_used(tip);
        whole.insert(tip.to_owned());
        self.remove_oldest(&mut whole, tip)
    }

    /// Makes a repository for one task in `folder`, which may not exist: with `branch` at `commit`, and `HEAD` on it.
    ///
    /// Its history and files are those of the base, which stays until the folder is removed. Nothing is checked out.
    ///
    /// # Errors
    /// [`BaseError::MissingBase`], [`BaseError::Branch`], [`BaseError::File`] (`AlreadyExists`), [`BaseError::Git`].
    pub fn make_task_repository(&self, folder: &Path, commit: &str, branch: &str) -> Result<(), BaseError> {
        if !is_branch_name(branch) {
            return Err(BaseError::Branch { name: branch.to_owned() });
        }
        // Held to the end, so that the base is not removed before the task is listed.
        let mut whole = self.lock();
        if !self.has_whole(&mut whole, commit)? {
            return Err(BaseError::MissingBase { commit: commit.to_owned() });
        }
        let objects = self.repository.join("objects");
        task_repository::make(folder, &objects, commit, branch).map_err(file_error("make", folder))?;
        let task = fs::canonicalize(folder).map_err(file_error("find", folder))?;
        self.tasks.add(&task, commit).map_err(file_error("list", folder))?;
        self.mark_used(commit);
        Ok(())
    }

    /// Sets the modification time of a base's reference, which is the time of its last use. An ancestor of a base has none.
    fn mark_used(&self, commit: &str) {
        let reference = self.repository.join(REFERENCES).join(commit);
        let _ = File::options().append(true).open(reference).map(|file| file.set_modified(SystemTime::now()));
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn location(&self) -> GitLocation<'_> {
        GitLocation::Bare(&self.repository)
    }

    fn has_whole(&self, whole: &mut HashSet<String>, commit: &str) -> Result<bool, GitError> {
        if whole.contains(commit) {
            return Ok(true);
        }
        if !is_object_name(commit) || !self.repository.join("HEAD").exists() {
            return Ok(false);
        }
        // It may also name a tag or tree, from which no task can start.
        match self.git.run(self.location(), &["cat-file", "-t", commit]) {
            Ok(kind) if kind == "commit" => {}
            Ok(_) | Err(GitError::Failed { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        // Cached commits are not read again. A few are enough: bases of one repository share their history.
        let mut arguments = vec!["rev-list", "--objects", "--quiet", commit, "--not"];
        arguments.extend(whole.iter().take(100).map(String::as_str));
        match self.git.run(self.location(), &arguments) {
            Ok(_) => Ok(whole.insert(commit.to_owned())),
            Err(GitError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes the repository with the first base, whose name determines the object format.
    fn make_repository(&self, tip: &str) -> Result<(), BaseError> {
        let config = self.repository.join("config");
        if !self.repository.join("HEAD").exists() {
            closed_folder::make(&self.repository).map_err(file_error("make", &self.repository))?;
            let format = if tip.len() == 64 { "--object-format=sha256" } else { "--object-format=sha1" };
            self.git.run(self.location(), &["init", "--quiet", "--bare", "--template=", format])?;
            return Ok(());
        }
        let text = fs::read_to_string(&config).map_err(file_error("read", &config))?;
        if text.contains("sha256") == (tip.len() == 64) {
            return Ok(());
        }
        Err(BaseError::OtherFormat { commit: tip.to_owned() })
    }

    /// Receives a bundle in a separate folder, and moves its objects into the repository when all checks have passed.
    fn receive(&self, whole: &mut HashSet<String>, bundle: &Path, tip: &str) -> Result<(), BaseError> {
        let path = self.folder.join("incoming");
        let incoming = EmptyFolder::make(path.clone()).map_err(file_error("make", &path))?;
        let objects = self.repository.join("objects");
        let receiver = Receiver {
            git: &self.git,
            location: self.location(),
            objects: &objects,
            folder: incoming.path(),
            limit_bytes: self.limits.bundle_bytes,
            limit: LIMIT,
            is_strict: true,
        };
        let present: Vec<String> = whole.iter().take(100).cloned().collect();
        receiver.receive(bundle, tip, &present, |commit| self.has_whole(whole, commit))?;
        let (from, to) = (incoming.path().join("pack"), objects.join("pack"));
        closed_folder::make(&to).map_err(file_error("make", &to))?;
        let mut names: Vec<_> = fs::read_dir(&from)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.file_name())).collect())
            .map_err(file_error("read", &from))?;
        // Git uses a pack as soon as it finds the index, so the index comes last.
        names.sort_by_key(|name| name.as_encoded_bytes().ends_with(b".idx"));
        for name in names {
            fs::rename(from.join(&name), to.join(&name)).map_err(file_error("move objects to", &to))?;
        }
        Ok(())
    }

    /// Removes the least recently used bases beyond the limit, and their objects. The newest one stays, and those that tasks
    /// need.
    fn remove_oldest(&self, whole: &mut HashSet<String>, newest: &str) -> Result<(), BaseError> {
        let folder = self.repository.join(REFERENCES);
        let file_error = file_error("read", &folder);
        let mut bases = Vec::new();
        for entry in fs::read_dir(&folder).map_err(&file_error)? {
            let entry = entry.map_err(&file_error)?;
            let used = entry.metadata().and_then(|data| data.modified()).map_err(&file_error)?;
            bases.push((used, entry.file_name().to_string_lossy().into_owned()));
        }
        let Some(surplus) = bases.len().checked_sub(self.limits.bases.max(1)).filter(|count| *count > 0)
        else {
            return Ok(());
        };
        bases.sort();
        let needed = self.tasks.bases().map_err(&file_error)?;
        let is_removable = |name: &String| name != newest && !needed.contains(name);
        let oldest: Vec<String> =
            bases.into_iter().map(|(_, name)| name).filter(is_removable).take(surplus).collect();
        if oldest.is_empty() {
            return Ok(());
        }
        let commands: String = oldest.iter().map(|name| format!("delete {REFERENCES}/{name}\n")).collect();
        self.git.exchange(self.location(), &["update-ref", "--stdin"], &commands)?;
        // Some cached commits may have been ancestors only of these.
        whole.clear();
        whole.insert(newest.to_owned());
        // Tasks that start from an ancestor of a base have no reference of their own, and keep all objects.
        let has_reference = |name: &String| self.repository.join(REFERENCES).join(name).exists();
        if needed.iter().all(has_reference) {
            self.git.run(self.location(), &["repack", "-a", "-d", "-q"])?;
        }
        Ok(())
    }
}

impl Drop for BaseRepository {
    fn drop(&mut self) {
        // Explicitly: a process that another thread is just starting may hold a copy of the file.
        let _ = flock(&self.lock_file, FlockOperation::Unlock);
    }
}

/// Returns a function that wraps an I/O error of the operation `what` on `path`.
fn file_error<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> BaseError + 'a {
    move |source| BaseError::File { what, path: path.to_owned(), source }
}
