//! Single folders, whose contents are changes of their own.

use std::os::fd::AsFd;

use rustix::fs::{Mode, mkdirat};
use rustix::io::Errno;

use super::Adoption;
use crate::access::OWN_FOLDER;
use crate::adoption::adopt::Adopted;
use crate::adoption::exchange::{self, At};
use crate::error::AdoptError;
use crate::handle::{self, Entry, FOLDER, FOLDER_PATH, Kind};
use crate::layer::Layer;
use crate::rights::SET_ID_BITS;
use crate::xattr;

impl Adoption<'_> {
    /// An empty folder where something else was. What is in it are changes of their own.
    pub(crate) fn replace_by_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let name = Layer::taken_name(self.change);
        let place = (self.layer.taken.as_fd(), name.as_slice());
        let at = |errno| self.error(errno);
        let is_expected = |came_out: &Entry| self.is_expected(place, &before, came_out);
        let taken = handle::stat_at(place.0, place.1).map_err(at)?;
        match (self.found()?, taken) {
            (Some(found), Some(taken)) if found.kind == Kind::Folder && taken.kind != Kind::Folder => {
                let looked = exchange::look(place, self.here(), found.inode, &is_expected).map_err(at)?;
                return self.outcome(looked, Adopted::Already);
            }
            (Some(found), _) if self.is_untouched(&found, &before) => {}
            _ => return Err(self.changed()),
        }
        let fresh = self.prepare_folder(place, mode)?;
        self.exchange(place)?;
        let looked = exchange::look(place, self.here(), fresh.inode, &is_expected).map_err(at)?;
        self.outcome(looked, Adopted::Now)
    }

    /// A folder where nothing was. It comes with its permissions, in one step.
    pub(crate) fn make_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
        match self.found()? {
            // Whoever made it, it is what the command made too.
            Some(found) if found.kind == Kind::Folder => return Ok(Adopted::Already),
            Some(_) => return Err(self.changed()),
            None => {}
        }
        let name = Layer::taken_name(self.change);
        let place = (self.layer.taken.as_fd(), name.as_slice());
        self.prepare_folder(place, mode)?;
        match handle::rename_new(place, self.here()) {
            Ok(()) => Ok(Adopted::Now),
            Err(Errno::EXIST) => match self.found()? {
                Some(found) if found.kind == Kind::Folder => Ok(Adopted::Already),
                _ => Err(self.changed()),
            },
            Err(other) => Err(self.error(other)),
        }
    }

    /// Makes an empty folder in the layer like the one that the command made: its owner, its access lists, and its
    /// permissions, wide enough for its owner to work in. One that a crash has left is taken.
    fn prepare_folder(&self, place: At<'_>, mode: u32) -> Result<Entry, AdoptError> {
        let at = |errno| self.error(errno);
        let (upper, name) = self.upper_place()?;
        let model = handle::stat_at(&upper, name).map_err(at)?;
        let model = model.filter(|model| model.kind == Kind::Folder).ok_or_else(|| self.not_in_layer())?;
        let rights = self.rights()?;
        let (user, group) = rights.owner(&model).unwrap_or((model.user, model.group));
        let model = Entry { user, group, ..model };
        let mode = rights.mode(Kind::Folder, mode);
        let model_folder = handle::open_at(&upper, name, FOLDER_PATH).map_err(at)?;
        match mkdirat(place.0, place.1, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(other) => return Err(at(other)),
        }
        let folder = handle::open_at(place.0, place.1, FOLDER).map_err(at)?;
        handle::give_like(&folder, &model).map_err(at)?;
        xattr::copy_access_lists(&model_folder, &folder).map_err(at)?;
        handle::set_mode(&folder, mode | OWN_FOLDER).map_err(at)?;
        handle::stat(&folder).map_err(at)
    }

    pub(crate) fn change_mode(&self, mode: u32) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let folder = handle::open_at(&self.folder, self.name, FOLDER_PATH).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => self.changed(),
            other => self.error(other),
        })?;
        let found = handle::stat(&folder).map_err(|errno| self.error(errno))?;
        let mode = mode & !(SET_ID_BITS & !before.mode);
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
