//! Versions saved between the scan and the adoption stay in the workspace, or return to it.

use std::fs;

use cow_layer::{AdoptError, Adopted, ScanRules};
use rel_path::RelPath;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::fixture::{Fixture, look, save, set_mode, write};

fn changed(path: &str) -> Result<Adopted, AdoptError> {
    Err(AdoptError::Changed { path: RelPath::parse(path).unwrap() })
}

#[test]
fn versions_saved_after_the_scan_stay() {
    type Save = fn(&std::path::Path);
    let saves: [(&str, Save); 6] = [
        ("by renaming", |path| save(path, "theirs\n")),
        ("in place", |path| fs::write(path, "theirs\n").unwrap()),
        ("in place, of the same size", |path| fs::write(path, "b\n").unwrap()),
        ("new permissions", |path| set_mode(path, 0o600)),
        ("removed", |path| fs::remove_file(path).unwrap()),
        ("a folder instead", |path| {
            fs::remove_file(path).unwrap();
            write(&path.join("x"), "theirs\n");
        }),
    ];
    for (name, save) in saves {
        let fixture = Fixture::with_files(&["a", "gone"]);
        let (layer, upper) = fixture.layer();
        upper.write("a", "ours\n");
        upper.remove("gone");
        let changes = look(&layer);
        for change in &changes {
            save(&fixture.workspace().join(change.path.to_string()));
        }
        let theirs = crate::fixture::image(&fixture.workspace());
        for change in changes.in_adoption_order() {
            let adopted = layer.adopt(change);
            let is_gone = name == "removed" && change.after.is_none();
            let expected = if is_gone { Ok(Adopted::Already) } else { changed(&change.path.to_string()) };
            assert_eq!(adopted, expected, "{name}");
        }
        assert_eq!(crate::fixture::image(&fixture.workspace()), theirs, "{name}");
    }
}

#[test]
fn entries_that_appeared_at_a_free_path_stay() {
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    upper.write("new", "ours\n");
    upper.make_folder("dir");
    let changes = look(&layer);
    write(&fixture.workspace().join("new"), "theirs\n");
    write(&fixture.workspace().join("dir/theirs"), "theirs\n");
    assert_eq!(layer.adopt(&changes.as_slice()[1]), changed("new"));
    // A folder that both sides made is no conflict.
    assert_eq!(layer.adopt(&changes.as_slice()[0]), Ok(Adopted::Already));
    assert_eq!(fixture.read("new") + &fixture.read("dir/theirs"), "theirs\ntheirs\n");
}

#[test]
fn a_save_displaced_before_a_crash_goes_back() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    let changes = look(&layer);
    save(&fixture.workspace().join("a"), "theirs\n");
    // The program was killed between the exchange and the check of the displaced entry.
    let (ours, theirs) = (upper.path.join("a"), fixture.workspace().join("a"));
    renameat_with(CWD, &ours, CWD, &theirs, RenameFlags::EXCHANGE).unwrap();
    assert_eq!(fixture.read("a"), "ours\n");
    assert_eq!(layer.adopt(&changes.as_slice()[0]), changed("a"));
    assert_eq!(fixture.read("a"), "theirs\n");
    assert_eq!(fs::read_to_string(ours).unwrap(), "ours\n");
}

#[test]
fn a_save_moved_out_before_a_crash_goes_back() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.remove("a");
    let changes = look(&layer);
    layer.adopt(&changes.as_slice()[0]).unwrap();
    let taken = fs::read_dir(upper.path.join("../taken")).unwrap().next().unwrap().unwrap().path();
    fs::write(&taken, "theirs\n").unwrap();
    assert_eq!(layer.adopt(&changes.as_slice()[0]), changed("a"));
    assert_eq!(fixture.read("a"), "theirs\n");
}

#[test]
fn a_folder_that_gained_an_entry_is_not_replaced_or_removed() {
    let rules: [ScanRules<'_>; 2] = [ScanRules::default(), ScanRules::default().whole_folders(&|_| true)];
    for rules in rules {
        let fixture = Fixture::with_files(&["gone/a", "replaced/b", "remade/c"]);
        let (layer, upper) = fixture.layer();
        upper.remove("gone");
        upper.write("replaced", "a file now\n");
        upper.make_folder("remade");
        let changes = layer.changes(rules).unwrap();
        for name in ["gone", "replaced", "remade"] {
            write(&fixture.workspace().join(name).join("sub/theirs"), "theirs\n");
        }
        for change in changes.in_adoption_order() {
            let _ = layer.adopt(change);
        }
        for name in ["gone", "replaced", "remade"] {
            assert_eq!(fixture.read(&format!("{name}/sub/theirs")), "theirs\n", "{name}");
        }
    }
}

#[test]
fn a_link_that_replaced_a_folder_is_not_followed() {
    let fixture = Fixture::with_files(&["dir/a", "dir/gone"]);
    let (layer, upper) = fixture.layer();
    upper.write("dir/a", "ours\n");
    upper.write("dir/new", "ours\n");
    upper.remove("dir/gone");
    let changes = look(&layer);
    let outside = fixture.path().join("outside");
    write(&outside.join("a"), "outside\n");
    write(&outside.join("gone"), "outside\n");
    fs::rename(fixture.workspace().join("dir"), fixture.workspace().join("away")).unwrap();
    std::os::unix::fs::symlink(&outside, fixture.workspace().join("dir")).unwrap();
    for change in &changes {
        let adopted = layer.adopt(change);
        assert!(adopted != Ok(Adopted::Now), "{}: {adopted:?}", change.path);
    }
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "outside\n");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 2);
}

#[test]
fn a_change_saved_meanwhile_is_never_adopted() {
    let fixture = Fixture::with_files(&["a"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    save(&fixture.workspace().join("a"), "theirs\n");
    let changes = look(&layer);
    assert_eq!(layer.adopt(&changes.as_slice()[0]), changed("a"));
    assert_eq!(fixture.read("a"), "theirs\n");
}
