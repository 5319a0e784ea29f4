//! What is taken of an agent's folder of objects, so that git can read it.
//!
//! An agent may leave anything there: a pipe at which git would wait for ever, a link to what the agent itself may not read, a
//! list of other folders, marks that have git fetch or skip things. Git never looks into that folder. It gets one in which
//! nothing but the objects and packs are, each a plain file when it was taken. Whether they are what their names say is
//! git's to find out.

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

/// Why a file cannot have a second name although it is there: some file systems know no such thing.
const NO_LINKS: [Errno; 4] = [Errno::PERM, Errno::XDEV, Errno::OPNOTSUPP, Errno::ACCESS];

/// The size of the largest index of a pack that is taken: of two million objects, whose names are held in memory.
const MOST_INDEX_BYTES: i64 = 64 << 20;

/// How many files are taken.
const MOST_FILES: usize = 1_000_000;

/// A folder of the objects that were taken.
#[derive(Debug)]
pub(crate) struct TakenObjects {
    from: PathBuf,
    folder: PathBuf,
    /// The files in it, by their paths in there.
    seen: HashSet<String>,
}

impl TakenObjects {
    /// Takes from `from` to `folder`. Nothing is taken yet.
    pub(crate) fn new(from: PathBuf, folder: PathBuf) -> TakenObjects {
        TakenObjects { from, folder, seen: HashSet::new() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Forgets everything that was taken.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.seen.clear();
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes what is there now and was not taken before.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        closed_folder::make(&self.folder.join(PACKS))?;
        let Ok(objects) = open_folder(CWD, &self.from) else { return Ok(()) };
        // Packs come last: when objects are packed, the pack is there before they go.
        for number in 0..=u8::MAX {
            let name = format!("{number:02x}");
            let Ok(folder) = open_folder(&objects, Path::new(&name)) else { continue };
            let found = names(&folder, |name| matches!(name.len(), 38 | 62) && is_hex(name))?;
            if found.is_empty() {
                continue;
            }
            closed_folder::make(&self.folder.join(&name))?;
            self.take(&folder, &name, found)?;
        }
        let Ok(packs) = open_folder(&objects, Path::new(PACKS)) else { return Ok(()) };
        let found = names(&packs, is_of_a_pack)?;
        self.take(&packs, PACKS, found)
    }

    /// Takes these files of a folder.
    fn take(&mut self, folder: &OwnedFd, subfolder: &str, names: Vec<String>) -> io::Result<()> {
        for name in names {
            let path = format!("{subfolder}/{name}");
            if self.seen.len() >= MOST_FILES {
                return Ok(());
            }
            if !self.seen.contains(&path) && take_file(folder, &name, &self.folder.join(&path))? {
                self.seen.insert(path);
            }
        }
        Ok(())
    }
}

/// Gives a plain file a second name; nothing else is taken. Returns whether it was.
fn take_file(folder: &OwnedFd, name: &str, target: &Path) -> io::Result<bool> {
    // Held by this, it is the same file that is looked at and taken, and nothing that is opened notices.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(held) = openat(folder, name, flags, Mode::empty()) else { return Ok(false) };
    let found = fstat(&held)?;
    let is_too_large = name.ends_with(".idx") && found.st_size > MOST_INDEX_BYTES;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || is_too_large {
        return Ok(false);
    }
    let path = format!("/proc/self/fd/{}", held.as_raw_fd());
    match linkat(CWD, &path, CWD, target, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) | Err(Errno::EXIST) => Ok(true),
        // It is gone already, or has more names than a file of git's ever has.
        Err(Errno::NOENT | Errno::MLINK) => Ok(false),
        Err(errno) if NO_LINKS.contains(&errno) => copy(&path, target),
        Err(errno) => Err(errno.into()),
    }
}

/// Copies a file that may not be readable.
fn copy(path: &str, target: &Path) -> io::Result<bool> {
    let Ok(mut file) = File::open(path) else { return Ok(false) };
    io::copy(&mut file, &mut File::create_new(target)?)?;
    Ok(true)
}

fn open_folder(parent: impl AsFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, path, flags, Mode::empty())
}

/// The names in a folder that are wanted.
fn names(folder: &OwnedFd, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = CStr::to_str(entry.file_name()).ok().filter(|name| is_wanted(name));
        found.extend(name.map(str::to_owned));
    }
    Ok(found)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a name is that of a pack or of its index. What else git keeps beside them is not needed to read them.
fn is_of_a_pack(name: &str) -> bool {
    let Some((stem, kind)) = name.split_once('.') else { return false };
    let number = stem.strip_prefix("pack-").unwrap_or_default();
    matches!(number.len(), 40 | 64) && is_hex(number) && matches!(kind, "pack" | "idx")
}
