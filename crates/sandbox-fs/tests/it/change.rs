//! Removing, renaming, creating folders, syncing.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rel_path::NameError;
use rustix::fs::{CWD, FileType, Mode};
use sandbox_fs::{ContentHash, Expected, FileKind, FileMode, FsError, FsPolicy, NewNames, WriteBits};

use crate::fixture::{METHODS, Sandbox, path};

#[test]
fn removing_a_link_leaves_its_target() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.link("l", sandbox.outside().join("secret.txt"));
        let root = sandbox.root(method);
        let before = sandbox.outside_snapshot();
        assert_eq!(root.remove_file(&path("l"), None).unwrap().metadata.kind, FileKind::Link);
        assert!(fs::symlink_metadata(sandbox.at("l")).is_err());
        assert_eq!(sandbox.outside_snapshot(), before);
    }
}

#[test]
fn nothing_is_removed_through_a_linked_folder() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("d/a.txt", "x");
        sandbox.link("in", "d");
        sandbox.link("out", sandbox.outside());
        let root = sandbox.root(method);
        let error = root.remove_file(&path("in/a.txt"), None).unwrap_err();
        assert_eq!(error, FsError::IsLink { path: path("in/a.txt"), target: Some(path("d/a.txt")) });
        assert!(matches!(root.remove_file(&path("out/secret.txt"), None), Err(FsError::Escape { .. })));
        assert!(sandbox.at("d/a.txt").exists() && sandbox.outside().join("secret.txt").exists());
    }
}

#[test]
fn only_the_expected_content_is_removed() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "theirs");
    let root = sandbox.root(METHODS[0]);
    let expected = ContentHash::of(b"seen");
    let error = root.remove_file(&path("a.txt"), Some(&expected)).unwrap_err();
    assert_eq!(error, FsError::Changed { path: path("a.txt") });
    assert_eq!(sandbox.read("a.txt"), "theirs");
    let removed = root.remove_file(&path("./a.txt"), Some(&ContentHash::of(b"theirs"))).unwrap();
    assert_eq!(removed.path, path("a.txt"));
    assert_eq!(removed.content.unwrap().read_to_end(10).unwrap(), b"theirs");
    assert!(!sandbox.at("a.txt").exists());
    assert!(sandbox.leftovers().is_empty());
    sandbox.link("l", "a.txt");
    assert_eq!(
        root.remove_file(&path("l"), Some(&expected)).unwrap_err(),
        FsError::Changed { path: path("l") }
    );
    assert!(fs::symlink_metadata(sandbox.at("l")).unwrap().is_symlink());
}

#[test]
fn only_the_expected_link_or_special_file_is_removed() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.link("l", "a.txt");
        rustix::fs::mknodat(CWD, sandbox.at("p"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        sandbox.file("a.txt", "theirs");
        let root = sandbox.root(method);
        let changed = |name: &str| FsError::Changed { path: path(name) };
        for (name, target) in [("l", "a.tx"), ("l", "a.txt2"), ("p", "a.txt"), ("a.txt", "a.txt")] {
            let error = root.remove_link(&path(name), target.as_bytes()).unwrap_err();
            assert_eq!(error, changed(name), "{target}");
        }
        for (name, kind) in [
            ("p", FileKind::Socket),
            ("l", FileKind::Fifo),
            ("l", FileKind::Link),
            ("a.txt", FileKind::Fifo),
            ("a.txt", FileKind::File),
        ] {
            assert_eq!(root.remove_special(&path(name), kind).unwrap_err(), changed(name), "{kind}");
        }
        assert_eq!(fs::read_dir(sandbox.workspace()).unwrap().count(), 3);
        let removed = root.remove_link(&path("./l"), b"a.txt").unwrap();
        assert_eq!((removed.path, removed.metadata.kind), (path("l"), FileKind::Link));
        let removed = root.remove_special(&path("p"), FileKind::Fifo).unwrap();
        assert_eq!((removed.path, removed.metadata.kind), (path("p"), FileKind::Fifo));
        assert_eq!(sandbox.read("a.txt"), "theirs");
        assert_eq!(fs::read_dir(sandbox.workspace()).unwrap().count(), 1);
        let missing = FsError::NotFound { path: path("l") };
        assert_eq!(root.remove_link(&path("l"), b"a.txt").unwrap_err(), missing);
        let protected = root.remove_link(&path(".git"), b"a.txt").unwrap_err();
        assert!(matches!(protected, FsError::Protected { .. }));
    }
}

