//! Files of a layer with several names: each name that is adopted becomes a file of its own.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use cow_layer::{AdoptError, Layer, LayerChanges, ScanLimits, ScanRules};
use rel_path::RelPath;

use crate::fixture::{Fixture, attribute, image, listed, look, open_store, set_mode, write};
use crate::tracer::{self, Ended};

/// Names the folder in which the worker separates names.
const FOLDER: &str = "COW_LAYER_SEPARATION_TEST";

fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

fn adopt(layer: &Layer, changes: &LayerChanges) {
    for change in changes.in_adoption_order() {
        layer.adopt(change).unwrap_or_else(|error| panic!("{}: {error}", change.path));
    }
    layer.finish_folders(changes).unwrap();
}

#[test]
fn names_of_one_file_are_refused_until_each_is_a_file_of_its_own() {
    let fixture = Fixture::with_files(&["settings", "kept"]);
    let (layer, upper) = fixture.layer();
    upper.write("settings", "ours\n");
    upper.make_folder("new");
    upper.hard_link("settings", "new/name");
    upper.hard_link("settings", "third");
    upper.write("plain", "plain\n");
    let of = |name: &str| upper.path.join(name);
    set_mode(&of("settings"), 0o750);
    attribute(&of("settings"), "user.mine", b"1");
    let old = fs::FileTimes::new()
        .set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1_000_000_007));
    fs::File::open(of("settings")).unwrap().set_times(old).unwrap();
    let folder_time = fs::metadata(of("new")).unwrap().modified().unwrap();

    let mut changes = look(&layer);
    for name in ["new/name", "settings", "third"] {
        let path = RelPath::parse(name).unwrap();
        let refused = layer.adopt(changes.find(&path).unwrap());
        assert_eq!(refused, Err(AdoptError::Shared { path }));
    }
    layer.adopt(changes.find(&RelPath::parse("plain").unwrap()).unwrap()).unwrap();
    assert_eq!(fixture.read("settings"), "settings\n");

    assert_eq!(layer.separate(&mut changes, 10), Ok(1));
    assert_eq!(fs::metadata(of("new")).unwrap().modified().unwrap(), folder_time);
    adopt(&layer, &changes);
    let names = ["settings", "new/name", "third"].map(|name| fixture.workspace().join(name));
    for path in &names {
        let data = fs::metadata(path).unwrap();
        assert_eq!((data.nlink(), data.permissions().mode() & 0o7777), (1, 0o750), "{}", path.display());
        assert_eq!((data.mtime(), data.mtime_nsec()), (1, 7), "{}", path.display());
        let mut list = [0; 256];
        let length = rustix::fs::llistxattr(path, &mut list[..]).unwrap();
        let attributes = String::from_utf8_lossy(&list[..length]).replace("security.selinux\0", "");
        assert_eq!(attributes, "user.mine\0", "{}", path.display());
        assert_eq!(fs::read_to_string(path).unwrap(), "ours\n");
    }
    fs::write(&names[1], "harmful\n").unwrap();
    assert_eq!(fixture.read("settings"), "ours\n", "no name leads to it");
}

#[test]
fn names_in_one_folder_that_counts_as_one_change_stay_linked() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    for folder in ["built", "built/p", "built/p/built", "other", "dir"] {
        upper.make_folder(folder);
    }
    upper.write("built/p/x", "within\n");
    upper.hard_link("built/p/x", "built/y");
    upper.hard_link("built/p/x", "built/p/built/z");
    upper.write("built/between", "between\n");
    upper.hard_link("built/between", "other/between");
    upper.write("dir/out", "out\n");
    upper.hard_link("dir/out", "built/p/out");
    let is_whole = |path: &RelPath| path.file_name() == Some(b"built") || path.file_name() == Some(b"other");
    let rules = ScanRules::default().whole_folders(&is_whole);
    let mut changes = layer.changes(rules).unwrap();
    assert_eq!(listed(&changes), ["built new with 7", "dir new", "dir/out new", "other new with 1"]);
    for name in ["built", "dir/out", "other"] {
        let path = RelPath::parse(name).unwrap();
        assert_eq!(layer.adopt(changes.find(&path).unwrap()), Err(AdoptError::Shared { path }));
    }
    assert_eq!(layer.separate(&mut changes, 100), Ok(2));
    adopt(&layer, &changes);
    let of = |name: &str| fixture.workspace().join(name);
    assert_eq!(inode(&of("built/p/x")), inode(&of("built/y")), "that is how packages are installed");
    assert_eq!(inode(&of("built/p/x")), inode(&of("built/p/built/z")));
    for name in ["built/between", "other/between", "dir/out", "built/p/out"] {
        assert_eq!(fs::metadata(of(name)).unwrap().nlink(), 1, "{name}");
    }
}

