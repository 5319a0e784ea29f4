//! The folder in which layers are kept.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sandbox_fs::{FileRoot, FsError};

use crate::error::{LayerError, Unavailable};
use crate::handle::{self, FOLDER};
use crate::layer::Layer;
use crate::layer_name::LayerName;
use crate::scan::moment::Moment;
use crate::{probe, remove_tree};

/// A folder in which layers over one workspace are kept. It belongs to the program alone.
///
/// It may be inside the workspace, as long as commands do not see it. Threads may share a store.
#[derive(Debug)]
pub struct LayerStore {
    pub(crate) folder: OwnedFd,
    pub(crate) folder_path: PathBuf,
    pub(crate) workspace: Arc<FileRoot>,
    pub(crate) workspace_path: PathBuf,
}

impl LayerStore {
    /// Opens a store in the open folder `folder`, which is at `folder_path`, for layers over `workspace`.
    ///
    /// Probes whether names can be exchanged between the two: for a moment the workspace holds an empty
    /// temporary file. Existing layers stay.
    ///
    /// # Errors
    ///
    /// Each kind of [`Unavailable`].
    pub fn open(
        folder: OwnedFd,
        folder_path: &Path,
        workspace: Arc<FileRoot>,
    ) -> Result<LayerStore, Unavailable> {
        let system = |errno: Errno| Unavailable::System { errno: errno.raw_os_error() };
        let workspace_path = workspace.path().ok_or(Unavailable::NoPath)?.to_owned();
        workspace.check_alive().map_err(|error| match error {
            FsError::Io { errno, .. } => Unavailable::System { errno },
            _ => system(Errno::NOENT),
        })?;
        let folder_path = std::fs::canonicalize(folder_path).map_err(|_| Unavailable::FolderMoved)?;
        let held = handle::stat(&folder).map_err(system)?;
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let at_path = rustix::fs::open(&folder_path, flags, Mode::empty())
            .and_then(handle::stat)
            .map_err(|_| Unavailable::FolderMoved)?;
        // The mount uses the path and adoption the handle: both must mean the same folder.
        if (held.device, held.inode) != (at_path.device, at_path.inode) {
            return Err(Unavailable::FolderMoved);
        }
        // Opened again, because the given handle may be an `O_PATH` one.
        let folder = handle::open_at(&folder, b".", FOLDER).map_err(system)?;
        let store = LayerStore { folder, folder_path, workspace, workspace_path };
        probe::sweep(store.folder.as_fd(), store.workspace.handle()).map_err(system)?;
        store.probe()?;
        Ok(store)
    }

    fn probe(&self) -> Result<(), Unavailable> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let system = |errno: Errno| Unavailable::System { errno: errno.raw_os_error() };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let salt = format!("{} {number} {:?}", std::process::id(), std::time::SystemTime::now());
        let stamp_name = format!("probe-{}-{number}", std::process::id()).into_bytes();
        let stamp = handle::create_at(&self.folder, &stamp_name, 0o600).map_err(system)?;
        let moment = Moment::take(&stamp);
        handle::unlink_at(&self.folder, &stamp_name).map_err(system)?;
        moment.map_err(system)?.ok_or(Unavailable::CoarseTimes)?;
        probe::exchanges(self.folder.as_fd(), self.workspace.handle(), &salt).map_err(|errno| match errno {
            Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => {
                Unavailable::NoExchange { errno: errno.raw_os_error() }
            }
            other => system(other),
        })
    }

    /// Makes an empty layer over the workspace as it is now. Later saves in the workspace count as
    /// concurrent.
    ///
    /// # Errors
    ///
    /// [`LayerError::Exists`], [`LayerError::NoSpace`], and other refusals of the operating system; no files are left over
    /// then.
    pub fn create(&self, name: &LayerName) -> Result<Layer, LayerError> {
        Layer::create(self, name)
    }

    /// Lists the names of the existing layers, sorted; damaged ones too.
    ///
    /// # Errors
    ///
    /// Those of listing the folder.
    pub fn existing(&self) -> Result<Vec<LayerName>, LayerError> {
        let listed = handle::open_at(&self.folder, b".", FOLDER).and_then(handle::names);
        let names = listed.map_err(LayerError::of_layer)?;
        let is_folder = |name: &LayerName| {
            let entry = handle::stat_at(&self.folder, name.as_str().as_bytes());
            entry.is_ok_and(|entry| entry.is_some_and(|entry| entry.kind == handle::Kind::Folder))
        };
        Ok(names
            .iter()
            .filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok())
            .filter(is_folder)
            .collect())
    }

    /// Opens an existing layer, made by this process or by one that has ended.
    ///
    /// # Errors
    ///
    /// [`LayerError::NotFound`] and [`LayerError::Incomplete`].
    pub fn reopen(&self, name: &LayerName) -> Result<Layer, LayerError> {
        Layer::reopen(self, name)
    }

    /// Renames a layer as [`Layer::quarantine`] does, also a damaged one.
    ///
    /// # Errors
    ///
    /// As [`Layer::quarantine`].
    pub fn quarantine(&self, name: &LayerName) -> Result<LayerName, LayerError> {
        crate::layer::quarantine(&self.folder, name)
    }

    /// Removes a layer with everything in it, whatever its state; a missing one is not an error.
    ///
    /// It handles folders without permissions and of any depth. The layer must not be mounted.
    ///
    /// # Errors
    ///
    /// Refusals of the operating system. The rest of the layer stays and can be discarded again.
    pub fn discard(&self, name: &LayerName) -> Result<(), LayerError> {
        let name = name.as_str().as_bytes();
        // The seal is removed first, so that the layer cannot be taken for one whose adoption has to resume.
        match handle::open_at(&self.folder, name, FOLDER) {
            Ok(folder) => match handle::unlink_at(&folder, crate::layer::SEAL) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(other) => return Err(LayerError::of_layer(other)),
            },
            Err(Errno::NOENT) => return Ok(()),
            Err(other) => return Err(LayerError::of_layer(other)),
        }
        remove_tree::remove(&self.folder, name).map_err(LayerError::of_layer)
    }
}
