//! Unneeded contents are removed, oldest first, and needed ones stay whatever the limit.

use std::collections::HashSet;
use std::fs;

use change_journal::{
    Attributes, ChangeRecord, ContentHash, EntryRecord, GarbageRule, Journal, JournalLimits, RunKey,
    RunNumber, RunState, StepKind, StepRecord,
};

use crate::support::Folder;

/// Lets `text` replace `before` in a separate run, which is finished and settled.
fn replace(journal: &Journal, conversation: &str, before: &[u8], after: &[u8]) -> RunNumber {
    let number = begin(journal, conversation, before, after);
    let changes = journal.reader().changes_of_run(number).unwrap();
    journal.settle_changes(&changes.iter().map(|change| change.number).collect::<Vec<_>>()).unwrap();
    journal.flush().unwrap();
    number
}

fn begin(journal: &Journal, conversation: &str, before: &[u8], after: &[u8]) -> RunNumber {
    let key = RunKey::once(conversation, &[before, b"->", after].concat());
    let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("the run is new") };
    let change =
        ChangeRecord::intended(b"x", Some(EntryRecord::file(before)), Some(EntryRecord::file(after)));
    let step =
        StepRecord { kind: StepKind::FileChange, description: "x", outcome: b"ok", changes: vec![change] };
    journal.record_steps(run.number(), 0, &[step]).unwrap();
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    run.number()
}

fn holds(journal: &Journal, bytes: &[u8]) -> bool {
    journal.reader().content(&ContentHash::of(bytes)).unwrap().is_some()
}

/// A content of `length` bytes.
fn long(letter: u8, length: usize) -> Vec<u8> {
    vec![letter; length]
}

#[test]
fn oldest_contents_go_until_the_others_fit() {
    let journal = Journal::in_memory().unwrap();
    let [a, b, c, d] = [b'a', b'b', b'c', b'd'].map(|letter| long(letter, 100));
    replace(&journal, "talk", &a, &b);
    replace(&journal, "talk", &b, &c);
    replace(&journal, "talk", &c, &d);
    let nothing =
        journal.collect_garbage(&GarbageRule { limit_bytes: 400, ..GarbageRule::default() }).unwrap();
    assert_eq!((nothing.contents_removed, nothing.kept_bytes), (0, 400));
    let report =
        journal.collect_garbage(&GarbageRule { limit_bytes: 250, ..GarbageRule::default() }).unwrap();
    // `b` is what the first left and what the second found: it is as old as the second.
    assert_eq!((report.contents_removed, report.contents_bytes, report.kept_bytes), (2, 200, 200));
    assert_eq!(report.changes_cut, 2);
    assert_eq!([&a, &b, &c, &d].map(|bytes| holds(&journal, bytes)), [false, false, true, true]);
}

#[test]
fn contents_of_conversations_that_go_on_stay_whatever_the_limit() {
    let journal = Journal::in_memory().unwrap();
    replace(&journal, "open", b"a", b"b");
    replace(&journal, "over", b"b", b"c");
    let conversations = ["open".to_owned()].into();
    let rule = GarbageRule { conversations, ..GarbageRule::default() };
    let report = journal.collect_garbage(&rule).unwrap();
    assert_eq!(report.contents_removed, 1);
    assert_eq!([b"a", b"b", b"c"].map(|bytes| holds(&journal, bytes)), [true, true, false]);
}

#[test]
fn contents_that_may_have_to_be_redone_stay_whatever_the_limit() {
    let journal = Journal::in_memory().unwrap();
    begin(&journal, "over", b"a", b"b");
    replace(&journal, "over", b"c", b"d");
    journal.collect_garbage(&GarbageRule::default()).unwrap();
    assert_eq!([b"a", b"b", b"c", b"d"].map(|bytes| holds(&journal, bytes)), [true, true, false, false]);
}

