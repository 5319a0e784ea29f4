//! Folders in which much happens at once.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use file_index::{ContentKind, FileIndex, IndexLimits, IndexRules, ListWalk};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules, Visit};

use crate::fixture::Fixture;

#[test]
fn a_request_looks_at_a_part_of_a_folder_that_changes_as_a_whole() {
    // The thread of the index waits for longer than the test takes, unless a request wakes it.
    let limits = IndexLimits { collect: Duration::from_secs(600), ..IndexLimits::default() };
    let fixture = Fixture::with(&[("a/one", "1")], limits);
    let names = || (0..4_000).map(|number| format!("a/{number}"));
    names().for_each(|name| fs::write(fixture.path(&name), "").unwrap());
    assert!(fixture.index.view().is_none(), "that is too much for a request");
    let count = || {
        let mut count = 0;
        let mut each = |_| count += 1;
        let (depth, takes_leaves, most) = (9, true, usize::MAX);
        let visitor = &mut |_: &RelPath, _| Visit::Take;
        let walk = ListWalk { start: &RelPath::root(), depth, visitor, takes_leaves, most, each: &mut each };
        fixture.view().walk(walk).unwrap();
        count
    };
    assert_eq!(count(), 4_002);
    names().step_by(2).for_each(|name| fs::remove_file(fixture.path(&name)).unwrap());
    assert_eq!(count(), 2_002);
    // The control: a request looks at few changes itself.
    fs::write(fixture.path("a/two"), "").unwrap();
    assert!(fixture.index.view().is_some());
}

/// Rules that count how often the file `log` is read.
struct Counting(Arc<AtomicUsize>);

impl IndexRules for Counting {
    fn hides(&self, _: &RelPath) -> bool {
        false
    }

    fn leaves_out(&self, _: &RelPath) -> bool {
        false
    }

    fn content_kind(&self, path: &RelPath, _: &[u8]) -> ContentKind {
        if path.file_name() == Some(b"log") {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        ContentKind::Text
    }
}

/// Writes to a file again and again, for this time.
fn write_all_the_time(path: &Path, time: Duration) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    let began = Instant::now();
    while began.elapsed() < time {
        file.write_all(b"x").unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        // Leaves processor time to the thread of the index, which has the lowest priority.
        thread::sleep(Duration::from_micros(300));
    }
}

#[test]
fn a_file_that_is_written_all_the_time_is_not_read_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, "a line of the log\n".repeat(1_000)).unwrap();
    let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
    let reads = Arc::new(AtomicUsize::new(0));
    let index =
        FileIndex::start(Arc::new(root), Counting(Arc::clone(&reads)), IndexLimits::default()).unwrap();
    drop(index.view());
    let began = Instant::now();
    while reads.load(Ordering::SeqCst) == 0 {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(1));
    }
    write_all_the_time(&log, Duration::from_secs(2));
    // One every 300 ms.
    let reads = reads.load(Ordering::SeqCst);
    assert!(reads < 15, "{reads} times");
}
