//! Moving a file to a free name, within one root or between two.

use rel_path::RelPath;
use rustix::io::Errno;

use crate::change::dir_entry::rename_new;
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
        rename_new((&source.folder, &source.name), (&target.folder, &target.name)).map_err(|errno| {
            match errno {
                Errno::NOENT => FsError::NotFound { path: source.path.clone() },
                Errno::XDEV => FsError::CrossDevice { path: source.path.clone() },
                other => target.error(other),
            }
        })?;
        Ok(target.path)
    }
}
