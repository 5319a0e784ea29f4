//! The texts of every error, as a user or a model reads them.

use rel_path::{NameError, PathError};
use sandbox_fs::{FileKind, FsError, LinkEscape, ReadOnlyReason, RootError};

use crate::fixture::path;

#[test]
fn every_error_has_a_text_without_the_path_of_the_root() {
    let file = || path("a/b.txt");
    let read_only = |reason| FsError::ReadOnly { path: file(), reason };
    let errors = [
        FsError::Path(PathError::Empty),
        FsError::NotFound { path: file() },
        FsError::ParentMissing { folder: path("a") },
        FsError::Escape { path: file(), how: LinkEscape::Absolute },
        FsError::Escape { path: file(), how: LinkEscape::ClimbsOut },
        FsError::LinkLoop { path: file() },
        FsError::Protected {
            path: path(".git/config"),
            entry: ".git".into(),
            reason: "git's own data".into(),
        },
        read_only(ReadOnlyReason::Policy),
        read_only(ReadOnlyReason::NoWriteBit),
        read_only(ReadOnlyReason::Immutable),
        read_only(ReadOnlyReason::AppendOnly),
        read_only(ReadOnlyReason::MountPoint),
        read_only(ReadOnlyReason::FileSystem),
        FsError::OsPermission { path: file() },
        FsError::AttributeNotKept { path: file(), name: "user.note".into() },
        FsError::TooManyAttributes { path: file(), limit_bytes: 262_144 },
        FsError::NotAFile { path: file(), kind: FileKind::Fifo },
        FsError::NotAFolder { path: file() },
        FsError::IsLink { path: file(), target: None },
        FsError::IsLink { path: file(), target: Some(path("c.txt")) },
        FsError::HardLinked { path: file(), links: 2 },
        FsError::AlreadyExists { path: file() },
        FsError::InvalidName { path: file(), reason: NameError::Control('\u{1b}') },
        FsError::TooLarge { path: file(), bytes: 11, limit_bytes: 10 },
        FsError::NoSpace { path: file() },
        FsError::Busy { path: file() },
        FsError::InUse { path: file() },
        FsError::Changed { path: file() },
        FsError::FolderNotEmpty { path: path("a") },
        FsError::CrossDevice { path: file() },
        FsError::LeftBehind { path: file(), kept_as: path("a/.agentd-kept-1") },
        FsError::RootGone { replaced: false },
        FsError::RootGone { replaced: true },
        FsError::Io { path: file(), errno: 22 },
    ];
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn every_refused_root_has_a_text() {
    let errors = [
        RootError::FileSystemRoot,
        RootError::Home,
        RootError::AboveHome,
        RootError::StateFolder,
        RootError::NotAFolder,
        RootError::Io(std::io::ErrorKind::PermissionDenied.into()),
    ];
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(texts.join("\n"), @r"
    the root of the file system cannot be a workspace
    the home folder cannot be a workspace
    a folder that contains the home folder cannot be a workspace
    a folder in a state folder cannot be a workspace
    not a folder
    cannot open the folder
    ");
}
