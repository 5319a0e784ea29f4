//! The error of file operations.

use rel_path::{NameError, PathError, RelPath};
use rustix::io::Errno;

use crate::metadata::FileKind;

/// The reason for which a file operation was refused or failed. Nothing was changed, unless the variant says so.
///
/// The enum is exhaustive on purpose: an adapter that maps it to a protocol's errors must handle a new kind to
/// compile. No text contains a path outside the root, nor the path of the root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// The text is not a path below the root; too many `..` are refused before any file is opened.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The path does not exist.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The missing path.
        path: RelPath,
    },
    /// The parent folder does not exist.
    #[error("the folder `{folder}` does not exist")]
    ParentMissing {
        /// The outermost missing folder.
        folder: RelPath,
    },
    /// A link leads out of the root, or would if it were followed.
    #[error("`{path}` is a link that {how}")]
    Escape {
        /// The link.
        path: RelPath,
        /// The way in which it leads out.
        how: LinkEscape,
    },
    /// The path goes through more links than allowed; they may form a loop.
    #[error("`{path}` leads through too many links")]
    LinkLoop {
        /// The path of the request.
        path: RelPath,
    },
    /// The name is protected against changes.
    #[error("`{path}` is protected by the entry `{entry}`: {reason}")]
    Protected {
        /// The resolved path.
        path: RelPath,
        /// The matching entry of the list of protected names.
        entry: String,
        /// The reason for the entry.
        reason: String,
    },
    /// The file may not be changed.
    #[error("`{path}` cannot be changed: {reason}")]
    ReadOnly {
        /// The resolved path.
        path: RelPath,
        /// The rule that forbids the change.
        reason: ReadOnlyReason,
    },
    /// The operating system denied access.
    #[error("the operating system denies access to `{path}`")]
    OsPermission {
        /// The path of the request.
        path: RelPath,
    },
    /// An extended attribute of the file, an access control list for instance, cannot be copied to a new version.
    #[error("`{path}` cannot be changed: its attribute `{name}` would be lost")]
    AttributeNotKept {
        /// The resolved path.
        path: RelPath,
        /// The attribute.
        name: String,
    },
    /// The extended attributes of the file are too large to be copied to a new version.
    #[error("`{path}` cannot be changed: its extended attributes have more than {limit_bytes} bytes")]
    TooManyAttributes {
        /// The resolved path.
        path: RelPath,
        /// The limit.
        limit_bytes: usize,
    },
    /// The path names something other than a regular file.
    #[error("`{path}` is not a file but a {kind}")]
    NotAFile {
        /// The path of the request.
        path: RelPath,
        /// The kind found; also a folder if only the spelling says so (`new.txt/`).
        kind: FileKind,
    },
    /// A component that is used as a folder is not one.
    #[error("`{path}` is not a folder")]
    NotAFolder {
        /// The path up to that component.
        path: RelPath,
    },
    /// The path goes through a link, and this operation follows none.
    #[error("`{path}` is or goes through a link{}", target_hint(.target.as_ref()))]
    IsLink {
        /// The path of the request.
        path: RelPath,
        /// The path without links to use instead; `None` if the policy follows no links or the target is unknown.
        target: Option<RelPath>,
    },
    /// The file has several hard links, and the policy refuses such files.
    #[error("`{path}` has {links} hard links")]
    HardLinked {
        /// The resolved path.
        path: RelPath,
        /// The number of hard links.
        links: u64,
    },
    /// The name is taken, but was expected to be free.
    #[error("`{path}` already exists")]
    AlreadyExists {
        /// The resolved path.
        path: RelPath,
    },
    /// A new file or folder may not have this name.
    #[error("`{path}` cannot be created: {reason}")]
    InvalidName {
        /// The path with the name.
        path: RelPath,
        /// The rule that the name breaks.
        reason: NameError,
    },
    /// The file is larger than the caller's limit.
    #[error("`{path}` has {bytes} bytes, more than {limit_bytes}")]
    TooLarge {
        /// The resolved path.
        path: RelPath,
        /// The size in bytes, or the number of bytes read before the limit stopped the reading.
        bytes: u64,
        /// The caller's limit.
        limit_bytes: u64,
    },
    /// No space, no inodes or no quota is left.
    #[error("no space is left to write `{path}`")]
    NoSpace {
        /// The path that was written.
        path: RelPath,
    },
    /// Other programs kept changing the folders of the path; trying again is safe.
    #[error("`{path}` is busy: its folders keep changing; try again")]
    Busy {
        /// The path of the request.
        path: RelPath,
    },
    /// The system does not let the entry be changed while something else uses it. Mount points are refused as such.
    #[error(
        "`{path}` is in use, so the system does not let it be changed: end what uses it, or change another file"
    )]
    InUse {
        /// The path of the request.
        path: RelPath,
    },
    /// The file is no longer the version that the caller expected; the other version stays in place.
    #[error("`{path}` was changed by another program")]
    Changed {
        /// The resolved path.
        path: RelPath,
    },
    /// The folder to remove is not empty.
    #[error("the folder `{path}` is not empty")]
    FolderNotEmpty {
        /// The resolved path.
        path: RelPath,
    },
    /// A rename would have to copy between two file systems.
    #[error("`{path}` cannot be moved to another file system: copy its content and remove it instead")]
    CrossDevice {
        /// The source of the rename.
        path: RelPath,
    },
    /// An exchange or a removal displaced another program's version, and the file changed again before that version
    /// could be restored. It is kept under another name.
    #[error("`{path}` was changed by another program; one version is kept as `{kept_as}`")]
    LeftBehind {
        /// The resolved path.
        path: RelPath,
        /// The path of the kept version.
        kept_as: RelPath,
    },
    /// The folder of the root was deleted, or replaced by another folder.
    #[error("the workspace folder was {}", if *.replaced { "replaced" } else { "deleted" })]
    RootGone {
        /// True if another folder has its path now.
        replaced: bool,
    },
    /// Any other failure of the operating system.
    #[error("`{path}`: {}", std::io::Error::from_raw_os_error(*.errno))]
    Io {
        /// The path of the request.
        path: RelPath,
        /// The system's error number.
        errno: i32,
    },
}

