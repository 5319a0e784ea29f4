//! Single folders, whose contents are changes of their own.

use std::os::fd::AsFd;

use rustix::fs::{Mode, mkdirat};
use rustix::io::Errno;

use super::Adoption;
use crate::access::OWN_FOLDER;
use crate::adopt::Adopted;
use crate::error::AdoptError;
use crate::exchange;
use crate::handle::{self, Entry, FOLDER, Kind};
use crate::layer::Layer;

impl Adoption<'_> {
    /// An empty folder where something else was. What is in it are changes of their own.
    pub(crate) fn replace_by_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let name = Layer::taken_name(self.change);
        let place = (self.layer.taken.as_fd(), name.as_slice());
        let at = |errno| self.error(errno);
        let is_expected = |came_out: &Entry| self.is_expected(place, &before, came_out);
        let taken = handle::stat_at(place.0, place.1).map_err(at)?;
        let fresh = match (self.found()?, taken) {
            (Some(found), Some(taken)) if found.kind == Kind::Folder && taken.kind != Kind::Folder => {
                let looked = exchange::look(place, self.here(), found.inode, &is_expected).map_err(at)?;
                return self.outcome(looked, Adopted::Already);
            }
            (Some(found), fresh) if self.is_untouched(&found, &before) => fresh,
            _ => return Err(self.changed()),
        };
        if fresh.is_none() {
            mkdirat(place.0, place.1, Mode::from_raw_mode(0o700)).map_err(at)?;
        }
        handle::set_mode_at(place.0, place.1, mode | OWN_FOLDER).map_err(at)?;
        let fresh = handle::stat_at(place.0, place.1).map_err(at)?.ok_or_else(|| self.not_in_layer())?;
        self.exchange(place)?;
        let looked = exchange::look(place, self.here(), fresh.inode, &is_expected).map_err(at)?;
        self.outcome(looked, Adopted::Now)
    }

    pub(crate) fn make_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
        match self.found()? {
            // Whoever made it, it is what the command made too.
            Some(found) if found.kind == Kind::Folder => return Ok(Adopted::Already),
            Some(_) => return Err(self.changed()),
            None => {}
        }
        mkdirat(&self.folder, self.name, Mode::from_raw_mode(0o700)).map_err(|errno| self.error(errno))?;
        let made = handle::open_at(&self.folder, self.name, FOLDER).map_err(|errno| self.error(errno))?;
        handle::set_mode(made, mode | OWN_FOLDER).map_err(|errno| self.error(errno))?;
        Ok(Adopted::Now)
    }

    pub(crate) fn change_mode(&self, mode: u32) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let folder = handle::open_at(&self.folder, self.name, FOLDER).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => self.changed(),
            other => self.error(other),
        })?;
        let found = handle::stat(&folder).map_err(|errno| self.error(errno))?;
        let wide = mode | OWN_FOLDER;
        match found.mode {
            _ if found.inode != before.inode => Err(self.changed()),
            now if now == mode || now == wide && now != before.mode => Ok(Adopted::Already),
            now if now == before.mode => {
                handle::set_mode(&folder, wide).map_err(|errno| self.error(errno))?;
                Ok(Adopted::Now)
            }
            _ => Err(self.changed()),
        }
    }
}
