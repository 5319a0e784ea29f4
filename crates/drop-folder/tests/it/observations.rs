//! Observations of files, compared to a model that remembers every listing.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use drop_folder::{DroppedFile, Observations, list};
use proptest::prelude::*;
use rel_path::RelPath;

use crate::open;

/// An event of one of three files between two listings.
#[derive(Clone, Debug)]
enum Event {
    Append(u8),
    Replace(u8),
    Remove(u8),
    Look,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..3u8).prop_map(Event::Append),
        1 => (0..3u8).prop_map(Event::Replace),
        1 => (0..3u8).prop_map(Event::Remove),
        4 => Just(Event::Look),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Notes belong to one version of a file, and exist exactly as long as it does.
    #[test]
    fn notes_exist_as_long_as_their_version(events in prop::collection::vec(event(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let path = |file: u8| folder.path().join(format!("{file}.txt"));
        let root = open(folder.path());
        let mut observations: Observations<u32> = Observations::default();
        let mut model: HashMap<RelPath, (DroppedFile, u32)> = HashMap::new();
        for event in events {
            match event {
                Event::Append(file) => {
                    let mut content = fs::read(path(file)).unwrap_or_default();
                    content.push(b'x');
                    fs::write(path(file), content).unwrap();
                }
                Event::Replace(file) => {
                    fs::write(folder.path().join("new"), "another file").unwrap();
                    fs::rename(folder.path().join("new"), path(file)).unwrap();
                }
                Event::Remove(file) => {
                    let _ = fs::remove_file(path(file));
                }
                Event::Look => {
                    let files = list(&root).unwrap();
                    observations.observe(&files);
                    let mut now = HashMap::new();
                    for file in files {
                        let before = model.remove(&file.name).filter(|(before, _)| before.stamp == file.stamp);
                        let looks = before.map_or(0, |(_, looks)| looks);
                        let observation = observations.get_mut(&file).expect("it was just listed");
                        prop_assert_eq!(observation.notes, looks);
                        observation.notes += 1;
                        now.insert(file.name.clone(), (file, looks + 1));
                    }
                    for (gone, _) in model.values() {
                        prop_assert!(observations.get_mut(gone).is_none());
                    }
                    model = now;
                }
            }
        }
    }
}

#[test]
fn a_file_that_was_moved_in_settles_sooner_than_one_that_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("inbox")).unwrap();
    fs::write(folder.path().join("moved.txt"), "whole").unwrap();
    // The move has to be later than the write by more than the clock's resolution.
    let modified = std::time::SystemTime::now() - Duration::from_secs(1);
    fs::File::open(folder.path().join("moved.txt")).unwrap().set_modified(modified).unwrap();
    fs::rename(folder.path().join("moved.txt"), folder.path().join("inbox/moved.txt")).unwrap();
    fs::write(folder.path().join("inbox/written.txt"), "so far").unwrap();

    let root = open(&folder.path().join("inbox"));
    let files = list(&root).unwrap();
    let settling = |name: &str| {
        let file = files.iter().find(|file| file.name.to_string() == name).expect("it is there");
        (drop_folder::settling_time(&file.stamp, false), drop_folder::settling_time(&file.stamp, true))
    };
    let (moved, written) = (settling("moved.txt"), settling("written.txt"));
    assert!(moved.0 < written.0, "{moved:?} {written:?}");
    assert!(written.0 < written.1, "a file that was seen growing needs more time: {written:?}");
}

#[test]
fn a_file_that_a_process_writes_is_open_and_one_that_it_reads_is_not() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("read.txt"), "x").unwrap();
    let _writing = fs::File::create(path("written.txt")).unwrap();
    let _reading = fs::File::open(path("read.txt")).unwrap();
    let files = list(&open(folder.path())).unwrap();
    let named: Vec<_> =
        files.iter().map(|file| (OsStr::from_bytes(file.name.as_bytes()), file.stamp)).collect();
    let open: Vec<String> = drop_folder::open_for_writing(&named)
        .into_iter()
        .map(|index| files[index].name.to_string())
        .collect();
    assert_eq!(open, ["written.txt"]);
}
