//! Files in which the user grants permissions: read only if no other user, and above all no model, can have written
//! them.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use sandbox_fs::{FileRoot, FsPolicy, RootError, RootRules};

use crate::{Exit, HostOptions, STATE_FOLDER, confinement};

/// The longest file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The maximum number of symlinks followed to a file.
const MOST_LINKS: u32 = 40;

/// The permissions that let users other than the owner write.
const OTHERS_WRITE: u32 = 0o022;

/// The reason why a file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserFileError {
    /// The file does not exist.
    #[error("there is no such file")]
    Missing,
    /// A folder on the way to it may not be entered.
    #[error("a folder on the way to it may not be entered")]
    Unreachable,
    /// It cannot be found or read.
    #[error("{0}")]
    Io(io::Error),
    /// It is a folder, a pipe or the like.
    #[error("it is not an ordinary file")]
    NotAFile,
    /// It is far longer than such a file should be.
    #[error("it is longer than {MOST_BYTES} bytes")]
    TooLong,
    /// It is not text.
    #[error("it is not valid UTF-8")]
    NotText,
    /// It, or a symlink or folder of its path, is writable by commands.
    #[error("{} is in a folder where a model can write, and could grant itself permissions", .0.display())]
    WithinReach(PathBuf),
    /// Others may write to it.
    #[error("others than its owner may write it (mode {0:03o})")]
    WritableByOthers(u32),
    /// It belongs to another user, who is not root.
    #[error("it belongs to user {0}, who is neither you nor root")]
    OwnedByAnother(u32),
}

impl UserFileError {
    /// Returns the exit of a command that needs the file.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            UserFileError::WithinReach(_)
            | UserFileError::WritableByOthers(_)
            | UserFileError::OwnedByAnother(_) => Exit::Refused,
            _ => Exit::Usage,
        }
    }

    /// Returns the way out, if there is one.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            UserFileError::WithinReach(_) => Some("keep it outside of every workspace, links included"),
            UserFileError::WritableByOthers(_) => Some("close it with chmod go-w"),
            UserFileError::OwnedByAnother(_) => Some("keep a copy of your own"),
            UserFileError::Unreachable => Some("allow this user to enter the folders that lead to it"),
            _ => None,
        }
    }
}

impl From<io::Error> for UserFileError {
    fn from(error: io::Error) -> UserFileError {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => UserFileError::Missing,
            _ => UserFileError::Io(error),
        }
    }
}

/// Returns the folder of this program among the user's configurations, by the XDG rules.
#[must_use]
pub fn config_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named.or_else(|| Some(confinement::home()?.join(".config")))?;
    Some(folder.join("agentd"))
}

/// Returns the folder of this program among the user's states, by the XDG rules.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || confinement::home().filter(|home| home.is_absolute());
    let folder = named.or_else(|| Some(home()?.join(".local/state")))?;
    Some(folder.join("agentd"))
}

/// The folders in which commands of a model may write: files there cannot grant permissions.
#[derive(Debug)]
pub struct Reach {
    /// The device and inode of each, so that no other name of it is overlooked.
    folders: Vec<(u64, u64)>,
}

impl Reach {
    /// The workspace, the state folder, and everything else that commands may change.
    ///
    /// A home folder in which a command without a workspace was started does not count: it can never be a workspace.
    #[must_use]
    pub fn of(options: &HostOptions) -> Reach {
        let mut reach = Reach { folders: Vec::new() };
        let rules = RootRules { home: confinement::home(), ..RootRules::default() };
        // Nothing is read through it: it is only opened to apply the rules about roots.
        let opened = FileRoot::open(&options.workspace, &rules, FsPolicy::private());
        if !matches!(opened, Err(RootError::FileSystemRoot | RootError::Home | RootError::AboveHome)) {
            reach.add(&options.workspace);
        }
        options.base.iter().chain(&options.caches).for_each(|folder| reach.add(folder));
        reach
    }

    /// Adds a folder. One that does not exist holds nothing.
    pub fn add(&mut self, folder: &Path) {
        self.folders.extend(fs::metadata(folder).ok().map(|metadata| (metadata.dev(), metadata.ino())));
    }

    fn has(&self, folder: &Path) -> io::Result<bool> {
        let metadata = fs::metadata(folder)?;
        Ok(self.folders.contains(&(metadata.dev(), metadata.ino())))
    }

    /// Resolves a path, following symlinks, and refuses it if any name is looked up in one of the folders, in another
    /// workspace, or below them: a model could put something else there.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, UserFileError> {
        let mut names: VecDeque<OsString> =
            std::path::absolute(path)?.components().map(|part| part.as_os_str().to_owned()).collect();
        let mut here = PathBuf::from("/");
        let mut links = 0;
        while let Some(name) = names.pop_front() {
            if name == OsStr::new("/") {
                here = PathBuf::from("/");
            } else if name == OsStr::new("..") {
                here.pop();
            } else if name != OsStr::new(".") {
                let entry = here.join(name);
                // The folder is checked before the entry: its writers control the target of the name.
                if self.has(&here)? || is_workspace(&here) {
                    return Err(UserFileError::WithinReach(entry));
                }
                if !fs::symlink_metadata(&entry)?.is_symlink() {
                    here = entry;
                    continue;
                }
                links += 1;
                if links > MOST_LINKS {
                    return Err(UserFileError::Io(io::Error::other("its path has too many symlinks")));
                }
                let target = fs::read_link(&entry)?;
                let parts: Vec<Component<'_>> = target.components().collect();
                parts.iter().rev().for_each(|part| names.push_front(part.as_os_str().to_owned()));
            }
        }
        Ok(here)
    }
}

/// Checks whether a folder has been a workspace: a model may then have written its contents. A home
/// folder cannot have been one, nor can its parents.
fn is_workspace(folder: &Path) -> bool {
    let has_journal = || fs::symlink_metadata(folder.join(STATE_FOLDER).join("journal")).is_ok();
    let home = || confinement::home().and_then(|home| fs::canonicalize(home).ok());
    has_journal() && !home().is_some_and(|home| home.starts_with(folder))
}

/// Reads a file that only the user or root can have written.
///
/// # Errors
/// Each kind of [`UserFileError`].
pub fn read(path: &Path, reach: &Reach) -> Result<String, UserFileError> {
    // All folders on this path are out of reach of commands, so none of them becomes a symlink now.
    let resolved = reach.resolve(path).map_err(|error| match error {
        UserFileError::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            UserFileError::Unreachable
        }
        other => other,
    })?;
    // Without NONBLOCK, opening a pipe would wait for its other end.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(resolved)?;
    check(&file)?;
    let mut bytes = Vec::new();
    // One byte more than is accepted, to detect a longer file.
    let length = file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if length as u64 > MOST_BYTES {
        return Err(UserFileError::TooLong);
    }
    String::from_utf8(bytes).map_err(|_| UserFileError::NotText)
}

fn check(file: &File) -> Result<(), UserFileError> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(UserFileError::NotAFile);
    }
    if metadata.uid() != 0 && metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(UserFileError::OwnedByAnother(metadata.uid()));
    }
    if metadata.mode() & OTHERS_WRITE != 0 {
        return Err(UserFileError::WritableByOthers(metadata.mode() & 0o777));
    }
    Ok(())
}
