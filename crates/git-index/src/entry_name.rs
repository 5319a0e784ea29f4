//! The rules for the names in an entry's path.

use rel_path::{ProtectedNames, RelPath};

use crate::entry::Entry;
use crate::index_error::IndexError;

/// The longest name of any file system, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Returns whether some file system treats a name as `.git`.
pub fn is_git_name(name: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b".git") {
        return true;
    }
    // Every disguise contains a `g` and one of these characters, so that few names need the slower check.
    let may_be = name.len() <= MAX_NAME_BYTES && name.iter().any(|byte| matches!(byte, b'g' | b'G'));
    may_be
        && (!name.is_ascii() || name.iter().any(|byte| matches!(byte, b'~' | b'.' | b':' | b' ' | b'\\')))
        && is_protected(name, ".git")
}

fn is_protected(name: &[u8], entry: &str) -> bool {
    RelPath::from_bytes(name).is_ok_and(|path| ProtectedNames::new([entry]).protects(&path))
}

/// Checks the names of an entry's path. Its first `checked_bytes` are those of the previous entry, which was checked.
pub(crate) fn check_path(entry: &Entry<'_>, checked_bytes: usize) -> Result<(), IndexError> {
    let refused = || IndexError::Path { path: entry.path.to_vec() };
    let path = match entry.path.strip_suffix(b"/") {
        Some(folder) if entry.is_folder() => folder,
        Some(_) => return Err(refused()),
        None if entry.is_folder() => return Err(refused()),
        None => entry.path,
    };
    // From the start of the name that contains the first new byte: that name may differ as a whole.
    let checked = &entry.path[..checked_bytes.min(path.len())];
    let start = checked.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    for name in path[start..].split(|byte| *byte == b'/') {
        // Git reads submodules' settings from a file of this name, and refuses a symlink there.
        let is_linked_settings = entry.is_symlink()
            && (name.eq_ignore_ascii_case(b".gitmodules")
                || !name.is_ascii() && is_protected(name, ".gitmodules"));
        if matches!(name, b"" | b"." | b"..") || is_git_name(name) || is_linked_settings {
            return Err(refused());
        }
    }
    Ok(())
}
