//! Indexes that follow their folder.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use code_index::{FollowingIndex, Follows};
use file_index::{ChangeFeed, ContentKind, FeedCursor, FeedPage, FileIndex, IndexLimits, IndexRules};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{Call, CancelFlag, CodeIndex, IndexState, SearchCode};

use crate::fixture::{Fixture, call, paths};

/// A hang guard: far longer than any of these tests takes.
const GUARD: Duration = Duration::from_secs(60);

struct Everything;

impl IndexRules for Everything {
    fn hides(&self, path: &RelPath) -> bool {
        path.starts_with(&RelPath::parse(".git").unwrap())
    }

    fn leaves_out(&self, _: &RelPath) -> bool {
        false
    }

    fn content_kind(&self, _: &RelPath, _: &[u8]) -> ContentKind {
        ContentKind::Text
    }
}

pub(crate) fn feed(fixture: &Fixture) -> Arc<FileIndex> {
    let root = FileRoot::open(fixture.code.path(), &RootRules::default(), FsPolicy::default()).unwrap();
    let feed = FileIndex::start(Arc::new(root), Everything, IndexLimits::default()).unwrap();
    wait_until(|| feed.cursor().is_some());
    Arc::new(feed)
}

pub(crate) fn following(fixture: &Fixture, follows: Follows) -> FollowingIndex {
    FollowingIndex::new(fixture.open().0, follows, GUARD)
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < GUARD, "a hang guard");
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn search_paths(index: &FollowingIndex, query: &str) -> Vec<String> {
    let response = call(|call| index.search(call, &SearchCode { query: query.into(), limit: 8 })).unwrap();
    assert_eq!(response.freshness.state, IndexState::Ready);
    assert_eq!(response.freshness.stale_paths, Vec::<String>::new());
    response.hits.into_iter().map(|hit| hit.path).collect()
}

#[test]
fn a_request_sees_every_earlier_change() {
    let fixture = Fixture::new([("a.rs", "fn apricot() {}\n"), ("sub/b.rs", "fn blueberry() {}\n")]);
    let feeds: [fn(&Fixture) -> Follows; 2] = [|fixture| Follows::Feed(feed(fixture)), |_| Follows::Folder];
    for follows in feeds {
        let index = following(&fixture, follows(&fixture));
        assert_eq!(search_paths(&index, "apricot"), ["a.rs"]);
        fixture.write("a.rs", "fn cherry() {}\n");
        assert_eq!(search_paths(&index, "cherry"), ["a.rs"]);
        assert_eq!(search_paths(&index, "apricot"), Vec::<String>::new());
        fs::rename(fixture.code.path().join("sub"), fixture.code.path().join("moved")).unwrap();
        assert_eq!(search_paths(&index, "blueberry"), ["moved/b.rs"]);
        fixture.write("deep/er/c.rs", "fn damson() {}\n");
        assert_eq!(search_paths(&index, "damson"), ["deep/er/c.rs"]);
        fixture.write(".gitignore", "deep/\n");
        assert_eq!(search_paths(&index, "damson"), Vec::<String>::new());
        for path in [".gitignore", "a.rs"] {
            fs::remove_file(fixture.code.path().join(path)).unwrap();
        }
        assert_eq!(search_paths(&index, "damson"), ["deep/er/c.rs"]);
        assert_eq!(search_paths(&index, "cherry"), Vec::<String>::new());
        // Restored for the next feed.
        fs::remove_dir_all(fixture.code.path().join("deep")).unwrap();
        fs::rename(fixture.code.path().join("moved"), fixture.code.path().join("sub")).unwrap();
        fixture.write("a.rs", "fn apricot() {}\n");
    }
    // The control: an index that follows nothing does not see the change.
    let index = following(&fixture, Follows::Nothing);
    fixture.write("a.rs", "fn elder() {}\n");
    let search = SearchCode { query: "elder".into(), limit: 8 };
    assert_eq!(call(|call| index.search(call, &search)).unwrap().hits, []);
}

#[test]
fn rules_outside_of_feeds_are_followed() {
    let fixture = Fixture::new([("a.rs", "fn apricot() {}\n"), ("private/b.rs", "fn blueberry() {}\n")]);
    fixture.write(".git/info/exclude", "# nothing\n");
    let index = following(&fixture, Follows::Feed(feed(&fixture)));
    assert_eq!(search_paths(&index, "blueberry"), ["private/b.rs"]);
    fixture.write(".git/info/exclude", "private/\n");
    assert_eq!(search_paths(&index, "blueberry"), Vec::<String>::new());
    fs::remove_file(fixture.code.path().join(".git/info/exclude")).unwrap();
    assert_eq!(search_paths(&index, "blueberry"), ["private/b.rs"]);
    // The same without a request.
    kept(&index, || {
        fixture.write(".git/info/exclude", "private/\n");
        wait_until(|| paths(index.index(), "blueberry").is_empty());
        fixture.write(".git/info/exclude", "");
        wait_until(|| paths(index.index(), "blueberry") == ["private/b.rs"]);
    });
}

/// Runs `run` while a thread keeps the index up with its folder.
fn kept<T>(index: &FollowingIndex, run: impl FnOnce() -> T) -> T {
    let ends = CancelFlag::new();
    thread::scope(|scope| {
        scope.spawn(|| index.keep_up(&ends));
        let outcome = run();
        ends.cancel();
        outcome
    })
}

