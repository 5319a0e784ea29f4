//! Steps are recorded once, and unknown results are reported.

use change_journal::{Journal, JournalError, Recall, RunState, StepKind, StepRecord};

use crate::support::{Folder, begin_new, file_step, key};

#[test]
fn resumed_run_knows_done_unknown_and_open_steps() {
    let folder = Folder::new();
    {
        let journal = folder.journal();
        let run = begin_new(&journal, &key(1, "a"));
        journal
            .record_steps(run.number(), 0, &[file_step("x", b"1", "zero"), file_step("y", b"2", "one")])
            .unwrap();
        journal.start_step(run.number(), 2, StepKind::ShellCommand, "make").unwrap();
        journal.finish_step(run.number(), 2, b"two", &[]).unwrap();
        journal.start_step(run.number(), 3, StepKind::ShellCommand, "make install").unwrap();
    }
    let journal = folder.journal();
    let RunState::Resumed { run, steps } = journal.begin_run(&key(1, "a")).unwrap() else { panic!() };
    let recalled: Vec<_> = (0..5).map(|index| steps.recall(index)).collect();
    assert_eq!(
        recalled,
        [
            Recall::Finished(b"zero"),
            Recall::Finished(b"one"),
            Recall::Finished(b"two"),
            Recall::Unknown,
            Recall::NotStarted
        ]
    );
    let unknown: Vec<_> = steps.unknown().map(|step| (step.index, step.description.as_str())).collect();
    assert_eq!(unknown, [(3, "make install")]);

    journal.finish_step(run.number(), 3, b"UNKNOWN", &[]).unwrap();
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    let steps = journal.reader().steps(run.number()).unwrap();
    assert_eq!(steps[3].outcome.as_deref(), Some(b"UNKNOWN".as_slice()));
    assert_eq!(steps[3].kind, StepKind::ShellCommand);
}

#[test]
fn second_record_of_a_step_is_refused_and_changes_nothing() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let number = run.number();
    journal.start_step(number, 1, StepKind::ShellCommand, "make").unwrap();

    let refused = journal.start_step(number, 1, StepKind::ShellCommand, "make");
    assert!(matches!(refused, Err(JournalError::StepRecorded { index: 1, .. })), "{refused:?}");

    // The batch runs into the started step: its first step must not stay either.
    let refused =
        journal.record_steps(number, 0, &[file_step("x", b"1", "zero"), file_step("y", b"2", "one")]);
    assert!(matches!(refused, Err(JournalError::StepRecorded { index: 1, .. })), "{refused:?}");
    assert_eq!(journal.reader().steps(number).unwrap().len(), 1);
    assert_eq!(journal.reader().changes_of_run(number).unwrap(), []);
}

#[test]
fn outcome_without_a_start_or_a_second_one_is_refused() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let number = run.number();
    let refused = journal.finish_step(number, 0, b"exit 0", &[]);
    assert!(matches!(refused, Err(JournalError::StepNotOpen { index: 0, .. })), "{refused:?}");

    journal.start_step(number, 0, StepKind::ShellCommand, "make").unwrap();
    journal.finish_step(number, 0, b"exit 0", &[]).unwrap();
    let refused = journal.finish_step(number, 0, b"exit 1", &[]);
    assert!(matches!(refused, Err(JournalError::StepNotOpen { index: 0, .. })), "{refused:?}");
    assert_eq!(journal.reader().steps(number).unwrap()[0].outcome.as_deref(), Some(b"exit 0".as_slice()));
}

#[test]
fn step_without_changes_is_kept_with_its_outcome() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let refused = StepRecord {
        kind: StepKind::FileChange,
        description: "edit missing.rs",
        outcome: b"NOT_FOUND",
        changes: vec![],
    };
    assert_eq!(journal.record_steps(run.number(), 0, &[refused]).unwrap(), []);
    assert_eq!(journal.reader().steps(run.number()).unwrap()[0].description, "edit missing.rs");
}

#[test]
fn ten_file_steps_and_the_end_of_the_run_cost_two_commits() {
    let folder = Folder::new();
    let journal = folder.journal();
    let run = begin_new(&journal, &key(1, "a"));
    let paths: Vec<String> = (0..10).map(|number| format!("src/{number}.rs")).collect();
    let bytes = vec![b'x'; 100_000];
    let steps: Vec<_> = paths.iter().map(|path| file_step(path, &bytes, "ok")).collect();
    let numbers = journal.record_steps(run.number(), 0, &steps).unwrap();
    journal.publish_changes(&numbers).unwrap();
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    let counts = journal.counts();
    assert_eq!((counts.commits, counts.background_commits, counts.file_syncs), (2, 0, 0));
}
