//! Adoption, beyond the scripts that run on mounted layers.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use cow_layer::{AdoptError, Adopted, LayerChange, LayerChanges, ScanLimits, ScanRules, Side};
use rel_path::RelPath;

use crate::fixture::{Fixture, attribute, image, listed, look, set_mode, write};

fn find<'c>(changes: &'c LayerChanges, path: &str) -> &'c LayerChange {
    changes.find(&RelPath::parse(path).unwrap()).unwrap()
}

#[test]
fn a_change_is_adopted_once_and_the_previous_version_kept() {
    let fixture = Fixture::with_files(&["a", "gone", "dir/x"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    upper.remove("gone");
    upper.remove("dir");
    upper.write("new", "new\n");
    let changes = look(&layer);
    let mut kept = Vec::new();
    for change in changes.in_adoption_order() {
        assert!(layer.open_before(change).unwrap().is_none(), "{}", change.path);
        assert_eq!(layer.adopt(change), Ok(Adopted::Now), "{}", change.path);
        assert_eq!(layer.adopt(change), Ok(Adopted::Already), "{}", change.path);
        if let Some(file) = layer.open_before(change).unwrap() {
            kept.push(std::io::read_to_string(file).unwrap());
        }
    }
    assert_eq!(kept, ["a\n", "gone\n", "dir/x\n"]);
    assert_eq!(image(&fixture.workspace()).keys().collect::<Vec<_>>(), ["", "a", "new"]);
    assert_eq!(fixture.read("a"), "ours\n");
}

#[test]
fn the_content_of_a_change_can_be_read_before_it_is_adopted() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    set_mode(&upper.path.join("a"), 0o000);
    upper.link("link", "a");
    let read = |path: &str| {
        let mut text = String::new();
        layer
            .open_file(&RelPath::parse(path).unwrap())
            .map(|mut file| file.read_to_string(&mut text))?
            .unwrap();
        Ok::<String, cow_layer::LayerError>(text)
    };
    assert_eq!(read("a").unwrap(), "ours\n");
    assert_eq!(fs::metadata(upper.path.join("a")).unwrap().permissions().mode() & 0o777, 0);
    assert!(read("link").is_err() && read("missing").is_err());
}

#[test]
fn the_bits_that_would_lend_the_users_rights_are_left_out() {
    let fixture = Fixture::with_files(&["a", "b"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    upper.write("b", "b\n");
    upper.write("new", "new\n");
    upper.make_folder("tree");
    upper.write("tree/x", "x\n");
    for name in ["a", "b", "new", "tree/x"] {
        set_mode(&upper.path.join(name), 0o6755);
    }
    upper.hard_link("new", "other");
    let rules = ScanRules::default().whole_folders(&|_| true);
    let mut changes = layer.changes(rules).unwrap();
    assert_eq!(layer.separate(&mut changes, 4), Ok(1));
    let listed = find(&changes, "new").after.clone();
    assert!(matches!(listed, Some(Side::File { mode: 0o755, size_bytes: 4, .. })), "{listed:?}");
    for change in changes.in_adoption_order() {
        layer.adopt(change).unwrap();
        for (name, entry) in image(&fixture.workspace()) {
            assert!(!entry.contains("6755"), "{name}: {entry}");
        }
    }
    assert_eq!(image(&fixture.workspace())["tree/x"], "file 755 \"x\\n\"");
    assert_eq!(image(&fixture.workspace())["b"], "file 755 \"b\\n\"", "its other permissions are a change");
    assert_eq!(image(&fixture.workspace())["other"], "file 755 \"new\\n\"");
}

#[test]
fn nothing_of_the_overlay_comes_into_the_workspace() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    upper.make_folder("tree");
    upper.make_folder("tree/sub");
    upper.write("tree/sub/x", "x\n");
    attribute(&upper.path.join("tree/sub/x"), "user.overlay.origin", b"");
    attribute(&upper.path.join("tree/sub/x"), "user.mine", b"1");
    set_mode(&upper.path.join("tree/sub/x"), 0o444);
    // What marks a removed entry has no meaning in a folder that is new.
    upper.remove("tree/sub/gone");
    let rules = ScanRules::default().whole_folders(&|_| true);
    let changes = layer.changes(rules).unwrap();
    assert_eq!(listed(&changes), ["a changed", "tree new with 2"]);
    for change in changes.in_adoption_order() {
        layer.adopt(change).unwrap();
    }
    for (path, expected) in [("a", ""), ("tree", ""), ("tree/sub", ""), ("tree/sub/x", "user.mine\0")] {
        let mut list = [0; 256];
        let length = rustix::fs::llistxattr(fixture.workspace().join(path), &mut list[..]).unwrap();
        let names = String::from_utf8_lossy(&list[..length]).replace("security.selinux\0", "");
        assert_eq!(names, expected, "{path}");
    }
    assert!(!fixture.workspace().join("tree/sub/gone").exists());
    assert_eq!(image(&fixture.workspace())["tree/sub/x"], "file 444 \"x\\n\"");
}

#[test]
fn whiteouts_that_are_marked_files_are_removals() {
    let fixture = Fixture::with_files(&["dir/a", "dir/b"]);
    let (layer, upper) = fixture.layer();
    upper.write("dir/a", "");
    attribute(&upper.path.join("dir/a"), "user.overlay.whiteout", b"y");
    upper.write("dir/b", "");
    // The mark means nothing in a folder that does not say that it may hold marks.
    assert_eq!(listed(&look(&layer)), ["dir/a changed", "dir/b changed"]);
    attribute(&upper.path.join("dir"), "user.overlay.opaque", b"x");
    assert_eq!(listed(&look(&layer)), ["dir/a removed", "dir/b changed"]);
}

#[test]
fn a_folder_inside_an_opaque_one_is_opaque_too() {
    let fixture = Fixture::with_files(&["dir/sub/a", "dir/b"]);
    let (layer, upper) = fixture.layer();
    upper.make_folder("dir");
    fs::create_dir(upper.path.join("dir/sub")).unwrap();
    assert_eq!(listed(&look(&layer)), ["dir/b removed", "dir/sub/a removed"]);
}

#[test]
fn only_the_caller_chooses_changes_and_a_missing_folder_is_named() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.make_folder("new");
    upper.write("new/x", "x\n");
    upper.write("a", "ours\n");
    let changes = look(&layer);
    let folder = RelPath::parse("new").unwrap();
    assert_eq!(layer.adopt(find(&changes, "new/x")), Err(AdoptError::ParentMissing { folder }));
    layer.finish_folders([find(&changes, "new")]).unwrap();
    layer.discard().unwrap();
    assert_eq!(image(&fixture.workspace()).keys().collect::<Vec<_>>(), ["", "a"]);
    assert_eq!(fixture.read("a"), "a\n");
}

#[test]
fn a_change_of_another_layer_is_refused() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    upper.write("b", "ours\n");
    let changes = look(&layer);
    let other = fixture.store.create(&"2".parse().unwrap()).unwrap();
    for change in &changes {
        let path = change.path.clone();
        assert_eq!(other.adopt(change), Err(AdoptError::NotInLayer { path }));
    }
    assert_eq!(fixture.read("a"), "a\n");
}

