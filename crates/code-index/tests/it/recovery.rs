//! Stores that fail, and come back.

use std::fs::{self, File};
use std::time::Duration;

use code_index::{FollowingIndex, Follows, LocalIndex, OpenError};
use wap_core::{CodeIndex, IndexState, SearchCode};

use crate::fixture::{Fixture, call, paths, refresh, search};
use crate::following::{feed, following, search_paths};

fn fixture() -> Fixture {
    Fixture::new((0..60).map(|number| (format!("f{number}.rs"), format!("fn name_{number}() {{}}\n"))))
}

#[test]
fn a_store_that_could_not_be_rebuilt_is_rebuilt_later() {
    let fixture = fixture();
    let index = fixture.index();
    // A folder in place of the store: like a full disk, it makes a rebuild fail halfway.
    let database = fixture.state.path().join("index/index.db");
    fs::remove_file(&database).unwrap();
    fs::create_dir(&database).unwrap();
    assert!(index.clear().is_err());
    assert!(index.status().is_err());
    fs::remove_dir(&database).unwrap();
    assert_eq!(refresh(&index).read, 60);
    assert_eq!(paths(&index, "name_7"), ["f7.rs"]);
}

#[test]
fn damage_found_by_an_update_is_repaired() {
    let fixture = fixture();
    let index = following(&fixture, Follows::Feed(feed(&fixture)));
    assert_eq!(search_paths(&index, "name_7"), ["f7.rs"]);
    let connection = rusqlite::Connection::open(fixture.state.path().join("index/index.db")).unwrap();
    connection.execute_batch("DROP TABLE outline").unwrap();
    drop(connection);
    fixture.write("new.rs", "fn brand_new() {}\n");
    assert_eq!(search_paths(&index, "brand_new"), ["new.rs"]);
    assert_eq!(search_paths(&index, "name_7"), ["f7.rs"]);
}

#[test]
fn an_index_with_more_files_than_its_limit_reports_missing_ones() {
    for (files, state) in [(59, IndexState::Building), (60, IndexState::Ready)] {
        let mut fixture = fixture();
        fixture.limits.files = files;
        let index = fixture.index();
        assert_eq!(search(&index, "name_7").freshness.state, state, "{files}");
        assert_eq!(index.status().unwrap().files, files as u64);
    }
}

#[test]
fn an_index_reads_the_store_that_it_writes_while_others_replace_it() {
    let fixture = fixture();
    drop(fixture.index());
    std::thread::scope(|scope| {
        let replacing = scope.spawn(|| {
            for _ in 0..60 {
                fixture.open().0.clear().unwrap();
            }
        });
        while !replacing.is_finished() {
            let (index, _) = fixture.open();
            refresh(&index);
            assert_eq!(paths(&index, "name_7"), ["f7.rs"]);
        }
    });
}

/// Deleted by its name, the log could belong to a store that has replaced this one.
#[test]
fn closing_a_store_empties_its_log_without_deleting_it() {
    let fixture = fixture();
    let log = fixture.state.path().join("index/index.db-wal");
    let index = fixture.index();
    assert!(fs::metadata(&log).unwrap().len() > 0);
    drop(index);
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
    assert_eq!(paths(&fixture.open().0, "name_7"), ["f7.rs"]);
}

#[test]
fn a_hurried_request_to_a_complete_index_reports_missing_changes() {
    let fixture = Fixture::new((0..300).map(|number| (format!("f{number}.rs"), "fn filler() {}\n")));
    drop(fixture.index());
    fixture.write("new.rs", "fn brand_new() {}\n");
    let search = SearchCode { query: "brand_new".into(), limit: 8 };
    for (time, expected) in
        [(Duration::ZERO, IndexState::Building), (Duration::from_secs(60), IndexState::Ready)]
    {
        let index = FollowingIndex::new(fixture.open().0, Follows::Folder, time);
        let answer = call(|call| index.search(call, &search)).unwrap();
        assert_eq!((answer.freshness.state, answer.hits.len()), (expected, usize::from(!time.is_zero())));
    }
}

#[test]
fn a_store_that_another_process_holds_is_waited_for_and_given_up() {
    let fixture = fixture();
    drop(fixture.index());
    let folder = fixture.state.path().join("index");
    let held = File::options().write(true).open(folder.join("lock")).unwrap();
    held.lock().unwrap();
    let opened = LocalIndex::open(&folder, fixture.source(), fixture.limits);
    assert!(matches!(opened, Err(OpenError::Folder(error)) if error.to_string().contains("another process")));
    // The control: without the other process it opens.
    drop(held);
    assert_eq!(paths(&fixture.open().0, "name_7"), ["f7.rs"]);
}
