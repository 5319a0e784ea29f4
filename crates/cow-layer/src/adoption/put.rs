//! Files, links and whole trees of the layer, put into the workspace.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::Adoption;
use crate::adoption::adopt::Adopted;
use crate::adoption::exchange;
use crate::error::AdoptError;
use crate::handle::{self, Entry};

impl Adoption<'_> {
    /// A file, link or tree where nothing was.
    pub(crate) fn put_new(&self) -> Result<Adopted, AdoptError> {
        let ours = self.change.after_stamp.ok_or_else(|| self.not_in_layer())?;
        match self.found()? {
            Some(found) if found.inode == ours.inode => return Ok(Adopted::Already),
            Some(_) => return Err(self.changed()),
            None => {}
        }
        let (upper, name) = self.upper_place()?;
        let entry = self.own_entry((upper.as_fd(), name), &ours)?;
        let _widened = self.prepare((upper.as_fd(), name), &entry)?;
        handle::rename_new((&upper, name), self.here()).map_err(|errno| match errno {
            Errno::EXIST => self.changed(),
            other => self.error(other),
        })?;
        Ok(Adopted::Now)
    }

    /// A file, link or tree where something else was.
    pub(crate) fn put_instead(&self) -> Result<Adopted, AdoptError> {
        let (ours, before) = (self.change.after_stamp.ok_or_else(|| self.not_in_layer())?, self.before()?);
        let (upper, name) = self.upper_place()?;
        let place = (upper.as_fd(), name);
        let is_expected = |came_out: &Entry| self.is_expected(place, &before, came_out);
        match self.found()? {
            // A crash may have come between the exchange and the look.
            Some(found) if found.inode == ours.inode => {
                let looked = exchange::look(place, self.here(), ours.inode, &is_expected);
                return self.outcome(looked.map_err(|errno| self.error(errno))?, Adopted::Already);
            }
            Some(found) if self.is_untouched(&found, &before) => self.check_empty()?,
            _ => return Err(self.changed()),
        }
        let entry = self.own_entry(place, &ours)?;
        let _ours_widened = self.prepare(place, &entry)?;
        let _theirs_widened = self.widen_theirs(&before)?;
        self.exchange(place)?;
        let looked = exchange::look(place, self.here(), ours.inode, &is_expected);
        self.outcome(looked.map_err(|errno| self.error(errno))?, Adopted::Now)
    }
}