/// Another program saves a file by renaming over a link, again and again, while the link is removed.
#[test]
fn no_file_that_replaces_a_link_is_removed_with_it() {
    let sandbox = Sandbox::new();
    let root = sandbox.root(METHODS[0]);
    let (link, saved) = (sandbox.at("l"), sandbox.at("saved"));
    // A refusal shows that the file came right before the removal, where it could be lost.
    let (mut removed, mut refused) = (0, 0);
    for round in 0..1_000_000 {
        sandbox.link("l", "nowhere");
        fs::write(&saved, "theirs").unwrap();
        let result = std::thread::scope(|scope| {
            scope.spawn(|| fs::rename(&saved, &link).unwrap());
            root.remove_file(&path("l"), None)
        });
        match result {
            // The link went before the file came, or the file came first and was asked for.
            Ok(gone) if gone.metadata.kind == FileKind::Link => {
                removed += 1;
                assert_eq!(sandbox.read("l"), "theirs", "round {round}");
            }
            Ok(_) => {}
            Err(FsError::Changed { .. }) => {
                refused += 1;
                assert_eq!(sandbox.read("l"), "theirs", "round {round}");
            }
            Err(error) => panic!("round {round}: {error}"),
        }
        let _ = fs::remove_file(&link);
        if removed > 0 && refused > 2 {
            break;
        }
    }
    assert!(removed > 0 && refused > 2, "{removed} {refused}");
    assert!(sandbox.leftovers().is_empty());
}

#[test]
fn folders_and_the_root_are_not_removed_as_files() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("d")).unwrap();
    let root = sandbox.root(METHODS[0]);
    for name in ["d", "d/", ".", "./", "d/.."] {
        let error = root.remove_file(&path(name), None).unwrap_err();
        assert!(matches!(error, FsError::NotAFile { kind: FileKind::Folder, .. }), "{name}: {error:?}");
    }
    assert_eq!(root.remove_file(&path("nope"), None).unwrap_err(), FsError::NotFound { path: path("nope") });
}

#[test]
fn only_empty_folders_are_removed() {
    let sandbox = Sandbox::new();
    sandbox.file("d/e/a.txt", "");
    let root = sandbox.root(METHODS[0]);
    let not_empty = FsError::FolderNotEmpty { path: path("d/e") };
    assert_eq!(root.remove_empty_folder(&path("d/e/")).unwrap_err(), not_empty);
    fs::remove_file(sandbox.at("d/e/a.txt")).unwrap();
    root.remove_empty_folder(&path("d/e/")).unwrap();
    assert!(!sandbox.at("d/e").exists());
    sandbox.link("l", "d");
    assert!(matches!(root.remove_empty_folder(&path("l")), Err(FsError::NotAFolder { .. })));
    assert!(root.remove_empty_folder(&path(".")).is_err());
}

#[test]
fn missing_folders_are_created() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("a/x", "");
        let root = sandbox.root(method);
        let created = root.create_dirs(&path("a/../a/b/c/")).unwrap();
        assert_eq!(created, [path("a/b"), path("a/b/c")]);
        assert_eq!(root.create_dirs(&path("a/b/c")).unwrap(), []);
        assert_eq!(root.create_dirs(&path(".")).unwrap(), []);
    }
}

#[test]
fn refused_folders_leave_no_files() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("d/a.txt", "");
        sandbox.link("in", "d");
        sandbox.link("out", sandbox.outside());
        sandbox.link("dangling", "d/new");
        sandbox.link("far", "nope/new");
        let root = sandbox.root(method);
        let error = |text: &str| root.create_dirs(&path(text)).unwrap_err();
        assert_eq!(error("in/x/y"), FsError::IsLink { path: path("in/x/y"), target: Some(path("d/x/y")) });
        let target = Some(path("d/new/x"));
        assert_eq!(error("dangling/x"), FsError::IsLink { path: path("dangling/x"), target });
        assert_eq!(error("far/x/y"), FsError::IsLink { path: path("far"), target: None });
        assert_eq!(
            root.write_target(&path("far/x")),
            Err(FsError::IsLink { path: path("far"), target: None })
        );
        assert!(matches!(error("out/x"), FsError::Escape { .. }));
        assert_eq!(error("d/a.txt/x"), FsError::NotAFolder { path: path("d/a.txt") });
        let refused = error("new/x/.git/hooks");
        let FsError::Protected { path: protected, entry, .. } = refused else { panic!("{refused}") };
        assert_eq!((protected, &*entry), (path("new/x/.git/hooks"), ".git"));
        assert_eq!(
            error("new/x/a:b"),
            FsError::InvalidName { path: path("new/x/a:b"), reason: NameError::Colon }
        );
        assert_eq!(error("nope/../x"), FsError::ParentMissing { folder: path("nope") });
        assert!(!sandbox.at("new").exists() && !sandbox.at("nope").exists() && !sandbox.at("d/new").exists());
    }
}

