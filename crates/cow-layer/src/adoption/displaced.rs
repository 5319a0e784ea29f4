//! Returning versions of other programs that an adoption left in the layer.

use std::os::fd::AsFd;

use rel_path::{MAX_COMPONENT_BYTES, RelPath};
use rustix::io::Errno;

use super::Adoption;
use crate::access::Widened;
use crate::adoption::exchange::At;
use crate::error::AdoptError;
use crate::handle::{self, FOLDER, FOLDER_PATH, Kind, rename_new};
use crate::layer::Layer;
use crate::scan::change::LayerChange;

/// The ending of the name of a returned version, before the number of a further one.
const ENDING: &str = ".saved-meanwhile";

/// The number of names that are tried.
const MOST_NAMES: u32 = 100;

impl Layer {
    /// Moves the version of another program that an adoption left in the layer, as [`AdoptError::LeftInLayer`] says, into the
    /// workspace: next to the path, as `NAME.saved-meanwhile`, or `NAME.saved-meanwhile-2` and so on where that name is in use. It is
    /// moved whole, with its permissions, of whatever kind and size it is.
    ///
    /// Returns the path that it has now; `None` if the layer holds no such version.
    ///
    /// # Errors
    ///
    /// [`AdoptError`], if the workspace's folder cannot be reached or the operating system refuses the move. The version stays in the
    /// layer then.
    pub fn return_displaced(&self, change: &LayerChange) -> Result<Option<RelPath>, AdoptError> {
        let adoption = Adoption::new(self, change)?;
        if change.moves_out() {
            let name = Layer::taken_name(change);
            return adoption.return_from((self.taken.as_fd(), &name));
        }
        match self.upper_entry(&change.path) {
            Ok((folder, name)) => adoption.return_from((folder.as_fd(), name)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(other) => Err(adoption.error(other)),
        }
    }
}

impl Adoption<'_> {
    /// Moves the entry at a location of the layer next to the path, unless it is the command's.
    fn return_from(&self, location: At<'_>) -> Result<Option<RelPath>, AdoptError> {
        let at = |errno| self.error(errno);
        let Some(entry) = handle::stat_at(location.0, location.1).map_err(at)? else { return Ok(None) };
        if self.change.after_stamp.is_some_and(|ours| ours.inode == entry.inode) {
            return Ok(None);
        }
        // The empty folder that was to replace the entry.
        if self.change.after.is_some() && entry.kind == Kind::Folder && self.change.moves_out() {
            let folder = handle::open_at(location.0, location.1, FOLDER).map_err(at)?;
            if handle::names(folder).map_err(at)?.is_empty() {
                return Ok(None);
            }
        }
        let _widened = if entry.kind == Kind::Folder {
            let folder = handle::open_at(location.0, location.1, FOLDER_PATH).map_err(at)?;
            Widened::open(folder, entry.mode).map_err(at)?
        } else {
            None
        };
        for number in 1..=MOST_NAMES {
            let name = returned_name(self.name, number);
            match rename_new(location, (self.folder.as_fd(), name.as_slice())) {
                Ok(()) => return self.sibling(&name).map(Some),
                Err(Errno::EXIST) => {}
                Err(other) => return Err(at(other)),
            }
        }
        Err(at(Errno::EXIST))
    }

    fn sibling(&self, name: &[u8]) -> Result<RelPath, AdoptError> {
        let folder = self.change.path.parent();
        folder.and_then(|folder| folder.child(name).ok()).ok_or_else(|| self.not_in_layer())
    }
}

/// Returns the name of a returned version: that of the path, cut where the whole would be too long, with an ending.
fn returned_name(name: &[u8], number: u32) -> Vec<u8> {
    let ending = if number == 1 { ENDING.to_owned() } else { format!("{ENDING}-{number}") };
    let mut kept = name.len().min(MAX_COMPONENT_BYTES - ending.len());
    // Not within a character.
    while kept > 0 && name.get(kept).is_some_and(|byte| byte & 0xc0 == 0x80) {
        kept -= 1;
    }
    [&name[..kept], ending.as_bytes()].concat()
}
