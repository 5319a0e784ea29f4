//! Versions of other programs that an adoption leaves in the layer are returned.

use std::fs;

use cow_layer::{AdoptError, ScanLimits, ScanRules};
use rel_path::RelPath;

use crate::fixture::{Fixture, Upper, image, look, set_mode, write};

#[test]
fn a_save_in_a_closed_folder_that_goes_is_in_its_place_again() {
    let fixture = Fixture::with_files(&["tree/a"]);
    // The command removed a folder that its owner could not move as it is.
    set_mode(&fixture.workspace().join("tree"), 0o555);
    let (layer, upper) = fixture.layer();
    upper.remove("tree");
    let is_whole = |folder: &RelPath| folder.to_string() == "tree";
    let changes = layer.changes(ScanRules::new(ScanLimits::default()).whole_folders(&is_whole)).unwrap();
    let change = &changes.as_slice()[0];
    assert!(change.tree.is_some(), "{changes:?}");
    write(&fixture.workspace().join("tree/a"), "theirs\n");
    assert!(matches!(layer.adopt(change), Err(AdoptError::Changed { .. })));
    let files = image(&fixture.workspace());
    assert_eq!((&*files["tree"], &*files["tree/a"]), ("folder 555", "file 644 \"theirs\\n\""));
    assert_eq!(layer.return_displaced(change), Ok(None));
}

/// Adopts a change of `a`, so that the layer holds the workspace's version, and returns that.
fn returned(fixture: &Fixture, change: impl FnOnce(&Upper)) -> String {
    let (layer, upper) = fixture.layer();
    change(&upper);
    let changes = look(&layer);
    let change = &changes.as_slice()[0];
    assert_eq!(layer.return_displaced(change), Ok(None), "the layer holds the command's version");
    layer.adopt(change).unwrap();
    let path = layer.return_displaced(change).unwrap().unwrap();
    assert_eq!(layer.return_displaced(change), Ok(None));
    layer.discard().unwrap();
    path.to_string()
}

#[test]
fn a_version_is_returned_whole_under_a_free_name() {
    let fixture = Fixture::with_files(&["a"]);
    let a = fixture.workspace().join("a");
    // Larger than any content that is kept elsewhere.
    fs::File::options().append(true).open(&a).unwrap().set_len(200 << 20).unwrap();
    set_mode(&a, 0o640);
    assert_eq!(returned(&fixture, |upper| upper.write("a", "ours\n")), "a.saved-meanwhile");
    let returned_file = fs::metadata(fixture.workspace().join("a.saved-meanwhile")).unwrap();
    assert_eq!(returned_file.len(), 200 << 20);
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&returned_file.permissions()) & 0o777, 0o640);
    assert_eq!(fixture.read("a"), "ours\n");
    assert_eq!(returned(&fixture, |upper| upper.remove("a")), "a.saved-meanwhile-2");
    assert_eq!(fixture.read("a.saved-meanwhile-2"), "ours\n");
    assert!(!a.exists());
}

#[test]
fn a_file_that_a_folder_replaced_is_returned() {
    let fixture = Fixture::with_files(&["a"]);
    assert_eq!(returned(&fixture, |upper| upper.make_folder("a")), "a.saved-meanwhile");
    assert_eq!(fixture.read("a.saved-meanwhile"), "a\n");
}

#[test]
fn a_long_name_is_cut_between_characters() {
    let long = "ä".repeat(127);
    let fixture = Fixture::with_files(&[&long]);
    let path = returned(&fixture, |upper| upper.write(&long, "ours\n"));
    assert_eq!(path, format!("{}.saved-meanwhile", "ä".repeat(119)));
    assert_eq!(fixture.read(&path), format!("{long}\n"));
}

#[test]
fn a_layer_that_is_quarantined_stays_and_says_so() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    layer.seal(&look(&layer)).unwrap();
    let name = layer.quarantine().unwrap();
    assert_eq!((name.as_str(), name.is_quarantined()), ("kept-1", true));
    assert!(!layer.name().is_quarantined());
    assert_eq!(fixture.store.existing().unwrap(), std::slice::from_ref(&name));
    // The name is free again.
    fixture.layer().0.discard().unwrap();
    fixture.store.discard(&name).unwrap();
    assert_eq!(fixture.store.existing().unwrap(), []);
}
