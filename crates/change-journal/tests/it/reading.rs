//! Readers work with and without a writer, and change nothing.

use std::fs;

use change_journal::{Journal, JournalLimits, OpenError, RunFilter, RunState};

use crate::support::{Folder, begin_new, file_step, key};

#[test]
fn concurrent_reader_sees_every_acknowledged_write() {
    let folder = Folder::new();
    let journal = folder.journal();
    let reader = Journal::open_read_only(&folder.path()).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    for index in 0..5 {
        journal.record_steps(run.number(), index, &[file_step("x", b"1", "ok")]).unwrap();
        assert_eq!(reader.steps(run.number()).unwrap().len(), index as usize + 1);
    }
    // The reader outlives the writer, and the writer comes back.
    drop(journal);
    assert_eq!(reader.runs(&RunFilter::default(), 9).unwrap().len(), 1);
    let _journal = folder.journal();
    assert_eq!(reader.steps(run.number()).unwrap().len(), 5);
}

#[test]
fn reader_of_a_closed_journal_leaves_the_database_as_it_is() {
    let folder = Folder::new();
    let run = {
        let journal = folder.journal();
        let run = begin_new(&journal, &key(1, "a"));
        journal.finish_run(run.number(), b"done", &[]).unwrap();
        run.number()
    };
    let before = fs::read(folder.database()).unwrap();
    let reader = Journal::open_read_only(&folder.path()).unwrap();
    assert!(reader.run(run).unwrap().unwrap().outcome.is_some());
    drop(reader);
    assert!(fs::read(folder.database()).unwrap() == before);
}

#[test]
fn reader_needs_no_lock() {
    let folder = Folder::new();
    drop(folder.journal());
    let _reader = Journal::open_read_only(&folder.path()).unwrap();
    let _journal = folder.journal();
}

#[test]
fn missing_and_damaged_journals_are_distinct_errors() {
    let folder = Folder::new();
    assert!(matches!(Journal::open_read_only(&folder.path()), Err(OpenError::Missing)));
    drop(folder.journal());
    for bytes in [b"".as_slice(), &[0x5a; 9000]] {
        fs::write(folder.database(), bytes).unwrap();
        let refused = Journal::open_read_only(&folder.path());
        assert!(matches!(refused, Err(OpenError::Damaged)), "{refused:?}");
        assert_eq!(fs::read(folder.database()).unwrap(), bytes, "a reader repairs nothing");
    }
}

#[test]
fn copy_holds_the_journals_records_and_diverges_afterwards() {
    let folder = Folder::new();
    let journal = folder.journal();
    let run = begin_new(&journal, &key(1, "a"));
    journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
    let unrecorded = begin_new(&journal, &key(2, "b"));
    let path = folder.path().with_file_name("copy");
    journal.copy_to(&path).unwrap();
    journal.record_steps(run.number(), 1, &[file_step("x", b"2", "ok")]).unwrap();
    let (copy, report) = Journal::open(&path, JournalLimits::default()).unwrap();
    assert!(!report.created && report.set_aside.is_empty(), "{report:?}");
    assert_eq!(copy.reader().steps(run.number()).unwrap().len(), 1);
    let RunState::Resumed { run: resumed, .. } = copy.begin_run(&key(1, "a")).unwrap() else { panic!() };
    assert_eq!(resumed.number(), run.number());
    copy.record_steps(run.number(), 1, &[file_step("y", b"3", "ok")]).unwrap();
    let RunState::Resumed { run: same, .. } = copy.begin_run(&key(2, "b")).unwrap() else { panic!() };
    assert_eq!(same.number(), unrecorded.number());
    assert!(journal.reader().run(unrecorded.number()).unwrap().is_none());
    assert_eq!(journal.reader().changes_of_run(run.number()).unwrap()[1].path, b"x");
    // It does not overwrite an existing copy.
    journal.copy_to(&path).unwrap_err();
    assert_eq!(copy.reader().steps(run.number()).unwrap().len(), 2);
}
