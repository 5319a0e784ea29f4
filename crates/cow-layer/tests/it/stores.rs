//! The folders in which layers can be kept.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use cow_layer::{LayerError, LayerName, LayerStore, Unavailable};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

use crate::fixture::{Fixture, set_mode};

fn root(path: &std::path::Path) -> Arc<FileRoot> {
    Arc::new(FileRoot::open(path, &RootRules::default(), FsPolicy::default()).unwrap())
}

#[test]
fn names_are_short_and_plain() {
    for good in ["1", "run-7", "0123456789abcdef"] {
        assert_eq!(good.parse::<LayerName>().unwrap().to_string(), good);
    }
    for bad in ["", "-a", "A", "a/b", "..", "a b", &"a".repeat(65)] {
        assert!(bad.parse::<LayerName>().is_err(), "{bad}");
    }
}

#[test]
fn a_name_is_given_once_and_layers_are_listed() {
    let fixture = Fixture::with_files(&[]);
    let (first, second) = ("a".parse().unwrap(), "b".parse().unwrap());
    fixture.store.create(&second).unwrap();
    fixture.store.create(&first).unwrap();
    assert_eq!(fixture.store.create(&first).unwrap_err(), LayerError::Exists);
    fs::write(fixture.path().join("layers/c"), "").unwrap();
    assert_eq!(fixture.store.existing().unwrap(), [first, second]);
}

#[test]
fn opening_a_store_leaves_no_files() {
    let fixture = Fixture::with_files(&["a"]);
    assert_eq!(fs::read_dir(fixture.workspace()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(fixture.path().join("layers")).unwrap().count(), 0);
}

#[test]
fn another_file_system_is_refused_by_trying() {
    let fixture = Fixture::with_files(&[]);
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let opened = LayerStore::open(
        File::open(elsewhere.path()).unwrap().into(),
        elsewhere.path(),
        root(&fixture.workspace()),
    );
    let errno = rustix::io::Errno::XDEV.raw_os_error();
    assert_eq!(opened.unwrap_err(), Unavailable::NoExchange { errno });
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(fixture.workspace()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_not_at_its_path_is_refused() {
    let fixture = Fixture::with_files(&[]);
    let layers = fixture.path().join("layers");
    let open = |path: &std::path::Path| {
        LayerStore::open(File::open(&layers).unwrap().into(), path, root(&fixture.workspace()))
    };
    assert_eq!(open(&fixture.workspace()).unwrap_err(), Unavailable::FolderMoved);
    assert_eq!(open(&fixture.path().join("missing")).unwrap_err(), Unavailable::FolderMoved);
    open(&layers).unwrap();
}

#[test]
fn a_workspace_without_a_path_is_refused() {
    let fixture = Fixture::with_files(&[]);
    let handle = File::open(fixture.workspace()).unwrap().into();
    let workspace = Arc::new(FileRoot::from_handle(handle, FsPolicy::default()).unwrap());
    let layers = fixture.path().join("layers");
    let opened = LayerStore::open(File::open(&layers).unwrap().into(), &layers, workspace);
    assert_eq!(opened.unwrap_err(), Unavailable::NoPath);
}

#[test]
fn the_upper_folder_has_the_workspaces_permissions() {
    let fixture = Fixture::with_files(&[]);
    for mode in [0o755, 0o2775, 0o700] {
        set_mode(&fixture.workspace(), mode);
        let layer = fixture.store.create(&format!("m{mode:o}").parse().unwrap()).unwrap();
        let metadata = fs::metadata(layer.mount_spec().upper).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, mode);
    }
}