#[test]
fn folders_get_their_permissions_at_the_end() {
    let fixture = Fixture::with_files(&["dir/a", "open/b"]);
    set_mode(&fixture.workspace().join("open"), 0o555);
    let (layer, upper) = fixture.layer();
    upper.write("dir/a", "ours\n");
    upper.set_folder_mode("dir", 0o500);
    upper.set_folder_mode("open", 0o750);
    upper.make_folder("new");
    upper.write("new/x", "x\n");
    set_mode(&upper.path.join("new"), 0o111);
    let changes = look(&layer);
    for change in changes.in_adoption_order() {
        assert_eq!(layer.adopt(change), Ok(Adopted::Now), "{}", change.path);
    }
    layer.finish_folders(&changes).unwrap();
    layer.finish_folders(&changes).unwrap();
    let mode =
        |name: &str| fs::metadata(fixture.workspace().join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(["dir", "open", "new"].map(mode), [0o500, 0o750, 0o111]);
}

#[test]
fn permissions_set_by_another_program_stay() {
    let fixture = Fixture::with_files(&["dir/a"]);
    let (layer, upper) = fixture.layer();
    upper.set_folder_mode("dir", 0o700);
    let changes = look(&layer);
    set_mode(&fixture.workspace().join("dir"), 0o711);
    let path = RelPath::parse("dir").unwrap();
    assert_eq!(layer.adopt(find(&changes, "dir")), Err(AdoptError::Changed { path }));
    layer.finish_folders(&changes).unwrap();
    assert_eq!(image(&fixture.workspace())["dir"], "folder 711");
}

#[test]
fn a_big_new_folder_is_one_change_with_its_size() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.make_folder("new");
    for number in 0..20 {
        write(&upper.path.join(format!("new/sub/{number}")), "12345");
    }
    let rules = ScanRules::new(ScanLimits::default().with_tree_entries(20));
    let changes = layer.changes(rules).unwrap();
    assert_eq!(listed(&changes), ["new new with 21"]);
    assert_eq!(changes.as_slice()[0].tree.unwrap().bytes, 100);
    let inode = |path: &std::path::Path| fs::metadata(path).unwrap().ino();
    let before = inode(&upper.path.join("new/sub/7"));
    layer.adopt(&changes.as_slice()[0]).unwrap();
    assert_eq!(inode(&fixture.workspace().join("new/sub/7")), before, "it was renamed, not copied");
    let rules = ScanRules::new(ScanLimits::default().with_tree_entries(21));
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    upper.make_folder("new");
    write(&upper.path.join("new/x"), "x");
    assert_eq!(listed(&layer.changes(rules).unwrap()), ["new new", "new/x new"]);
}
