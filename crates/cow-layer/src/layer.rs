//! One layer: its two folders and the moment at which it was made.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use rel_path::RelPath;
use rustix::fs::{Mode, fchmod, mkdirat};
use rustix::io::Errno;
use sandbox_fs::{FileAttributes, FileRoot, FsError, OpenFile};

use crate::access::OpenFolder;
use crate::adoption::same_content::open_own;
use crate::error::LayerError;
use crate::handle::{self, FILE_READ, FOLDER, Kind};
use crate::layer_name::{LayerName, QUARANTINED};
use crate::mount_spec::MountSpec;
use crate::scan::moment::Moment;
use crate::store::LayerStore;
use crate::{remove_tree, xattr};

pub(crate) const UPPER: &[u8] = b"upper";
const WORK: &[u8] = b"work";
/// Holds the entries that were moved out of the workspace because the command removed them.
pub(crate) const TAKEN: &[u8] = b"taken";
pub(crate) const MOMENT: &[u8] = b"moment";
pub(crate) const SEAL: &[u8] = b"changes";

/// A layer over a workspace. It stays on the disk until it is discarded.
#[derive(Debug)]
pub struct Layer {
    name: LayerName,
    path: PathBuf,
    store_folder: OwnedFd,
    pub(crate) folder: OwnedFd,
    pub(crate) taken: OwnedFd,
    pub(crate) moment: Moment,
    pub(crate) workspace: Arc<FileRoot>,
    workspace_path: PathBuf,
    /// Files of the workspace that are open since the layer was made.
    held: Vec<OpenFile>,
}

impl Layer {
    pub(crate) fn create(store: &LayerStore, name: &LayerName) -> Result<Layer, LayerError> {
        let text = name.as_str().as_bytes();
        mkdirat(&store.folder, text, Mode::from_raw_mode(0o700)).map_err(|errno| match errno {
            Errno::EXIST => LayerError::Exists,
            other => LayerError::of_layer(other),
        })?;
        let made = Layer::furnish(store, name);
        if made.is_err() {
            // If this fails, the remains can be discarded by name.
            let _ = remove_tree::remove(&store.folder, text);
        }
        made
    }

    fn furnish(store: &LayerStore, name: &LayerName) -> Result<Layer, LayerError> {
        store.workspace.check_alive().map_err(LayerError::Workspace)?;
        let furnish = || -> Result<Option<Moment>, Errno> {
            let folder = handle::open_at(&store.folder, name.as_str().as_bytes(), FOLDER)?;
            for part in [UPPER, WORK, TAKEN] {
                mkdirat(&folder, part, Mode::from_raw_mode(0o700))?;
            }
            imitate(store, &handle::open_at(&folder, UPPER, FOLDER)?)?;
            // The moment is taken last, so that a layer with a readable moment is complete.
            let stamp = handle::create_at(&folder, MOMENT, 0o600)?;
            let moment = Moment::take(&stamp)?;
            if let Some(moment) = moment {
                let mut file = File::from(stamp);
                file.write_all(moment.encode().as_bytes()).map_err(|error| errno_of(&error))?;
            }
            Ok(moment)
        };
        furnish().map_err(LayerError::of_layer)?.ok_or(LayerError::CoarseTimes)?;
        Layer::reopen(store, name)
    }

