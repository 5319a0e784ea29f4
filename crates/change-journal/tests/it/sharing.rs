//! Many callers share commits, and a refused write does not affect the others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use change_journal::{Journal, JournalError, JournalLimits, RunFilter, RunKey, StepKind};

use crate::support::{Folder, begin_new, file_step, key};

#[test]
fn concurrent_writers_share_commits() {
    let folder = Folder::new();
    let journal = folder.journal();
    const THREADS: u64 = 16;
    const EACH: u32 = 25;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let journal = &journal;
            scope.spawn(move || {
                let run = begin_new(journal, &key(thread, &thread.to_string()));
                for index in 0..EACH {
                    let path = format!("{thread}/{index}");
                    journal.record_steps(run.number(), index, &[file_step(&path, b"1", "ok")]).unwrap();
                }
                journal.finish_run(run.number(), b"done", &[]).unwrap();
            });
        }
    });
    let runs = journal.reader().runs(&RunFilter::default(), 100).unwrap();
    assert_eq!(runs.len() as u64, THREADS);
    for run in runs {
        assert!(run.outcome.is_some());
        assert_eq!(journal.reader().changes_of_run(run.number).unwrap().len() as u32, EACH);
    }
    let writes = THREADS * u64::from(EACH + 1);
    let commits = journal.counts().commits;
    assert!(commits < writes, "{writes} writes took {commits} commits");
}

#[test]
fn refused_writes_among_others_leave_no_trace() {
    let folder = Folder::new();
    let journal = folder.journal();
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let journal = &journal;
            scope.spawn(move || {
                let run = begin_new(journal, &RunKey::once("client", &thread.to_le_bytes()));
                for index in 0..20 {
                    journal.start_step(run.number(), index, StepKind::ShellCommand, "make").unwrap();
                    let again =
                        journal.record_steps(run.number(), index, &[file_step("refused", b"x", "ok")]);
                    assert!(matches!(again, Err(JournalError::StepRecorded { .. })));
                    journal.finish_step(run.number(), index, b"exit 0", &[]).unwrap();
                }
            });
        }
    });
    assert_eq!(journal.reader().changes_of_path(b"refused", 9).unwrap(), []);
}

#[test]
fn readers_and_writers_do_not_disturb_each_other() {
    let folder = Folder::new();
    for journal in [Journal::in_memory().unwrap(), folder.journal()] {
        let run = begin_new(&journal, &key(1, "a"));
        let written = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut highest = 0;
                    while !written.load(Ordering::Acquire) {
                        let steps = journal.reader().steps(run.number()).unwrap().len();
                        assert!(steps >= highest, "a reader saw the journal shrink");
                        highest = steps;
                    }
                });
            }
            for index in 0..100 {
                let recorded = journal.record_steps(run.number(), index, &[file_step("x", b"1", "ok")]);
                if recorded.is_err() {
                    written.store(true, Ordering::Release);
                }
                recorded.unwrap();
            }
            written.store(true, Ordering::Release);
        });
        assert_eq!(journal.reader().steps(run.number()).unwrap().len(), 100);
    }
}

#[test]
fn log_is_folded_in_while_writers_go_on() {
    let folder = Folder::new();
    let limits = JournalLimits {
        checkpoint_bytes: 64 * 1024,
        lazy_delay: Duration::from_millis(1),
        ..JournalLimits::default()
    };
    let (journal, _) = Journal::open(&folder.path(), limits).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let mut written = 0_u64;
    for index in 0..300 {
        let bytes: Vec<u8> = (0..20_000_u32).map(|offset| (offset ^ index) as u8).collect();
        written += bytes.len() as u64;
        journal.record_steps(run.number(), index, &[file_step("x", &bytes, "ok")]).unwrap();
    }
    let log = std::fs::metadata(folder.path().join("journal.db-wal")).unwrap().len();
    assert!(log < written / 2, "{written} bytes were written and the log has {log}");
}
