//! The rules for the names in an entry's path.

use std::sync::LazyLock;

use rel_path::{MAX_COMPONENT_BYTES, ProtectedNames, RelPath};

use crate::entry::Entry;
use crate::file_systems::{is_hfs_name, is_ntfs_git_name, is_ntfs_settings_name};
use crate::index_error::IndexError;

/// The spellings of `.git` on the most permissive file system.
static GIT: LazyLock<ProtectedNames> = LazyLock::new(|| ProtectedNames::new([".git"]));

/// The spellings of `.gitmodules`, likewise.
static SETTINGS: LazyLock<ProtectedNames> = LazyLock::new(|| ProtectedNames::new([".gitmodules"]));

/// Returns whether some file system treats a name as `.git`.
pub fn is_git_name(name: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b".git") {
        return true;
    }
    // Every disguise contains a `g` and one of these characters, so that few names need the slower check.
    let may_be = name.iter().any(|byte| matches!(byte, b'g' | b'G'));
    may_be
        && (!name.is_ascii() || name.iter().any(|byte| matches!(byte, b'~' | b'.' | b':' | b' ' | b'\\')))
        && (is_protected(name, &GIT) || is_ntfs_git_name(name) || is_hfs_name(name, ".git"))
}

/// Returns whether some file system treats a name as `.gitmodules`.
fn is_settings_name(name: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b".gitmodules") {
        return true;
    }
    // Every disguise begins with a dot or a character that is not ASCII, is a short name, or has a folder before it.
    let may_be = name.first() == Some(&b'.')
        || !name.is_ascii()
        || name.iter().any(|byte| matches!(byte, b'~' | b'\\'));
    may_be
        && (is_protected(name, &SETTINGS) || is_ntfs_settings_name(name) || is_hfs_name(name, ".gitmodules"))
}

fn is_protected(name: &[u8], names: &ProtectedNames) -> bool {
    // A longer name cannot be a path, and only git's own rules apply.
    name.len() <= MAX_COMPONENT_BYTES && RelPath::from_bytes(name).is_ok_and(|path| names.protects(&path))
}

/// Checks the names of consecutive paths.
#[derive(Debug, Default)]
pub(crate) struct PathNames {
    /// The offset of a name in the current path that some file system treats as `.gitmodules`.
    settings: Option<usize>,
}

impl PathNames {
    /// Checks the names of an entry's path. Its first `common` bytes are those of the previous entry, which was checked.
    pub(crate) fn check(&mut self, entry: &Entry<'_>, common: usize) -> Result<(), IndexError> {
        let refused = || IndexError::Path { path: entry.path.to_vec() };
        let path = match entry.path.strip_suffix(b"/") {
            Some(folder) if entry.is_folder() => folder,
            Some(_) => return Err(refused()),
            None if entry.is_folder() => return Err(refused()),
            None => entry.path,
        };
        // From the start of the name that contains the first new byte: that name may differ as a whole.
        let checked = &entry.path[..common.min(path.len())];
        let mut start = checked.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        self.settings = self.settings.filter(|offset| *offset < start);
        for name in path[start..].split(|byte| *byte == b'/') {
            if matches!(name, b"" | b"." | b"..") || is_git_name(name) {
                return Err(refused());
            }
            if self.settings.is_none() && is_settings_name(name) {
                self.settings = Some(start);
            }
            start += name.len() + 1;
        }
        // Git reads submodules' settings from a file of this name, and refuses a symlink there.
        if entry.is_symlink() && self.settings.is_some() { Err(refused()) } else { Ok(()) }
    }
}
