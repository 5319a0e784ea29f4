//! The feed tells of everything, to whoever asks.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use file_index::{ChangeFeed, FeedCursor, FeedPage, IndexLimits, IndexPhase};

use crate::ground::Ground;

fn cursor(ground: &Ground) -> FeedCursor {
    drop(ground.view());
    let start = Instant::now();
    loop {
        if let Some(cursor) = ground.index.cursor() {
            return cursor;
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}

/// The paths told of since, and the place behind them.
fn changes(ground: &Ground, mut after: FeedCursor) -> (BTreeSet<String>, FeedCursor) {
    let mut told = BTreeSet::new();
    loop {
        match ground.index.changes_since(after, 3) {
            FeedPage::Lost => panic!("the feed was lost"),
            FeedPage::Changes { paths, next } => {
                after = next;
                if paths.is_empty() {
                    return (told, after);
                }
                assert!(paths.len() <= 3);
                told.extend(paths.iter().map(ToString::to_string));
            }
        }
    }
}

#[test]
fn everything_that_was_done_before_the_question_is_told_once() {
    let ground = Ground::with(&[("a/one", "1"), ("a/two", "2"), ("b/three", "3")], IndexLimits::default());
    let start = cursor(&ground);
    assert_eq!(changes(&ground, start).0, BTreeSet::new());
    fs::write(ground.path("a/one"), "changed").unwrap();
    fs::remove_file(ground.path("a/two")).unwrap();
    fs::rename(ground.path("b/three"), ground.path("b/four")).unwrap();
    fs::write(ground.path("hidden"), "nobody sees it").unwrap();
    let (told, next) = changes(&ground, start);
    assert_eq!(told, ["a/one", "a/two", "b/four", "b/three"].map(str::to_owned).into());
    assert_eq!(changes(&ground, next).0, BTreeSet::new());
    // Another reader has a place of its own.
    assert_eq!(changes(&ground, start).0, told);
}

#[test]
fn new_folder_is_told_of_once_it_is_watched() {
    let ground = Ground::with(&[("a/one", "1")], IndexLimits::default());
    let start = cursor(&ground);
    fs::create_dir_all(ground.path("new/deep/er")).unwrap();
    fs::write(ground.path("new/deep/er/file"), "x").unwrap();
    drop(ground.view());
    let (told, next) = changes(&ground, start);
    for folder in ["new", "new/deep", "new/deep/er"] {
        assert!(told.contains(folder), "{folder}: {told:?}");
    }
    fs::write(ground.path("new/deep/er/file"), "y").unwrap();
    assert_eq!(changes(&ground, next).0, ["new/deep/er/file".to_owned()].into());
}

#[test]
fn reader_who_was_away_when_everything_was_given_back_is_told_so() {
    let limits = IndexLimits { rest_after: Duration::from_secs(2), ..IndexLimits::default() };
    let ground = Ground::with(&[("a/one", "1")], limits);
    let start = cursor(&ground);
    let asked = Instant::now();
    while ground.index.report().phase != IndexPhase::Resting {
        assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", ground.index.report());
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(ground.view());
    assert_eq!(ground.index.changes_since(start, 10), FeedPage::Lost);
    let again = cursor(&ground);
    fs::write(ground.path("a/one"), "2").unwrap();
    assert_eq!(changes(&ground, again).0, ["a/one".to_owned()].into());
}
