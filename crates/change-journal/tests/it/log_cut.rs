//! A log that lost its end, as after a loss of power, yields a prefix of the commits.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use change_journal::{Journal, JournalLimits, RunFilter};
use proptest::prop_assert;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use crate::support::{Folder, begin_new, file_step, key};
use test_support::copy_folder;

const RUNS: u64 = 12;

/// A journal's files while it is open: everything is still in the log.
fn template() -> TempDir {
    let folder = Folder::new();
    let journal = folder.journal();
    for sequence in 1..=RUNS {
        let run = begin_new(&journal, &key(sequence, &sequence.to_string()));
        let bytes = vec![sequence as u8; 700 * sequence as usize];
        let steps = [file_step("x", &bytes, "ok"), file_step("y", &bytes, "ok")];
        journal.record_steps(run.number(), 0, &steps).unwrap();
    }
    let copy = tempfile::tempdir().unwrap();
    copy_folder(&folder.path(), copy.path());
    copy
}

fn open_after_loss(template: &TempDir, lose: impl FnOnce(&Path)) -> (usize, bool) {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(template.path(), copy.path());
    // The shared index does not survive a loss of power.
    fs::remove_file(copy.path().join("journal.db-shm")).unwrap();
    lose(&copy.path().join("journal.db-wal"));
    let (journal, report) = Journal::open(copy.path(), JournalLimits::default()).unwrap();
    assert_eq!(report.set_aside, []);
    let mut runs = journal.reader().runs(&RunFilter::default(), 1000).unwrap();
    runs.reverse();
    for (run, sequence) in runs.iter().zip(1..) {
        assert_eq!(run.key.sequence, sequence, "the runs are not a prefix");
        let changes = journal.reader().changes_of_run(run.number).unwrap();
        assert_eq!(changes.len(), 2);
        for change in changes {
            let bytes = journal.reader().content(&change.after.unwrap().content.unwrap()).unwrap();
            assert!(bytes.unwrap() == vec![sequence as u8; 700 * sequence as usize]);
        }
    }
    (runs.len(), report.after_crash)
}

#[test]
fn whole_log_gives_all_runs() {
    assert_eq!(open_after_loss(&template(), |_| {}), (RUNS as usize, true));
}

#[test]
fn lost_log_gives_an_empty_journal_that_is_not_damaged() {
    assert_eq!(open_after_loss(&template(), |log| fs::remove_file(log).unwrap()).0, 0);
}

/// Loses a part of the log at 40 random offsets, given as fractions of its length.
fn lose_at_random_offsets(lose: impl Fn(&Path, f64)) {
    let template = template();
    let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(0.0..1.0_f64), |part| {
            let (runs, _) = open_after_loss(&template, |log| lose(log, part));
            prop_assert!(runs < RUNS as usize);
            Ok(())
        })
        .unwrap();
}

#[test]
fn cut_log_gives_a_prefix_of_the_runs() {
    lose_at_random_offsets(|log, part| {
        let length = fs::metadata(log).unwrap().len();
        let file = OpenOptions::new().write(true).open(log).unwrap();
        file.set_len((length as f64 * part) as u64).unwrap();
    });
}

#[test]
fn zeroed_page_in_the_log_gives_a_prefix_of_the_runs() {
    lose_at_random_offsets(|log, part| {
        let length = fs::metadata(log).unwrap().len();
        let mut file = OpenOptions::new().write(true).open(log).unwrap();
        file.seek(SeekFrom::Start(((length - 4096) as f64 * part) as u64)).unwrap();
        file.write_all(&[0; 4096]).unwrap();
    });
}
