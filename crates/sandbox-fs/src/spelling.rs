//! Spellings of a name where the file system ignores upper and lower case.
//!
//! There an entry answers to many spellings, and its folder lists one of them. This cannot be determined in advance: a share
//! of another machine looks like any folder, and ext4 decides for each folder. So an entry is looked up in swapped case,
//! which costs one system call for each name, and a folder is listed only if that leads to the same entry.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rel_path::RelPath;
use rustix::fs::RawDir;
use rustix::io::Errno;

use crate::error::FsError;
use crate::handle::{self, FOLDER_LIST, FOLDER_PATH};
use crate::metadata::Metadata;
use crate::root::FileRoot;
use crate::walk::read_names;

impl FileRoot {
    /// Returns a canonical path in the spelling that the folders on its way list. From the first name that does not
    /// exist, or is in a folder that cannot be listed, and wherever case counts, the path stays unchanged.
    ///
    /// # Errors
    ///
    /// Those of reading the metadata of an entry on the way.
    pub fn stored_path(&self, canonical: &RelPath) -> Result<RelPath, FsError> {
        let mut names: Vec<_> = canonical.components().map(<[u8]>::to_vec).collect();
        let mut is_other = false;
        let mut inner: Option<OwnedFd> = None;
        for name in &mut names {
            let folder = inner.as_ref().map_or(self.resolver.root(), AsFd::as_fd);
            let stored = stored_name(folder, name).map_err(|errno| FsError::from_errno(errno, canonical))?;
            let next = handle::open_at(folder, name, FOLDER_PATH);
            if let Some(stored) = stored {
                *name = stored;
                is_other = true;
            }
            // The last name need not be a folder's.
            let Ok(next) = next else { break };
            inner = Some(next);
        }
        if is_other { Ok(RelPath::from_bytes(&names.join(&b'/'))?) } else { Ok(canonical.clone()) }
    }

    /// Returns true if an entry answers to the last name of a canonical path, but its folder lists it in another spelling.
    ///
    /// # Errors
    ///
    /// Those of reading its metadata.
    pub fn is_stored_otherwise(&self, canonical: &RelPath) -> Result<bool, FsError> {
        let (Some(folder), Some(name)) = (canonical.parent(), canonical.file_name()) else {
            return Ok(false);
        };
        // Whatever is wrong with the folder, the entry is not stored in it.
        let Ok(folder) = self.resolver.open_exact(&folder, FOLDER_PATH) else { return Ok(false) };
        let stored = stored_name(&folder, name).map_err(|errno| FsError::from_errno(errno, canonical))?;
        Ok(stored.is_some())
    }

    /// Returns true if two canonical paths that differ in case are one entry, or would be if they existed.
    ///
    /// Paths that do not exist are judged by what is in the folder that they would be in. Where that is nothing, false is
    /// returned: creating the second of them fails then.
    ///
    /// # Errors
    ///
    /// Those of reading the metadata of entries on the way.
    pub fn are_one_entry(&self, one: &RelPath, other: &RelPath) -> Result<bool, FsError> {
        let hold = |path: &RelPath| match self.resolver.open_exact(path, handle::ANY_PATH) {
            Ok(entry) => Ok(Some(entry)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(other) => Err(FsError::from_errno(other, path)),
        };
        let stat = |entry: &OwnedFd| handle::stat(entry).map_err(|errno| FsError::from_errno(errno, one));
        // Both are held while they are compared, so that neither gets the other's number.
        match (hold(one)?, hold(other)?) {
            (Some(first), Some(second)) => {
                let (first, second) = (stat(&first)?, stat(&second)?);
                if !first.is_same_object(&second) {
                    return Ok(false);
                }
                let may_be_linked = first.is_file() && first.links > 1;
                Ok(!may_be_linked || self.stored_path(one)? == self.stored_path(other)?)
            }
            (None, None) => self.ignores_case(one),
            _ => Ok(false),
        }
    }

    /// Returns true if a new entry at `path` would be in a folder that ignores case.
    fn ignores_case(&self, path: &RelPath) -> Result<bool, FsError> {
        let mut device = None;
        for folder in std::iter::successors(path.parent(), RelPath::parent) {
            let handle = match self.resolver.open_exact(&folder, FOLDER_LIST) {
                // A new folder is like the one around it.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                handle => handle.map_err(|errno| FsError::from_errno(errno, &folder))?,
            };
            let here = handle::stat(&handle).map_err(|errno| FsError::from_errno(errno, &folder))?.device;
            if *device.get_or_insert(here) != here {
                return Ok(false);
            }
            let verdict = names_ignore_case(&handle).map_err(|errno| FsError::from_errno(errno, &folder))?;
            if let Some(verdict) = verdict {
                return Ok(verdict);
            }
        }
        Ok(self.own_name_ignores_case(device))
    }

    /// The same for an empty root, judged by its own name.
    fn own_name_ignores_case(&self, device: Option<u64>) -> bool {
        let look = || {
            let path = self.path()?;
            let swapped = swapped_case(path.file_name()?.as_bytes())?;
            let around = rustix::fs::stat(path.parent()?).ok()?;
            let swapped = path.with_file_name(std::ffi::OsStr::from_bytes(&swapped));
            let other = Metadata::from_stat(&rustix::fs::lstat(&swapped).ok()?);
            let own = handle::stat(self.handle()).ok()?;
            Some(device == Some(Metadata::from_stat(&around).device) && own.is_same_object(&other))
        };
        look().unwrap_or(false)
    }
}

/// Returns true if the names in a folder answer to other spellings, and `None` if none of them shows it.
fn names_ignore_case(folder: &OwnedFd) -> Result<Option<bool>, Errno> {
    let mut verdict = Ok(None);
    read_names(folder, |name, _| {
        verdict = name_ignores_case(folder, name);
        matches!(verdict, Ok(None))
    })?;
    verdict
}

fn name_ignores_case(folder: &OwnedFd, name: &[u8]) -> Result<Option<bool>, Errno> {
    let Some(swapped) = swapped_case(name) else { return Ok(None) };
    // An entry that was removed meanwhile shows nothing.
    let Some(own) = handle::stat_at(folder, name)? else { return Ok(None) };
    let other = handle::stat_at(folder, &swapped)?;
    let is_same = other.is_some_and(|other| own.is_same_object(&other));
    // A hard link may have the other spelling.
    let is_clear = !is_same || !own.is_file() || own.links == 1;
    Ok(is_clear.then_some(is_same))
}

/// Returns the name that `folder` lists for the entry that answers to `name`, if it is another one.
fn stored_name(folder: impl AsFd, name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
    let folder = folder.as_fd();
    let own = match swapped_case(name) {
        Some(swapped) => match handle::stat_at(folder, &swapped) {
            // Where case counts, another spelling is another name, which may be too long.
            Ok(None) | Err(_) => return Ok(None),
            Ok(Some(other)) => handle::stat_at(folder, name)?.filter(|own| own.is_same_object(&other)),
        },
        // Such file systems may equate two encodings of an accent.
        None if !name.is_ascii() => handle::stat_at(folder, name)?,
        None => None,
    };
    let Some(own) = own else { return Ok(None) };
    let Ok(list) = handle::reopen_folder(folder) else { return Ok(None) };
    let mut buffer = [MaybeUninit::<u8>::uninit(); 32 << 10];
    let mut entries = RawDir::new(list, &mut buffer);
    let mut stored = None;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let listed = entry.file_name().to_bytes();
        if listed == name {
            return Ok(None);
        }
        let is_alike = lower_case(listed) == lower_case(name);
        // A short name of vfat is not alike. Of two names, one of which is a hard link, the similar one is meant.
        let may_be = is_alike || (entry.ino() == own.inode && stored.is_none());
        if may_be && handle::stat_at(folder, listed)?.is_some_and(|listed| listed.is_same_object(&own)) {
            stored = Some(listed.to_vec());
        }
    }
    Ok(stored)
}

