//! Files that are written from documents.

use drop_folder::rename_with_suffix;
use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode, FileRoot, FsError};
use tagproto::{Session, with_answers};

/// The maximum number of bytes that are read of a projection.
pub(crate) const LIMIT_BYTES: u64 = 64 << 20;

/// Writes a projection atomically: to a temporary file, which is then renamed.
///
/// It is not synced. The journal has synced the same bytes, from which a file is rewritten if a power loss damaged it.
pub(crate) fn write(folder: &FileRoot, name: &str, bytes: &[u8]) -> Result<(), FsError> {
    let path = RelPath::parse(name)?;
    folder.stage(&path, bytes, FileMode::Keep)?.publish(Expected::Anything).map(drop)
}

/// Writes the pending outbox of a session. A file that another program edited is kept under another name, which is returned.
pub(crate) fn write_outbox(
    folder: &FileRoot,
    session: &Session,
    outbox: &[u8],
) -> Result<Option<RelPath>, FsError> {
    let name = session.outbox_file_name();
    let kept = match read(folder, &name, LIMIT_BYTES) {
        Ok(file) if file.as_deref().is_none_or(|file| is_earlier_outbox(file, session, outbox)) => None,
        // Larger than any outbox, so it was not written from the journal.
        Ok(_) | Err(FsError::TooLarge { .. }) => Some(keep_copy(folder, &name, "edited")?),
        Err(error) => return Err(error),
    };
    write(folder, &name, outbox)?;
    Ok(kept)
}

/// Checks whether a file only contains text of the pending outbox: the whole text, a part that a power loss left, or the text
/// before the user's last answers.
fn is_earlier_outbox(file: &[u8], session: &Session, outbox: &[u8]) -> bool {
    let zeros = file.iter().rev().take_while(|byte| **byte == 0).count();
    if outbox.starts_with(&file[..file.len() - zeros]) {
        return true;
    }
    let Ok(text) = std::str::from_utf8(file) else { return false };
    (0..session.answers.len()).any(|count| {
        with_answers(text, &session.answers[..count], &session.answers)
            .is_some_and(|text| text.as_bytes() == outbox)
    })
}

/// Writes the parts of the pending outbox of a session, and removes the parts of an earlier text of it.
pub(crate) fn write_parts(folder: &FileRoot, session: &Session, outbox: &str) -> Result<(), FsError> {
    if session.paste_characters.is_none() {
        return Ok(());
    }
    let parts = session.outbox_parts(outbox);
    let prefix = session.outbox_part_prefix();
    for entry in folder.list(&RelPath::root())? {
        let name = entry.path.to_string();
        let is_part = name.strip_prefix(&prefix).is_some_and(is_part_number);
        if is_part && parts.iter().all(|(part, _)| *part != name) {
            folder.remove_file(&entry.path, None)?;
        }
    }
    parts.iter().try_for_each(|(name, text)| write(folder, name, text.as_bytes()))
}

/// Checks whether a name ends like a part, for instance `2of3.txt`: a user's own file may begin like a part.
fn is_part_number(end: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = end.strip_suffix(".txt").and_then(|numbers| numbers.split_once("of"));
    numbers.is_some_and(|(number, count)| is_number(number) && is_number(count))
}

/// Removes the temporary files of a process that was killed in [`write`].
pub(crate) fn clear_leftovers(folder: &FileRoot) {
    // Projections are never exchanged with files of other programs, so every file with such a name is a leftover. The next start
    // tries to remove the rest.
    let _ = folder.sweep_leftovers(&RelPath::root(), |_| true);
}

/// Reads a projection; `None` if it is missing.
pub(crate) fn read(folder: &FileRoot, name: &str, limit_bytes: u64) -> Result<Option<Vec<u8>>, FsError> {
    match folder.open_file(&RelPath::parse(name)?).and_then(|file| file.read_to_end(limit_bytes)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FsError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps a projection under another name with `word` in it.
pub(crate) fn keep_copy(folder: &FileRoot, name: &str, word: &str) -> Result<RelPath, FsError> {
    rename_with_suffix(folder, &RelPath::parse(name)?, word)
}
