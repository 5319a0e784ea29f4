//! Moves files away, never over another file.

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

/// The number of names that are tried before giving up.
const NAMES_TRIED: u32 = 10_000;

/// The maximum length of a name on Linux file systems, in bytes.
const NAME_BYTES: usize = 255;

/// Moves a file into another folder under its own name or, if that is in use, with `-2`, `-3`, … before its extension, truncating
/// a name that becomes too long. Returns its new name.
///
/// # Errors
///
/// [`FsError::NotFound`] if the file is gone, [`FsError::AlreadyExists`] if ten thousand names are in use, and those of
/// renaming.
pub fn move_to_free_name(from: &FileRoot, name: &RelPath, to: &FileRoot) -> Result<RelPath, FsError> {
    let bytes = name.as_bytes();
    // A leading dot begins a hidden name, not an extension.
    let dot = bytes.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0).unwrap_or(bytes.len());
    let (stem, extension) = bytes.split_at(dot);
    first_free(
        (1..=NAMES_TRIED).map(|number| match number {
            1 => Ok(name.clone()),
            _ => {
                let number = format!("-{number}");
                let room = NAME_BYTES.saturating_sub(number.len() + extension.len());
                RelPath::from_bytes(&[shortened(stem, room), number.as_bytes(), extension].concat())
            }
        }),
        name,
        |target| from.rename_noreplace(name, to, target),
    )
}

/// Returns the beginning of a name, without a partial UTF-8 character at its end.
fn shortened(name: &[u8], most_bytes: usize) -> &[u8] {
    let is_boundary = |at: &usize| name.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let end = (1..=most_bytes.min(name.len())).rev().find(is_boundary);
    &name[..end.unwrap_or(most_bytes.min(name.len()))]
}

/// Renames a file within its folder to the first free name of the form `NAME.WORD-1`. Returns that name.
///
/// # Errors
///
/// Those of [`move_to_free_name`].
pub fn rename_with_suffix(folder: &FileRoot, name: &RelPath, word: &str) -> Result<RelPath, FsError> {
    first_free(
        (1..=NAMES_TRIED).map(|number| {
            RelPath::from_bytes(&[name.as_bytes(), format!(".{word}-{number}").as_bytes()].concat())
        }),
        name,
        |target| folder.rename_noreplace(name, folder, target),
    )
}

fn first_free<E: Into<FsError>>(
    targets: impl Iterator<Item = Result<RelPath, E>>,
    name: &RelPath,
    mut rename: impl FnMut(&RelPath) -> Result<RelPath, FsError>,
) -> Result<RelPath, FsError> {
    // Trying to rename, instead of looking for a free name first, avoids a race with another process.
    for target in targets {
        match rename(&target.map_err(Into::into)?) {
            Err(FsError::AlreadyExists { .. }) => {}
            other => return other,
        }
    }
    Err(FsError::AlreadyExists { path: name.clone() })
}
