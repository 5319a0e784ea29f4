//! Which names an entry's path may consist of.

use rel_path::{ProtectedNames, RelPath};

use crate::entry::Entry;
use crate::index_error::IndexError;

/// The longest name that a file system has, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Returns whether a name would be `.git` to some file system.
pub fn is_git_name(name: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b".git") {
        return true;
    }
    // Disguises have a dot, a letter or a tilde of it; few names have to be looked at closely.
    let may_be = name.len() <= MAX_NAME_BYTES && name.iter().any(|byte| matches!(byte, b'g' | b'G'));
    may_be
        && (!name.is_ascii() || name.iter().any(|byte| matches!(byte, b'~' | b'.' | b':' | b' ' | b'\\')))
        && is_protected(name, ".git")
}

fn is_protected(name: &[u8], entry: &str) -> bool {
    RelPath::from_bytes(name).is_ok_and(|path| ProtectedNames::new([entry]).protects(&path))
}

/// Checks the names of an entry's path, of which those before byte `known` have been checked with the entry before.
pub(crate) fn check_path(entry: &Entry<'_>, known: usize) -> Result<(), IndexError> {
    let refused = || IndexError::Path { path: entry.path.to_vec() };
    let path = match entry.path.strip_suffix(b"/") {
        Some(folder) if entry.is_folder() => folder,
        Some(_) => return Err(refused()),
        None if entry.is_folder() => return Err(refused()),
        None => entry.path,
    };
    let start =
        entry.path[..known.min(path.len())].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    for name in path[start..].split(|byte| *byte == b'/') {
        // Git reads submodules' settings from a file of this name, and follows no link there.
        let is_linked_settings = entry.is_symlink()
            && (name.eq_ignore_ascii_case(b".gitmodules")
                || !name.is_ascii() && is_protected(name, ".gitmodules"));
        if matches!(name, b"" | b"." | b"..") || is_git_name(name) || is_linked_settings {
            return Err(refused());
        }
    }
    Ok(())
}
