//! Putting files, links and whole trees of the layer into the workspace.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::Adoption;
use crate::adoption::adopt::Adopted;
use crate::adoption::exchange;
use crate::error::AdoptError;
use crate::handle::{self, Entry};

impl Adoption<'_> {
    /// Puts a file, link or tree at a free path.
    pub(crate) fn put_new(&self) -> Result<Adopted, AdoptError> {
        let ours = self.change.after_stamp.ok_or_else(|| self.not_in_layer())?;
        match self.current()? {
            Some(current) if current.inode == ours.inode => return Ok(Adopted::Already),
            Some(_) => return Err(self.changed()),
            None => {}
        }
        let (upper, name) = self.upper_entry()?;
        let entry = self.own_entry((upper.as_fd(), name), &ours)?;
        // Excess rights are removed before the rename, so the entry never has them in the workspace.
        let _widened = self.prepare((upper.as_fd(), name), &entry)?;
        handle::rename_new((&upper, name), self.here()).map_err(|errno| match errno {
            Errno::EXIST => self.changed(),
            other => self.error(other),
        })?;
        Ok(Adopted::Now)
    }

    /// Replaces the workspace's entry by a file, link or tree.
    pub(crate) fn put_instead(&self) -> Result<Adopted, AdoptError> {
        let (ours, before) = (self.change.after_stamp.ok_or_else(|| self.not_in_layer())?, self.before()?);
        let (upper, name) = self.upper_entry()?;
        let location = (upper.as_fd(), name);
        let is_expected = |displaced: &Entry| self.is_expected(location, &before, displaced);
        match self.current()? {
            // A crash may have happened between the exchange and the check.
            Some(current) if current.inode == ours.inode => {
                let verified = exchange::verify(location, self.here(), ours.inode, &is_expected);
                return self.outcome(verified.map_err(|errno| self.error(errno))?, Adopted::Already);
            }
            Some(current) if self.is_untouched(&current, &before) => self.check_empty()?,
            _ => return Err(self.changed()),
        }
        let entry = self.own_entry(location, &ours)?;
        let _ours_widened = self.prepare(location, &entry)?;
        let _theirs_widened = self.widen_theirs(&before)?;
        let _held = handle::hold_at(location.0, location.1).map_err(|errno| self.error(errno))?;
        self.exchange(location)?;
        let verified = exchange::verify_or_reverse(location, self.here(), ours.inode, &is_expected);
        self.outcome(verified.map_err(|errno| self.error(errno))?, Adopted::Now)
    }
}
