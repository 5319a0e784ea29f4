//! The permissions of folders, which come last: a closed folder would refuse what is still to be put in it.

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
    /// Gives every folder among these changes, which were adopted, the permissions that it had in the layer. Comes
    /// after all of them; repeating it is safe.
    ///
    /// A folder whose permissions somebody changed since it was adopted keeps them.
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
        // What is deeper comes first: a closed folder may not even be looked through.
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
                // Somebody removed or replaced it; then it is theirs.
                Err(_) => Ok(()),
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
    let found = handle::stat(folder)?;
    // It was adopted with those of these bits that it may have.
    let mode = mode & !(SET_ID_BITS & !found.mode);
    if found.kind != Kind::Folder || found.mode == mode || found.mode != mode | 0o700 {
        return Ok(());
    }
    fchmod(handle::open_at(folder, b".", FOLDER)?, Mode::from_raw_mode(mode))
}
