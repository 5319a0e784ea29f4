//! Putting one change in its place, so that the path is in one of its two states at every moment.
//!
//! Which of the two is found out from the entries themselves: a rename keeps an inode, so an entry is known wherever
//! it is. That is why every adoption can be repeated, after a crash too.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, fchmod, mkdirat};
use rustix::io::Errno;
use sandbox_fs::{ContentHash, FsError};

use crate::change::{LayerChange, Side, Stamp};
use crate::error::AdoptError;
use crate::exchange::{self, At, Exchanged};
use crate::handle::{self, Entry, FOLDER, Kind, is_root};
use crate::layer::Layer;
use crate::tree;

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
    /// [`Layer::finish_folders`]. The set-user and set-group bits that the command gave to a file are left out.
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
        let adoption = Adoption::new(self, change)?;
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

/// One change on its way: the workspace's folder, held open, and the name in it.
struct Adoption<'a> {
    layer: &'a Layer,
    change: &'a LayerChange,
    folder: OwnedFd,
    name: &'a [u8],
    /// What the folder gets back, if it was widened.
    closed: Option<u32>,
}

impl Drop for Adoption<'_> {
    fn drop(&mut self) {
        if let Some(mode) = self.closed {
            // If this fails, `finish_folders` tries again.
            let _ = fchmod(&self.folder, Mode::from_raw_mode(mode));
        }
    }
}

