//! Syncing contents before they are adopted.

use rel_path::RelPath;
use rustix::fs::{fsync, syncfs};
use rustix::io::Errno;

use crate::adoption::same_content::open_own;
use crate::error::LayerError;
use crate::handle::{self, FILE_READ, FOLDER, Kind};
use crate::layer::Layer;
use crate::scan::change::{LayerChange, Side};
use crate::tree;

/// For a tree with more entries, syncing the whole file system is faster than syncing each file.
const SINGLY: u64 = 200;

impl Layer {
    /// Syncs the contents that these changes would put into the workspace. The layer is mounted without
    /// syncing, so without this call a power failure may lose them. Changes that are already adopted are
    /// skipped.
    ///
    /// # Errors
    ///
    /// The first content that cannot be synced.
    pub fn sync<'c>(&self, changes: impl IntoIterator<Item = &'c LayerChange>) -> Result<(), LayerError> {
        for change in changes {
            let at = |errno| LayerError::at(&change.path, errno);
            match (&change.after, change.tree) {
                (Some(Side::File { .. }), _) => self.sync_file(&change.path).map_err(at)?,
                (Some(Side::Folder { .. }), Some(size)) if size.entries > SINGLY => {
                    // `syncfs` covers every later change as well, so the loop ends here.
                    return syncfs(&self.folder).map_err(at);
                }
                (Some(Side::Folder { .. }), Some(_)) => self.sync_tree(&change.path).map_err(at)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn sync_file(&self, path: &RelPath) -> Result<(), Errno> {
        let (folder, name) = self.upper_entry(path)?;
        match handle::stat_at(&folder, name)? {
            Some(entry) if entry.kind == Kind::File => fsync(open_own(&folder, name, entry.mode)?),
            _ => Ok(()),
        }
    }

    fn sync_tree(&self, path: &RelPath) -> Result<(), Errno> {
        let (folder, name) = self.upper_entry(path)?;
        let Some(entry) = handle::stat_at(&folder, name)? else { return Ok(()) };
        tree::visit(&folder, name, &entry, &mut |folder, name, entry| match entry.kind {
            Kind::File => match handle::open_at(folder, name, FILE_READ) {
                // A file that this user cannot open is synced with its file system.
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
