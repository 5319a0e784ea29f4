//! Big layers, and entries that cannot be named.

use std::fs;
use std::time::{Duration, Instant};

use cow_layer::{LayerError, ScanLimits, ScanRules};

use crate::fixture::{Fixture, listed, look, write};

#[test]
fn a_hundred_thousand_entries_are_listed_or_are_one_change() {
    let started = Instant::now();
    let fixture = Fixture::with_files(&[]);
    let (layer, upper) = fixture.layer();
    upper.make_folder("new");
    for folder in 0..100 {
        let folder = upper.path.join(format!("new/{folder}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..1000 {
            fs::write(folder.join(file.to_string()), "").unwrap();
        }
    }
    let rules = ScanRules::new(ScanLimits::default().with_tree_entries(1_000_000));
    assert_eq!(layer.changes(rules).unwrap().len(), 100_101);
    assert_eq!(listed(&look(&layer)), ["new new with 100100"]);
    let few = ScanRules::new(ScanLimits::default().with_entries(100_000));
    assert_eq!(layer.changes(few).unwrap_err(), LayerError::TooManyEntries { limit: 100_000 });
    layer.adopt(&look(&layer).as_slice()[0]).unwrap();
    layer.discard().unwrap();
    assert_eq!(fs::read_dir(fixture.workspace().join("new")).unwrap().count(), 100);
    assert!(started.elapsed() < Duration::from_secs(300), "it hangs");
}

#[test]
fn entries_too_deep_to_be_named_are_counted() {
    let deep = "d/".repeat(64);
    let fixture = Fixture::with_files(&["a"]);
    write(&fixture.workspace().join(&deep).join("old"), "old\n");
    let (layer, upper) = fixture.layer();
    upper.write(&format!("{deep}old"), "ours\n");
    upper.write(&format!("{deep}new"), "ours\n");
    let changes = look(&layer);
    assert_eq!((changes.len(), changes.unnameable()), (0, 2));
}

#[test]
fn a_removed_folder_with_an_unnameable_entry_is_one_change() {
    let deep = "d/".repeat(70);
    let fixture = Fixture::with_files(&["a"]);
    write(&fixture.workspace().join(&deep).join("old"), "old\n");
    let (layer, upper) = fixture.layer();
    upper.remove("d");
    let changes = look(&layer);
    assert_eq!(changes.unnameable(), 0);
    for change in changes.in_adoption_order() {
        layer.adopt(change).unwrap();
    }
    assert!(!fixture.workspace().join("d").exists());
}
