//! Listings and walks.

use std::fs;
use std::time::Duration;

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode};
use sandbox_fs::{FileKind, FsError, Visit, WalkEntry, WalkLimits, is_temp_name};

use crate::fixture::{METHODS, Sandbox, path};

fn paths(entries: impl IntoIterator<Item = WalkEntry>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.path.to_string()).collect()
}

#[test]
fn the_order_is_that_of_path_bytes() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        for name in ["a/x", "a-b", "a.c", "a0", "a/b/c", "Z", "a/b.d"] {
            sandbox.file(name, "");
        }
        let root = sandbox.root(method);
        let walked = paths(root.walk(&path("."), WalkLimits::default()).unwrap());
        assert_eq!(walked, ["Z", "a", "a-b", "a.c", "a/b", "a/b.d", "a/b/c", "a/x", "a0"]);
    }
}

#[test]
fn no_link_is_entered_and_special_files_have_their_kind() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.at("d")).unwrap();
        sandbox.link("d/up", "..");
        sandbox.link("out", sandbox.outside());
        rustix::fs::mknodat(CWD, sandbox.at("p"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let root = sandbox.root(method);
        let entries: Vec<_> = root.walk(&path("."), WalkLimits::default()).unwrap().collect();
        let kinds: Vec<_> =
            entries.iter().map(|entry| (entry.path.to_string(), entry.kind, entry.depth)).collect();
        let expected = [
            ("d".to_owned(), FileKind::Folder, 1),
            ("d/up".to_owned(), FileKind::Link, 2),
            ("out".to_owned(), FileKind::Link, 1),
            ("p".to_owned(), FileKind::Fifo, 1),
        ];
        assert_eq!(kinds, expected, "{method}");
    }
}

#[test]
fn a_start_folder_outside_the_root_is_refused() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("d/a.txt", "");
        sandbox.link("out", sandbox.outside());
        sandbox.link("up", "../outside");
        sandbox.link("in", "d");
        let root = sandbox.root(method);
        assert!(matches!(root.list(&path("out")), Err(FsError::Escape { .. })));
        assert!(matches!(root.list(&path("up")), Err(FsError::Escape { .. })));
        assert_eq!(root.list(&path("d/a.txt")).unwrap_err(), FsError::NotAFolder { path: path("d/a.txt") });
        assert_eq!(root.list(&path("nope")).unwrap_err(), FsError::NotFound { path: path("nope") });
        assert_eq!(paths(root.list(&path("in")).unwrap()), ["d/a.txt"], "{method}");
    }
}

#[test]
fn the_visitor_decides_which_entries_are_yielded_and_entered() {
    let sandbox = Sandbox::new();
    for name in ["keep/a", "only/a", "pass/a", "skip/a"] {
        sandbox.file(name, "");
    }
    let root = sandbox.root(METHODS[0]);
    let walk = root.walk(&path("."), WalkLimits::default()).unwrap();
    let walk = walk.visited_by(|entry| match entry.path.as_bytes() {
        b"only" => Visit::TakeOnly,
        b"pass" => Visit::Pass,
        b"skip" => Visit::Skip,
        _ => Visit::Take,
    });
    assert_eq!(paths(walk), ["keep", "keep/a", "only", "pass/a"]);
}

#[test]
fn each_limit_ends_the_walk_and_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.file("a/b/c/d", "");
    sandbox.file("e", "");
    let root = sandbox.root(METHODS[0]);
    let walk = |limits: WalkLimits| {
        let mut walk = root.walk(&path("."), limits).unwrap();
        let entries = paths(walk.by_ref());
        (entries, walk.summary())
    };
    let (entries, summary) = walk(WalkLimits { depth: 2, ..WalkLimits::default() });
    assert_eq!((entries, summary.too_deep), (vec!["a".to_owned(), "a/b".to_owned(), "e".to_owned()], 1));
    let (entries, summary) = walk(WalkLimits { entries: 3, ..WalkLimits::default() });
    assert_eq!((entries.len(), summary.out_of_entries, summary.entries), (3, true, 3));
    let (entries, summary) = walk(WalkLimits { timeout: Duration::ZERO, ..WalkLimits::default() });
    assert_eq!((entries.len(), summary.out_of_time), (0, true));
    let (entries, summary) = walk(WalkLimits { depth: 0, ..WalkLimits::default() });
    assert_eq!((entries.len(), summary.entries), (0, 0));
    let (entries, summary) = walk(WalkLimits::default());
    assert_eq!(
        (entries.len(), summary.out_of_entries, summary.out_of_time, summary.too_deep),
        (5, false, false, 0)
    );
}

