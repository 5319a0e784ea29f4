//! The errors of layers.

use rel_path::RelPath;
use rustix::io::Errno;
use sandbox_fs::FsError;

/// The reason that no layers can be made over a folder. No files are left over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The workspace was opened from a handle, and a mount needs its path.
    #[error("the workspace has no path to mount")]
    NoPath,
    /// The layers' folder is no longer at its path, or the path leads through a link.
    #[error("the folder for layers is not at the given path")]
    FolderMoved,
    /// Names cannot be exchanged between the layers' folder and the workspace, for instance because they are on two
    /// file systems.
    #[error("names cannot be exchanged between the workspace and the folder for layers: {}", errno_text(*.errno))]
    NoExchange {
        /// The error number, as in `errno.h`.
        errno: i32,
    },
    /// The file system's times are so coarse that concurrent saves could not be detected.
    #[error("the file system's times are too coarse")]
    CoarseTimes,
    /// Nothing can be written in the layers' folder or in the workspace, or the workspace is gone.
    #[error("cannot try out the folder for layers: {}", errno_text(*.errno))]
    System {
        /// The error number, as in `errno.h`.
        errno: i32,
    },
}

/// An error about a layer as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// A layer with this name exists.
    #[error("a layer with this name already exists")]
    Exists,
    /// No layer has this name.
    #[error("the layer does not exist")]
    NotFound,
    /// A part of the layer is missing or unreadable: the program ended while making or removing it.
    #[error("the layer is incomplete")]
    Incomplete,
    /// The scan would read more entries than [`ScanLimits::entries`](crate::ScanLimits::entries).
    #[error("the layer has more entries than the limit of {limit}")]
    TooManyEntries {
        /// The limit.
        limit: u64,
    },
    /// The file system's times are so coarse that concurrent saves could not be detected.
    #[error("the file system's times are too coarse")]
    CoarseTimes,
    /// No space, no inodes or no quota left.
    #[error("no space is left for the layer")]
    NoSpace,
    /// The workspace cannot be reached.
    #[error(transparent)]
    Workspace(FsError),
    /// The operating system refused something.
    #[error("cannot use the layer at `{path}`: {}", errno_text(*.errno))]
    System {
        /// The path in the layer; the root for the layer itself.
        path: RelPath,
        /// The error number, as in `errno.h`.
        errno: i32,
    },
}

impl LayerError {
    pub(crate) fn at(path: &RelPath, errno: Errno) -> LayerError {
        match errno {
            Errno::NOSPC | Errno::DQUOT => LayerError::NoSpace,
            other => LayerError::System { path: path.clone(), errno: other.raw_os_error() },
        }
    }

    pub(crate) fn of_layer(errno: Errno) -> LayerError {
        LayerError::at(&RelPath::root(), errno)
    }
}

/// The reason that a change was not adopted. The path is in one of its two states, or as another program
/// left it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdoptError {
    /// Another program saved, made or removed the path since the layer was made. The workspace keeps that
    /// version; the layer still holds its own.
    #[error("`{path}` was changed by another program")]
    Changed {
        /// The path.
        path: RelPath,
    },
    /// A folder to replace or remove still holds entries, made by another program or not adopted.
    #[error("the folder `{path}` is not empty")]
    FolderNotEmpty {
        /// The path.
        path: RelPath,
    },
    /// The parent folder does not exist, because its own change was not adopted.
    #[error("the folder `{folder}` does not exist")]
    ParentMissing {
        /// The folder.
        folder: RelPath,
    },
    /// The layer does not hold the entry: the change belongs to another layer, or the layer was damaged.
    #[error("the layer does not hold `{path}`")]
    NotInLayer {
        /// The path.
        path: RelPath,
    },
    /// It is a device, and devices are not adopted.
    #[error("`{path}` is a device, and devices are not adopted")]
    Device {
        /// The path.
        path: RelPath,
    },
    /// The layer's file has another name, and [`Layer::separate`](crate::Layer::separate) was not called or had no room for a copy: it
    /// would remain one file under both.
    #[error("`{path}` is hard-linked to another path of the layer")]
    Shared {
        /// The path.
        path: RelPath,
    },
    /// A version that another program saved is in the layer, because the program kept saving during the exchange, or because the
    /// exchange could not be reversed. [`Layer::return_displaced`](crate::Layer::return_displaced) restores it; without that call the
    /// layer must not be discarded.
    #[error("a version of `{path}` that another program saved is in the layer")]
    LeftInLayer {
        /// The path.
        path: RelPath,
    },
    /// The operating system denied access.
    #[error("the operating system denies access to `{path}`")]
    OsPermission {
        /// The path.
        path: RelPath,
    },
    /// No space, no inodes or no quota left.
    #[error("no space is left to adopt `{path}`")]
    NoSpace {
        /// The path.
        path: RelPath,
    },
    /// The workspace, or a folder on the way, cannot be reached.
    #[error(transparent)]
    Workspace(FsError),
    /// The operating system refused something else.
    #[error("cannot adopt `{path}`: {}", errno_text(*.errno))]
    System {
        /// The path.
        path: RelPath,
        /// The error number, as in `errno.h`.
        errno: i32,
    },
}

impl AdoptError {
    pub(crate) fn at(path: &RelPath, errno: Errno) -> AdoptError {
        let path = path.clone();
        match errno {
            Errno::ACCESS | Errno::PERM | Errno::ROFS => AdoptError::OsPermission { path },
            Errno::NOSPC | Errno::DQUOT => AdoptError::NoSpace { path },
            other => AdoptError::System { path, errno: other.raw_os_error() },
        }
    }
}

fn errno_text(errno: i32) -> std::io::Error {
    std::io::Error::from_raw_os_error(errno)
}