    pub(crate) fn reopen(store: &LayerStore, name: &LayerName) -> Result<Layer, LayerError> {
        let incomplete = |errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => LayerError::Incomplete,
            other => LayerError::of_layer(other),
        };
        let folder = match handle::open_at(&store.folder, name.as_str().as_bytes(), FOLDER) {
            Err(Errno::NOENT) => return Err(LayerError::NotFound),
            other => other.map_err(incomplete)?,
        };
        let open = |part| handle::open_at(&folder, part, handle::FOLDER_PATH).map_err(incomplete);
        let taken = open(TAKEN)?;
        open(UPPER)?;
        open(WORK)?;
        let text = read_text(handle::open_at(&folder, MOMENT, FILE_READ).map_err(incomplete)?)?;
        Ok(Layer {
            name: name.clone(),
            path: store.folder_path.join(name.as_str()),
            store_folder: store.folder.try_clone().map_err(|error| LayerError::of_layer(errno_of(&error)))?,
            taken,
            moment: Moment::decode(&text).ok_or(LayerError::Incomplete)?,
            workspace: Arc::clone(&store.workspace),
            workspace_path: store.workspace_path.clone(),
            folder,
            held: Vec::new(),
        })
    }

    /// Holds a file of the workspace open, if it exists, so that [`Layer::content_at_start`] can read it once another program has
    /// replaced it. Call it before the command starts. A reopened layer holds none.
    pub fn hold(&mut self, path: &RelPath) {
        self.held.extend(self.workspace.open_file(path));
    }

    /// Reads the content of a held file as it was when the layer was made, unless it has been written in place since; `None` also if it
    /// has more bytes than allowed.
    pub fn content_at_start(&self, path: &RelPath, limit_bytes: u64) -> Option<Vec<u8>> {
        let file = self.held.iter().find(|file| file.path() == path)?;
        let (now, then) = (file.metadata_now().ok()?.stamp(), file.metadata().stamp());
        let is_same =
            (now.size_bytes, now.modified_nanoseconds) == (then.size_bytes, then.modified_nanoseconds);
        if is_same { file.read_to_end(limit_bytes).ok() } else { None }
    }

    /// Returns whether a file of the workspace with this status change time, in nanoseconds since 1970, has not changed since
    /// the layer was made.
    pub fn began_after(&self, status_changed_nanoseconds: i128) -> bool {
        !self.moment.is_before(status_changed_nanoseconds)
    }

    /// Returns the layer's name.
    pub fn name(&self) -> &LayerName {
        &self.name
    }

    /// Returns the folders to mount. A layer can be mounted once; [`Layer::renew`] prepares it for another
    /// mount.
    pub fn mount_spec(&self) -> MountSpec {
        MountSpec {
            lower: self.workspace_path.clone(),
            upper: self.path.join("upper"),
            work: self.path.join("work"),
        }
    }

    /// Prepares a layer that was mounted and unmounted for another mount, keeping its content.
    ///
    /// An overlay that is mounted without syncing refuses its folders a second time, because it cannot know
    /// whether the machine failed in between. The caller asserts that it did not.
    ///
    /// # Errors
    ///
    /// [`LayerError::System`], if the operating system refuses it.
    pub fn renew(&self) -> Result<(), LayerError> {
        remove_tree::remove(&self.folder, WORK)
            .and_then(|()| mkdirat(&self.folder, WORK, Mode::from_raw_mode(0o700)))
            .map_err(LayerError::of_layer)
    }

    /// Opens the file that the command left at `path` in the layer, for reading. Links are not followed.
    ///
    /// After [`Layer::adopt`] the layer holds the workspace's previous version there.
    ///
    /// # Errors
    ///
    /// [`LayerError::System`], with `ENOENT` if the layer has no entry there and `EINVAL` if the entry is not
    /// a regular file.
    pub fn open_file(&self, path: &RelPath) -> Result<File, LayerError> {
        let open = || -> Result<OwnedFd, Errno> {
            let (folder, name) = self.upper_entry(path)?;
            let entry = handle::stat_at(&folder, name)?.ok_or(Errno::NOENT)?;
            if entry.kind != Kind::File {
                return Err(Errno::INVAL);
            }
            open_own(&folder, name, entry.mode)
        };
        open().map(File::from).map_err(|errno| LayerError::at(path, errno))
    }

    /// Reads the extended attributes of a file or folder of the layer, without those of the overlay.
    ///
    /// # Errors
    ///
    /// [`LayerError::Workspace`], for instance if there are more than are kept, or if the layer has nothing there.
    pub fn attributes(&self, path: &RelPath) -> Result<FileAttributes, LayerError> {
        let open = || -> Result<FileAttributes, FsError> {
            let at = |errno: Errno| FsError::Io { path: path.clone(), errno: errno.raw_os_error() };
            let (folder, name) = self.upper_entry(path).map_err(at)?;
            let entry =
                handle::stat_at(&folder, name).and_then(|entry| entry.ok_or(Errno::NOENT)).map_err(at)?;
            match entry.kind {
                Kind::File => FileAttributes::of_open(open_own(&folder, name, entry.mode).map_err(at)?, path),
                Kind::Folder => {
                    FileAttributes::of_open(OpenFolder::open(&folder, name, entry.mode).map_err(at)?, path)
                }
                _ => Ok(FileAttributes::default()),
            }
        };
        open().map_err(LayerError::Workspace)
    }

    /// Opens the folder of the layer that holds `path`, and returns the path's last component.
    pub(crate) fn upper_entry<'a>(&self, path: &'a RelPath) -> Result<(OpenFolder, &'a [u8]), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = path.parent().ok_or(Errno::INVAL)?;
        Ok((OpenFolder::open_below(&self.folder, UPPER, &parent)?, name))
    }

    /// Removes the layer with everything in it, before-images too. It must not be mounted.
    ///
    /// # Errors
    ///
    /// As [`LayerStore::discard`], which can be called again.
    pub fn discard(self) -> Result<(), LayerError> {
        match handle::unlink_at(&self.folder, SEAL) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(other) => return Err(LayerError::of_layer(other)),
        }
        remove_tree::remove(&self.store_folder, self.name.as_str().as_bytes()).map_err(LayerError::of_layer)
    }

    /// Renames the layer so that it is not taken for one whose adoption has to resume, and returns its new name: `kept-` and the
    /// old name. It stays until it is discarded by that name.
    ///
    /// # Errors
    ///
    /// [`LayerError::Exists`], if a layer has that name, and what the operating system refuses.
    pub fn quarantine(&self) -> Result<LayerName, LayerError> {
        quarantine(&self.store_folder, &self.name)
    }

    /// Opens the workspace's folder `path`, resolved below its root and through no link.
    pub(crate) fn lower_folder(&self, path: &RelPath) -> Result<OwnedFd, FsError> {
        let folder = self.workspace.subfolder(path, sandbox_fs::FsPolicy::private())?;
        // The handle only resolves names; listing and syncing need a new one, which not every folder allows.
        let clone = handle::open_at(&folder, b".", FOLDER)
            .or_else(|_| rustix::io::fcntl_dupfd_cloexec(folder.handle(), 0));
        clone.map_err(|_| FsError::OsPermission { path: path.clone() })
    }
}