#[test]
fn names_in_a_folder_that_is_one_change_for_its_size_are_separated() {
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    upper.make_folder("big");
    for number in 0..5 {
        write(&upper.path.join(format!("big/{number}")), "x");
    }
    upper.make_folder("big/sub");
    upper.hard_link("big/1", "big/sub/name");
    let mut changes = layer.changes(ScanRules::new(ScanLimits::default().with_tree_entries(4))).unwrap();
    assert_eq!(listed(&changes), ["big new with 7"]);
    assert_eq!(layer.separate(&mut changes, 1), Ok(1));
    adopt(&layer, &changes);
    let of = |name: &str| fixture.workspace().join(name);
    assert_ne!(inode(&of("big/1")), inode(&of("big/sub/name")));
}

#[test]
fn a_name_that_no_path_can_name_does_not_lead_to_one_that_can_be_named() {
    let fixture = Fixture::with_files(&["settings"]);
    let (layer, upper) = fixture.layer();
    upper.write("settings", "ours\n");
    upper.make_folder("built");
    let deep = format!("built/{}", "d/".repeat(70));
    fs::create_dir_all(upper.path.join(&deep)).unwrap();
    upper.hard_link("settings", &format!("{deep}name"));
    upper.write("built/x", "x\n");
    upper.hard_link("built/x", &format!("{deep}x"));
    let is_whole = |path: &RelPath| path.file_name() == Some(b"built");
    let mut changes = layer.changes(ScanRules::default().whole_folders(&is_whole)).unwrap();
    assert_eq!(layer.separate(&mut changes, 7), Ok(2));
    adopt(&layer, &changes);
    let deep = fixture.workspace().join(deep);
    fs::write(deep.join("name"), "harmful\n").unwrap();
    assert_eq!(fixture.read("settings"), "ours\n");
    assert_ne!(inode(&deep.join("x")), inode(&fixture.workspace().join("built/x")));
}

#[test]
fn a_single_name_that_is_adopted_takes_no_copy() {
    let fixture = Fixture::with_files(&["a", "b"]);
    let (layer, upper) = fixture.layer();
    // `ln a new`: the overlay copies the file for it, and nothing has changed at the old name.
    upper.write("a", "a\n");
    upper.hard_link("a", "new");
    let mut changes = look(&layer);
    assert_eq!(listed(&changes), ["new new"]);
    let before = inode(&upper.path.join("new"));
    // It counts, since the two names are no longer linked then.
    assert_eq!(layer.separate(&mut changes, 0), Ok(1));
    adopt(&layer, &changes);
    let new = fixture.workspace().join("new");
    assert_eq!(inode(&new), before);
    assert_ne!(inode(&new), inode(&fixture.workspace().join("a")));
    layer.discard().unwrap();
    assert_eq!(fs::metadata(&new).unwrap().nlink(), 1);
}

#[test]
fn names_for_whose_copies_there_is_no_room_are_left_and_the_rest_is_adopted() {
    let fixture = Fixture::with_files(&["a-2"]);
    let (layer, upper) = fixture.layer();
    for (name, size) in [("a", 600), ("b", 400)] {
        upper.write(name, &"x".repeat(size));
        upper.hard_link(name, &format!("{name}-2"));
        upper.hard_link(name, &format!("{name}-3"));
    }
    upper.write("plain", "plain\n");
    let mut changes = look(&layer);
    // The copies of both take 2000.
    assert_eq!(layer.separate(&mut changes, 1999), Ok(1));
    let left: Vec<_> = changes.iter().filter(|change| change.is_left_shared()).collect();
    assert_eq!(left.iter().map(|change| change.path.to_string()).collect::<Vec<_>>(), ["a-2", "a-3"]);
    for change in left {
        assert_eq!(layer.adopt(change), Err(AdoptError::Shared { path: change.path.clone() }));
    }
    layer.seal(&changes).unwrap();
    let sealed = layer.sealed().unwrap().unwrap();
    assert_eq!(listed(&sealed), ["a new", "b new", "b-2 new", "b-3 new", "plain new"]);
    adopt(&layer, &sealed);
    layer.discard().unwrap();
    assert_eq!(fixture.read("a-2"), "a-2\n");
    assert!(!fixture.workspace().join("a-3").exists());
    for (name, size) in [("a", 600), ("b", 400), ("b-2", 400), ("b-3", 400)] {
        let data = fs::metadata(fixture.workspace().join(name)).unwrap();
        assert_eq!((data.len(), data.nlink()), (size, 1), "{name}");
    }
    assert_eq!(fixture.read("plain"), "plain\n");
}