#[test]
fn a_rename_never_overwrites() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file(".agentd/inbox/1.txt", "one");
        sandbox.file(".agentd/done/1.txt", "older");
        let root = sandbox.root(method);
        let inbox = root.subfolder(&path(".agentd/inbox"), FsPolicy::private()).unwrap();
        let done = root.subfolder(&path(".agentd/done"), FsPolicy::private()).unwrap();
        let taken = inbox.rename_noreplace(&path("1.txt"), &done, &path("1.txt")).unwrap_err();
        assert_eq!(taken, FsError::AlreadyExists { path: path("1.txt") });
        assert_eq!(sandbox.read(".agentd/done/1.txt"), "older");
        inbox.rename_noreplace(&path("1.txt"), &done, &path("2.txt")).unwrap();
        assert_eq!(sandbox.read(".agentd/done/2.txt"), "one");
        assert!(!sandbox.at(".agentd/inbox/1.txt").exists());
        sandbox.link(".agentd/inbox/l", "../done/2.txt");
        let link = inbox.rename_noreplace(&path("l"), &done, &path("3.txt")).unwrap_err();
        assert_eq!(link, FsError::IsLink { path: path("l"), target: None });
    }
}

#[test]
fn nothing_is_renamed_from_or_to_a_protected_name() {
    let sandbox = Sandbox::new();
    sandbox.file(".git/config", "");
    sandbox.file("a.txt", "");
    let root = sandbox.root(METHODS[0]);
    for (from, to) in [(".git/config", "b"), ("a.txt", ".git/hook"), ("a.txt", ".MCP.json")] {
        let error = root.rename_noreplace(&path(from), &root, &path(to)).unwrap_err();
        assert!(matches!(error, FsError::Protected { .. }), "{from} {to}");
    }
    assert!(sandbox.at("a.txt").exists() && sandbox.at(".git/config").exists());
}

#[test]
fn a_file_is_restored_under_its_own_odd_name() {
    let sandbox = Sandbox::new();
    let policy = FsPolicy::default().with_new_names(NewNames::Any);
    let root = sandbox.root_with(METHODS[0], policy);
    let odd = path("a:b\\c");
    root.stage(&odd, b"x", FileMode::Keep).unwrap().publish(Expected::Absent).unwrap();
    assert_eq!(root.open_file(&odd).unwrap().read_to_end(9).unwrap(), b"x");
}

#[test]
fn a_staged_version_gets_the_time_that_it_is_given() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    let root = sandbox.root(METHODS[0]);
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    let mut staged = root.stage(&path("a.txt"), b"y", FileMode::Keep).unwrap();
    staged.set_modified(time).unwrap();
    let published = staged.publish(Expected::Content(ContentHash::of(b"x"))).unwrap();
    assert_eq!(published.metadata.modified_nanoseconds, 1_000_000_000);
    assert_eq!(sandbox.at("a.txt").metadata().unwrap().modified().unwrap(), time);
}

#[test]
fn an_existing_odd_name_is_edited() {
    let sandbox = Sandbox::new();
    sandbox.file("a:b", "x");
    let root = sandbox.root(METHODS[0]);
    let staged = root.stage(&path("a:b"), b"y", FileMode::Keep).unwrap();
    staged.publish(Expected::Content(ContentHash::of(b"x"))).unwrap();
    assert_eq!(sandbox.read("a:b"), "y");
}

#[test]
fn files_and_folders_are_synced() {
    let sandbox = Sandbox::new();
    sandbox.file("d/a.txt", "x");
    sandbox.link("l", "d/a.txt");
    let root = sandbox.root(METHODS[0]);
    root.sync_file(&path("d/a.txt")).unwrap();
    root.sync_folder(&path("d")).unwrap();
    root.sync_folder(&path(".")).unwrap();
    assert!(matches!(root.sync_file(&path("l")), Err(FsError::IsLink { .. })));
    assert!(matches!(root.sync_folder(&path("d/a.txt")), Err(FsError::NotAFolder { .. })));
}

