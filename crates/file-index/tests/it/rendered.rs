//! The list of a folder, rendered for a reader.

use std::fs;
use std::os::unix::fs::symlink;

use file_index::{IndexLimits, IndexPhase, ListWalk, Needle, OffReason, View};
use rel_path::RelPath;
use sandbox_fs::Visit;

use crate::fixture::Fixture;

/// Renders a walk, each entry with its kind and content, and the totals.
fn render(view: &View<'_>, needle: Option<&Needle>) -> String {
    let mut lines = Vec::new();
    let walk = ListWalk {
        start: &RelPath::root(),
        depth: 64,
        visitor: &mut |_, _| Visit::Take,
        takes_leaves: false,
        most: 6,
        each: &mut |entry| lines.push(format!("{}: {:?}, {:?}", entry.path, entry.kind, entry.content)),
    };
    let summary = match needle {
        Some(needle) => view.candidates(needle, walk),
        None => view.walk(walk),
    };
    let totals = summary.map_or("not answered".to_owned(), |summary| format!("{summary:?}"));
    lines.push(totals);
    lines.join("\n")
}

#[test]
fn a_listing_shows_kinds_contents_and_totals() {
    let files = [
        ("a/needle.txt", "a needle\n"),
        ("a/hay.txt", "hay\n"),
        ("image.bin", "\0\0"),
        ("text.bad", "needle"),
        ("z", "1"),
    ];
    let fixture = Fixture::with(&files, IndexLimits::default());
    symlink("a", fixture.path("link")).unwrap();
    fixture.settle();
    let view = fixture.view();
    let all = render(&view, None);
    let candidates = render(&view, Some(&Needle::literal(b"needle")));
    insta::assert_snapshot!(format!("all\n{all}\n\ncandidates for `needle`\n{candidates}"));
}

#[test]
fn an_excluded_folder_gives_no_answer() {
    let fixture = Fixture::with(&[("left/x", "1"), ("y", "2")], IndexLimits::default());
    fs::write(fixture.path("left/later"), "").unwrap();
    insta::assert_snapshot!(render(&fixture.view(), None), @"not answered");
}

#[test]
fn a_folder_beyond_the_limit_turns_the_index_off_for_a_named_reason() {
    let files: Vec<(String, &str)> = (0..20).map(|number| (format!("file{number}"), "x")).collect();
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in &files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let root = sandbox_fs::FileRoot::open(
        folder.path(),
        &sandbox_fs::RootRules::none(),
        sandbox_fs::FsPolicy::default(),
    )
    .unwrap();
    let limits = IndexLimits { entries: 10, ..IndexLimits::default() };
    let index =
        file_index::FileIndex::start(std::sync::Arc::new(root), crate::fixture::Rules, limits).unwrap();
    assert!(index.view().is_none(), "the first request starts the listing");
    let started = std::time::Instant::now();
    while index.report().phase != IndexPhase::Off(OffReason::TooManyFiles) {
        assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", index.report());
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(index.view().is_none(), "an index that is off answers nothing");
}
