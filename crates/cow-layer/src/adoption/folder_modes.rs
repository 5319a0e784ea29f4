//! The permissions of folders, which are set last: a closed folder would refuse its remaining children.

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use sandbox_fs::FsError;

use crate::adoption::adopt::Adopted;
use crate::error::AdoptError;
use crate::handle::{self, FOLDER, Kind};
use crate::layer::Layer;
use crate::rights::SET_ID_BITS;
use crate::scan::change::{LayerChange, Side};

impl Layer {
    /// Sets the permissions that every folder among these adopted changes had in the layer. Call it after all
    /// adoptions; repeating it is safe.
    ///
    /// A folder keeps its permissions if another program changed them since it was adopted.
    ///
    /// # Errors
    ///
    /// The first folder whose permissions cannot be set; the others are set all the same.
    pub fn finish_folders<'c>(
        &self,
        adopted: impl IntoIterator<Item = &'c LayerChange>,
    ) -> Result<(), AdoptError> {
        let mut wanted: Vec<(rel_path::RelPath, u32)> = Vec::new();
        for change in adopted {
            if let Some(Side::Folder { mode }) = change.after {
                wanted.push((change.path.clone(), mode));
            }
            if let (Some(mode), Some(parent)) = (change.closed_parent, change.path.parent()) {
                wanted.push((parent, mode));
            }
        }
        // Deeper folders come first: a closed folder cannot be traversed.
        wanted.sort_by(|one, other| other.0.as_bytes().cmp(one.0.as_bytes()));
        wanted.dedup();
        let mut first_error = Ok(());
        for (path, mode) in wanted {
            let finished = match self.workspace.subfolder(&path, sandbox_fs::FsPolicy::private()) {
                Ok(folder) => {
                    set_final_mode(folder.handle(), mode).map_err(|errno| AdoptError::at(&path, errno))
                }
                Err(FsError::RootGone { replaced }) => {
                    return Err(AdoptError::Workspace(FsError::RootGone { replaced }));
                }
                // Another program removed or replaced it, so its permissions are not ours to set.
                Err(
                    FsError::NotFound { .. }
                    | FsError::ParentMissing { .. }
                    | FsError::NotAFolder { .. }
                    | FsError::IsLink { .. },
                ) => Ok(()),
                Err(error) => Err(AdoptError::Workspace(error)),
            };
            first_error = first_error.and(finished);
        }
        first_error
    }

    pub(crate) fn adopt_root_mode(&self, change: &LayerChange) -> Result<Adopted, AdoptError> {
        let at = |errno| AdoptError::at(&change.path, errno);
        let (Some(Side::Folder { mode: before }), Some(Side::Folder { mode: after })) =
            (&change.before, &change.after)
        else {
            return Err(AdoptError::NotInLayer { path: change.path.clone() });
        };
        let after = &(after & !(SET_ID_BITS & !before));
        let folder = handle::open_at(self.workspace.handle(), b".", FOLDER).map_err(at)?;
        let now = handle::stat(&folder).map_err(at)?.mode;
        if now == *after {
            return Ok(Adopted::Already);
        }
        if now != *before && now != after | 0o700 {
            return Err(AdoptError::Changed { path: change.path.clone() });
        }
        fchmod(folder, Mode::from_raw_mode(after | 0o700)).map_err(at)?;
        Ok(Adopted::Now)
    }
}

fn set_final_mode(folder: std::os::fd::BorrowedFd<'_>, mode: u32) -> Result<(), Errno> {
    let current = handle::stat(folder)?;
    // The folder was adopted without the bits that it may not have; they are not added here either.
    let mode = mode & !(SET_ID_BITS & !current.mode);
    if current.kind != Kind::Folder || current.mode == mode || current.mode != mode | 0o700 {
        return Ok(());
    }
    fchmod(handle::open_at(folder, b".", FOLDER)?, Mode::from_raw_mode(mode))
}