/// The way in which a link leads out of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkEscape {
    /// The link is absolute, and is refused whatever its target.
    #[error("is absolute")]
    Absolute,
    /// The link climbs above the root.
    #[error("leaves the workspace")]
    ClimbsOut,
}

/// The reason for which a file cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadOnlyReason {
    /// The policy of the root.
    #[error("this root is read-only")]
    Policy,
    /// The file has no write bit for owner, group or others.
    #[error("the file has no write permission for owner, group or others")]
    NoWriteBit,
    /// The file carries the flag `immutable`.
    #[error("the file is marked as immutable (`chattr -i` removes the mark)")]
    Immutable,
    /// The file carries the flag `append-only`.
    #[error("the file is marked as append-only (`chattr -a` removes the mark)")]
    AppendOnly,
    /// It is a mount point, a bind-mounted file for instance. What is mounted there could only be changed in place.
    #[error(
        "it is a mount point, which cannot be replaced, moved or removed from here: change it outside of the workspace"
    )]
    MountPoint,
    /// The file system is mounted read-only, or the file is immutable.
    #[error("the file system is read-only")]
    FileSystem,
}

impl FsError {
    /// Maps a system error for `path`, for operations that give it no more specific meaning.
    pub(crate) fn from_errno(errno: Errno, path: &RelPath) -> FsError {
        let path = path.clone();
        match errno {
            Errno::NOENT => FsError::NotFound { path },
            Errno::NOTDIR => FsError::NotAFolder { path },
            Errno::ACCESS | Errno::PERM => FsError::OsPermission { path },
            Errno::NOSPC | Errno::DQUOT => FsError::NoSpace { path },
            Errno::ROFS => FsError::ReadOnly { path, reason: ReadOnlyReason::FileSystem },
            Errno::EXIST => FsError::AlreadyExists { path },
            Errno::ISDIR => FsError::NotAFile { path, kind: FileKind::Folder },
            Errno::LOOP => FsError::LinkLoop { path },
            Errno::XDEV => FsError::CrossDevice { path },
            Errno::NOTEMPTY => FsError::FolderNotEmpty { path },
            Errno::AGAIN => FsError::Busy { path },
            Errno::BUSY | Errno::TXTBSY => FsError::InUse { path },
            other => FsError::Io { path, errno: other.raw_os_error() },
        }
    }

    /// Maps an error of the standard library, which keeps the system's number.
    pub(crate) fn from_io(error: &std::io::Error, path: &RelPath) -> FsError {
        let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
        FsError::from_errno(errno, path)
    }
}

fn target_hint(target: Option<&RelPath>) -> String {
    target.map_or_else(String::new, |target| format!("; use `{target}` instead"))
}
