//! Access lists, other extended attributes, owners and groups of files that are replaced.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use sandbox_fs::{ContentHash, Expected, FileAttributes, FileMode, FileRoot, FsError};

use crate::fixture::{METHODS, Sandbox, path};

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";
const NONE: u32 = u32::MAX;

/// An access list in the form of Linux: tag, rights and number of each entry.
fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let entry = |(tag, rights, id): &(u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    [2u32.to_le_bytes().to_vec(), entries.iter().flat_map(entry).collect()].concat()
}

/// The owner reads and writes, user 12345 reads, the owning group and others have no access. As permission bits
/// it looks like `rw-r-----`.
fn one_reader() -> Vec<u8> {
    list(&[(1, 6, NONE), (2, 4, 12345), (4, 0, NONE), (0x10, 4, NONE), (0x20, 0, NONE)])
}

fn set(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path, name, value, XattrFlags::empty())
        .unwrap_or_else(|errno| panic!("{name} cannot be set in the folder for tests: {errno}"));
}

fn value(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 65_536];
    match rustix::fs::getxattr(path, name, &mut value[..]) {
        Ok(length) => Some(value[..length].to_vec()),
        Err(Errno::NODATA) => None,
        Err(errno) => panic!("{name}: {errno}"),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn edit(root: &FileRoot, name: &str, from: &[u8], to: &[u8]) -> Result<(), FsError> {
    let staged = root.stage(&path(name), to, FileMode::Keep)?;
    staged.publish(Expected::Content(ContentHash::of(from))).map(drop)
}

#[test]
fn an_edit_keeps_the_access_list_and_other_attributes() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("secret", "old");
        let file = sandbox.at("secret");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        set(&file, ACCESS, &one_reader());
        set(&file, "user.origin", b"https://example.org/\0\xff");
        set(&file, "user.empty", b"");
        set(&file, "user.overlay.opaque", b"y");
        assert_eq!(mode(&file), 0o640, "the mask shows in the group's bits");
        edit(&sandbox.root(method), "secret", b"old", b"new").unwrap();
        assert_eq!(sandbox.read("secret"), "new");
        assert_eq!(value(&file, ACCESS), Some(one_reader()));
        assert_eq!(mode(&file), 0o640);
        assert_eq!(value(&file, "user.origin").as_deref(), Some(&b"https://example.org/\0\xff"[..]));
        assert_eq!(value(&file, "user.empty").as_deref(), Some(&b""[..]));
        assert_eq!(value(&file, "user.overlay.opaque"), None);
    }
}

#[test]
fn a_staged_version_is_readable_by_its_owner_only() {
    let sandbox = Sandbox::new();
    sandbox.file("secret", "old");
    set(&sandbox.at("secret"), ACCESS, &one_reader());
    let root = sandbox.root(METHODS[0]);
    let workspace = sandbox.at("");
    let mut modes = Vec::new();
    let mut reader = Spying { workspace: &workspace, modes: &mut modes, left: 3 };
    let staged = root.stage_reader(&path("secret"), &mut reader, FileMode::Keep).unwrap();
    drop(staged);
    assert_eq!(modes, [0o600; 3]);
}

/// Records the mode of the temporary file at each read.
struct Spying<'a> {
    workspace: &'a Path,
    modes: &'a mut Vec<u32>,
    left: u32,
}

impl std::io::Read for Spying<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        self.left -= 1;
        let temporary = fs::read_dir(self.workspace)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.file_name().unwrap().to_string_lossy().starts_with(".agentd-tmp-"))
            .unwrap();
        self.modes.push(mode(&temporary));
        buffer[0] = b'x';
        Ok(1)
    }
}