#[test]
fn a_tree_with_a_name_for_which_there_is_no_room_is_left_as_a_whole() {
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "large\n");
    upper.make_folder("built");
    upper.hard_link("a", "built/a");
    upper.make_folder("built/other");
    upper.make_folder("folder");
    upper.hard_link("a", "folder/a");
    let is_whole = |path: &RelPath| path.file_name() == Some(b"built");
    let mut changes = layer.changes(ScanRules::default().whole_folders(&is_whole)).unwrap();
    assert_eq!(layer.separate(&mut changes, 0), Ok(0));
    let left: Vec<_> = changes.iter().filter(|change| change.is_left_shared()).collect();
    assert_eq!(left.iter().map(|change| change.path.to_string()).collect::<Vec<_>>(), ["built", "folder/a"]);
    layer.seal(&changes).unwrap();
    adopt(&layer, &layer.sealed().unwrap().unwrap());
    layer.discard().unwrap();
    assert_eq!(fs::metadata(fixture.workspace().join("a")).unwrap().nlink(), 1);
    assert_eq!(fs::read_dir(fixture.workspace().join("folder")).unwrap().count(), 0);
}

#[test]
fn what_is_not_written_of_a_file_takes_no_space_in_its_copy() {
    const SIZE: u64 = 64 << 20;
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    let file = fs::File::create(upper.path.join("a")).unwrap();
    file.write_all_at(b"begin", 0).unwrap();
    file.write_all_at(b"middle", SIZE / 2).unwrap();
    file.set_len(SIZE).unwrap();
    upper.hard_link("a", "b");
    let mut changes = look(&layer);
    // Nor does it count.
    assert_eq!(layer.separate(&mut changes, SIZE / 4), Ok(1));
    assert!(changes.iter().all(|change| !change.is_left_shared()));
    adopt(&layer, &changes);
    let of = |name: &str| fixture.workspace().join(name);
    let (one, other) = (fs::metadata(of("a")).unwrap(), fs::metadata(of("b")).unwrap());
    assert_ne!(one.ino(), other.ino());
    assert!(other.blocks() <= one.blocks() + 64, "{} and {}", one.blocks(), other.blocks());
    assert!(fs::read(of("a")).unwrap() == fs::read(of("b")).unwrap());
}

#[test]
fn names_in_closed_folders_and_of_unreadable_files_are_separated() {
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    upper.make_folder("closed");
    upper.write("closed/a", "a\n");
    upper.hard_link("closed/a", "closed/b");
    set_mode(&upper.path.join("closed/a"), 0o000);
    set_mode(&upper.path.join("closed"), 0o100);
    let mut changes = look(&layer);
    assert_eq!(layer.separate(&mut changes, 2), Ok(1));
    adopt(&layer, &changes);
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(fixture.workspace().join("closed")), 0o100);
    set_mode(&fixture.workspace().join("closed"), 0o700);
    for name in ["closed/a", "closed/b"] {
        let path = fixture.workspace().join(name);
        assert_eq!((mode(path.clone()), fs::metadata(&path).unwrap().nlink()), (0, 1), "{name}");
        set_mode(&path, 0o600);
        assert_eq!(fixture.read(name), "a\n");
    }
}

/// Separates the names of the layer; the test below starts this one as a program.
#[test]
fn worker() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let layer = open_store(&folder).reopen(&"1".parse().unwrap()).unwrap();
    let mut changes = look(&layer);
    // The calls are counted from here on.
    std::env::set_current_dir("/").unwrap();
    layer.separate(&mut changes, 100).unwrap();
}

#[test]
fn a_kill_leaves_every_name_with_its_content_and_the_next_look_separates_the_rest() {
    let mut killed = 0;
    for number in 1.. {
        let fixture = Fixture::with_files(&["a"]);
        let (layer, upper) = fixture.layer();
        upper.write("a", "ours\n");
        upper.make_folder("new");
        upper.hard_link("a", "new/b");
        upper.hard_link("a", "c");
        set_mode(&upper.path.join("a"), 0o640);
        let before = image(&upper.path);
        let mut worker = Command::new(std::env::current_exe().unwrap());
        worker.args(["--exact", "hard_links::worker", "--test-threads", "1"]).env(FOLDER, fixture.path());
        let ended = tracer::run(&worker, number);
        assert_eq!(image(&upper.path), before, "{number}");
        let mut changes = look(&layer);
        layer.separate(&mut changes, 100).unwrap();
        layer.seal(&changes).unwrap();
        adopt(&layer, &layer.sealed().unwrap().unwrap());
        for name in ["a", "new/b", "c"] {
            assert_eq!(fixture.read(name), "ours\n", "{number}");
            assert_eq!(
                fs::metadata(fixture.workspace().join(name)).unwrap().nlink(),
                1,
                "{name} at {number}"
            );
        }
        match ended {
            Ended::Killed => killed += 1,
            _ => break,
        }
    }
    assert!(killed >= 4, "{killed}");
}
