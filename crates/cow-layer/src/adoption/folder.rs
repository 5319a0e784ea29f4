//! Single folders, whose children are changes of their own.

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
    /// Replaces another entry by an empty folder, whose children are changes of their own.
    pub(crate) fn replace_by_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let name = Layer::taken_name(self.change);
        let location = (self.layer.taken.as_fd(), name.as_slice());
        let at = |errno| self.error(errno);
        let is_expected = |displaced: &Entry| self.is_expected(location, &before, displaced);
        let taken = handle::stat_at(location.0, location.1).map_err(at)?;
        match (self.current()?, taken) {
            (Some(current), Some(taken)) if current.kind == Kind::Folder && taken.kind != Kind::Folder => {
                let verified =
                    exchange::verify(location, self.here(), current.inode, &is_expected).map_err(at)?;
                return self.outcome(verified, Adopted::Already);
            }
            (Some(current), _) if self.is_untouched(&current, &before) => {}
            _ => return Err(self.changed()),
        }
        let fresh = self.prepare_folder(location, mode)?;
        let _held = handle::hold_at(location.0, location.1).map_err(at)?;
        self.exchange(location)?;
        let verified =
            exchange::verify_or_reverse(location, self.here(), fresh.inode, &is_expected).map_err(at)?;
        self.outcome(verified, Adopted::Now)
    }

    /// Makes a folder at a free path. It appears with its permissions, in one step.
    pub(crate) fn make_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
        match self.current()? {
            // Another program made the folder that the command made as well: there is no conflict.
            Some(current) if current.kind == Kind::Folder => return Ok(Adopted::Already),
            Some(_) => return Err(self.changed()),
            None => {}
        }
        let name = Layer::taken_name(self.change);
        let location = (self.layer.taken.as_fd(), name.as_slice());
        self.prepare_folder(location, mode)?;
        match handle::rename_new(location, self.here()) {
            Ok(()) => Ok(Adopted::Now),
            Err(Errno::EXIST) => match self.current()? {
                Some(current) if current.kind == Kind::Folder => Ok(Adopted::Already),
                _ => Err(self.changed()),
            },
            Err(other) => Err(self.error(other)),
        }
    }

    /// Makes an empty folder in the layer, modelled on the command's: its owner, its access lists, and its
    /// permissions, widened for its owner. A folder left over by a crash is reused.
    fn prepare_folder(&self, location: At<'_>, mode: u32) -> Result<Entry, AdoptError> {
        let at = |errno| self.error(errno);
        let (upper, name) = self.upper_entry()?;
        let model = handle::stat_at(&upper, name).map_err(at)?;
        let model = model.filter(|model| model.kind == Kind::Folder).ok_or_else(|| self.not_in_layer())?;
        let rights = self.rights()?;
        let (user, group) = rights.owner(&model).unwrap_or((model.user, model.group));
        let model = Entry { user, group, ..model };
        let mode = rights.mode(Kind::Folder, mode);
        let model_folder = handle::open_at(&upper, name, FOLDER_PATH).map_err(at)?;
        match mkdirat(location.0, location.1, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(other) => return Err(at(other)),
        }
        let folder = handle::open_at(location.0, location.1, FOLDER).map_err(at)?;
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
        let current = handle::stat(&folder).map_err(|errno| self.error(errno))?;
        let mode = mode & !(SET_ID_BITS & !before.mode);
        let wide = mode | OWN_FOLDER;
        match current.mode {
            _ if current.inode != before.inode => Err(self.changed()),
            now if now == mode || now == wide && now != before.mode => Ok(Adopted::Already),
            now if now == before.mode => {
                handle::set_mode(&folder, wide).map_err(|errno| self.error(errno))?;
                Ok(Adopted::Now)
            }
            _ => Err(self.changed()),
        }
    }
}