#[test]
fn saved_files_are_indexed_without_a_request() {
    let fixture = Fixture::new((0..40).map(|number| (format!("f{number}.rs"), "fn filler() {}\n")));
    let index = following(&fixture, Follows::Feed(feed(&fixture)));
    // Searches the index itself: a request to the following one would update it.
    let is_indexed = |query: &str, path: &str| paths(index.index(), query) == [path];
    kept(&index, || {
        wait_until(|| index.index().status().unwrap().files == 40);
        fixture.write("new.rs", "fn fig() {}\n");
        wait_until(|| is_indexed("fig", "new.rs"));
        fixture.write("new.rs", "fn grape() {}\n");
        wait_until(|| is_indexed("grape", "new.rs"));
        fs::remove_file(fixture.code.path().join("new.rs")).unwrap();
        wait_until(|| paths(index.index(), "grape").is_empty());
    });
    // The control: without a thread that keeps it up, the index does not change.
    fixture.write("late.rs", "fn hazel() {}\n");
    assert_eq!(paths(index.index(), "hazel"), Vec::<String>::new());
    assert_eq!(search_paths(&index, "hazel"), ["late.rs"]);
}

/// A feed that reports lost events once, on demand.
struct Forgetful {
    feed: Arc<FileIndex>,
    forgets: AtomicBool,
}

impl ChangeFeed for Forgetful {
    fn cursor(&self) -> Option<FeedCursor> {
        self.feed.cursor()
    }

    fn changes_since(&self, after: FeedCursor, limit: usize) -> FeedPage {
        if self.forgets.swap(false, Ordering::SeqCst) {
            return FeedPage::Lost;
        }
        self.feed.changes_since(after, limit)
    }

    fn wait(&self, after: FeedCursor, time: Duration) -> bool {
        self.feed.wait(after, time)
    }
}

#[test]
fn after_a_loss_the_whole_folder_is_compared() {
    let fixture = Fixture::new([("a.rs", "fn apricot() {}\n")]);
    let feed = Arc::new(Forgetful { feed: feed(&fixture), forgets: AtomicBool::new(false) });
    let index = following(&fixture, Follows::Feed(Arc::clone(&feed) as Arc<dyn ChangeFeed>));
    assert_eq!(search_paths(&index, "apricot"), ["a.rs"]);
    feed.forgets.store(true, Ordering::SeqCst);
    fixture.write("b.rs", "fn blueberry() {}\n");
    assert_eq!(search_paths(&index, "blueberry"), ["b.rs"]);
    // Many changes at once are handled like a loss.
    for number in 0..2_500 {
        fixture.write(&format!("many/f{number}.txt"), "word\n");
    }
    assert_eq!(search_paths(&index, "blueberry"), ["b.rs"]);
    assert_eq!(index.index().status().unwrap().files, 2_502);
}

#[test]
fn a_hurried_request_is_answered_as_building() {
    let fixture = Fixture::new((0..300).map(|number| (format!("f{number}.rs"), "fn filler() {}\n")));
    let index = FollowingIndex::new(fixture.open().0, Follows::Folder, Duration::ZERO);
    let search = SearchCode { query: "filler".into(), limit: 8 };
    let hurried = call(|call| index.search(call, &search)).unwrap();
    assert_eq!(hurried.freshness.state, IndexState::Building);
    let index = following(&fixture, Follows::Folder);
    let hurried = call(|call| index.search(&Call { time_left: Some(Duration::ZERO), ..*call }, &search));
    assert!(
        hurried.as_ref().is_ok_and(|response| response.freshness.state == IndexState::Building)
            || hurried == Err(wap_core::IndexError::TimedOut),
        "{hurried:?}"
    );
    // The control: with enough time it is up to date.
    assert_eq!(call(|call| index.search(call, &search)).unwrap().freshness.state, IndexState::Ready);
}

#[test]
fn of_two_that_keep_one_store_one_works_and_the_other_takes_over() {
    let fixture = Fixture::new([("a.rs", "fn apricot() {}\n")]);
    let feed = feed(&fixture);
    let first = following(&fixture, Follows::Feed(Arc::clone(&feed) as Arc<dyn ChangeFeed>));
    let second = following(&fixture, Follows::Feed(feed));
    kept(&second, || {
        kept(&first, || {
            wait_until(|| first.index().status().unwrap().files == 1);
            fixture.write("b.rs", "fn blueberry() {}\n");
            wait_until(|| paths(second.index(), "blueberry") == ["b.rs"]);
            // Both can answer in the meantime.
            assert_eq!(
                (search_paths(&first, "blueberry"), search_paths(&second, "blueberry")),
                (vec!["b.rs".to_owned()], vec!["b.rs".to_owned()])
            );
        });
        fixture.write("c.rs", "fn cherry() {}\n");
        wait_until(|| paths(first.index(), "cherry") == ["c.rs"]);
    });
}

#[test]
fn damage_found_by_a_request_is_repaired() {
    let fixture =
        Fixture::new((0..60).map(|number| (format!("f{number}.rs"), format!("fn name_{number}() {{}}\n"))));
    let index = following(&fixture, Follows::Folder);
    assert_eq!(search_paths(&index, "name_7"), ["f7.rs"]);
    // The word lists are destroyed without the index's knowledge.
    let database = fixture.state.path().join("index/index.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute_batch("UPDATE words_data SET block = x'00' WHERE id > 10").unwrap();
    drop(connection);
    assert!(
        call(|call| index.index().search(call, &SearchCode { query: "name_7".into(), limit: 8 })).is_err()
    );
    assert_eq!(search_paths(&index, "name_7"), ["f7.rs"]);
}