#[test]
fn contents_without_a_change_go_unless_they_are_needed() {
    let journal = Journal::in_memory().unwrap();
    let needed: HashSet<_> = [journal.keep_content(b"received").unwrap()].into();
    journal.keep_content(b"received long ago").unwrap();
    let rule = GarbageRule { limit_bytes: u64::MAX, needed, ..GarbageRule::default() };
    assert_eq!(journal.collect_garbage(&rule).unwrap().contents_removed, 1);
    assert!(holds(&journal, b"received") && !holds(&journal, b"received long ago"));
}

#[test]
fn files_go_with_their_contents_and_stray_ones_too() {
    let folder = Folder::new();
    let limits = JournalLimits { inline_content_bytes: 10, ..JournalLimits::default() };
    let journal = Journal::open(&folder.path(), limits).unwrap().0;
    let [old, new] = [long(b'o', 50), long(b'n', 60)];
    replace(&journal, "over", &old, b"x");
    replace(&journal, "open", &new, b"y");
    let shelf = folder.path().join("blobs/ab");
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join("unfinished"), [0; 7]).unwrap();
    fs::write(shelf.join(ContentHash::of(b"stray").to_string()), [0; 5]).unwrap();
    let rule = GarbageRule { conversations: ["open".to_owned()].into(), ..GarbageRule::default() };
    let report = journal.collect_garbage(&rule).unwrap();
    assert_eq!((report.files_removed, report.files_bytes), (2, 12));
    assert_eq!((report.contents_removed, report.contents_bytes), (2, 51));
    assert!(!holds(&journal, &old) && holds(&journal, &new));
    let files = || -> usize {
        let shelves = fs::read_dir(folder.path().join("blobs")).unwrap().map(Result::unwrap);
        shelves.map(|shelf| fs::read_dir(shelf.path()).unwrap().count()).sum()
    };
    assert_eq!(files(), 1);
    // The same content can come back.
    replace(&journal, "later", &old, b"z");
    assert!(holds(&journal, &old));
}

#[test]
fn files_that_a_quarantined_database_may_need_stay() {
    let folder = Folder::new();
    let limits = JournalLimits { inline_content_bytes: 10, ..JournalLimits::default() };
    let open = || Journal::open(&folder.path(), limits.clone()).unwrap();
    let [old, new] = [long(b'o', 50), long(b'n', 60)];
    replace(&open().0, "over", &old, b"x");
    // Earlier than what a collection in the background counts as recent.
    let name = ContentHash::of(&old).to_string();
    let file = folder.path().join("blobs").join(&name[..2]).join(&name);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    fs::write(file.with_file_name("unfinished"), [0; 7]).unwrap();
    fs::write(folder.path().join("journal.db"), [0xa5; 5000]).unwrap();

    let (journal, report) = open();
    assert_eq!(report.set_aside.len(), 1);
    replace(&journal, "over", &new, b"y");
    let rule = GarbageRule::default();
    let report = journal.collect_in_background(&rule, &|| true).unwrap();
    // Both large contents: the one that only the quarantined database knows, and the one that was just removed.
    assert_eq!((report.contents_removed, report.files_kept, report.files_kept_bytes), (2, 2, 110));
    let report = journal.collect_garbage(&rule).unwrap();
    assert_eq!((report.files_kept, report.files_kept_bytes), (2, 110));
    // A partial file belongs to no database.
    assert_eq!((report.files_removed, report.files_bytes), (1, 7));
    assert_eq!(fs::read(&file).unwrap(), old);

    // The control: they are stray, and are removed with the quarantined database.
    fs::remove_file(folder.path().join("journal.db.damaged-1")).unwrap();
    let report = journal.collect_garbage(&rule).unwrap();
    assert_eq!((report.files_removed, report.files_bytes, report.files_kept), (2, 110, 0));
    assert!(!file.exists());
}

