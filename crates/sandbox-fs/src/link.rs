//! Reading and restoring symbolic links themselves.

use rel_path::RelPath;
use rustix::io::Errno;

use crate::error::FsError;
use crate::handle::{self, ANY_PATH};
use crate::metadata::FileKind;
use crate::resolve::Last;
use crate::root::FileRoot;

impl FileRoot {
    /// Returns the target text of the link at `path`, unresolved; `None` if `path` is not a link.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], and those of resolving the folders on the way.
    pub fn link_target(&self, path: &RelPath) -> Result<Option<Vec<u8>>, FsError> {
        self.check_alive()?;
        let (link, canonical) = self.resolver.open(path, ANY_PATH, Last::Keep, self.policy.links)?;
        let error = |errno| FsError::from_errno(errno, &canonical);
        if handle::stat(&link).map_err(error)?.kind != FileKind::Link {
            return Ok(None);
        }
        handle::link_target(&link).map(Some).map_err(error)
    }

    /// Restores a removed link, for undo. Returns the canonical path.
    ///
    /// The target is not checked: it is not followed here, and reading refuses a link that leads out. No request
    /// of a model may reach this function.
    ///
    /// # Errors
    ///
    /// [`FsError::AlreadyExists`], and those of every change.
    pub fn restore_link(&self, path: &RelPath, target: &[u8]) -> Result<RelPath, FsError> {
        // The target is not checked: a link out of the root is restored verbatim, and never followed.
        let entry = self.dir_entry(path)?;
        self.check_new_name(&entry.path, &entry.name)?;
        rustix::fs::symlinkat(target, &entry.folder, &*entry.name).map_err(|errno| match errno {
            Errno::NOENT if target.is_empty() => FsError::from_errno(Errno::INVAL, &entry.path),
            other => entry.error(other),
        })?;
        Ok(entry.path)
    }
}
