//! A run happens once.

use change_journal::{ContentHash, Journal, JournalError, RunFilter, RunKey, RunState, StepKind};

use crate::support::{Folder, begin_new, file_step, key};

#[test]
fn finished_run_is_reported_and_not_begun_again() {
    let folder = Folder::new();
    {
        let journal = folder.journal();
        let run = begin_new(&journal, &key(1, "a"));
        journal.finish_run(run.number(), b"done", &[]).unwrap();
        assert!(matches!(journal.begin_run(&key(1, "a")).unwrap(), RunState::Finished { .. }));
    }
    let journal = folder.journal();
    match journal.begin_run(&key(1, "a")).unwrap() {
        RunState::Finished { outcome, .. } => assert_eq!(outcome, b"done"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn run_that_recorded_nothing_leaves_no_trace() {
    let folder = Folder::new();
    drop(begin_new(&folder.journal(), &key(1, "a")));
    let journal = folder.journal();
    assert_eq!(journal.reader().runs(&RunFilter::default(), 9).unwrap(), []);
    drop(begin_new(&journal, &key(1, "a")));
}

#[test]
fn run_in_progress_is_not_begun_twice() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    match journal.begin_run(&key(1, "a")).unwrap() {
        RunState::InProgress { number } => assert_eq!(number, run.number()),
        other => panic!("{other:?}"),
    }
    drop(run);
    drop(begin_new(&journal, &key(1, "a")));
}

#[test]
fn only_one_of_many_threads_gets_the_run() {
    let journal = Journal::in_memory().unwrap();
    let runs: Vec<RunState> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| journal.begin_run(&key(1, "a")).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(runs.iter().filter(|state| matches!(state, RunState::New(_))).count(), 1);
    assert_eq!(runs.iter().filter(|state| matches!(state, RunState::InProgress { .. })).count(), 7);
}

#[test]
fn abandoned_run_is_resumed_under_its_number() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let number = run.number();
    journal.record_steps(number, 0, &[file_step("x", b"1", "ok")]).unwrap();
    drop(run);
    match journal.begin_run(&key(1, "a")).unwrap() {
        RunState::Resumed { run, steps } => {
            assert_eq!(run.number(), number);
            assert_eq!(steps.all().len(), 1);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn same_content_under_another_sequence_is_known() {
    let journal = Journal::in_memory().unwrap();
    let first = begin_new(&journal, &key(1, "a"));

    // Known even before anything of the first one is written.
    match journal.begin_run(&key(2, "a")).unwrap() {
        RunState::KnownElsewhere { number, key: earlier, finished } => {
            assert_eq!((number, earlier, finished), (first.number(), key(1, "a"), false));
        }
        other => panic!("{other:?}"),
    }

    journal.finish_run(first.number(), b"done", &[]).unwrap();
    match journal.begin_run(&key(2, "a")).unwrap() {
        RunState::KnownElsewhere { number, key: earlier, finished } => {
            assert_eq!((number, earlier, finished), (first.number(), key(1, "a"), true));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn known_content_runs_again_on_explicit_request() {
    let journal = Journal::in_memory().unwrap();
    let first = begin_new(&journal, &key(1, "a"));
    journal.finish_run(first.number(), b"done", &[]).unwrap();
    let RunState::New(second) = journal.begin_run_again(&key(2, "a")).unwrap() else { panic!() };
    journal.finish_run(second.number(), b"done again", &[]).unwrap();
    // On purpose or not: the very same run stays done.
    assert!(matches!(journal.begin_run_again(&key(2, "a")).unwrap(), RunState::Finished { .. }));
}

#[test]
fn other_conversations_and_other_content_are_new() {
    let journal = Journal::in_memory().unwrap();
    let _first = begin_new(&journal, &key(1, "a"));
    let _other_text = begin_new(&journal, &key(1, "b"));
    let elsewhere = RunKey { conversation: "other talk".into(), ..key(1, "a") };
    let _other_talk = begin_new(&journal, &elsewhere);
}

#[test]
fn once_keys_with_different_salt_never_meet() {
    let journal = Journal::in_memory().unwrap();
    for salt in [b"1".as_slice(), b"2", b"3"] {
        let run = begin_new(&journal, &RunKey::once("client", salt));
        journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
        journal.finish_run_lazily(run.number(), b"fine").unwrap();
    }
    journal.flush().unwrap();
    let unfinished = RunFilter { unfinished: true, ..RunFilter::default() };
    assert_eq!(journal.reader().runs(&unfinished, 9).unwrap(), []);
    assert_eq!(journal.reader().runs(&RunFilter::default(), 9).unwrap().len(), 3);
}

#[test]
fn lazily_finished_run_without_steps_leaves_no_trace() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &RunKey::once("client", b"1"));
    journal.finish_run_lazily(run.number(), b"fine").unwrap();
    journal.flush().unwrap();
    assert_eq!(journal.reader().runs(&RunFilter::default(), 9).unwrap(), []);
}

#[test]
fn lazily_finished_run_is_finished_after_closing() {
    let folder = Folder::new();
    let salted = RunKey::once("client", b"1");
    {
        let journal = folder.journal();
        let run = begin_new(&journal, &salted);
        journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
        journal.finish_run_lazily(run.number(), b"fine").unwrap();
    }
    assert!(matches!(folder.journal().begin_run(&salted).unwrap(), RunState::Finished { .. }));
}

#[test]
fn finished_and_dropped_runs_take_nothing_more() {
    let journal = Journal::in_memory().unwrap();
    let finished = begin_new(&journal, &key(1, "a"));
    journal.finish_run(finished.number(), b"done", &[]).unwrap();
    let dropped = begin_new(&journal, &key(1, "b")).number();
    for number in [finished.number(), dropped] {
        let refused = journal.start_step(number, 0, StepKind::ShellCommand, "true");
        assert!(matches!(refused, Err(JournalError::RunNotOpen { run }) if run == number));
        let refused = journal.finish_run(number, b"again", &[]);
        assert!(matches!(refused, Err(JournalError::RunNotOpen { run }) if run == number));
    }
}

#[test]
fn run_with_a_step_under_way_cannot_be_finished() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
    journal.start_step(run.number(), 1, StepKind::ShellCommand, "sleep 1").unwrap();
    let refused = journal.finish_run(run.number(), b"done", &[]);
    assert!(matches!(refused, Err(JournalError::StepUnfinished { index: 1, .. })), "{refused:?}");
    journal.finish_step(run.number(), 1, b"exit 0", &[]).unwrap();
    journal.finish_run(run.number(), b"done", &[]).unwrap();
}

#[test]
fn runs_are_listed_newest_first_and_filtered() {
    let journal = Journal::in_memory().unwrap();
    for sequence in 1..=3 {
        let run = begin_new(&journal, &key(sequence, &sequence.to_string()));
        journal.finish_run(run.number(), b"done", &[]).unwrap();
    }
    let elsewhere = RunKey { conversation: "other".into(), sequence: 1, content: ContentHash::of(b"") };
    let open = begin_new(&journal, &elsewhere);
    journal.record_steps(open.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();

    let numbers = |filter: RunFilter, limit| -> Vec<u64> {
        let runs = journal.reader().runs(&filter, limit).unwrap();
        runs.iter().map(|run| run.number.0).collect()
    };
    assert_eq!(numbers(RunFilter::default(), 9), [4, 3, 2, 1]);
    assert_eq!(numbers(RunFilter { conversation: Some("talk".into()), ..Default::default() }, 2), [3, 2]);
    assert_eq!(numbers(RunFilter { before: Some(open.number()), ..Default::default() }, 1), [3]);
    assert_eq!(numbers(RunFilter { unfinished: true, ..Default::default() }, 9), [4]);
    assert_eq!(journal.reader().run(open.number()).unwrap().unwrap().key, elsewhere);
}

#[test]
fn sequence_keeps_all_its_bits() {
    let folder = Folder::new();
    {
        let journal = folder.journal();
        let run = begin_new(&journal, &key(u64::MAX, "a"));
        journal.finish_run(run.number(), b"done", &[]).unwrap();
    }
    let journal = folder.journal();
    assert!(matches!(journal.begin_run(&key(u64::MAX, "a")).unwrap(), RunState::Finished { .. }));
    assert_eq!(journal.reader().runs(&RunFilter::default(), 1).unwrap()[0].key.sequence, u64::MAX);
}