#[test]
fn a_sweep_removes_known_files_and_keeps_unknown_ones() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        let ours = |digit: &str| format!("d/.agentd-tmp-{}", digit.repeat(32));
        sandbox.file(&ours("1"), "known");
        sandbox.file(&ours("2"), "not ours");
        sandbox.link(&ours("3"), ".agentd-tmp-notes");
        sandbox.file("d/.agentd-tmp-notes", "known");
        let root = sandbox.root(method);
        let own_hash = ContentHash::of(b"known");
        let swept =
            root.sweep_leftovers(&path("d"), |file| file.content_hash().unwrap() == own_hash).unwrap();
        assert_eq!((swept.removed, swept.kept.len()), (1, 2));
        let contents: Vec<_> = swept.kept.iter().map(|kept| root.open_file(kept).unwrap()).collect();
        assert!(contents.iter().any(|file| file.read_to_end(20).unwrap() == b"not ours"));
        let links = swept.kept.iter().filter(|kept| root.link_target(kept).unwrap().is_some());
        assert_eq!(links.count(), 1, "a link is kept, whatever it leads to");
        assert_eq!(
            root.list(&path("d")).unwrap().len(),
            3,
            "the kept version is listed next to the user's own file"
        );
        assert_eq!(root.sweep_leftovers(&path("d"), |_| true).unwrap(), Default::default());
    }
}

#[test]
fn a_link_is_restored_verbatim() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    sandbox.link("l", "../outside/secret.txt");
    let root = sandbox.root(METHODS[0]);
    let target = root.link_target(&path("l")).unwrap().unwrap();
    assert_eq!(target, b"../outside/secret.txt");
    assert_eq!(root.link_target(&path("a.txt")).unwrap(), None);
    root.remove_file(&path("l"), None).unwrap();
    assert_eq!(root.restore_link(&path("l"), &target).unwrap(), path("l"));
    assert_eq!(fs::read_link(sandbox.at("l")).unwrap().to_str(), Some("../outside/secret.txt"));
    assert!(matches!(root.open_file(&path("l")), Err(FsError::Escape { .. })), "and still is not followed");
    let taken = root.restore_link(&path("a.txt"), &target).unwrap_err();
    assert_eq!(taken, FsError::AlreadyExists { path: path("a.txt") });
    assert!(matches!(root.restore_link(&path(".git/x"), &target), Err(FsError::Protected { .. })));
}

#[test]
fn only_folders_take_permission_bits() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.at("d")).unwrap();
        sandbox.file("f", "x");
        sandbox.link("l", "d");
        let root = sandbox.root(method);
        let mode = || fs::metadata(sandbox.at("d")).unwrap().permissions().mode() & 0o7777;
        fs::set_permissions(sandbox.at("d"), fs::Permissions::from_mode(0o1755)).unwrap();
        assert_eq!(root.set_folder_mode(&path("d"), 0o6000).unwrap(), 0o1755);
        assert_eq!(mode(), 0o1000, "special bits stay and none is given");
        // The owner cannot list the folder now, but can still change its mode.
        assert_eq!(root.set_folder_mode(&path("d"), 0o750).unwrap(), 0o1000);
        assert_eq!(mode(), 0o1750);
        let not_a_folder = root.set_folder_mode(&path("f"), 0o777).unwrap_err();
        assert_eq!(not_a_folder, FsError::NotAFolder { path: path("f") });
        assert!(root.set_folder_mode(&path("l"), 0o777).is_err());
        assert_eq!(mode(), 0o1750, "not through a link");
        assert!(matches!(root.set_folder_mode(&path("n"), 0o777), Err(FsError::NotFound { .. })));
        assert!(matches!(root.set_folder_mode(&path(".git"), 0o777), Err(FsError::Protected { .. })));
    }
}

#[test]
fn write_bits_decide_unless_ignored() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "x");
    fs::set_permissions(sandbox.at("f"), fs::Permissions::from_mode(0o444)).unwrap();
    let root = sandbox.root(METHODS[0]);
    assert!(matches!(root.stage(&path("f"), b"y", FileMode::Keep), Err(FsError::ReadOnly { .. })));
    assert!(matches!(root.remove_file(&path("f"), None), Err(FsError::ReadOnly { .. })));
    let root = sandbox.root_with(METHODS[0], FsPolicy::default().with_write_bits(WriteBits::Ignore));
    let expected = Expected::Content(ContentHash::of(b"x"));
    root.stage(&path("f"), b"y", FileMode::Keep).unwrap().publish(expected).unwrap();
    assert_eq!(fs::metadata(sandbox.at("f")).unwrap().permissions().mode() & 0o777, 0o444);
    root.remove_file(&path("f"), Some(&ContentHash::of(b"y"))).unwrap();
    assert!(!sandbox.at("f").exists());
}