#[test]
fn an_edit_does_not_inherit_the_default_list_of_the_folder() {
    let sandbox = Sandbox::new();
    sandbox.file("d/secret", "old");
    let (folder, file) = (sandbox.at("d"), sandbox.at("d/secret"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let inherited = list(&[(1, 7, NONE), (2, 7, 12345), (4, 7, NONE), (0x10, 7, NONE), (0x20, 0, NONE)]);
    set(&folder, DEFAULT, &inherited);
    let root = sandbox.root(METHODS[0]);
    edit(&root, "d/secret", b"old", b"new").unwrap();
    assert_eq!(value(&file, ACCESS), None);
    assert_eq!(mode(&file), 0o640);
    // The control: a new file inherits from the folder.
    root.stage(&path("d/new"), b"", FileMode::Keep).unwrap().publish(Expected::Absent).unwrap();
    let new = value(&sandbox.at("d/new"), ACCESS).expect("a new file has the list of its folder");
    assert_eq!(new, list(&[(1, 6, NONE), (2, 7, 12345), (4, 7, NONE), (0x10, 6, NONE), (0x20, 0, NONE)]));
}

#[test]
fn a_recorded_version_is_restored_with_its_own_rights_only() {
    let sandbox = Sandbox::new();
    sandbox.file("d/secret", "old");
    let (folder, file) = (sandbox.at("d"), sandbox.at("d/secret"));
    set(&file, ACCESS, &one_reader());
    set(&file, "user.note", b"kept");
    let root = sandbox.root(METHODS[0]);
    let attributes = root.attributes(&path("d/secret")).unwrap();
    let recorded = FileAttributes::from_bytes(&attributes.to_bytes()).unwrap();
    assert_eq!(recorded, attributes);
    fs::remove_file(&file).unwrap();
    set(
        &folder,
        DEFAULT,
        &list(&[(1, 7, NONE), (2, 7, 777), (4, 7, NONE), (0x10, 7, NONE), (0x20, 7, NONE)]),
    );
    for (attributes, expected) in [(recorded, Some(one_reader())), (FileAttributes::default(), None)] {
        let staged = root.stage_recorded(&path("d/secret"), b"old", FileMode::Exact(0o640), &attributes);
        staged.unwrap().publish(Expected::Absent).unwrap();
        assert_eq!(value(&file, ACCESS), expected);
        assert_eq!(mode(&file), 0o640);
        assert_eq!(value(&file, "user.note").is_some(), expected.is_some());
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn rights_revoked_between_staging_and_publishing_stay_revoked() {
    let sandbox = Sandbox::new();
    sandbox.file("secret", "old");
    let file = sandbox.at("secret");
    set(&file, ACCESS, &one_reader());
    let root = sandbox.root(METHODS[0]);
    let staged = root.stage(&path("secret"), b"new", FileMode::Keep).unwrap();
    let no_reader = list(&[(1, 6, NONE), (2, 0, 12345), (4, 0, NONE), (0x10, 4, NONE), (0x20, 0, NONE)]);
    set(&file, ACCESS, &no_reader);
    let refused = staged.publish(Expected::Content(ContentHash::of(b"old"))).unwrap_err();
    assert_eq!(refused, FsError::Changed { path: path("secret") });
    assert_eq!((sandbox.read("secret"), value(&file, ACCESS)), ("old".to_owned(), Some(no_reader)));
    assert_eq!(sandbox.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_lost_group_gives_the_new_one_no_rights() {
    // Only root can create a file of another group and then drop the privilege.
    if !rustix::process::geteuid().is_root() {
        let sandbox = Sandbox::new();
        sandbox.file("own", "old");
        fs::set_permissions(sandbox.at("own"), fs::Permissions::from_mode(0o664)).unwrap();
        edit(&sandbox.root(METHODS[0]), "own", b"old", b"new").unwrap();
        assert_eq!(mode(&sandbox.at("own")), 0o664);
        return;
    }
    let sandbox = Sandbox::new();
    let plain = [("shared", 0o660, 0o600), ("wide", 0o664, 0o604), ("shut", 0o606, 0o600)];
    for (name, before, _) in plain {
        sandbox.file(name, "old");
        std::os::unix::fs::chown(sandbox.at(name), Some(4321), Some(4322)).unwrap();
        fs::set_permissions(sandbox.at(name), fs::Permissions::from_mode(before)).unwrap();
    }
    sandbox.file("listed", "old");
    std::os::unix::fs::chown(sandbox.at("listed"), Some(4321), Some(4322)).unwrap();
    set(
        &sandbox.at("listed"),
        ACCESS,
        &list(&[(1, 6, NONE), (2, 4, 12345), (4, 6, NONE), (0x10, 6, NONE), (0x20, 4, NONE)]),
    );
    for folder in [sandbox.at(""), sandbox.at("..")] {
        std::os::unix::fs::chown(&folder, Some(4321), Some(4321)).unwrap();
    }
    let root = sandbox.root(METHODS[0]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            as_user(4321);
            for (name, ..) in plain {
                edit(&root, name, b"old", b"new").unwrap();
            }
            edit(&root, "listed", b"old", b"new").unwrap();
        });
    });
    for (name, _, after) in plain {
        let metadata = fs::metadata(sandbox.at(name)).unwrap();
        assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o777), (4321, 4321, after), "{name}");
    }
    let narrowed = list(&[(1, 6, NONE), (2, 4, 12345), (4, 0, NONE), (0x10, 6, NONE), (0x20, 4, NONE)]);
    assert_eq!(value(&sandbox.at("listed"), ACCESS), Some(narrowed));
}

/// Turns this thread only into an ordinary user without supplementary groups.
fn as_user(number: u32) {
    let (user, group) = (rustix::fs::Uid::from_raw(number), rustix::fs::Gid::from_raw(number));
    rustix::thread::set_thread_groups(&[]).unwrap();
    rustix::thread::set_thread_res_gid(group, group, group).unwrap();
    rustix::thread::set_thread_res_uid(user, user, user).unwrap();
}

#[test]
fn other_bytes_do_not_decode_as_attributes() {
    let one = FileAttributes::default().with_value(b"user.a", b"1").to_bytes();
    assert!(FileAttributes::from_bytes(&one).is_some());
    for cut in 0..one.len() {
        let read = FileAttributes::from_bytes(&one[..cut]);
        assert!(read.is_none() || read.is_some_and(|read| read.is_empty()), "{cut}");
    }
    assert_eq!(FileAttributes::from_bytes(&[1, 255, 255, 255, 255, 0]), None);
}

#[test]
fn a_marked_file_is_refused_with_its_mark() {
    use rustix::fs::IFlags;
    use sandbox_fs::ReadOnlyReason;
    let sandbox = Sandbox::new();
    sandbox.file("a", "x");
    let handle = fs::File::open(sandbox.at("a")).unwrap();
    let root = sandbox.root(METHODS[0]);
    let had = rustix::fs::ioctl_getflags(&handle).unwrap_or(IFlags::empty());
    for (flag, reason) in
        [(IFlags::IMMUTABLE, ReadOnlyReason::Immutable), (IFlags::APPEND, ReadOnlyReason::AppendOnly)]
    {
        if let Err(errno) = rustix::fs::ioctl_setflags(&handle, had | flag) {
            assert!(
                !rustix::process::geteuid().is_root() || std::env::var_os("CI").is_none(),
                "files cannot be marked here: {errno}"
            );
            println!("skipped: files cannot be marked here: {errno}");
            return;
        }
        let edited = root.stage(&path("a"), b"y", FileMode::Keep).map(drop);
        let removed = root.remove_file(&path("a"), None).map(drop);
        rustix::fs::ioctl_setflags(&handle, had).unwrap();
        for refused in [edited, removed] {
            assert_eq!(refused.unwrap_err(), FsError::ReadOnly { path: path("a"), reason });
        }
    }
    // The control: without a mark both succeed.
    edit(&root, "a", b"x", b"y").unwrap();
    root.remove_file(&path("a"), None).unwrap();
}
