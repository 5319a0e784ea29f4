//! Staging and publishing.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rel_path::NameError;
use sandbox_fs::{
    ContentHash, Expected, FileKind, FileMode, FsError, FsPolicy, HardLinks, PublishMethod, ReadOnlyReason,
};

use crate::fixture::{METHODS, Sandbox, path};

#[test]
fn a_write_through_a_link_names_the_target() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("d/a.txt", "x");
        sandbox.link("l", "d/a.txt");
        sandbox.link("e", "d");
        sandbox.link("dangling", "d/new.txt");
        let root = sandbox.root(method);
        for (name, target) in
            [("l", "d/a.txt"), ("e/a.txt", "d/a.txt"), ("dangling", "d/new.txt"), ("e/n", "d/n")]
        {
            let error = root.stage(&path(name), b"y", FileMode::Keep).unwrap_err();
            assert_eq!(error, FsError::IsLink { path: path(name), target: Some(path(target)) }, "{method}");
        }
        assert_eq!(sandbox.read("d/a.txt"), "x");
        assert_eq!(sandbox.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn only_regular_files_are_written() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    sandbox.file("ro.txt", "x");
    fs::set_permissions(sandbox.at("ro.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::create_dir(sandbox.at("d")).unwrap();
    let root = sandbox.root(METHODS[0]);
    let refusal = |text: &str| root.stage(&path(text), b"y", FileMode::Keep).unwrap_err();
    assert_eq!(refusal("d"), FsError::NotAFile { path: path("d"), kind: FileKind::Folder });
    assert_eq!(refusal("new.txt/"), FsError::NotAFile { path: path("new.txt/"), kind: FileKind::Folder });
    assert_eq!(refusal("a.txt/b.txt"), FsError::NotAFolder { path: path("a.txt") });
    assert_eq!(refusal("nope/b.txt"), FsError::ParentMissing { folder: path("nope") });
    assert_eq!(
        refusal("ro.txt"),
        FsError::ReadOnly { path: path("ro.txt"), reason: ReadOnlyReason::NoWriteBit }
    );
    assert_eq!(refusal("a:b"), FsError::InvalidName { path: path("a:b"), reason: NameError::Colon });
    let refused = refusal(".cursor/mcp.json").to_string();
    assert!(
        refused.contains("`.cursor/*.json`") && refused.contains("Cursor starts the servers"),
        "{refused}"
    );
    let (entry, reason) = (".git".to_owned(), "git runs hooks and programs that it names".to_owned());
    assert_eq!(refusal(".git/config"), FsError::Protected { path: path(".git/config"), entry, reason });
    assert_eq!(sandbox.read("ro.txt"), "x");
}

#[test]
fn a_read_only_root_refuses_every_change() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    let root = sandbox.root_with(METHODS[0], FsPolicy::default().with_read_only(true));
    let refused = |error: FsError| matches!(error, FsError::ReadOnly { reason: ReadOnlyReason::Policy, .. });
    assert!(refused(root.stage(&path("a.txt"), b"y", FileMode::Keep).unwrap_err()));
    assert!(refused(root.remove_file(&path("a.txt"), None).unwrap_err()));
    assert!(refused(root.create_dirs(&path("d")).unwrap_err()));
    assert!(refused(root.rename_noreplace(&path("a.txt"), &root, &path("b")).unwrap_err()));
}

#[test]
fn a_new_file_never_replaces_an_existing_one() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        let root = sandbox.root(method);
        let staged = root.stage(&path("new.txt"), b"ours", FileMode::Keep).unwrap();
        sandbox.file("new.txt", "theirs");
        let error = staged.publish(Expected::Absent).unwrap_err();
        assert_eq!(error, FsError::AlreadyExists { path: path("new.txt") });
        assert_eq!(sandbox.read("new.txt"), "theirs");
        let staged = root.stage(&path("other.txt"), b"ours", FileMode::Keep).unwrap();
        assert_eq!(staged.publish(Expected::Absent).unwrap().method, PublishMethod::New);
        assert_eq!(sandbox.read("other.txt"), "ours");
        assert!(sandbox.leftovers().is_empty());
    }
}

#[test]
fn an_unexpected_version_is_restored() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("a.txt", "expected");
        let inode = fs::metadata(sandbox.at("a.txt")).unwrap().ino();
        let root = sandbox.root(method);
        let staged = root.stage(&path("a.txt"), b"ours", FileMode::Keep).unwrap();
        fs::write(sandbox.at("a.txt"), "theirs").unwrap();
        let error = staged.publish(Expected::Content(ContentHash::of(b"expected"))).unwrap_err();
        assert_eq!(error, FsError::Changed { path: path("a.txt") });
        assert_eq!(sandbox.read("a.txt"), "theirs");
        assert_eq!(fs::metadata(sandbox.at("a.txt")).unwrap().ino(), inode, "theirs is the same file");
        assert!(sandbox.leftovers().is_empty());
    }
}

