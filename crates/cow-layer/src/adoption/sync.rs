//! Bringing what will be adopted to the disk.

use rel_path::RelPath;
use rustix::fs::{fsync, syncfs};
use rustix::io::Errno;

use crate::adoption::same_content::open_own;
use crate::error::LayerError;
use crate::handle::{self, FILE_READ, FOLDER, Kind};
use crate::layer::Layer;
use crate::scan::change::{LayerChange, Side};
use crate::tree;

/// A tree with more files is synced with everything else on its file system, which is then faster.
const SINGLY: u64 = 200;

impl Layer {
    /// Syncs the contents that these changes would put into the workspace. The layer is mounted without syncing, so
    /// nothing of it is safe from a power failure before. What was adopted already is left out.
    ///
    /// # Errors
    ///
    /// What cannot be synced.
    pub fn sync<'c>(&self, changes: impl IntoIterator<Item = &'c LayerChange>) -> Result<(), LayerError> {
        for change in changes {
            let at = |errno| LayerError::at(&change.path, errno);
            match (&change.after, change.tree) {
                (Some(Side::File { .. }), _) => self.sync_file(&change.path).map_err(at)?,
                (Some(Side::Folder { .. }), Some(size)) if size.entries > SINGLY => {
                    return syncfs(&self.folder).map_err(at);
                }
                (Some(Side::Folder { .. }), Some(_)) => self.sync_tree(&change.path).map_err(at)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn sync_file(&self, path: &RelPath) -> Result<(), Errno> {
        let (folder, name) = self.upper_place(path)?;
        match handle::stat_at(&folder, name)? {
            Some(found) if found.kind == Kind::File => fsync(open_own(&folder, name, found.mode)?),
            _ => Ok(()),
        }
    }

    fn sync_tree(&self, path: &RelPath) -> Result<(), Errno> {
        let (folder, name) = self.upper_place(path)?;
        let Some(found) = handle::stat_at(&folder, name)? else { return Ok(()) };
        tree::visit(&folder, name, &found, &mut |folder, name, entry| match entry.kind {
            Kind::File => match handle::open_at(folder, name, FILE_READ) {
                // Without the right to read it, it is synced with its file system.
                Err(Errno::ACCESS) => syncfs(&self.folder),
                file => fsync(file?),
            },
            Kind::Folder => match handle::open_at(folder, name, FOLDER) {
                Err(Errno::ACCESS) => syncfs(&self.folder),
                folder => fsync(folder?),
            },
            _ => Ok(()),
        })
    }
}
