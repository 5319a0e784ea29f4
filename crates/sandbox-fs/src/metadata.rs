//! File metadata.

pub(crate) mod access_list;
pub(crate) mod attributes;
mod folder_mode;
mod set_id_bits;

use std::fmt;
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Stat};

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, whatever its target.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device; an overlay's whiteout is one as well.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// A kind that this system does not report.
    Unknown,
}

impl FileKind {
    pub(crate) fn from_type(file_type: FileType) -> FileKind {
        match file_type {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Folder,
            FileType::Symlink => FileKind::Link,
            FileType::Fifo => FileKind::Fifo,
            FileType::Socket => FileKind::Socket,
            FileType::CharacterDevice => FileKind::CharDevice,
            FileType::BlockDevice => FileKind::BlockDevice,
            FileType::Unknown => FileKind::Unknown,
        }
    }
}

/// The word for texts: `file`, `folder`, `link`, `fifo`, `socket`, `character device`, `block device`.
impl fmt::Display for FileKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            FileKind::File => "file",
            FileKind::Folder => "folder",
            FileKind::Link => "link",
            FileKind::Fifo => "fifo",
            FileKind::Socket => "socket",
            FileKind::CharDevice => "character device",
            FileKind::BlockDevice => "block device",
            FileKind::Unknown => "special file",
        })
    }
}

/// The metadata of a file, a folder or a link itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The kind.
    pub kind: FileKind,
    /// The size in bytes; for a link that of its target text, for a folder a value of the file system.
    pub size_bytes: u64,
    /// The permission bits, set-user, set-group and sticky bit included (`0o7777`).
    pub mode: u32,
    /// The number of hard links.
    pub links: u64,
    /// The device number.
    pub device: u64,
    /// The inode number on that device.
    pub inode: u64,
    /// The user id of the owner.
    pub user: u32,
    /// The group id.
    pub group: u32,
    /// The time of the last change of the content, in nanoseconds since 1970.
    pub modified_nanoseconds: i128,
    /// The time of the last change of content, names or permissions, in nanoseconds since 1970.
    pub status_changed_nanoseconds: i128,
}

impl Metadata {
    #[expect(clippy::unnecessary_cast, reason = "the widths of these fields differ between processors")]
    pub(crate) fn from_stat(stat: &Stat) -> Metadata {
        Metadata {
            kind: FileKind::from_type(FileType::from_raw_mode(stat.st_mode)),
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode & 0o7777,
            links: stat.st_nlink as u64,
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            user: stat.st_uid,
            group: stat.st_gid,
            modified_nanoseconds: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            status_changed_nanoseconds: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Returns true for a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// Returns true for a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == FileKind::Folder
    }

    /// Returns the time of the last change of the content; 1970 for earlier times.
    pub fn modified(&self) -> SystemTime {
        let since = u128::try_from(self.modified_nanoseconds).unwrap_or(0);
        let seconds = u64::try_from(since / 1_000_000_000).unwrap_or(0);
        let rest =
            u32::try_from(since % 1_000_000_000).expect("less than a second of nanoseconds fits 32 bits");
        SystemTime::UNIX_EPOCH + Duration::new(seconds, rest)
    }

    /// Returns a small value that changes whenever the file does, within the resolution of the system's clock.
    pub fn stamp(&self) -> FileStamp {
        FileStamp {
            device: self.device,
            inode: self.inode,
            size_bytes: self.size_bytes,
            modified_nanoseconds: self.modified_nanoseconds,
            // A program can set the modification time back, but not this one.
            status_changed_nanoseconds: self.status_changed_nanoseconds,
        }
    }

    pub(crate) fn is_same_object(&self, other: &Metadata) -> bool {
        self.device == other.device && self.inode == other.inode
    }
}

/// Identifies a state of a file, for caches. Two equal stamps taken within one tick of the file system's clock
/// may belong to different contents; equal [`ContentHash`](crate::ContentHash)es do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FileStamp {
    /// The device number.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
    /// The size in bytes.
    pub size_bytes: u64,
    /// The time of the last change of the content, in nanoseconds since 1970.
    pub modified_nanoseconds: i128,
    /// The time of the last change of content, names or permissions, in nanoseconds since 1970.
    pub status_changed_nanoseconds: i128,
}

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}
