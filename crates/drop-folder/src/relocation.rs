//! Moving files out of the way, never over another file.

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

/// The number of names that are tried before giving up.
const NAMES_TRIED: u32 = 10_000;

/// Moves a file into another folder under its own name or, if that is in use, with `-2`, `-3`, … before its extension.
/// Returns its new name.
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
            _ => RelPath::from_bytes(&[stem, format!("-{number}").as_bytes(), extension].concat()),
        }),
        name,
        |target| from.rename_noreplace(name, to, target),
    )
}

/// Renames a file within its folder to the first free name of the form `NAME.WORD-1`. Returns that name.
///
/// # Errors
///
/// Those of [`move_to_free_name`].
pub fn rename_beside(folder: &FileRoot, name: &RelPath, word: &str) -> Result<RelPath, FsError> {
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
    // Trying to rename, rather than looking for a free name first, leaves no moment for another process to take it.
    for target in targets {
        match rename(&target.map_err(Into::into)?) {
            Err(FsError::AlreadyExists { .. }) => {}
            other => return other,
        }
    }
    Err(FsError::AlreadyExists { path: name.clone() })
}