#[test]
fn space_of_removed_contents_returns_to_the_disk() {
    let folder = Folder::new();
    let limits = JournalLimits::default();
    let journal = Journal::open(&folder.path(), limits.clone()).unwrap().0;
    for letter in b'a'..=b'z' {
        replace(&journal, "over", &long(letter, 200_000), b"x");
    }
    replace(&journal, "open", b"kept before", b"kept after");
    let length = || fs::metadata(folder.path().join("journal.db")).unwrap().len();
    let rule = GarbageRule { conversations: ["open".to_owned()].into(), ..GarbageRule::default() };
    let report = journal.collect_garbage(&rule).unwrap();
    assert!(report.database_bytes > 5_000_000, "{report:?}");
    assert!(length() < 300_000, "{}", length());
    // Reading and writing still work, and no space is left to return.
    assert!(holds(&journal, b"kept before") && !holds(&journal, &long(b'a', 200_000)));
    replace(&journal, "later", b"more", b"and more");
    assert_eq!(journal.collect_garbage(&rule).unwrap().database_bytes % 4096, 0);
    drop(journal);
    let (journal, report) = Journal::open(&folder.path(), limits).unwrap();
    assert!(!report.created && report.set_aside.is_empty());
    assert!(holds(&journal, b"kept before"));
}

#[test]
fn a_database_that_was_made_without_giving_back_learns_it() {
    let folder = Folder::new();
    let journal = Journal::open(&folder.path(), JournalLimits::default()).unwrap().0;
    replace(&journal, "open", b"kept before", b"kept after");
    drop(journal);
    // As earlier versions made it.
    let database = folder.path().join("journal.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA journal_mode = WAL",
        )
        .unwrap();
    let mode = || -> i64 {
        let connection = rusqlite::Connection::open(&database).unwrap();
        connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0)).unwrap()
    };
    drop(connection);
    assert_eq!(mode(), 0);
    let journal = Journal::open(&folder.path(), JournalLimits::default()).unwrap().0;
    let document =
        journal.write_documents(&[change_journal::DocumentWrite::Put { name: "a", bytes: b"1" }]).unwrap();
    for letter in b'a'..=b'z' {
        replace(&journal, "over", &long(letter, 200_000), b"x");
    }
    let rule = GarbageRule { conversations: ["open".to_owned()].into(), ..GarbageRule::default() };
    assert!(journal.collect_garbage(&rule).unwrap().database_bytes > 5_000_000);
    assert!(fs::metadata(&database).unwrap().len() < 300_000);
    assert!(holds(&journal, b"kept before"));
    // Versions of documents are what they were.
    assert_eq!(journal.reader().document("a").unwrap().map(|document| document.head.version), document[0]);
    drop(journal);
    assert_eq!(mode(), 2);
}

#[test]
fn collecting_in_the_background_keeps_the_same_and_recent_contents() {
    let journal = Journal::in_memory().unwrap();
    let [a, b, c, d] = [b'a', b'b', b'c', b'd'].map(|letter| long(letter, 100));
    replace(&journal, "over", &a, &b);
    replace(&journal, "open", &b, &c);
    begin(&journal, "over", b"not", b"settled");
    replace(&journal, "over", &c, &d);
    let needed: HashSet<_> = [journal.keep_content(b"needed").unwrap()].into();
    journal.keep_content(b"received a moment ago").unwrap();
    let rule = GarbageRule { needed, conversations: ["open".to_owned()].into(), limit_bytes: 0 };
    let calls = std::cell::Cell::new(0);
    let goes_on = || {
        calls.set(calls.get() + 1);
        true
    };
    let report = journal.collect_in_background(&rule, &goes_on).unwrap();
    assert!(calls.get() > 0);
    assert_eq!((report.contents_removed, report.contents_bytes), (2, 200), "{report:?}");
    assert_eq!(report.kept_bytes, journal.reader().held_bytes().unwrap());
    assert_eq!([&a, &b, &c, &d].map(|bytes| holds(&journal, bytes)), [false, true, true, false]);
    for kept in [&b"not"[..], b"settled", b"needed", b"received a moment ago"] {
        assert!(holds(&journal, kept), "{kept:?}");
    }
    // The control: an explicit collection removes received contents too.
    journal.collect_garbage(&rule).unwrap();
    assert!(!holds(&journal, b"received a moment ago"));
}

