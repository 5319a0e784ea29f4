//! The state of a home before each command: mount points, git's settings, and no settings of an earlier command.
//!
//! Commands may have put links anywhere in the home. None is followed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, StatxFlags, mkdirat, openat,
    renameat_with, statx,
};
use rustix::io::{Errno, Result};

use crate::launcher::home::arrangement::MountPoint;
use crate::launcher::home::{HOME, HomeLease, TRASH, make_private, obeyed_settings, removal, store};
use crate::launcher::private_folder::START_UP_FILES;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl HomeLease {
    /// Prepares the home for a command: makes its mount points, and writes git's settings.
    pub(crate) fn furnish(&self, mount_points: &[MountPoint], git_settings: &str) -> io::Result<()> {
        let (home, trash) = (self.own.join(HOME), self.own.join(TRASH));
        remove_settings(&home, &trash);
        let home = openat(CWD, &home, FOLDER, Mode::empty())?;
        for point in mount_points {
            make_mount_point(&home, &trash, point)?;
        }
        write_new(&home, &trash, ".gitconfig", git_settings.as_bytes())
    }
}

/// Removes all settings that programs obey from a home; folders are moved to the trash.
pub(super) fn remove_settings(home: &Path, trash: &Path) {
    let Ok(home) = openat(CWD, home, FOLDER, Mode::empty()) else { return };
    // A home has few of the names, and a lookup of each would take longer than all the rest.
    let names = TopNames::list(&home);
    let mut folders = Folders { home: &home, last: None };
    for name in obeyed_settings::NAMES.iter().map(Path::new).filter(|name| names.may_hold(name)) {
        // A failed removal is retried before the next command.
        let _ = folders.remove(name, trash);
    }
    for name in START_UP_FILES {
        let is_empty = statx(&home, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)
            .is_ok_and(|status| kind(status.stx_mode) == FileType::RegularFile && status.stx_size == 0);
        if !is_empty {
            let _ = folders.remove(Path::new(name), trash);
        }
    }
}

/// The names in a home, to skip most of those that are missing.
struct TopNames {
    /// In lower case. `None` if any name may be there.
    names: Option<BTreeSet<Vec<u8>>>,
}

impl TopNames {
    /// The most names that are read.
    const MOST: usize = 10_000;

    fn list(home: &OwnedFd) -> TopNames {
        let read = || -> Option<BTreeSet<Vec<u8>>> {
            let mut names = BTreeSet::new();
            for entry in Dir::read_from(home).ok()? {
                let name = entry.ok()?.file_name().to_bytes().to_ascii_lowercase();
                // A file system that ignores case may take a letter beyond ASCII for one of ours.
                if !name.is_ascii() || names.len() == TopNames::MOST {
                    return None;
                }
                names.insert(name);
            }
            Some(names)
        };
        TopNames { names: read() }
    }

    /// Checks whether a path in the home may exist.
    fn may_hold(&self, path: &Path) -> bool {
        let Some(Component::Normal(first)) = path.components().next() else { return true };
        self.names.as_ref().is_none_or(|names| names.contains(&first.as_bytes().to_ascii_lowercase()))
    }
}

/// The folders in a home; the last one stays open, since many settings share a folder.
struct Folders<'a> {
    home: &'a OwnedFd,
    last: Option<(&'a Path, OwnedFd)>,
}

impl<'a> Folders<'a> {
    fn remove(&mut self, path: &'a Path, trash: &Path) -> Result<()> {
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else { return Ok(()) };
        if parent.as_os_str().is_empty() {
            return clear(self.home, name, trash);
        }
        match &self.last {
            Some((last, folder)) if *last == parent => clear(folder, name, trash),
            _ => {
                let Some(folder) = open_in_home(self.home, parent)? else { return Ok(()) };
                let cleared = clear(&folder, name, trash);
                self.last = Some((parent, folder));
                cleared
            }
        }
    }
}

/// Opens a folder in a home; `None` if it does not exist.
fn open_in_home(home: &OwnedFd, path: &Path) -> Result<Option<OwnedFd>> {
    let mut folder: Option<OwnedFd> = None;
    for component in path.components() {
        let parent = folder.as_ref().unwrap_or(home);
        folder = match openat(parent, component.as_os_str(), FOLDER, Mode::empty()) {
            // Missing, or not a folder: then it has no entries.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            opened => Some(opened?),
        };
    }
    Ok(folder)
}

fn kind(mode: u16) -> FileType {
    FileType::from_raw_mode(RawMode::from(mode))
}

/// Removes an entry of any kind: a folder is moved to the trash, since it may hold any number of files.
fn clear(parent: &OwnedFd, name: &OsStr, trash: &Path) -> Result<()> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        Err(Errno::NOENT) => return Ok(()),
        other => return other,
    }
    // An empty folder can be removed at once.
    if rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).is_ok() {
        return Ok(());
    }
    removal::open_up(parent.as_fd(), &name.to_owned())?;
    make_private(trash).map_err(|_| Errno::IO)?;
    let discarded = trash.join(store::trash_name());
    renameat_with(parent, name, CWD, &discarded, RenameFlags::NOREPLACE)
}

/// Makes a file or folder in the home, with real folders on the way to it.
fn make_mount_point(home: &OwnedFd, trash: &Path, point: &MountPoint) -> io::Result<()> {
    let mut folder = openat(home, ".", FOLDER, Mode::empty())?;
    let mut components = point.path.components().peekable();
    while let Some(Component::Normal(name)) = components.next() {
        let is_last = components.peek().is_none();
        if is_last && !point.is_folder {
            let status = statx(&folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
            if status.is_ok_and(|status| kind(status.stx_mode) == FileType::RegularFile) {
                return Ok(());
            }
            return write_new(&folder, trash, name, b"");
        }
        folder = enter(&folder, trash, name)?;
    }
    Ok(())
}

/// Opens a folder, replacing anything else at its path.
fn enter(parent: &OwnedFd, trash: &Path, name: &OsStr) -> io::Result<OwnedFd> {
    match removal::open_up(parent.as_fd(), &name.to_owned()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    match openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => {}
        Err(Errno::NOTDIR | Errno::LOOP) => clear(parent, name, trash)?,
        opened => return Ok(opened?),
    }
    mkdirat(parent, name, Mode::RWXU)?;
    Ok(openat(parent, name, FOLDER, Mode::empty())?)
}

/// Writes a new file, replacing whatever is at its path.
fn write_new(parent: &OwnedFd, trash: &Path, name: impl AsRef<OsStr>, contents: &[u8]) -> io::Result<()> {
    clear(parent, name.as_ref(), trash)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(parent, name.as_ref(), flags, Mode::from_raw_mode(0o644))?;
    File::from(file).write_all(contents)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn settings_of_any_spelling_may_be_there_and_other_names_are_not_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".cargo", ".GitConfig", "notes"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let open = || openat(CWD, folder.path(), FOLDER, Mode::empty()).unwrap();
        let names = TopNames::list(&open());
        for (path, expected) in
            [(".cargo/config", true), (".gitconfig", true), (".npmrc", false), (".config/git/config", false)]
        {
            assert_eq!(names.may_hold(Path::new(path)), expected, "{path}");
        }
        // On a file system that ignores case this may be `.ssh`.
        fs::write(folder.path().join(".\u{17f}sh"), "").unwrap();
        assert!(TopNames::list(&open()).may_hold(Path::new(".npmrc")));
    }
}
