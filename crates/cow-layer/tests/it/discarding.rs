//! A layer can be discarded whatever a command left in it.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;

use cow_layer::LayerError;
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use crate::fixture::{Fixture, image, look, set_mode, write};

#[test]
fn discarding_removes_the_layer_and_nothing_else() {
    let fixture = Fixture::with_files(&["a", "dir/b"]);
    let before = image(&fixture.workspace());
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    upper.remove("dir");
    // As the kernel leaves it.
    let work = layer.mount_spec().work;
    write(&work.join("work/incompat/volatile/dirty"), "");
    for folder in ["work/incompat/volatile", "work/incompat", "work"] {
        set_mode(&work.join(folder), 0o000);
    }
    write(&upper.path.join("closed/inner/x"), "x");
    set_mode(&upper.path.join("closed/inner"), 0o000);
    set_mode(&upper.path.join("closed"), 0o400);
    std::os::unix::fs::symlink(fixture.workspace(), upper.path.join("link")).unwrap();
    layer.discard().unwrap();
    assert_eq!(image(&fixture.workspace()), before);
    assert_eq!(fixture.store.existing().unwrap(), []);
    assert_eq!(fs::read_dir(fixture.path().join("layers")).unwrap().count(), 0);
}

/// Makes a chain of folders, one in the other. A path to the last would be too long for the system.
fn dig(folder: &Path, depth: u32) {
    let mut folder: OwnedFd = File::open(folder).unwrap().into();
    for _ in 0..depth {
        mkdirat(&folder, "d", Mode::from_raw_mode(0o755)).unwrap();
        folder = openat(&folder, "d", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
}

fn depth(folder: &Path) -> u32 {
    let mut folder: OwnedFd = File::open(folder).unwrap().into();
    let mut depth = 0;
    while let Ok(below) = openat(&folder, "d", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
        (folder, depth) = (below, depth + 1);
    }
    depth
}

#[test]
fn a_tree_deeper_than_any_path_is_discarded_and_can_be_adopted() {
    for adopts in [false, true] {
        let fixture = Fixture::with_files(&[]);
        let (layer, upper) = fixture.layer();
        upper.make_folder("deep");
        dig(&upper.path.join("deep"), 3000);
        let changes = look(&layer);
        let trees: Vec<bool> = changes.iter().map(|change| change.tree.is_some()).collect();
        assert_eq!(trees.iter().filter(|is_tree| **is_tree).count(), 1, "the deepest that can be named");
        assert_eq!((changes.len(), changes.unnameable()), (64, 0));
        if adopts {
            for change in changes.in_adoption_order() {
                layer.adopt(change).unwrap();
            }
            assert_eq!(depth(&fixture.workspace().join("deep")), 3000);
            let text = "rm -rf deep";
            let removed = Command::new("sh").args(["-c", text]).current_dir(fixture.workspace()).output();
            assert!(removed.unwrap().status.success());
        }
        layer.discard().unwrap();
        assert_eq!(fs::read_dir(fixture.path().join("layers")).unwrap().count(), 0);
    }
}

#[test]
fn a_layer_that_was_not_finished_is_incomplete_and_can_be_discarded_by_its_name() {
    let fixture = Fixture::with_files(&[]);
    let name = "half".parse().unwrap();
    let folder = fixture.path().join("layers/half");
    for part in [None, Some("upper"), Some("work"), Some("taken")] {
        fs::create_dir_all(part.map_or(folder.clone(), |part| folder.join(part))).unwrap();
        assert_eq!(fixture.store.reopen(&name).unwrap_err(), LayerError::Incomplete);
    }
    fs::write(folder.join("moment"), "nonsense").unwrap();
    assert_eq!(fixture.store.reopen(&name).unwrap_err(), LayerError::Incomplete);
    assert_eq!(fixture.store.existing().unwrap(), std::slice::from_ref(&name));
    fixture.store.discard(&name).unwrap();
    fixture.store.discard(&name).unwrap();
    assert_eq!(fixture.store.reopen(&name).unwrap_err(), LayerError::NotFound);
}

#[test]
fn a_list_that_was_cut_is_none() {
    let fixture = Fixture::with_files(&["a", "b"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    upper.remove("b");
    upper.link("odd\u{1}", "\t\n");
    assert_eq!(layer.sealed(), Ok(None));
    let changes = look(&layer);
    layer.seal(&changes).unwrap();
    assert_eq!(layer.sealed(), Ok(Some(changes)));
    let path = fixture.path().join("layers/1/changes");
    let text = fs::read(&path).unwrap();
    for length in 0..text.len() {
        fs::write(&path, &text[..length]).unwrap();
        assert_eq!(layer.sealed(), Err(LayerError::Incomplete), "{length} of {}", text.len());
    }
}

#[test]
fn a_layer_can_be_made_ready_to_be_mounted_again() {
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    upper.write("new", "new\n");
    let work = layer.mount_spec().work;
    write(&work.join("work/incompat/volatile/dirty"), "");
    set_mode(&work.join("work"), 0o000);
    layer.renew().unwrap();
    assert_eq!(fs::read_dir(work).unwrap().count(), 0);
    assert_eq!(look(&layer).len(), 1);
}
