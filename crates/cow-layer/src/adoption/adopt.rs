//! Putting one change in its place, so that the path is in one of its two states at every moment.
//!
//! Which of the two is found out from the entries themselves: a rename keeps an inode, so an entry is known wherever
//! it is. That is why every adoption can be repeated, after a crash too.

use sandbox_fs::ContentHash;

use crate::adoption::Adoption;
use crate::error::AdoptError;
use crate::layer::Layer;
use crate::scan::change::{LayerChange, Side};

/// How a change came to be in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopted {
    /// It was put there now.
    Now,
    /// It was there already, from before.
    Already,
}

impl Layer {
    /// Puts one change in its place in the workspace. Repeating it is safe, also in another process after a crash.
    ///
    /// Nothing is overwritten and nothing synced: names are exchanged, or given where none is, and what comes out is
    /// looked at. If it is not what the workspace had when the layer was looked at, it goes back. A write by a program
    /// that has the old file open cannot be seen at that moment; it goes to the layer's copy. What comes out of the
    /// workspace stays in the layer, and [`Layer::open_before`] opens it.
    ///
    /// A folder is made for its owner to write in, whatever its permissions are to be, until
    /// [`Layer::finish_folders`]. Rights that the user has not given, as
    /// [`LayerChanges::left_out`](crate::LayerChanges::left_out) lists them, are left out, whatever the list says that is
    /// given back after a crash.
    ///
    /// # Errors
    ///
    /// Each kind of [`AdoptError`]; the path is then as it was, or as somebody else left it.
    pub fn adopt(&self, change: &LayerChange) -> Result<Adopted, AdoptError> {
        if change.saved_meanwhile {
            return Err(AdoptError::Changed { path: change.path.clone() });
        }
        self.workspace.check_alive().map_err(AdoptError::Workspace)?;
        if change.path.is_root() {
            return self.adopt_root_mode(change);
        }
        let adoption = match Adoption::new(self, change) {
            // A path without its folder is free, which is all that a removal wants.
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

    /// The name under which the layer keeps what it took out of the workspace at this path.
    pub(crate) fn taken_name(change: &LayerChange) -> Vec<u8> {
        ContentHash::of(change.path.as_bytes()).to_string().into_bytes()
    }
}
