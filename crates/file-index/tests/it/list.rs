//! Walks of the list, and entries that it omits.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use file_index::{IndexLimits, ListEntry, ListSummary, ListWalk, Needle};
use rel_path::RelPath;
use sandbox_fs::{FileKind, Visit};

use crate::fixture::Fixture;

fn walk(
    start: &str,
    depth: usize,
    skipped: &str,
    walk: impl FnOnce(ListWalk<'_>) -> Option<ListSummary>,
) -> Option<Vec<String>> {
    let mut paths = Vec::new();
    let start = RelPath::parse_folder(start).unwrap();
    let mut visitor =
        |path: &RelPath, _: FileKind| if path.to_string() == skipped { Visit::Skip } else { Visit::Take };
    let mut each = |entry: ListEntry| paths.push(entry.path.to_string());
    let (takes_leaves, most) = (false, usize::MAX);
    let scope = ListWalk { start: &start, depth, visitor: &mut visitor, takes_leaves, most, each: &mut each };
    walk(scope).map(|_| paths)
}

#[test]
fn walks_are_in_the_order_of_path_bytes_and_of_the_requested_depth() {
    let files = [("a/x", "1"), ("a-b/y", "2"), ("a.c", "3"), ("a/d/z", "4"), ("a0", "5")];
    let fixture = Fixture::with(&files, IndexLimits::default());
    symlink("a", fixture.path("link")).unwrap();
    let view = fixture.view();
    let all = walk("", 9, "", |scope| view.walk(scope)).unwrap();
    assert_eq!(all, ["a", "a-b", "a-b/y", "a.c", "a/d", "a/d/z", "a/x", "a0", "link"]);
    assert_eq!(walk("", 1, "", |scope| view.walk(scope)).unwrap(), ["a", "a-b", "a.c", "a0", "link"]);
    assert_eq!(walk("a", 1, "", |scope| view.walk(scope)).unwrap(), ["a/d", "a/x"]);
    assert_eq!(walk("", 9, "a", |scope| view.walk(scope)).unwrap(), ["a-b", "a-b/y", "a.c", "a0", "link"]);
    assert_eq!(walk("nowhere", 9, "", |scope| view.walk(scope)), None);
}

#[test]
fn entries_beyond_the_requested_number_are_counted() {
    let files = [("a/x", "1"), ("a-b/y", "2"), ("a.c", "3"), ("a/d/z", "4"), ("a0", "5")];
    let fixture = Fixture::with(&files, IndexLimits::default());
    let view = fixture.view();
    let all = ["a", "a-b", "a-b/y", "a.c", "a/d", "a/d/z", "a/x", "a0"];
    let shallow_first = ["a", "a-b", "a.c", "a0", "a-b/y", "a/d", "a/x", "a/d/z"];
    for (most, takes_leaves) in (0..=9).flat_map(|most| [(most, false), (most, true)]) {
        let (mut visited, mut paths) = (Vec::new(), Vec::new());
        let summary = view.walk(ListWalk {
            start: &RelPath::root(),
            depth: 9,
            visitor: &mut |path, kind| {
                visited.push((path.to_string(), kind));
                Visit::Take
            },
            takes_leaves,
            most,
            each: &mut |entry| paths.push(entry.path.to_string()),
        });
        let expected: Vec<_> =
            all.iter().filter(|path| shallow_first[..most.min(8)].contains(path)).collect();
        assert_eq!(paths.iter().collect::<Vec<_>>(), expected);
        assert_eq!(summary.unwrap().counted as usize, all.len() - paths.len());
        // A visitor that wants every entry is called for every entry.
        visited.retain(|(_, kind)| !takes_leaves || *kind != FileKind::Folder);
        assert_eq!(visited.len(), if takes_leaves { 0 } else { 8 }, "{visited:?}");
    }
}

#[test]
fn excluded_folders_give_no_answer_and_hidden_ones_are_absent() {
    let fixture = Fixture::with(&[("x", "1"), ("left/y", "2"), ("hidden/z", "3")], IndexLimits::default());
    let view = fixture.view();
    assert_eq!(walk("", 9, "", |scope| view.walk(scope)), None);
    assert_eq!(walk("", 9, "left", |scope| view.walk(scope)).unwrap(), ["x"]);
    assert_eq!(walk("", 1, "", |scope| view.walk(scope)).unwrap(), ["left", "x"]);
}

#[test]
fn candidates_and_names_are_few() {
    let files = [("a/one.txt", "a needle here\n"), ("a/two.txt", "hay\n"), ("b/three.txt", "more hay\n")];
    // The delay leaves time for a request before the file is read.
    let limits = IndexLimits { collect: Duration::from_secs(3), ..IndexLimits::default() };
    let fixture = Fixture::with(&files, limits);
    let needle = Needle::literal(b"needle");
    let candidates = || {
        let view = fixture.view();
        walk("", 9, "", |scope| view.candidates(&needle, scope)).unwrap()
    };
    assert_eq!(candidates(), ["a/one.txt"]);
    // A changed file may contain anything until it is read.
    fs::write(fixture.path("b/three.txt"), "still hay\n").unwrap();
    assert_eq!(candidates(), ["a/one.txt", "b/three.txt"]);
    // Closing the file causes a notice of its own, perhaps after the file was first read.
    let start = Instant::now();
    while candidates() != ["a/one.txt"] {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", candidates());
        fixture.settle();
    }
    let view = fixture.view();
    let named = walk("", 9, "", |scope| view.named(&|name| name.starts_with(b"t"), scope)).unwrap();
    assert_eq!(named, ["a/two.txt", "b/three.txt"]);
    let few = walk("", 9, "", |scope| {
        let summary = view.named(&|name| name.starts_with(b"t"), ListWalk { most: 1, ..scope });
        assert_eq!(summary.unwrap().counted, 1);
        summary
    });
    assert_eq!(few.unwrap(), ["a/two.txt"]);
}

#[test]
fn large_files_are_always_candidates() {
    let limits = IndexLimits { file_bytes: 100, ..IndexLimits::default() };
    let hay = "hay\n".repeat(100);
    let fixture = Fixture::with(&[("large", &hay), ("small", "hay\n")], limits);
    let needle = Needle::literal(b"needle");
    let candidates = || walk("", 9, "", |scope| fixture.view().candidates(&needle, scope)).unwrap();
    // As above.
    let start = Instant::now();
    while candidates() != ["large"] {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", candidates());
        fixture.settle();
    }
}