/// Records a finished, settled change whose sides have these attributes.
fn change_attributes(journal: &Journal, before: &[u8], after: &[u8]) {
    let key = RunKey::once("attributes", &[before, b"->", after].concat());
    let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("the run is new") };
    let entry = |attributes| EntryRecord {
        attributes: Attributes::Bytes(attributes),
        ..EntryRecord::file(b"the same on both sides")
    };
    let change = ChangeRecord::intended(b"x", Some(entry(before)), Some(entry(after)));
    let step =
        StepRecord { kind: StepKind::FileChange, description: "x", outcome: b"ok", changes: vec![change] };
    let numbers = journal.record_steps(run.number(), 0, &[step]).unwrap();
    journal.settle_changes(&numbers).unwrap();
    journal.finish_run(run.number(), b"done", &[]).unwrap();
}

#[test]
fn attributes_that_come_into_use_during_a_background_collection_stay() {
    for is_used_again in [true, false] {
        let journal = Journal::in_memory().unwrap();
        change_attributes(&journal, b"list before", b"list after");
        let is_first = std::cell::Cell::new(true);
        // This is called after the candidates were chosen and before any of them is removed.
        let use_again = || {
            if is_first.replace(false) && is_used_again {
                change_attributes(&journal, b"list after", b"list before");
            }
            true
        };
        let report = journal.collect_in_background(&GarbageRule::default(), &use_again).unwrap();
        assert!(!is_first.get());
        let held = [&b"list before"[..], b"list after"].map(|bytes| holds(&journal, bytes));
        // The control is the pass in which they stay unused: they are candidates, and recent as they are.
        assert_eq!(held, [is_used_again; 2], "{report:?}");
    }
}

#[test]
fn collecting_in_the_background_stops_at_the_limit_and_on_request() {
    let journal = Journal::in_memory().unwrap();
    for letter in b'a'..=b'z' {
        replace(&journal, "over", &long(letter, 1_000), b"x");
    }
    let rule = |limit_bytes| GarbageRule { limit_bytes, ..GarbageRule::default() };
    let nothing = journal.collect_in_background(&rule(u64::MAX), &|| true).unwrap();
    assert_eq!(nothing.contents_removed, 0);
    let stopped = journal.collect_in_background(&rule(0), &|| false).unwrap();
    assert_eq!(stopped.contents_removed, 0);
    let report = journal.collect_in_background(&rule(5_500), &|| true).unwrap();
    assert_eq!((report.contents_removed, report.kept_bytes), (21, 5_001), "{report:?}");
    assert!(!holds(&journal, &long(b'a', 1_000)) && holds(&journal, &long(b'z', 1_000)));
}

#[test]
fn callers_write_while_contents_are_collected_in_the_background() {
    let folder = Folder::new();
    let limits = JournalLimits { inline_content_bytes: 10, ..JournalLimits::default() };
    let journal = Journal::open(&folder.path(), limits).unwrap().0;
    let content = |number: usize| format!("content {number:04} ").repeat(20).into_bytes();
    for number in 0..60 {
        replace(&journal, "over", &content(number), b"x");
    }
    std::thread::scope(|scope| {
        let journal = &journal;
        // The same contents come back while they are being removed.
        let writing = scope.spawn(move || {
            (0..60).map(|number| replace(journal, "again", &content(number), b"y")).collect::<Vec<_>>()
        });
        while !writing.is_finished() {
            journal.collect_in_background(&GarbageRule::default(), &|| true).unwrap();
        }
        writing.join().unwrap();
    });
    // Every content that the journal claims to hold is complete.
    for number in 0..60 {
        let hash = ContentHash::of(&content(number));
        let content = journal.reader().content(&hash).unwrap();
        assert_eq!(content.is_some(), journal.reader().holds_content(&hash).unwrap());
    }
    // A recently used file survives a background collection; an explicit one removes it.
    let before = journal.collect_in_background(&GarbageRule::default(), &|| true).unwrap();
    assert_eq!(before.files_removed, 0);
    assert!(journal.collect_garbage(&GarbageRule::default()).unwrap().files_removed > 0);
}
