//! Moving a file to a free name, within one root or between two.

use rel_path::RelPath;
use rustix::io::Errno;

use crate::change::dir_entry::DirEntry;
use crate::change::new_name::{
    lacks_links, lacks_rename_flags, link, rename_away, rename_checked, rename_new, rename_noreplace,
};
use crate::change::temp_name::new_temp_name;
use crate::error::FsError;
use crate::metadata::FileKind;
use crate::root::FileRoot;

impl FileRoot {
    /// Moves the regular file `from` to the free name `to` of `to_root`, which may be this root. Returns the new
    /// canonical path.
    ///
    /// # Errors
    ///
    /// [`FsError::AlreadyExists`] if the name is taken, [`FsError::CrossDevice`] between file systems, and those of
    /// every change at both ends.
    pub fn rename_noreplace(
        &self,
        from: &RelPath,
        to_root: &FileRoot,
        to: &RelPath,
    ) -> Result<RelPath, FsError> {
        let source = self.dir_entry(from)?;
        let metadata = source.stat()?.ok_or_else(|| FsError::NotFound { path: source.path.clone() })?;
        match metadata.kind {
            FileKind::File => self.check_changeable(&source, &metadata)?,
            FileKind::Link => return Err(FsError::IsLink { path: source.path, target: None }),
            kind => return Err(FsError::NotAFile { path: source.path, kind }),
        }
        let target = to_root.dir_entry(to)?;
        to_root.check_new_name(&target.path, &target.name)?;
        // As late as possible: a folder that was moved out of its root since it was opened must not be used.
        self.check_folder(&source)?;
        to_root.check_folder(&target)?;
        move_file(&source, &target)?;
        Ok(target.path)
    }
}

fn move_file(source: &DirEntry, target: &DirEntry) -> Result<(), FsError> {
    let error = |errno| match errno {
        Errno::NOENT => FsError::NotFound { path: source.path.clone() },
        Errno::XDEV => FsError::CrossDevice { path: source.path.clone() },
        other => target.error(other),
    };
    let (from, to) = ((&source.folder, &*source.name), (&target.folder, &*target.name));
    match rename_noreplace(from, to) {
        Err(errno) if lacks_rename_flags(errno) => {}
        result => return result.map_err(error),
    }
    match link(from, to) {
        Ok(()) => remove_linked(source, target),
        Err(errno) if lacks_links(errno) => rename_checked(from, to).map_err(error),
        Err(other) => Err(error(other)),
    }
}

/// Removes the old name of a file that has the new name as well.
///
/// The old name is taken away first: another program may have saved a newer file under it, which stays.
fn remove_linked(source: &DirEntry, target: &DirEntry) -> Result<(), FsError> {
    let temp_name = new_temp_name();
    match rename_away(&source.folder, &source.name, &temp_name) {
        // Another program has moved or removed the old name, which is what was wanted.
        Err(Errno::NOENT) => return Ok(()),
        result => result.map_err(|errno| source.error(errno))?,
    }
    let is_moved = match (source.stat_name(&temp_name)?, target.stat()?) {
        (Some(old), Some(new)) => old.is_same_object(&new),
        _ => false,
    };
    if is_moved {
        // If this fails, a later sweep removes the name.
        let _ = source.remove_temporary(&temp_name);
        return Ok(());
    }
    match rename_new((&source.folder, &temp_name), (&source.folder, &source.name)) {
        Ok(_) => Ok(()),
        Err(_) => Err(source.keep_under_new_name(&temp_name)),
    }
}
