//! Moving entries that the command removed out of the workspace.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::Adoption;
use crate::adoption::adopt::Adopted;
use crate::adoption::exchange::twice;
use crate::error::AdoptError;
use crate::handle::{self, Kind};
use crate::layer::Layer;

impl Adoption<'_> {
    pub(crate) fn remove_folder(&self) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        match self.current()? {
            None => return Ok(Adopted::Already),
            Some(current) if current.kind == Kind::Folder && current.inode == before.inode => {}
            Some(_) => return Err(self.changed()),
        }
        match handle::remove_folder_at(&self.folder, self.name) {
            Ok(()) => Ok(Adopted::Now),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err(self.not_empty()),
            Err(Errno::NOENT) => Ok(Adopted::Already),
            Err(other) => Err(self.error(other)),
        }
    }

    /// Moves an entry that the command removed out of the workspace and keeps it in the layer.
    pub(crate) fn take_out(&self) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let at = |errno| self.error(errno);
        let name = Layer::taken_name(self.change);
        let location = (self.layer.taken.as_fd(), name.as_slice());
        let taken = handle::stat_at(location.0, location.1).map_err(at)?;
        // To the end: a folder without write permission could not be moved back.
        let mut _widened = None;
        let done = match (self.current()?, &taken) {
            (None, None) => return Ok(Adopted::Already),
            (_, Some(_)) => Adopted::Already,
            (Some(current), None) if self.is_untouched(&current, &before) => {
                _widened = self.widen_theirs(&before)?;
                handle::rename_new(self.here(), location).map_err(|errno| match errno {
                    Errno::NOENT => self.changed(),
                    other => self.error(other),
                })?;
                Adopted::Now
            }
            (Some(_), None) => return Err(self.changed()),
        };
        let is_expected = twice(|| {
            let displaced = handle::stat_at(location.0, location.1)?;
            displaced.map(|displaced| self.is_expected(location, &before, &displaced)).transpose()
        });
        match is_expected {
            Ok(Some(true)) => return Ok(done),
            Ok(Some(false)) => {}
            Ok(None) => return Err(self.not_in_layer()),
            // Moved before a crash: the entry stays where it is, for another try.
            Err(errno) if done == Adopted::Already => return Err(at(errno)),
            // A failure leaves the entry where it was.
            Err(errno) => {
                let is_back = handle::rename_new(location, self.here()).is_ok();
                return Err(if is_back { at(errno) } else { self.left_in_layer() });
            }
        }
        match handle::rename_new(location, self.here()) {
            Ok(()) => Err(self.changed()),
            // The name is in use again, so its author has replaced the version that was moved out.
            Err(Errno::EXIST) => Err(self.changed()),
            Err(_) => Err(self.left_in_layer()),
        }
    }
}