#[test]
fn mounts_are_counted_and_not_entered() {
    let sandbox = Sandbox::new();
    sandbox.file("mnt/below", "");
    let mounted = rustix::mount::mount_bind(sandbox.outside(), sandbox.at("mnt"));
    if let Err(errno) = mounted {
        assert!(std::env::var_os("CI").is_none(), "cannot mount here: {errno}");
        println!("not run here: cannot mount: {errno}");
        return;
    }
    let entries = METHODS.map(|method| {
        let root = sandbox.root(method);
        let mut walk = root.walk(&path("."), WalkLimits::default()).unwrap();
        (paths(walk.by_ref()), walk.summary().mounts, paths(root.list(&path("mnt")).unwrap()))
    });
    rustix::mount::unmount(sandbox.at("mnt"), rustix::mount::UnmountFlags::DETACH).unwrap();
    for (walked, mounts, listed) in entries {
        assert_eq!((walked, mounts), (vec!["mnt".to_owned()], 1));
        assert_eq!(listed, ["mnt/secret.txt", "mnt/sub"], "asked for by name, it is listed");
    }
}

#[test]
fn our_temporary_files_are_left_out_and_reserved() {
    let sandbox = Sandbox::new();
    let ours = format!(".agentd-tmp-{}", "0a".repeat(16));
    assert!(is_temp_name(ours.as_bytes()));
    sandbox.file(&ours, "");
    sandbox.file(".agentd-tmp-notes", "a user's");
    let root = sandbox.root(METHODS[0]);
    assert_eq!(paths(root.list(&path(".")).unwrap()), [".agentd-tmp-notes"]);
    assert!(matches!(root.remove_file(&path(&ours), None), Err(FsError::Protected { .. })));
}

#[test]
fn metadata_is_that_of_the_entry_itself() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "12345");
    sandbox.link("l", "a.txt");
    let root = sandbox.root(METHODS[0]);
    let entries = root.list(&path(".")).unwrap();
    assert_eq!(entries[0].metadata.unwrap().size_bytes, 5);
    assert_eq!(entries[0].metadata.unwrap(), root.metadata(&path("a.txt")).unwrap());
    assert_eq!(entries[1].metadata.unwrap().kind, FileKind::Link);
    let modified = fs::metadata(sandbox.at("a.txt")).unwrap().modified().unwrap();
    assert_eq!(entries[0].metadata.unwrap().modified(), modified);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_walk_is_sorted_and_complete(
        names in proptest::collection::btree_set("[ab.-]{1,2}/[ab0-]{1,2}/[a.]{1,2}", 1..12)
    ) {
        let sandbox = Sandbox::new();
        let mut made = std::collections::BTreeSet::new();
        for name in &names {
            if name.split('/').any(|part| part.trim_matches('.').is_empty()) {
                continue;
            }
            sandbox.file(name, "");
            let mut parent = Some(path(name));
            while let Some(current) = parent.filter(|current| !current.is_root()) {
                parent = current.parent();
                made.insert(current);
            }
        }
        for method in METHODS {
            let root = sandbox.root(method);
            let walked: Vec<_> =
                root.walk(&path("."), WalkLimits::default()).unwrap().map(|entry| entry.path).collect();
            let expected: Vec<_> = made.iter().cloned().collect();
            prop_assert_eq!(&walked, &expected);
        }
    }
}
