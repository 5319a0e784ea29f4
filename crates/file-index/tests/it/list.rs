//! Walks of the list, and what is not in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use file_index::{IndexLimits, ListEntry, ListSummary, ListWalk, Needle};
use rel_path::RelPath;
use sandbox_fs::{FileKind, Visit};

use crate::ground::Ground;

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
    let asked = ListWalk { start: &start, depth, visitor: &mut visitor, takes_leaves, most, each: &mut each };
    walk(asked).map(|_| paths)
}

#[test]
fn walks_are_in_the_order_of_path_bytes_and_as_deep_as_asked() {
    let files = [("a/x", "1"), ("a-b/y", "2"), ("a.c", "3"), ("a/d/z", "4"), ("a0", "5")];
    let ground = Ground::with(&files, IndexLimits::default());
    symlink("a", ground.path("link")).unwrap();
    let view = ground.view();
    let all = walk("", 9, "", |asked| view.walk(asked)).unwrap();
    assert_eq!(all, ["a", "a-b", "a-b/y", "a.c", "a/d", "a/d/z", "a/x", "a0", "link"]);
    assert_eq!(walk("", 1, "", |asked| view.walk(asked)).unwrap(), ["a", "a-b", "a.c", "a0", "link"]);
    assert_eq!(walk("a", 1, "", |asked| view.walk(asked)).unwrap(), ["a/d", "a/x"]);
    assert_eq!(walk("", 9, "a", |asked| view.walk(asked)).unwrap(), ["a-b", "a-b/y", "a.c", "a0", "link"]);
    assert_eq!(walk("nowhere", 9, "", |asked| view.walk(asked)), None);
}

#[test]
fn entries_beyond_those_that_are_wanted_are_counted() {
    let files = [("a/x", "1"), ("a-b/y", "2"), ("a.c", "3"), ("a/d/z", "4"), ("a0", "5")];
    let ground = Ground::with(&files, IndexLimits::default());
    let view = ground.view();
    let all = ["a", "a-b", "a-b/y", "a.c", "a/d", "a/d/z", "a/x", "a0"];
    for (most, takes_leaves) in (0..=9).flat_map(|most| [(most, false), (most, true)]) {
        let (mut asked_about, mut paths) = (Vec::new(), Vec::new());
        let found = view.walk(ListWalk {
            start: &RelPath::root(),
            depth: 9,
            visitor: &mut |path, kind| {
                asked_about.push((path.to_string(), kind));
                Visit::Take
            },
            takes_leaves,
            most,
            each: &mut |entry| paths.push(entry.path.to_string()),
        });
        assert_eq!(paths, all[..most.min(8)]);
        assert_eq!(found.unwrap().counted as usize, all.len() - paths.len());
        // Whoever wants to be asked is asked about all of them.
        asked_about.retain(|(_, kind)| !takes_leaves || *kind != FileKind::Folder);
        assert_eq!(asked_about.len(), if takes_leaves { 0 } else { 8 }, "{asked_about:?}");
    }
}

#[test]
fn what_was_left_out_is_no_answer_and_what_is_hidden_is_not_there() {
    let ground = Ground::with(&[("x", "1"), ("left/y", "2"), ("hidden/z", "3")], IndexLimits::default());
    let view = ground.view();
    assert_eq!(walk("", 9, "", |asked| view.walk(asked)), None);
    assert_eq!(walk("", 9, "left", |asked| view.walk(asked)).unwrap(), ["x"]);
    assert_eq!(walk("", 1, "", |asked| view.walk(asked)).unwrap(), ["left", "x"]);
}

#[test]
fn candidates_and_names_are_few() {
    let files = [("a/one.txt", "a needle here\n"), ("a/two.txt", "hay\n"), ("b/three.txt", "more hay\n")];
    // Time enough to ask before it is read.
    let limits = IndexLimits { collect: Duration::from_secs(3), ..IndexLimits::default() };
    let ground = Ground::with(&files, limits);
    let needle = Needle::literal(b"needle");
    let candidates = || {
        let view = ground.view();
        walk("", 9, "", |asked| view.candidates(&needle, asked)).unwrap()
    };
    assert_eq!(candidates(), ["a/one.txt"]);
    // One that has just changed may have anything in it, until it was read.
    fs::write(ground.path("b/three.txt"), "still hay\n").unwrap();
    assert_eq!(candidates(), ["a/one.txt", "b/three.txt"]);
    // Closing it is told by itself, perhaps only after it was read for the first time.
    let start = Instant::now();
    while candidates() != ["a/one.txt"] {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", candidates());
        ground.settle();
    }
    let view = ground.view();
    let named = walk("", 9, "", |asked| view.named(&|name| name.starts_with(b"t"), asked)).unwrap();
    assert_eq!(named, ["a/two.txt", "b/three.txt"]);
    let few = walk("", 9, "", |asked| {
        let found = view.named(&|name| name.starts_with(b"t"), ListWalk { most: 1, ..asked });
        assert_eq!(found.unwrap().counted, 1);
        found
    });
    assert_eq!(few.unwrap(), ["a/two.txt"]);
}

#[test]
fn large_files_are_always_candidates() {
    let limits = IndexLimits { file_bytes: 100, ..IndexLimits::default() };
    let hay = "hay\n".repeat(100);
    let ground = Ground::with(&[("large", &hay), ("small", "hay\n")], limits);
    let needle = Needle::literal(b"needle");
    let candidates = || walk("", 9, "", |asked| ground.view().candidates(&needle, asked)).unwrap();
    // As above.
    let start = Instant::now();
    while candidates() != ["large"] {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", candidates());
        ground.settle();
    }
}