/// Returns the name with every letter in the other case; `None` if it has no letter with two cases.
fn swapped_case(name: &[u8]) -> Option<Vec<u8>> {
    let swap = |letter: char| if letter.is_lowercase() { upper(letter) } else { lower(letter) };
    let swapped: Vec<u8> = match std::str::from_utf8(name) {
        Ok(text) => text.chars().map(swap).collect::<String>().into_bytes(),
        Err(_) => {
            name.iter().map(|byte| if byte.is_ascii_alphabetic() { byte ^ 0x20 } else { *byte }).collect()
        }
    };
    (swapped != name).then_some(swapped)
}

/// The letter in upper case, where that is one letter as well.
fn upper(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    upper.next().filter(|_| upper.next().is_none()).unwrap_or(letter)
}

fn lower(letter: char) -> char {
    let mut lower = letter.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(letter)
}

fn lower_case(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) => text.to_lowercase().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rel_path::RelPath;

    use super::swapped_case;
    use crate::{FileRoot, FsPolicy, RootRules};

    #[test]
    fn letters_are_swapped_and_other_names_are_left_alone() {
        let cases: [(&[u8], Option<&[u8]>); 6] = [
            (b"Read.me", Some(b"rEAD.ME")),
            (b"123", None),
            ("\u{e9}\u{c9}".as_bytes(), Some("\u{c9}\u{e9}".as_bytes())),
            // Its upper case is two letters.
            ("\u{df}".as_bytes(), None),
            (b"\xffa", Some(b"\xffA")),
            ("\u{65e5}".as_bytes(), None),
        ];
        for (name, swapped) in cases {
            assert_eq!(swapped_case(name).as_deref(), swapped, "{}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn where_case_counts_every_spelling_is_a_path_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("Src")).unwrap();
        fs::write(folder.path().join("Src/A.txt"), "x").unwrap();
        // Hard links of one file are two names of it, and one of them is the name in swapped case.
        fs::hard_link(folder.path().join("Src/A.txt"), folder.path().join("Src/a.TXT")).unwrap();
        fs::write(folder.path().join("\u{65e5}"), "x").unwrap();
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
        let path = |text: &str| RelPath::parse(text).unwrap();
        for name in ["Src/A.txt", "Src/a.TXT", "Src/a.txt", "src/A.txt", "Src/A.txt/x", "\u{65e5}", "new"] {
            assert_eq!(root.stored_path(&path(name)).unwrap(), path(name));
            assert!(!root.is_stored_otherwise(&path(name)).unwrap());
        }
        for (one, other) in [
            ("Src/A.txt", "Src/a.TXT"),
            ("Src/A.txt", "Src/a.txt"),
            ("Src/new", "Src/New"),
            ("new/a", "New/a"),
            ("empty/x", "empty/X"),
        ] {
            assert!(!root.are_one_entry(&path(one), &path(other)).unwrap(), "{one} {other}");
        }
    }
}
