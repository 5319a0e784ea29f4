//! An agent's own copy of its worktree's git folder, for as long as it runs.
//!
//! Git follows symlinks in a git folder and blocks on pipes there, also in the user's own calls in the repository: `git gc`
//! rewrites the logs of all worktrees, and renaming a branch appends to them. So a confined agent never writes to the real
//! folder. It sees its own copy at that path, which is searched for links and moved back when it has ended.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

use git_index::stays_in_references;

use crate::bundle::empty_folder;
use crate::error::RunnerError;
use crate::objects::loose_objects::{reopen_all, reopen_folder};
use crate::repository::planted_links::read_start;
use crate::repository::worktree::{OWN_FOLDER, Worktree, file_error};
use crate::repository::{closed_folder, foreign_file, planted_links};

/// The name of a folder in an agent's git folder that is the same inside and outside of its confinement, unlike the rest: for
/// files by which an agent and its user communicate. Git never reads it.
pub const SESSION_FOLDER: &str = "agentd-session";

/// The folder while it is being made.
const NEW: &str = "git.new";

/// The folder while the agent runs.
const OWN: &str = "git";

/// The folder while it is being moved back.
const BACK: &str = "git.back";

/// Files that name the repository and its settings. The agent receives copies; its changes to them are ignored.
const GIVEN: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// Other entries that stay in the real folder: those of the runner, and the user's lock on the worktree.
const KEPT: [&str; 3] = [OWN_FOLDER, SESSION_FOLDER, "locked"];

/// The own copy of one worktree's git folder. Its names are free where no agent runs.
#[derive(Clone, Debug)]
pub(crate) struct OwnGitFolder {
    real: PathBuf,
    new: PathBuf,
    own: PathBuf,
    back: PathBuf,
}

impl OwnGitFolder {
    /// Returns the paths for a worktree. Nothing is made.
    pub(crate) fn of(worktree: &Worktree) -> OwnGitFolder {
        let real = worktree.git_folder.clone();
        let [new, own, back] = [NEW, OWN, BACK].map(|name| real.join(OWN_FOLDER).join(name));
        OwnGitFolder { real, new, own, back }
    }

    /// Returns the folder in which the agent works.
    pub(crate) fn path(&self) -> &Path {
        &self.own
    }

    /// Returns the runner's part of the folder.
    pub(crate) fn runners(&self) -> PathBuf {
        self.real.join(OWN_FOLDER)
    }

    /// Returns the folder that the agent shares with its user.
    pub(crate) fn session(&self) -> PathBuf {
        self.real.join(SESSION_FOLDER)
    }

    /// Returns whether it holds files of an agent that are not in the real folder.
    pub(crate) fn is_left(&self) -> bool {
        // An agent without its own view may have replaced the runner's folder with a link.
        is_folder(&self.runners())
            && [&self.new, &self.own, &self.back].into_iter().any(|path| is_folder(path))
    }

    /// Makes it from the real folder, which keeps the files that git needs there. After an error everything is as before.
    pub(crate) fn begin(&self) -> Result<(), RunnerError> {
        if self.is_left() {
            let source = io::ErrorKind::AlreadyExists.into();
            return Err(RunnerError::File { what: "use", path: self.own.clone(), source });
        }
        self.make().map_err(|error| {
            // Files that cannot be moved back now are moved back when a runner is opened.
            let _ = self.restore();
            file_error("make", &self.own)(error)
        })
    }

    fn make(&self) -> io::Result<()> {
        closed_folder::make(&self.new)?;
        for folder in [self.session(), self.new.join(OWN_FOLDER), self.new.join(SESSION_FOLDER)] {
            closed_folder::make(&folder)?;
        }
        for entry in entries(&self.real)? {
            let name = entry.file_name();
            let (from, to) = (entry.path(), self.new.join(&name));
            if GIVEN.iter().any(|given| name == *given) || is_copied(&name) {
                copy(&from, &to)?;
            } else if !KEPT.iter().any(|kept| name == *kept) {
                fs::rename(from, to)?;
            }
        }
        fs::rename(&self.new, &self.own)
    }

    /// Moves its contents to the real folder, without symlinks and references that lead elsewhere. Returns a warning for the user
    /// if there were any, or if it could not be searched, in which case it stays. No process of the agent may be running any more.
    ///
    /// If this process is killed meanwhile, the next call finishes the work.
    pub(crate) fn take_back(&self) -> Result<Option<String>, RunnerError> {
        if !self.is_left() {
            return Ok(None);
        }
        let failed = |error| file_error("take over", &self.own)(error);
        self.restore().map_err(failed)?;
        let mut warning = None;
        if is_folder(&self.own) {
            // The one that the agent began with is still there.
            let head = read_start(&self.real.join("HEAD")).ok().filter(|head| stays_in_references(head));
            match planted_links::remove_below(&self.own, head.as_deref()) {
                Ok(removed) => warning = removed,
                Err(why) => return Ok(Some(why)),
            }
            self.remove_what_it_removed().map_err(failed)?;
            fs::rename(&self.own, &self.back).map_err(failed)?;
        }
        self.move_back(&self.back, |_| true).map_err(failed)?;
        Ok(warning)
    }

    /// Moves back the entries of an incomplete folder. The real folder still has those that were only copied.
    fn restore(&self) -> io::Result<()> {
        self.move_back(&self.new, |name| !is_copied(name))
    }

    /// Removes copied files from the real folder that the agent has removed from its own.
    fn remove_what_it_removed(&self) -> io::Result<()> {
        for entry in entries(&self.real)? {
            let name = entry.file_name();
            if is_copied(&name) && self.own.join(&name).symlink_metadata().is_err() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn move_back(&self, folder: &Path, is_taken: fn(&OsStr) -> bool) -> io::Result<()> {
        if !is_folder(folder) {
            return Ok(());
        }
        reopen_folder(folder);
        for entry in entries(folder)? {
            let name = entry.file_name();
            let stays = GIVEN.iter().chain(&KEPT).any(|kept| name == *kept);
            if !stays && is_taken(&name) {
                replace(&entry, &self.real.join(&name))?;
            }
        }
        reopen_all(folder);
        empty_folder::remove(folder)
    }
}

/// Returns the entries of a folder, all of them, since it is about to be changed.
fn entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    fs::read_dir(folder)?.collect()
}

/// Checks whether the real folder keeps a file of this name: `git gc` and others read these in all worktrees.
fn is_copied(name: &OsStr) -> bool {
    name == "HEAD" || name == "index" || name.as_encoded_bytes().starts_with(b"sharedindex.")
}

/// Checks whether there is a folder at a path, and not a link to one.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_dir())
}

/// Copies a file with its time, by which git tells when an index was written.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // Git makes `HEAD` one with `core.preferSymlinkRefs`.
    if from.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    let mut file = foreign_file::open(from)?;
    let mut copy = File::create_new(to)?;
    io::copy(&mut file, &mut copy)?;
    copy.set_modified(file.metadata()?.modified()?)
}

/// Moves an entry to a path, whatever is there.
fn replace(entry: &DirEntry, to: &Path) -> io::Result<()> {
    let from = entry.path();
    // A closed folder cannot be moved into another one.
    reopen_folder(&from);
    if fs::rename(&from, to).is_ok() {
        return Ok(());
    }
    // A rename does not replace a non-empty folder, a folder by a file, or a file by a folder.
    match to.symlink_metadata() {
        Ok(data) if data.is_dir() => {
            reopen_all(to);
            empty_folder::remove(to)?;
        }
        Ok(_) => fs::remove_file(to)?,
        Err(_) => {}
    }
    fs::rename(&from, to)
}
