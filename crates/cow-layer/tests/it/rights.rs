//! Rights that the user has not granted stay in the layer: bits, capabilities, devices, owners.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use cow_layer::{AdoptError, Adopted, Layer, LayerChanges, Right, ScanLimits, ScanRules};
use rel_path::RelPath;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;

use crate::fixture::{Fixture, attribute, listed, look, set_mode, write};

/// A capability as the kernel writes it: `cap_net_raw`, effective.
const CAPABILITY: [u8; 20] = [1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn bits(fixture: &Fixture, name: &str) -> u32 {
    fs::metadata(fixture.workspace().join(name)).unwrap().mode() & 0o7777
}

fn adopt_all(layer: &Layer, changes: &LayerChanges) {
    for change in changes.in_adoption_order() {
        layer.adopt(change).unwrap_or_else(|error| panic!("{}: {error}", change.path));
    }
    layer.finish_folders(changes).unwrap();
}

fn left_out(changes: &LayerChanges) -> Vec<(String, Right)> {
    changes.left_out().iter().map(|left| (left.path.to_string(), left.right)).collect()
}

fn has_capability(path: &Path) -> bool {
    match rustix::fs::lgetxattr(path, "security.capability", &mut [0_u8; 64][..]) {
        Ok(_) => true,
        Err(Errno::NODATA) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_folder_gets_no_bit_that_it_had_not() {
    let fixture = Fixture::with_files(&["plain/x", "shared/x"]);
    set_mode(&fixture.workspace().join("shared"), 0o2755);
    let (layer, upper) = fixture.layer();
    upper.set_folder_mode("plain", 0o7777);
    upper.set_folder_mode("shared", 0o6775);
    upper.make_folder("new");
    set_mode(&upper.path.join("new"), 0o7777);
    upper.make_folder("new/inner");
    set_mode(&upper.path.join("new/inner"), 0o6700);
    // As the kernel makes them in a folder with the bit.
    upper.make_folder("shared/new");
    set_mode(&upper.path.join("shared/new"), 0o2755);
    set_mode(&upper.path, fs::metadata(&upper.path).unwrap().mode() & 0o777 | 0o6000);
    let changes = look(&layer);
    let set_id = |path: &str| (path.to_owned(), Right::SetIdBits);
    assert_eq!(left_out(&changes), [".", "new", "new/inner", "plain", "shared"].map(set_id));
    adopt_all(&layer, &changes);
    adopt_all(&layer, &changes);
    let modes = ["plain", "shared", "new", "new/inner", "shared/new"].map(|name| bits(&fixture, name));
    assert_eq!(modes, [0o1777, 0o2775, 0o1777, 0o700, 0o2755]);
    assert_eq!(bits(&fixture, "") & 0o6000, 0);
}

#[test]
fn a_tree_that_is_one_change_brings_no_bits_either() {
    let fixture = Fixture::with_files(&["shared/x", "made-anew/x"]);
    set_mode(&fixture.workspace().join("shared"), 0o2755);
    for (folder, mode) in [("tree", 0), ("shared/tree", 0o2000), ("made-anew", 0)] {
        let (layer, upper) = fixture.layer();
        upper.make_folder(folder);
        write(&upper.path.join(folder).join("inner/file"), "x\n");
        for name in ["", "inner", "inner/file"] {
            set_mode(&upper.path.join(folder).join(name), 0o7755);
        }
        let path = RelPath::parse(folder).unwrap();
        let is_whole = |folder: &RelPath| *folder == path;
        let changes = layer.changes(ScanRules::new(ScanLimits::default()).whole_folders(&is_whole)).unwrap();
        assert!(changes.find(&path).unwrap().tree.is_some(), "{:?}", listed(&changes));
        let named = left_out(&changes);
        assert!(named.contains(&(format!("{folder}/inner/file"), Right::SetIdBits)), "{named:?}");
        adopt_all(&layer, &changes);
        let modes = ["", "/inner"].map(|name| bits(&fixture, &format!("{folder}{name}")));
        assert_eq!(modes, [0o1755 | mode; 2], "{folder}");
        assert_eq!(bits(&fixture, &format!("{folder}/inner/file")) & 0o6000, 0);
        layer.discard().unwrap();
    }
}

#[test]
fn bits_that_come_after_the_list_was_made_are_left_out() {
    let fixture = Fixture::with_files(&["a", "b"]);
    let (layer, upper) = fixture.layer();
    upper.write("a", "ours\n");
    upper.write("new", "new\n");
    upper.make_folder("folder");
    let changes = look(&layer);
    assert_eq!(left_out(&changes), []);
    for name in ["a", "new", "folder"] {
        set_mode(&upper.path.join(name), 0o6777);
    }
    adopt_all(&layer, &changes);
    for name in ["a", "new", "folder"] {
        assert_eq!(bits(&fixture, name) & 0o6000, 0, "{name}");
    }
}

#[test]
fn a_list_that_an_older_version_wrote_brings_no_bits() {
    let fixture = Fixture::with_files(&["was/x"]);
    let (layer, upper) = fixture.layer();
    upper.set_folder_mode("was", 0o7777);
    upper.make_folder("new");
    set_mode(&upper.path.join("new"), 0o7777);
    upper.make_folder("tree");
    write(&upper.path.join("tree/file"), "x\n");
    set_mode(&upper.path.join("tree"), 0o7777);
    set_mode(&upper.path.join("tree/file"), 0o6755);
    let is_whole = |path: &RelPath| path.to_string() == "tree";
    let changes = layer.changes(ScanRules::new(ScanLimits::default()).whole_folders(&is_whole)).unwrap();
    layer.seal(&changes).unwrap();
    // What they wrote before these bits were left out of the list.
    let list = upper.path.parent().unwrap().join("changes");
    let text = fs::read_to_string(&list).unwrap();
    assert_eq!(text.matches("folder 1777 ").count(), 3, "{text}");
    fs::write(&list, text.replace("folder 1777 ", "folder 7777 ")).unwrap();
    drop(layer);
    let layer = fixture.store.reopen(&"1".parse().unwrap()).unwrap();
    let sealed = layer.sealed().unwrap().unwrap();
    for _ in 0..2 {
        for change in sealed.in_adoption_order() {
            layer.adopt(change).unwrap();
        }
        layer.finish_folders(&sealed).unwrap();
    }
    for name in ["was", "new", "tree", "tree/file"] {
        assert_eq!(bits(&fixture, name) & 0o6000, 0, "{name}");
    }
}

#[test]
fn capabilities_stay_in_the_layer() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make one.
        return;
    }
    let fixture = Fixture::with_files(&["kept", "changed"]);
    let has = |name: &str| has_capability(&fixture.workspace().join(name));
    for name in ["kept", "changed"] {
        attribute(&fixture.workspace().join(name), "security.capability", &CAPABILITY);
    }
    let (layer, upper) = fixture.layer();
    for name in ["changed", "new"] {
        upper.write(name, "ours\n");
        attribute(&upper.path.join(name), "security.capability", &CAPABILITY);
    }
    upper.make_folder("tree");
    upper.write("tree/file", "x\n");
    attribute(&upper.path.join("tree/file"), "security.capability", &CAPABILITY);
    let is_whole = |path: &RelPath| path.to_string() == "tree";
    let changes = layer.changes(ScanRules::new(ScanLimits::default()).whole_folders(&is_whole)).unwrap();
    let of = |path: &str| (path.to_owned(), Right::Capabilities);
    assert_eq!(left_out(&changes), ["changed", "new", "tree/file"].map(of));
    adopt_all(&layer, &changes);
    assert_eq!(["kept", "changed", "new", "tree/file"].map(has), [true, false, false, false]);
    assert_eq!(fixture.read("changed"), "ours\n");
}

#[test]
fn a_device_stays_in_the_layer_and_the_owner_is_corrected() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make them.
        return;
    }
    let fixture = Fixture::with_files(&["theirs", "mine", "folder/x"]);
    chown(fixture.workspace().join("theirs"), Some(1000), Some(1000)).unwrap();
    chown(fixture.workspace().join("folder"), Some(0), Some(1001)).unwrap();
    let (layer, upper) = fixture.layer();
    let device = |name: &str| {
        let path = upper.path.join(name);
        mknodat(CWD, &path, FileType::CharacterDevice, Mode::from_raw_mode(0o666), 0x103).unwrap();
    };
    let write = |name: &str, owner: u32, group: u32| {
        upper.write(name, "ours\n");
        chown(upper.path.join(name), Some(owner), Some(group)).unwrap();
    };
    device("null");
    upper.make_folder("tree");
    device("tree/null");
    write("theirs", 1000, 1000);
    write("mine", 1000, 0);
    write("new", 0, 1000);
    write("folder/new", 0, 1001);
    write("tree/file", 12, 12);
    upper.make_folder("given");
    chown(upper.path.join("given"), Some(12), Some(12)).unwrap();
    let is_whole = |path: &RelPath| path.to_string() == "tree";
    let changes = layer.changes(ScanRules::new(ScanLimits::default()).whole_folders(&is_whole)).unwrap();
    let mut named = left_out(&changes);
    named.sort();
    let named: Vec<_> = named.iter().map(|(path, right)| (path.as_str(), *right)).collect();
    assert_eq!(
        named,
        [
            ("given", Right::Owner),
            ("mine", Right::Owner),
            ("new", Right::Owner),
            ("null", Right::Device),
            ("tree/file", Right::Owner),
            ("tree/null", Right::Device),
        ]
    );
    adopt_all(&layer, &changes);
    let owner = |name: &str| {
        let metadata = fs::metadata(fixture.workspace().join(name)).unwrap();
        (metadata.uid(), metadata.gid())
    };
    assert_eq!(["theirs", "folder/new"].map(owner), [(1000, 1000), (0, 1001)]);
    assert_eq!(["mine", "new", "tree/file", "given"].map(owner), [(0, 0); 4]);
    assert!(["null", "tree/null"].iter().all(|name| !fixture.workspace().join(name).exists()));
}

#[test]
fn a_device_that_replaced_a_listed_entry_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make one.
        return;
    }
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    let path = upper.path.join("null");
    mknodat(CWD, &path, FileType::BlockDevice, Mode::from_raw_mode(0o666), 0x700).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    let list = upper.path.parent().unwrap().join("changes");
    layer.seal(&look(&layer)).unwrap();
    let text = fs::read_to_string(&list).unwrap();
    let first = text.lines().next().unwrap();
    fs::write(&list, format!("{first}\nnull\t0\t-\t-\t-\tspecial 0 0 {inode} 666 0 0 0\n1\n")).unwrap();
    let sealed = layer.sealed().unwrap().unwrap();
    let refused = layer.adopt(&sealed.as_slice()[0]);
    assert_eq!(refused, Err(AdoptError::Device { path: RelPath::parse("null").unwrap() }));
    assert!(!fixture.workspace().join("null").exists());
    // The same line for a pipe is adopted.
    fs::remove_file(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    assert_eq!(layer.adopt(&look(&layer).as_slice()[0]), Ok(Adopted::Now));
}