/// Renames a layer of a store so that it stays, and returns its new name.
pub(crate) fn quarantine(store_folder: &OwnedFd, name: &LayerName) -> Result<LayerName, LayerError> {
    let kept: LayerName =
        format!("{QUARANTINED}{name}").parse().map_err(|_| LayerError::of_layer(Errno::NAMETOOLONG))?;
    let [old, new] = [name, &kept].map(|name| (store_folder, name.as_str().as_bytes()));
    handle::rename_new(old, new).map_err(|errno| match errno {
        Errno::EXIST => LayerError::Exists,
        other => LayerError::of_layer(other),
    })?;
    Ok(kept)
}

/// Reads a file of the layer's own; text that is not UTF-8 is that of a damaged layer.
pub(crate) fn read_text(file: OwnedFd) -> Result<String, LayerError> {
    let mut text = String::new();
    match File::from(file).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Err(LayerError::Incomplete),
        Err(error) => Err(LayerError::of_layer(errno_of(&error))),
    }
}

/// Gives the upper folder, which commands see as the workspace's root, the workspace's owner, permissions and
/// access lists.
fn imitate(store: &LayerStore, upper: &OwnedFd) -> Result<(), Errno> {
    let workspace = handle::stat(store.workspace.handle())?;
    handle::give_like(upper, &workspace)?;
    xattr::copy_access_lists(store.workspace.handle(), upper)?;
    fchmod(upper, Mode::from_raw_mode(workspace.mode))
}

fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
