//! The feed reports every change, to every reader.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use file_index::{ChangeFeed, FeedCursor, FeedPage, IndexLimits, IndexPhase};

use crate::fixture::Fixture;

fn cursor(fixture: &Fixture) -> FeedCursor {
    drop(fixture.view());
    let start = Instant::now();
    loop {
        if let Some(cursor) = fixture.index.cursor() {
            return cursor;
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}

/// Returns the changed paths since a position, and the position after them.
fn changes(fixture: &Fixture, mut after: FeedCursor) -> (BTreeSet<String>, FeedCursor) {
    let mut reported = BTreeSet::new();
    loop {
        match fixture.index.changes_since(after, 3) {
            FeedPage::Lost => panic!("the feed was lost"),
            FeedPage::Changes { paths, next } => {
                after = next;
                if paths.is_empty() {
                    return (reported, after);
                }
                assert!(paths.len() <= 3);
                reported.extend(paths.iter().map(ToString::to_string));
            }
        }
    }
}

#[test]
fn every_change_before_the_request_is_reported_once() {
    let fixture = Fixture::with(&[("a/one", "1"), ("a/two", "2"), ("b/three", "3")], IndexLimits::default());
    let start = cursor(&fixture);
    assert_eq!(changes(&fixture, start).0, BTreeSet::new());
    fs::write(fixture.path("a/one"), "changed").unwrap();
    fs::remove_file(fixture.path("a/two")).unwrap();
    fs::rename(fixture.path("b/three"), fixture.path("b/four")).unwrap();
    fs::write(fixture.path("hidden"), "hidden from every caller").unwrap();
    let (reported, next) = changes(&fixture, start);
    assert_eq!(reported, ["a/one", "a/two", "b/four", "b/three"].map(str::to_owned).into());
    assert_eq!(changes(&fixture, next).0, BTreeSet::new());
    // Another reader has a position of its own.
    assert_eq!(changes(&fixture, start).0, reported);
}

#[test]
fn new_folder_is_reported_once_it_is_watched() {
    let fixture = Fixture::with(&[("a/one", "1")], IndexLimits::default());
    let start = cursor(&fixture);
    fs::create_dir_all(fixture.path("new/deep/er")).unwrap();
    fs::write(fixture.path("new/deep/er/file"), "x").unwrap();
    drop(fixture.view());
    let (reported, next) = changes(&fixture, start);
    for folder in ["new", "new/deep", "new/deep/er"] {
        assert!(reported.contains(folder), "{folder}: {reported:?}");
    }
    fs::write(fixture.path("new/deep/er/file"), "y").unwrap();
    assert_eq!(changes(&fixture, next).0, ["new/deep/er/file".to_owned()].into());
}

#[test]
fn reader_that_missed_a_rest_of_the_index_gets_lost() {
    let limits = IndexLimits { rest_after: Duration::from_secs(2), ..IndexLimits::default() };
    let fixture = Fixture::with(&[("a/one", "1")], limits);
    let start = cursor(&fixture);
    let started = Instant::now();
    while fixture.index.report().phase != IndexPhase::Resting {
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", fixture.index.report());
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(fixture.view());
    assert_eq!(fixture.index.changes_since(start, 10), FeedPage::Lost);
    let again = cursor(&fixture);
    fs::write(fixture.path("a/one"), "2").unwrap();
    assert_eq!(changes(&fixture, again).0, ["a/one".to_owned()].into());
}