impl<'a> Adoption<'a> {
    fn new(layer: &'a Layer, change: &'a LayerChange) -> Result<Adoption<'a>, AdoptError> {
        let changed = || AdoptError::Changed { path: change.path.clone() };
        let (Some(parent), Some(name)) = (change.path.parent(), change.path.file_name()) else {
            return Err(changed());
        };
        let folder = layer.lower_folder(&parent).map_err(|error| match error {
            FsError::NotFound { path: folder } | FsError::ParentMissing { folder } => {
                AdoptError::ParentMissing { folder }
            }
            FsError::NotAFolder { .. } | FsError::IsLink { .. } => changed(),
            other => AdoptError::Workspace(other),
        })?;
        let mut closed = None;
        // The command opened the folder, changed what is in it, and closed it again; so does this.
        if let Some(mode) = change.closed_parent.filter(|_| !is_root()) {
            let found = handle::stat(&folder).map_err(|errno| AdoptError::at(&change.path, errno))?;
            if found.mode == mode && fchmod(&folder, Mode::from_raw_mode(mode | 0o700)).is_ok() {
                closed = Some(mode);
            }
        }
        Ok(Adoption { layer, change, folder, name, closed })
    }

    fn error(&self, errno: Errno) -> AdoptError {
        AdoptError::at(&self.change.path, errno)
    }

    fn changed(&self) -> AdoptError {
        AdoptError::Changed { path: self.change.path.clone() }
    }

    fn not_in_layer(&self) -> AdoptError {
        AdoptError::NotInLayer { path: self.change.path.clone() }
    }

    fn here(&self) -> At<'_> {
        (self.folder.as_fd(), self.name)
    }

    fn found(&self) -> Result<Option<Entry>, AdoptError> {
        handle::stat_at(&self.folder, self.name).map_err(|errno| self.error(errno))
    }

    fn before(&self) -> Result<Stamp, AdoptError> {
        self.change.before_stamp.ok_or_else(|| self.not_in_layer())
    }

    /// Whether the workspace's entry is what it was when the layer was looked at.
    fn is_untouched(&self, found: &Entry, before: &Stamp) -> bool {
        let is_renamed = before.is_renamed(found);
        // A folder changes with what is adopted in it, a file with several names with each of them.
        before.is(found) || is_renamed && (found.kind == Kind::Folder || found.links > 1)
    }

    /// Whether what came out of the workspace, and is at `place` now, is what it was when the layer was looked at.
    fn is_expected(&self, place: At<'_>, before: &Stamp, came_out: &Entry) -> Result<bool, Errno> {
        let was_folder = self.change.before.as_ref().is_some_and(Side::is_folder);
        if !before.is_renamed(came_out) || was_folder != (came_out.kind == Kind::Folder) {
            return Ok(false);
        }
        if !was_folder {
            return Ok(true);
        }
        if self.change.tree.is_some() {
            return Ok(!tree::has_changed_since(place.0, place.1, self.change.seen_at)?);
        }
        Ok(handle::names(handle::open_at(place.0, place.1, FOLDER)?)?.is_empty())
    }

    fn outcome(&self, exchanged: Exchanged, done: Adopted) -> Result<Adopted, AdoptError> {
        match exchanged {
            Exchanged::Done => Ok(done),
            Exchanged::PutBack => Err(self.changed()),
            Exchanged::Unsettled => Err(AdoptError::KeepsChanging { path: self.change.path.clone() }),
        }
    }

    /// A file, link or tree where nothing was.
    fn put_new(&self) -> Result<Adopted, AdoptError> {
        let ours = self.change.after_stamp.ok_or_else(|| self.not_in_layer())?;
        match self.found()? {
            Some(found) if found.inode == ours.inode => return Ok(Adopted::Already),
            Some(_) => return Err(self.changed()),
            None => {}
        }
        let (upper, name) = self.upper_place()?;
        let entry = self.own_entry((upper.as_fd(), name), &ours)?;
        let widened = self.prepare((upper.as_fd(), name), &entry)?;
        handle::rename_new((&upper, name), self.here()).map_err(|errno| match errno {
            Errno::EXIST => self.changed(),
            other => self.error(other),
        })?;
        self.close_again(widened);
        Ok(Adopted::Now)
    }

    /// A file, link or tree where something else was.
    fn put_instead(&self) -> Result<Adopted, AdoptError> {
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
        let widened = self.prepare(place, &entry)?;
        let put =
            exchange::put(place, self.here(), ours.inode, &is_expected).map_err(|errno| match errno {
                Errno::NOENT => self.changed(),
                other => self.error(other),
            })?;
        let adopted = self.outcome(put, Adopted::Now)?;
        self.close_again(widened);
        Ok(adopted)
    }

    /// An empty folder where something else was. What is in it are changes of their own.
    fn replace_by_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
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
        handle::set_mode_at(place.0, place.1, mode | 0o700).map_err(at)?;
        let fresh = handle::stat_at(place.0, place.1).map_err(at)?.ok_or_else(|| self.not_in_layer())?;
        let put =
            exchange::put(place, self.here(), fresh.inode, &is_expected).map_err(|errno| match errno {
                Errno::NOENT => self.changed(),
                other => self.error(other),
            })?;
        self.outcome(put, Adopted::Now)
    }

    fn make_folder(&self, mode: u32) -> Result<Adopted, AdoptError> {
        match self.found()? {
            // Whoever made it, it is what the command made too.
            Some(found) if found.kind == Kind::Folder => return Ok(Adopted::Already),
            Some(_) => return Err(self.changed()),
            None => {}
        }
        mkdirat(&self.folder, self.name, Mode::from_raw_mode(0o700)).map_err(|errno| self.error(errno))?;
        let made = handle::open_at(&self.folder, self.name, FOLDER).map_err(|errno| self.error(errno))?;
        fchmod(made, Mode::from_raw_mode(mode | 0o700)).map_err(|errno| self.error(errno))?;
        Ok(Adopted::Now)
    }

    fn change_mode(&self, mode: u32) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let folder = handle::open_at(&self.folder, self.name, FOLDER).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => self.changed(),
            other => self.error(other),
        })?;
        let found = handle::stat(&folder).map_err(|errno| self.error(errno))?;
        let wide = mode | 0o700;
        match found.mode {
            _ if found.inode != before.inode => Err(self.changed()),
            now if now == mode || now == wide && now != before.mode => Ok(Adopted::Already),
            now if now == before.mode => {
                fchmod(&folder, Mode::from_raw_mode(wide)).map_err(|errno| self.error(errno))?;
                Ok(Adopted::Now)
            }
            _ => Err(self.changed()),
        }
    }

    fn remove_folder(&self) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        match self.found()? {
            None => return Ok(Adopted::Already),
            Some(found) if found.kind == Kind::Folder && found.inode == before.inode => {}
            Some(_) => return Err(self.changed()),
        }
        match handle::remove_folder_at(&self.folder, self.name) {
            Ok(()) => Ok(Adopted::Now),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err(self.not_empty()),
            Err(Errno::NOENT) => Ok(Adopted::Already),
            Err(other) => Err(self.error(other)),
        }
    }

    /// Takes an entry that the command removed out of the workspace and keeps it in the layer.
    fn take_out(&self) -> Result<Adopted, AdoptError> {
        let before = self.before()?;
        let at = |errno| self.error(errno);
        let name = Layer::taken_name(self.change);
        let place = (self.layer.taken.as_fd(), name.as_slice());
        let taken = handle::stat_at(place.0, place.1).map_err(at)?;
        let done = match (self.found()?, &taken) {
            (None, None) => return Ok(Adopted::Already),
            (_, Some(_)) => Adopted::Already,
            (Some(found), None) if self.is_untouched(&found, &before) => {
                handle::rename_new(self.here(), place).map_err(|errno| match errno {
                    Errno::NOENT => self.changed(),
                    other => self.error(other),
                })?;
                Adopted::Now
            }
            (Some(_), None) => return Err(self.changed()),
        };
        let came_out = handle::stat_at(place.0, place.1).map_err(at)?.ok_or_else(|| self.not_in_layer())?;
        if self.is_expected(place, &before, &came_out).map_err(at)? {
            return Ok(done);
        }
        match handle::rename_new(place, self.here()) {
            // The name was taken again, so its author has replaced the version that was taken out.
            Ok(()) | Err(Errno::EXIST) => Err(self.changed()),
            Err(other) => Err(self.error(other)),
        }
    }

    /// A folder that a file takes the place of must be empty by now, unless it goes with all that is in it.
    fn check_empty(&self) -> Result<(), AdoptError> {
        let was_folder = self.change.before.as_ref().is_some_and(Side::is_folder);
        if !was_folder || self.change.tree.is_some() {
            return Ok(());
        }
        let names = handle::open_at(&self.folder, self.name, FOLDER).and_then(handle::names);
        if names.map_err(|errno| self.error(errno))?.is_empty() { Ok(()) } else { Err(self.not_empty()) }
    }

    fn not_empty(&self) -> AdoptError {
        AdoptError::FolderNotEmpty { path: self.change.path.clone() }
    }

    fn upper_place(&self) -> Result<(crate::access::OpenFolder, &'a [u8]), AdoptError> {
        self.layer.upper_place(&self.change.path).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR => self.not_in_layer(),
            other => self.error(other),
        })
    }

    /// The layer's entry, if it is the one that was looked at.
    fn own_entry(&self, place: At<'_>, ours: &Stamp) -> Result<Entry, AdoptError> {
        let found = handle::stat_at(place.0, place.1).map_err(|errno| self.error(errno))?;
        let mut entry = found.filter(|found| found.inode == ours.inode).ok_or_else(|| self.not_in_layer())?;
        // A crash may have come while it was prepared.
        if entry.kind != Kind::Link && entry.mode != ours.mode {
            handle::set_mode_at(place.0, place.1, ours.mode).map_err(|errno| self.error(errno))?;
            entry.mode = ours.mode;
        }
        Ok(entry)
    }

    /// Makes the layer's entry fit for the workspace. A folder that its owner could not move is widened, and the
    /// permissions that it is to have are given back.
    fn prepare(&self, place: At<'_>, entry: &Entry) -> Result<Option<(OwnedFd, u32)>, AdoptError> {
        let at = |errno| self.error(errno);
        if entry.kind != Kind::Folder {
            let kept_bits = self.change.before_stamp.map_or(0, |before| before.mode);
            tree::prepare_entry(place.0, place.1, entry, kept_bits).map_err(at)?;
            return Ok(None);
        }
        tree::prepare(place.0, place.1, entry).map_err(at)?;
        if is_root() || entry.mode & 0o700 == 0o700 {
            return Ok(None);
        }
        handle::set_mode_at(place.0, place.1, entry.mode | 0o700).map_err(at)?;
        let folder = handle::open_at(place.0, place.1, FOLDER).map_err(at)?;
        Ok(Some((folder, entry.mode)))
    }

    fn close_again(&self, widened: Option<(OwnedFd, u32)>) {
        if let Some((folder, mode)) = widened {
            // If this fails, `finish_folders` tries again.
            let _ = fchmod(folder, Mode::from_raw_mode(mode));
        }
    }
}
