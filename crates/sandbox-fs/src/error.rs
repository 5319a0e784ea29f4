//! Why a file operation did not happen.

use rel_path::{NameError, PathError, RelPath};
use rustix::io::Errno;

use crate::metadata::FileKind;

/// Why a file operation did not happen. Nothing is half done when one is returned, unless the variant says so.
///
/// The list is closed on purpose: whoever turns it into a protocol's errors is told by the compiler about a new
/// kind. No text shows a path outside the root, nor where the root is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// The text is not a path beneath the root; climbing out on paper is decided here.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Nothing has this name.
    #[error("`{path}` does not exist")]
    NotFound {
        /// What is missing.
        path: RelPath,
    },
    /// The folder that the file would be in does not exist.
    #[error("the folder `{folder}` does not exist")]
    ParentMissing {
        /// The first folder that is missing.
        folder: RelPath,
    },
    /// A link leads out of the root, or would if it were followed.
    #[error("`{path}` is a link that {how}")]
    Escape {
        /// The link.
        path: RelPath,
        /// In which way.
        how: LinkEscape,
    },
    /// More links than a path may go through, for instance a loop.
    #[error("`{path}` leads through too many links")]
    LinkLoop {
        /// The path that was asked for.
        path: RelPath,
    },
    /// The name is protected against changes.
    #[error("`{path}` is protected by the entry `{entry}`: {reason}")]
    Protected {
        /// The resolved path.
        path: RelPath,
        /// The entry of the list of protected names that fits.
        entry: String,
        /// Why it is on the list.
        reason: String,
    },
    /// The file may not be changed.
    #[error("`{path}` cannot be changed: {reason}")]
    ReadOnly {
        /// The resolved path.
        path: RelPath,
        /// What forbids it.
        reason: ReadOnlyReason,
    },
    /// The operating system denied access.
    #[error("the operating system denies access to `{path}`")]
    OsPermission {
        /// What was asked for.
        path: RelPath,
    },
    /// An extended attribute of the file, an access control list for instance, cannot be carried over to a new version.
    #[error("`{path}` cannot be changed: its attribute `{name}` would be lost")]
    AttributeNotKept {
        /// The resolved path.
        path: RelPath,
        /// The attribute.
        name: String,
    },
    /// The extended attributes of the file are larger than what is carried over to a new version.
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
        /// What was asked for.
        path: RelPath,
        /// What it is; a folder too when only the spelling says so (`new.txt/`).
        kind: FileKind,
    },
    /// Something that is used as a folder is none.
    #[error("`{path}` is not a folder")]
    NotAFolder {
        /// The part of the path that is no folder.
        path: RelPath,
    },
    /// The path leads through a link where none is followed.
    #[error("`{path}` is or goes through a link{}", target_hint(.target.as_ref()))]
    IsLink {
        /// What was asked for.
        path: RelPath,
        /// The path without links to use instead, where links may be read through.
        target: Option<RelPath>,
    },
    /// The file has several names and the policy refuses such files.
    #[error("`{path}` has {links} hard links")]
    HardLinked {
        /// The resolved path.
        path: RelPath,
        /// How many names the file has.
        links: u64,
    },
    /// There is something at a place that was expected to be free.
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
        /// What is wrong with it.
        reason: NameError,
    },
    /// The file has more bytes than the caller accepts.
    #[error("`{path}` has {bytes} bytes, more than {limit_bytes}")]
    TooLarge {
        /// The resolved path.
        path: RelPath,
        /// How many bytes it has, or had when reading stopped.
        bytes: u64,
        /// The caller's limit.
        limit_bytes: u64,
    },
    /// No space, no inodes or no quota left.
    #[error("no space is left to write `{path}`")]
    NoSpace {
        /// What was being written.
        path: RelPath,
    },
    /// Others kept changing the folders on the way; trying again is safe.
    #[error("`{path}` is busy: its folders keep changing")]
    Busy {
        /// What was asked for.
        path: RelPath,
    },
    /// The file is no longer what the caller saw; it was left, or put back, as it is.
    #[error("`{path}` was changed by someone else")]
    Changed {
        /// The resolved path.
        path: RelPath,
    },
    /// A folder that was to be removed is not empty.
    #[error("the folder `{path}` is not empty")]
    FolderNotEmpty {
        /// The resolved path.
        path: RelPath,
    },
    /// A rename would have to copy between two file systems.
    #[error("`{path}` is on another file system")]
    CrossDevice {
        /// The source of the rename.
        path: RelPath,
    },
    /// Someone else's version came out of an exchange and could not be put back, because the place was changed yet
    /// again. It is kept under another name.
    #[error("`{path}` was changed by someone else; one version is kept as `{kept_as}`")]
    LeftBehind {
        /// The resolved path.
        path: RelPath,
        /// Where the version is now.
        kept_as: RelPath,
    },
    /// The folder of the root was deleted, or another one is in its place.
    #[error("the workspace folder was {}", if *.replaced { "replaced" } else { "deleted" })]
    RootGone {
        /// Whether another folder has taken its place.
        replaced: bool,
    },
    /// Any other failure of the operating system.
    #[error("`{path}`: {} (system error {errno})", std::io::Error::from_raw_os_error(*.errno).kind())]
    Io {
        /// What was asked for.
        path: RelPath,
        /// The system's number for it.
        errno: i32,
    },
}

/// In which way a link leads out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkEscape {
    /// The link is absolute, which is refused wherever it points.
    #[error("is absolute")]
    Absolute,
    /// The link climbs above the root.
    #[error("leaves the workspace")]
    ClimbsOut,
}

/// What forbids a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadOnlyReason {
    /// The policy of the root.
    #[error("this root is read-only")]
    Policy,
    /// The file has no write bit for anyone.
    #[error("the file has no write permission for anyone")]
    NoWriteBit,
    /// The file carries the flag `immutable`.
    #[error("the file is marked as immutable (`chattr -i` takes the mark away)")]
    Immutable,
    /// The file carries the flag `append-only`.
    #[error("the file is marked as append-only (`chattr -a` takes the mark away)")]
    AppendOnly,
    /// The file system is mounted read-only, or the file is immutable.
    #[error("the file system is read-only")]
    FileSystem,
}

impl FsError {
    /// What a system error means for `path` where the operation gives it no finer meaning.
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
            Errno::AGAIN | Errno::BUSY | Errno::TXTBSY => FsError::Busy { path },
            other => FsError::Io { path, errno: other.raw_os_error() },
        }
    }

    /// The same for an error of the standard library, which keeps the system's number.
    pub(crate) fn from_io(error: &std::io::Error, path: &RelPath) -> FsError {
        let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
        FsError::from_errno(errno, path)
    }
}

fn target_hint(target: Option<&RelPath>) -> String {
    target.map_or_else(String::new, |target| format!("; use `{target}` instead"))
}
