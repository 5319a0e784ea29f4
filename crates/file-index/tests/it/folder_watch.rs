//! Watched folders report every change made before the call, and nothing of folders that are not watched.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use file_index::{FolderChanges, FolderWatch};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;

const FOLDERS: [&str; 4] = ["a", "a/b", "a-b", "c"];

struct Fixture {
    folder: TempDir,
    watch: FolderWatch,
}

impl Fixture {
    /// Watches the root and [`FOLDERS`], but not `a/b/unwatched`.
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        for name in FOLDERS {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::create_dir(folder.path().join("a/b/unwatched")).unwrap();
        fs::write(folder.path().join("a/file"), "1").unwrap();
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
        let mut watch = FolderWatch::start(Arc::new(root)).unwrap();
        for name in FOLDERS {
            watch.watch(&RelPath::parse(name).unwrap()).unwrap();
        }
        Fixture { folder, watch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn changes(&mut self) -> Vec<String> {
        match self.watch.changes() {
            FolderChanges::Paths(paths) => paths.iter().map(ToString::to_string).collect(),
            FolderChanges::Lost => vec!["lost".to_owned()],
        }
    }
}

#[test]
fn changes_before_the_call_are_reported_once() {
    type Change = fn(&Path);
    let cases: [(&str, Change, &[&str]); 9] = [
        ("a file is written", |root| fs::write(root.join("a/file"), "2").unwrap(), &["a/file"]),
        ("a file is made", |root| fs::write(root.join("c/new"), "").unwrap(), &["c/new"]),
        ("a file goes", |root| fs::remove_file(root.join("a/file")).unwrap(), &["a/file"]),
        ("a folder is made", |root| fs::create_dir(root.join("a-b/new")).unwrap(), &["a-b/new"]),
        ("a folder goes", |root| fs::remove_dir(root.join("c")).unwrap(), &["c"]),
        ("a folder is renamed", |root| fs::rename(root.join("a"), root.join("z")).unwrap(), &["a", "z"]),
        (
            "a file is renamed into another folder",
            |root| fs::rename(root.join("a/file"), root.join("c/file")).unwrap(),
            &["a/file", "c/file"],
        ),
        (
            "a folder is closed",
            |root| {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(root.join("c"), fs::Permissions::from_mode(0o700)).unwrap();
            },
            &["c"],
        ),
        ("nothing watched changes", |root| fs::write(root.join("a/b/unwatched/x"), "").unwrap(), &[]),
    ];
    for (name, change, expected) in cases {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.changes(), [""; 0], "{name}");
        change(fixture.folder.path());
        assert_eq!(fixture.changes(), expected, "{name}");
        assert_eq!(fixture.changes(), [""; 0], "{name}");
    }
}

#[test]
fn forgotten_folder_is_silent_with_all_below_it_and_its_neighbour_is_not() {
    let mut fixture = Fixture::new();
    fixture.watch.forget(&RelPath::parse("a").unwrap());
    assert_eq!(fixture.watch.len(), FOLDERS.len() - 1, "the root, `a-b` and `c`");
    for name in ["a/x", "a/b/x", "a-b/x"] {
        fs::write(fixture.path(name), "").unwrap();
    }
    assert_eq!(fixture.changes(), ["a-b/x"]);
}

#[test]
fn folder_is_known_by_its_last_name() {
    let mut fixture = Fixture::new();
    fs::rename(fixture.path("c"), fixture.path("d")).unwrap();
    assert_eq!(fixture.changes(), ["c", "d"]);
    fixture.watch.watch(&RelPath::parse("d").unwrap()).unwrap();
    fixture.watch.forget(&RelPath::parse("c").unwrap());
    fs::write(fixture.path("d/x"), "").unwrap();
    assert_eq!(fixture.changes(), ["d/x"]);
}

#[test]
fn overflown_queue_is_reported() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    let mut fixture = Fixture::new();
    let (one, other) = (fixture.path("c/one"), fixture.path("c/other"));
    fs::write(&one, "").unwrap();
    for _ in 0..limit / 4 + 1 {
        fs::rename(&one, &other).unwrap();
        fs::rename(&other, &one).unwrap();
    }
    assert_eq!(fixture.watch.changes(), FolderChanges::Lost);
}
