//! Stores that are damaged, foreign or shared.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

use code_index::{Language, Opening};
use wap_core::{CancelFlag, IndexError};

use crate::fixture::{Fixture, paths, refresh, search};

fn fixture() -> Fixture {
    Fixture::new(
        (0..60).map(|number| (format!("f{number}.rs"), format!("fn name_{number}() {{ shared() }}\n"))),
    )
}

#[test]
fn a_damaged_store_is_replaced() {
    type Damage = fn(&mut fs::File);
    let damages: [(&str, Damage); 4] = [
        ("no database at all", |file| {
            file.set_len(0).unwrap();
            file.write_all(b"this is a text\n").unwrap();
        }),
        ("cut in the middle", |file| {
            let length = file.metadata().unwrap().len();
            file.set_len(length / 2).unwrap();
        }),
        ("pages of noise", |file| {
            let length = file.metadata().unwrap().len();
            file.seek(SeekFrom::Start(4096)).unwrap();
            file.write_all(&vec![0x5a; usize::try_from(length - 4096).unwrap()]).unwrap();
        }),
        ("another version", |file| {
            file.seek(SeekFrom::Start(60)).unwrap();
            file.write_all(&[0, 0, 0, 99]).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let fixture = fixture();
        drop(fixture.index());
        let database = fixture.state.path().join("index/index.db");
        damage(&mut OpenOptions::new().write(true).open(&database).unwrap());
        let (index, opening) = fixture.open();
        assert_eq!(opening, Opening::Replaced, "{what}");
        assert_eq!(refresh(&index).read, 60, "{what}");
        assert_eq!(paths(&index, "name_7"), ["f7.rs"], "{what}");
    }
    // The control: without damage it is kept.
    let fixture = fixture();
    drop(fixture.index());
    assert_eq!(fixture.open().1, Opening::Existing);
}

#[test]
fn a_store_of_other_languages_is_replaced() {
    let fixture = fixture();
    drop(fixture.index());
    let database = fixture.state.path().join("index/index.db");
    let version = || -> i32 {
        let connection = rusqlite::Connection::open(&database).unwrap();
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    let current = version();
    assert_eq!(usize::try_from(current & 0xff).unwrap(), Language::ALL.len());
    // One language less or more, and the last version that did not count them.
    for other in [current - 1, current + 1, 4] {
        let connection = rusqlite::Connection::open(&database).unwrap();
        connection.pragma_update(None, "user_version", other).unwrap();
        drop(connection);
        let (index, opening) = fixture.open();
        assert_eq!(opening, Opening::Replaced, "{other}");
        assert_eq!(refresh(&index).read, 60, "{other}");
        drop(index);
        assert_eq!(version(), current);
    }
    // The control: the store of this build is kept.
    assert_eq!(fixture.open().1, Opening::Existing);
}

#[test]
fn two_indexes_over_one_store_see_each_others_work() {
    let fixture = fixture();
    let first = fixture.index();
    let (second, opening) = fixture.open();
    assert_eq!(opening, Opening::Existing);
    fixture.write("new.rs", "fn brand_new() {}\n");
    assert_eq!(refresh(&second).read, 1);
    assert_eq!(paths(&first, "brand_new"), ["new.rs"]);
    assert_eq!(refresh(&first).read, 0);
    std::thread::scope(|scope| {
        for index in [&first, &second] {
            scope.spawn(move || {
                for _ in 0..5 {
                    refresh(index);
                }
            });
        }
    });
    assert_eq!(search(&first, "shared").hits.len(), 8);
}

#[test]
fn an_index_that_is_cleared_is_built_again() {
    let fixture = fixture();
    let index = fixture.index();
    let before = index.status().unwrap();
    assert_eq!((before.files, before.texts), (60, 60));
    assert!(before.store_bytes > 0 && before.text_bytes > 0);
    index.clear().unwrap();
    assert_eq!(index.status().unwrap().files, 0);
    assert_eq!(paths(&index, "shared"), Vec::<String>::new());
}

#[test]
fn a_refresh_without_its_folder_fails_and_keeps_the_index() {
    let fixture = fixture();
    let index = fixture.index();
    let away = fixture.state.path().join("away");
    fs::rename(fixture.code.path(), &away).unwrap();
    fs::create_dir(fixture.code.path()).unwrap();
    let failed = index.refresh(&CancelFlag::new(), &mut |_| {});
    assert!(matches!(&failed, Err(IndexError::Failed { cause }) if cause.contains("folder")), "{failed:?}");
    assert_eq!(index.status().unwrap().files, 60);
    fs::remove_dir(fixture.code.path()).unwrap();
    fs::rename(&away, fixture.code.path()).unwrap();
    assert_eq!(refresh(&index).unchanged, 60);
}

#[test]
fn a_cancelled_build_continues_where_it_stopped() {
    let fixture = fixture();
    let (index, _) = fixture.open();
    let cancel = CancelFlag::new();
    let ended = index.refresh(&cancel, &mut |_| cancel.cancel());
    // The first batch may have contained all files; then only the end was left to cancel.
    assert_eq!(ended, Err(IndexError::Cancelled));
    let again = refresh(&index);
    assert_eq!(again.read + again.unchanged, 60);
    assert_eq!(paths(&index, "name_59"), ["f59.rs"]);
}

#[test]
fn empty_pages_are_freed() {
    let many = 0..2_100;
    let long = |file: u32| (0..40).map(|name| format!("fn long_{file}_{name}() {{}}\n")).collect::<String>();
    let fixture = Fixture::new(many.clone().map(|file| (format!("f{file}.rs"), long(file))));
    let index = fixture.index();
    let empty_pages = || {
        let database = fixture.state.path().join("index/index.db");
        let connection = rusqlite::Connection::open(database).unwrap();
        connection.query_row("PRAGMA freelist_count", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!(empty_pages(), 0);
    // The control: removed files leave pages empty, and a few of them are not freed.
    for file in many.clone().take(1_000) {
        fs::remove_file(fixture.code.path().join(format!("f{file}.rs"))).unwrap();
    }
    assert_eq!(refresh(&index).removed, 1_000);
    assert_ne!(empty_pages(), 0);
    for file in many {
        fixture.write(&format!("f{file}.rs"), "fn shorter() {}\n");
    }
    assert_eq!(refresh(&index).read, 2_100);
    assert_eq!(empty_pages(), 0);
}
