//! Adopting one change, so that the path is in one of its two states at every moment.
//!
//! The entries themselves tell the two apart: a rename keeps the inode, so an entry is recognised under any
//! name. That is why every adoption can be repeated, after a crash too.

use sandbox_fs::ContentHash;

use crate::adoption::Adoption;
use crate::error::AdoptError;
use crate::layer::Layer;
use crate::scan::change::{LayerChange, Side};

/// The result of a successful adoption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopted {
    /// It was adopted by this call.
    Now,
    /// It had been adopted before.
    Already,
}

impl Layer {
    /// Adopts one change into the workspace. Repeating it is safe, also in another process after a crash.
    ///
    /// Nothing is overwritten and nothing synced: names are exchanged, or renamed onto a free name, and then
    /// the displaced entry is checked. If it is not the one that the scan recorded, it goes back. A write by
    /// a program that has the old file open cannot be detected at that moment; it goes to the layer's copy.
    /// The displaced entry stays in the layer, and [`Layer::open_before`] opens it.
    ///
    /// A folder is first made writable for its owner, whatever its final permissions, until
    /// [`Layer::finish_folders`]. Rights that the user has not granted, as
    /// [`LayerChanges::left_out`](crate::LayerChanges::left_out) lists them, are dropped, even if a sealed
    /// list contains them.
    ///
    /// # Errors
    ///
    /// Each kind of [`AdoptError`]; the path is then unchanged, or as another program left it.
    pub fn adopt(&self, change: &LayerChange) -> Result<Adopted, AdoptError> {
        if change.saved_meanwhile {
            return Err(AdoptError::Changed { path: change.path.clone() });
        }
        if change.is_shared {
            return Err(AdoptError::Shared { path: change.path.clone() });
        }
        self.workspace.check_alive().map_err(AdoptError::Workspace)?;
        if change.path.is_root() {
            return self.adopt_root_mode(change);
        }
        let adoption = match Adoption::new(self, change) {
            // Without its folder the path does not exist, which is the goal of a removal.
            Err(AdoptError::ParentMissing { .. } | AdoptError::Changed { .. }) if change.after.is_none() => {
                return Ok(Adopted::Already);
            }
            other => other?,
        };
        let was_folder = change.before.as_ref().is_some_and(Side::is_folder);
        match (&change.after, &change.before) {
            (None, None) => Ok(Adopted::Already),
            (None, Some(Side::Folder { .. })) if change.tree.is_none() => adoption.remove_folder(),
            (None, Some(_)) => adoption.take_out(),
            (Some(Side::Folder { mode }), None) if change.tree.is_none() => adoption.make_folder(*mode),
            (Some(Side::Folder { mode }), Some(_)) if change.tree.is_none() && was_folder => {
                adoption.change_mode(*mode)
            }
            (Some(Side::Folder { mode }), Some(_)) if change.tree.is_none() => {
                adoption.replace_by_folder(*mode)
            }
            (Some(_), None) => adoption.put_new(),
            (Some(_), Some(_)) => adoption.put_instead(),
        }
    }

    /// Returns the name under which the layer keeps the entry that it moved out of the workspace at this
    /// path.
    pub(crate) fn taken_name(change: &LayerChange) -> Vec<u8> {
        ContentHash::of(change.path.as_bytes()).to_string().into_bytes()
    }
}
