//! Links themselves: what they say, and putting one back.

use rel_path::RelPath;
use rustix::io::Errno;

use crate::error::FsError;
use crate::handle::{self, ANY_PATH};
use crate::metadata::FileKind;
use crate::resolve::Last;
use crate::root::FileRoot;

impl FileRoot {
    /// What the link at `path` says, wherever that leads; `None` if there is something else.
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

    /// Puts back a link that was there before, for undoing its removal. Answers with the canonical path.
    ///
    /// Where the link leads is not looked at: it is not followed here, and reading refuses what leads out. No request
    /// of a model may reach this.
    ///
    /// # Errors
    ///
    /// [`FsError::AlreadyExists`], and those of every change.
    pub fn restore_link(&self, path: &RelPath, target: &[u8]) -> Result<RelPath, FsError> {
        let place = self.place(path)?;
        self.check_new_name(&place.path, &place.name)?;
        rustix::fs::symlinkat(target, &place.folder, &*place.name).map_err(|errno| match errno {
            Errno::NOENT if target.is_empty() => FsError::from_errno(Errno::INVAL, &place.path),
            other => place.error(other),
        })?;
        Ok(place.path)
    }
}
