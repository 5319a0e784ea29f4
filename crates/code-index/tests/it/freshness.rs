//! Refreshes and updates of an index, and the freshness of its answers.

use std::fs;
use std::time::Duration;

use rel_path::RelPath;
use wap_core::{CancelFlag, CodeIndex, IndexError, ReadImpact, ReadSnippet};

use crate::fixture::{Fixture, call, paths, refresh, search, symbols};

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

#[test]
fn a_refresh_reads_what_has_changed_and_nothing_else() {
    let fixture = Fixture::new([
        ("a.rs", "fn alpha() {}\n"),
        ("b.rs", "fn beta() {}\n"),
        ("d/c.rs", "fn gamma() {}\n"),
    ]);
    let (index, _) = fixture.open();
    let first = refresh(&index);
    assert_eq!((first.read, first.removed, first.unchanged, first.is_complete), (3, 0, 0, true));
    let second = refresh(&index);
    assert_eq!((second.read, second.removed, second.unchanged), (0, 0, 3));

    fixture.write("a.rs", "fn delta() {}\n");
    fs::remove_dir_all(fixture.code.path().join("d")).unwrap();
    let third = refresh(&index);
    assert_eq!((third.read, third.removed, third.unchanged), (1, 1, 1));
    assert_eq!(paths(&index, "delta"), ["a.rs"]);
    assert_eq!(paths(&index, "alpha gamma"), Vec::<String>::new());
}

#[test]
fn a_reopened_index_keeps_its_contents() {
    let fixture = Fixture::new([("a.rs", "fn alpha() {}\n")]);
    drop(fixture.index());
    let (index, opening) = fixture.open();
    assert_eq!(opening, code_index::Opening::Existing);
    assert_eq!(paths(&index, "alpha"), ["a.rs"]);
    assert_eq!(refresh(&index).read, 0);
}

#[test]
fn changed_paths_are_indexed() {
    let fixture = Fixture::new([
        ("a.rs", "fn alpha() {}\n"),
        ("d/b.rs", "fn beta() {}\n"),
        ("d/e/c.rs", "fn gamma() {}\n"),
    ]);
    let index = fixture.index();
    let update = |paths: &[&str]| {
        let paths: Vec<RelPath> = paths.iter().map(|one| path(one)).collect();
        index.update(&paths, &CancelFlag::new()).unwrap()
    };
    fixture.write("a.rs", "fn delta() {}\n");
    assert_eq!(update(&["a.rs", "nothing.rs"]).read, 1);
    assert_eq!(paths(&index, "delta"), ["a.rs"]);

    // A renamed folder: one path is missing, another one is new.
    fs::rename(fixture.code.path().join("d"), fixture.code.path().join("f")).unwrap();
    let moved = update(&["d", "f"]);
    assert_eq!((moved.read, moved.removed), (2, 2));
    assert_eq!(paths(&index, "gamma"), ["f/e/c.rs"]);

    // A file that replaces a folder, and a name with the same beginning.
    fixture.write("f.txt", "beside\n");
    update(&["f.txt"]);
    fs::remove_dir_all(fixture.code.path().join("f")).unwrap();
    fixture.write("f", "now a file\n");
    let replaced = update(&["f"]);
    assert_eq!((replaced.read, replaced.removed), (1, 2));
    assert_eq!(paths(&index, "beside"), ["f.txt"]);

    fixture.write(".gitignore", "*.rs\n");
    update(&[".gitignore"]);
    assert_eq!(paths(&index, "delta"), Vec::<String>::new());
}

#[test]
fn a_hit_in_a_changed_file_shows_the_current_text_as_stale() {
    let fixture = Fixture::new([("a.rs", "fn alpha() {}\n"), ("b.rs", "fn alpha() { beta() }\n")]);
    let index = fixture.index();
    assert_eq!(search(&index, "alpha").freshness.stale_paths, Vec::<String>::new());
    fixture.write("a.rs", "// new\nfn alpha() { now() }\n");
    let response = search(&index, "alpha");
    assert_eq!(response.freshness.stale_paths, ["a.rs"]);
    let hit = response.hits.iter().find(|hit| hit.path == "a.rs").unwrap();
    assert!(hit.snippet.contains("now()"), "{hit:?}");
    let snippet =
        call(|call| index.snippet(call, &ReadSnippet { doc_id: "a.rs#1-1".into(), window_lines: 10 }));
    assert_eq!(snippet.unwrap().freshness.stale_paths, ["a.rs"]);
    let impact = call(|call| index.impact(call, &ReadImpact { file: "a.rs".into(), max_depth: 1 })).unwrap();
    assert_eq!(impact.freshness.stale_paths, ["a.rs"]);
    refresh(&index);
    assert_eq!(search(&index, "alpha").freshness.stale_paths, Vec::<String>::new());
}

#[test]
fn symbols_are_those_of_the_file_as_it_is() {
    let fixture = Fixture::new([("a.rs", "fn alpha() {}\n")]);
    let index = fixture.index();
    fixture.write("a.rs", "\nfn beta() {}\n");
    fixture.write("new.py", "def gamma():\n    pass\n");
    let names = |file: &str| -> Vec<_> {
        symbols(&index, file).unwrap().symbols.into_iter().map(|one| (one.name, one.line_start)).collect()
    };
    assert_eq!(names("a.rs"), [("beta".to_owned(), 2)]);
    assert_eq!(names("new.py"), [("gamma".to_owned(), 1)]);
    fs::remove_file(fixture.code.path().join("a.rs")).unwrap();
    assert_eq!(symbols(&index, "a.rs"), Err(IndexError::UnknownFile { file: "a.rs".into() }));
    assert_eq!(search(&index, "alpha").hits, []);
}

#[test]
fn cancelled_and_late_calls_end() {
    let fixture = Fixture::new([("a.rs", "fn alpha() {}\n")]);
    let index = fixture.index();
    let cancel = CancelFlag::new();
    cancel.cancel();
    assert_eq!(index.refresh(&cancel, &mut |_| {}), Err(IndexError::Cancelled));
    call(|call| {
        let cancelled = wap_core::Call { cancel: &cancel, ..*call };
        let late = wap_core::Call { time_left: Some(Duration::ZERO), ..*call };
        let request = wap_core::SearchCode { query: "alpha".into(), limit: 8 };
        assert_eq!(index.search(&cancelled, &request), Err(IndexError::Cancelled));
        assert_eq!(index.search(&late, &request), Err(IndexError::TimedOut));
        assert_eq!(index.search(call, &request).unwrap().hits.len(), 1);
    });
}

#[test]
fn progress_is_reported_up_to_the_end() {
    let files: Vec<_> =
        (0..300).map(|number| (format!("f{number}.rs"), format!("fn f{number}() {{}}\n"))).collect();
    let fixture = Fixture::new(files);
    let (index, _) = fixture.open();
    let mut reports = Vec::new();
    index.refresh(&CancelFlag::new(), &mut |progress| reports.push((progress.done, progress.total))).unwrap();
    assert_eq!(reports.last(), Some(&(300, 300)));
    assert!(reports.is_sorted());
}
