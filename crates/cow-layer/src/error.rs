//! Why something about a layer did not happen.

use rel_path::RelPath;
use rustix::io::Errno;
use sandbox_fs::FsError;

/// Why there are no layers over a folder. Nothing was left behind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The workspace was opened from a handle, and a mount needs its path.
    #[error("the workspace has no path to mount")]
    NoPath,
    /// The layers' folder is not where its path says, or the path leads through a link.
    #[error("the folder for layers is not at the path that was given for it")]
    FolderMoved,
    /// Names cannot be exchanged between the layers' folder and the workspace, for instance because they lie on two
    /// file systems.
    #[error("names cannot be exchanged between the workspace and the folder for layers: {}", errno_text(*.errno))]
    NoExchange {
        /// The error number, as in `errno.h`.
        errno: i32,
    },
    /// The file system's times are so coarse that what was saved meanwhile could not be told.
    #[error("the file system's times are too coarse")]
    CoarseTimes,
    /// Nothing can be written in the layers' folder or in the workspace, or the workspace is gone.
    #[error("cannot try out the folder for layers: {}", errno_text(*.errno))]
    System {
        /// The error number, as in `errno.h`.
        errno: i32,
    },
}

/// Why something about a layer as a whole did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// A layer with this name exists.
    #[error("a layer with this name exists")]
    Exists,
    /// There is no layer with this name.
    #[error("there is no layer with this name")]
    NotFound,
    /// A part of the layer is missing or cannot be read: it was being made, or being removed, when the program ended.
    #[error("the layer is incomplete")]
    Incomplete,
    /// More entries than [`ScanLimits::entries`](crate::ScanLimits::entries) would have had to be looked at.
    #[error("more than {limit} files would have to be looked at")]
    TooManyEntries {
        /// The limit.
        limit: u64,
    },
    /// The file system's times are so coarse that what was saved meanwhile could not be told.
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
        /// Where in the layer; the root for the layer itself.
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

/// Why one change was not adopted. The path is in one of its two states, or as somebody else left it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdoptError {
    /// Somebody saved, made or removed something at this path since the layer was made. Theirs is in its place; the
    /// layer still holds its own.
    #[error("`{path}` was changed by someone else")]
    Changed {
        /// The path.
        path: RelPath,
    },
    /// A folder that was to be replaced or removed holds entries of somebody else, or some that were not adopted.
    #[error("the folder `{path}` is not empty")]
    FolderNotEmpty {
        /// The path.
        path: RelPath,
    },
    /// The folder that it would be in does not exist, because its own change was not adopted.
    #[error("the folder `{folder}` does not exist")]
    ParentMissing {
        /// The folder.
        folder: RelPath,
    },
    /// The layer does not hold what the change says: it is a change of another layer, or the layer was damaged.
    #[error("the layer does not hold `{path}`")]
    NotInLayer {
        /// The path.
        path: RelPath,
    },
    /// It is a device, and those are not adopted.
    #[error("`{path}` is a device, which does not come into the workspace")]
    Device {
        /// The path.
        path: RelPath,
    },
    /// Somebody kept saving while versions were exchanged. Their last one is in the layer, and
    /// [`Layer::open_before`](crate::Layer::open_before) opens it.
    #[error("`{path}` kept changing while it was put in its place")]
    KeepsChanging {
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
    #[error("no space is left to put `{path}` in its place")]
    NoSpace {
        /// The path.
        path: RelPath,
    },
    /// The workspace, or a folder on the way, cannot be reached.
    #[error(transparent)]
    Workspace(FsError),
    /// The operating system refused something else.
    #[error("cannot put `{path}` in its place: {}", errno_text(*.errno))]
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