#[test]
fn the_expected_version_is_replaced() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "expected");
    let root = sandbox.root(METHODS[0]);
    let staged = root.stage(&path("./a.txt"), b"ours", FileMode::Keep).unwrap();
    let published = staged.publish_synced(Expected::Content(ContentHash::of(b"expected"))).unwrap();
    assert_eq!(published.method, PublishMethod::Exchanged);
    assert_eq!(published.path, path("a.txt"));
    assert_eq!(published.metadata.inode, fs::metadata(sandbox.at("a.txt")).unwrap().ino());
    assert_eq!(sandbox.read("a.txt"), "ours");
    assert!(sandbox.leftovers().is_empty());
}

#[test]
fn a_file_that_became_another_kind_is_left_alone() {
    let sandbox = Sandbox::new();
    let root = sandbox.root(METHODS[0]);
    for expected in [Expected::Content(ContentHash::of(b"expected")), Expected::Anything] {
        sandbox.file("a.txt", "expected");
        let staged = root.stage(&path("a.txt"), b"ours", FileMode::Keep).unwrap();
        fs::remove_file(sandbox.at("a.txt")).unwrap();
        sandbox.link("a.txt", sandbox.outside().join("secret.txt"));
        assert_eq!(staged.publish(expected).unwrap_err(), FsError::Changed { path: path("a.txt") });
        assert!(fs::symlink_metadata(sandbox.at("a.txt")).unwrap().is_symlink());
        fs::remove_file(sandbox.at("a.txt")).unwrap();
    }
    assert!(sandbox.leftovers().is_empty());
}

#[test]
fn nothing_is_published_into_a_folder_that_was_moved_out() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("d")).unwrap();
    let root = sandbox.root(METHODS[0]);
    let staged = root.stage(&path("d/a.txt"), b"ours", FileMode::Keep).unwrap();
    fs::rename(sandbox.at("d"), sandbox.outside().join("d")).unwrap();
    assert_eq!(staged.publish(Expected::Absent).unwrap_err(), FsError::Changed { path: path("d/a.txt") });
    assert_eq!(
        fs::read_dir(sandbox.outside().join("d")).unwrap().count(),
        0,
        "nor is the temporary file left"
    );
}

#[test]
fn dropping_a_staged_version_removes_its_temporary_file() {
    let sandbox = Sandbox::new();
    let root = sandbox.root(METHODS[0]);
    let staged = root.stage(&path("a.txt"), b"ours", FileMode::Keep).unwrap();
    assert_eq!(sandbox.leftovers().len(), 1);
    assert!(root.list(&path(".")).unwrap().is_empty(), "a listing leaves the temporary file out");
    drop(staged);
    assert!(sandbox.leftovers().is_empty());
    assert!(!sandbox.at("a.txt").exists());
}

#[test]
fn permission_bits_are_kept_without_set_user() {
    let sandbox = Sandbox::new();
    let root = sandbox.root(METHODS[0]);
    for (before, mode, after) in [
        (0o755, FileMode::Keep, 0o755),
        (0o600, FileMode::Keep, 0o600),
        (0o4755, FileMode::Keep, 0o755),
        (0o644, FileMode::Exact(0o7711), 0o711),
    ] {
        sandbox.file("run.sh", "a");
        fs::set_permissions(sandbox.at("run.sh"), fs::Permissions::from_mode(before)).unwrap();
        let staged = root.stage(&path("run.sh"), b"b", mode).unwrap();
        staged.publish(Expected::Content(ContentHash::of(b"a"))).unwrap();
        assert_eq!(fs::metadata(sandbox.at("run.sh")).unwrap().mode() & 0o7777, after);
    }
    fs::write(sandbox.at("control"), "").unwrap();
    let control = fs::metadata(sandbox.at("control")).unwrap().mode();
    root.stage(&path("new"), b"", FileMode::Keep).unwrap().publish(Expected::Absent).unwrap();
    assert_eq!(fs::metadata(sandbox.at("new")).unwrap().mode(), control, "the umask decides");
}

#[test]
fn a_write_leaves_the_other_hard_links_alone() {
    let sandbox = Sandbox::new();
    fs::hard_link(sandbox.outside().join("secret.txt"), sandbox.at("h")).unwrap();
    let refusing = sandbox.root_with(METHODS[0], FsPolicy::default().with_hard_links(HardLinks::Refuse));
    let refused = FsError::HardLinked { path: path("h"), links: 2 };
    assert_eq!(refusing.open_file(&path("h")).unwrap_err(), refused);
    assert_eq!(refusing.stage(&path("h"), b"new", FileMode::Keep).unwrap_err(), refused);

    let before = sandbox.outside_snapshot();
    let root = sandbox.root(METHODS[0]);
    root.stage(&path("h"), b"new", FileMode::Keep).unwrap().publish(Expected::Anything).unwrap();
    assert_eq!(sandbox.read("h"), "new");
    assert_eq!(sandbox.outside_snapshot(), before);
}

#[test]
fn a_failing_reader_leaves_no_temporary_file() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(5))
        }
    }
    let sandbox = Sandbox::new();
    let root = sandbox.root(METHODS[0]);
    let error = root.stage_reader(&path("a"), &mut Failing, FileMode::Keep).unwrap_err();
    assert_eq!(error, FsError::Io { path: path("a"), errno: 5 });
    assert!(sandbox.leftovers().is_empty());
}
