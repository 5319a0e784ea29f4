//! A snapshot of an agent's folder of objects, for git to read.
//!
//! An agent may leave anything there: a pipe on which git would block, a symlink to files that the agent itself may not
//! read, a list of alternates, marks that make git fetch or skip objects. So git never reads that folder. It reads a
//! snapshot of hard links to only the objects and packs, each a plain file when it was linked. Git itself checks that
//! their contents match their names.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, linkat, openat};
use rustix::io::Errno;

use crate::repository::closed_folder;

/// The folder of packs, in a folder of objects.
const PACKS: &str = "pack";

/// The errors of a hard link after which the file is copied instead. Some file systems and policies have no hard links.
const NO_LINKS: [Errno; 4] = [Errno::PERM, Errno::XDEV, Errno::OPNOTSUPP, Errno::ACCESS];

/// The most bytes of a pack's index: that of two million objects, whose names git holds in memory.
const MOST_INDEX_BYTES: i64 = 64 << 20;

/// The most files of a snapshot.
const MOST_FILES: usize = 1_000_000;

/// A snapshot of an agent's objects.
#[derive(Debug)]
pub(crate) struct ObjectSnapshot {
    from: PathBuf,
    folder: PathBuf,
    /// The relative paths of its files.
    files: HashSet<String>,
}

impl ObjectSnapshot {
    /// Returns an empty snapshot of `from`, to be kept in `folder`.
    pub(crate) fn new(from: PathBuf, folder: PathBuf) -> ObjectSnapshot {
        ObjectSnapshot { from, folder, files: HashSet::new() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Empties the snapshot.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.files.clear();
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds the agent's new files.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        closed_folder::make(&self.folder.join(PACKS))?;
        let Ok(objects) = open_folder(CWD, &self.from) else { return Ok(()) };
        // Packs come last: while git packs objects, it writes the pack before it removes the loose files.
        for number in 0..=u8::MAX {
            let name = format!("{number:02x}");
            // Relative to the open folder, and without symlinks: the agent may swap any of them meanwhile.
            let Ok(folder) = open_folder(&objects, Path::new(&name)) else { continue };
            let loose = names(&folder, |name| matches!(name.len(), 38 | 62) && is_hex(name))?;
            if loose.is_empty() {
                continue;
            }
            closed_folder::make(&self.folder.join(&name))?;
            self.link(&folder, &name, loose)?;
        }
        let Ok(packs) = open_folder(&objects, Path::new(PACKS)) else { return Ok(()) };
        let files = names(&packs, is_of_a_pack)?;
        self.link(&packs, PACKS, files)
    }

    /// Adds these files of a folder.
    fn link(&mut self, folder: &OwnedFd, subfolder: &str, names: Vec<String>) -> io::Result<()> {
        for name in names {
            let path = format!("{subfolder}/{name}");
            if self.files.len() >= MOST_FILES {
                return Ok(());
            }
            if !self.files.contains(&path) && link_file(folder, &name, &self.folder.join(&path))? {
                self.files.insert(path);
            }
        }
        Ok(())
    }
}

/// Links a plain file into the snapshot. Returns false for anything else.
fn link_file(folder: &OwnedFd, name: &str, target: &Path) -> io::Result<bool> {
    // The descriptor pins the file, so the checked file is the one that is linked. `O_PATH` does not open it: a device or
    // pipe is not touched.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(held) = openat(folder, name, flags, Mode::empty()) else { return Ok(false) };
    let stat = fstat(&held)?;
    let is_too_large = name.ends_with(".idx") && stat.st_size > MOST_INDEX_BYTES;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || is_too_large {
        return Ok(false);
    }
    let path = format!("/proc/self/fd/{}", held.as_raw_fd());
    match linkat(CWD, &path, CWD, target, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) | Err(Errno::EXIST) => Ok(true),
        // Deleted meanwhile, or with more links than any file of git's.
        Err(Errno::NOENT | Errno::MLINK) => Ok(false),
        Err(errno) if NO_LINKS.contains(&errno) => copy(&path, target),
        Err(errno) => Err(errno.into()),
    }
}

/// Copies a file; returns false if it is not readable.
fn copy(path: &str, target: &Path) -> io::Result<bool> {
    let Ok(mut file) = File::open(path) else { return Ok(false) };
    io::copy(&mut file, &mut File::create_new(target)?)?;
    Ok(true)
}

fn open_folder(parent: impl AsFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, path, flags, Mode::empty())
}

/// Returns the wanted names of a folder.
fn names(folder: &OwnedFd, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = CStr::to_str(entry.file_name()).ok().filter(|name| is_wanted(name));
        names.extend(name.map(str::to_owned));
    }
    Ok(names)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns whether a name is that of a pack or its index. Git does not need the other files next to them for reading.
fn is_of_a_pack(name: &str) -> bool {
    let Some((stem, kind)) = name.split_once('.') else { return false };
    let number = stem.strip_prefix("pack-").unwrap_or_default();
    matches!(number.len(), 40 | 64) && is_hex(number) && matches!(kind, "pack" | "idx")
}
