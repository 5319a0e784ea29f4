//! A step is carried out once, however often callers repeat it, before and after the engine was opened again.

use change_journal::{ContentHash, Journal, RunState, StepKind};
use wap_core::*;

use crate::fixture::workspace::*;

/// The journal's key of a caller's run, for a session that holds it.
fn key(caller: &Caller) -> change_journal::RunKey {
    change_journal::RunKey {
        conversation: caller.origin.conversation.0.clone(),
        sequence: u64::from(caller.origin.run.sequence),
        content: ContentHash::of(caller.origin.run.digest.as_bytes()),
    }
}

fn batch() -> Vec<FileChange> {
    let append = WriteFile {
        path: "log".into(),
        content: "line\n".into(),
        mode: Some(WriteMode::Append),
        create_directories: None,
        judged: None,
    };
    vec![
        FileChange::Write(append),
        write("d/new", "1\n2\n"),
        replace("d/new", (1, 1), "one", None),
        delete("nope"),
    ]
}

fn append_to_log() -> ExecuteCommand {
    command("echo ran >> commands; echo out; echo err >&2; exit 3")
}

/// Asks for the same batch and the same command again and checks that nothing but the answers comes.
fn assert_is_answered_from_the_record(
    workspace: &impl Workspace,
    fixture: &Fixture,
    caller: &Caller,
    outcomes: &[Result<FileChanged, WapError>],
    response: &ExecuteCommandResponse,
) {
    assert_eq!(workspace.change_files(&caller.call(), &batch()).unwrap(), outcomes);
    let again = workspace.execute_command(&caller.at(4).call(), &append_to_log(), &mut Unobserved);
    assert_eq!(&again.unwrap(), response);
    assert_eq!(fixture.text("log").unwrap(), "line\n");
    assert_eq!(fixture.text("commands").unwrap(), "ran\n");
}

#[test]
fn repeated_steps_are_answered_from_the_record_and_do_nothing() {
    let fixture = Fixture::new();
    let caller = Caller::numbered(1);
    let workspace = fixture.open();
    let outcomes = workspace.change_files(&caller.call(), &batch()).unwrap();
    assert!(outcomes[..3].iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(outcomes[3].as_ref().unwrap_err().reason(), Reason::FileNotFound);
    let response =
        workspace.execute_command(&caller.at(4).call(), &append_to_log(), &mut Unobserved).unwrap();
    assert_eq!((response.exit_code, &*response.stdout, &*response.stderr), (3, "out\n", "err\n"));
    assert_is_answered_from_the_record(&workspace, &fixture, &caller, &outcomes, &response);
    drop(workspace);
    let workspace = fixture.open();
    assert_is_answered_from_the_record(&workspace, &fixture, &caller, &outcomes, &response);
}

#[test]
fn steps_of_a_run_that_a_session_holds_are_recorded_in_it_and_leave_it_open() {
    let fixture = Fixture::new();
    let caller = Caller::numbered(7);
    let journal = fixture.open_journal();
    let RunState::New(run) = journal.begin_run(&key(&caller)).unwrap() else { panic!("the run is new") };
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    let outcomes = workspace.change_files(&caller.call(), &batch()).unwrap();
    let response =
        workspace.execute_command(&caller.at(4).call(), &append_to_log(), &mut Unobserved).unwrap();
    assert_is_answered_from_the_record(&workspace, &fixture, &caller, &outcomes, &response);
    assert_eq!(journal.reader().steps(run.number()).unwrap().len(), 5);
    // The process ends in the middle of the run, and another continues.
    drop((workspace, run, journal));
    let journal = fixture.open_journal();
    let RunState::Resumed { run, .. } = journal.begin_run(&key(&caller)).unwrap() else { panic!("it runs") };
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    assert_is_answered_from_the_record(&workspace, &fixture, &caller, &outcomes, &response);
    workspace.change_files(&caller.at(5).call(), &[write("later", "x")]).unwrap().remove(0).unwrap();
    assert_eq!(journal.reader().steps(run.number()).unwrap().len(), 6);
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    // What the finished run has recorded can still be asked for; more cannot be added to it.
    drop(run);
    assert_is_answered_from_the_record(&workspace, &fixture, &caller, &outcomes, &response);
    let error = workspace.change_files(&caller.at(6).call(), &[write("too late", "x")]).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert_eq!(fixture.text("too late"), None);
}

#[test]
fn call_that_stands_for_itself_is_carried_out_once() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let caller = Caller::once();
    let outcomes = workspace.change_files(&caller.call(), &batch()).unwrap();
    assert_eq!(workspace.change_files(&caller.call(), &batch()).unwrap(), outcomes);
    let second = workspace.change_files(&caller.at(4).call(), &[write("second", "x")]).unwrap_err();
    assert_eq!(second.reason(), Reason::Conflict);
    drop(workspace);
    let workspace = fixture.open();
    assert_eq!(workspace.change_files(&caller.call(), &batch()).unwrap(), outcomes);
    let second = workspace.change_files(&caller.at(4).call(), &[write("second", "x")]).unwrap_err();
    assert_eq!(second.reason(), Reason::Conflict);
    assert_eq!((fixture.text("log").unwrap(), fixture.text("second")), ("line\n".to_owned(), None));
}

#[test]
fn step_that_was_something_else_is_a_conflict() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let caller = Caller::numbered(1);
    workspace.change_files(&caller.call(), &[write("a", "1"), write("b", "1")]).unwrap();
    let as_command = workspace.execute_command(&caller.at(1).call(), &command("touch c"), &mut Unobserved);
    assert_eq!(as_command.unwrap_err().reason(), Reason::Conflict);
    // A batch that begins before the recorded one: its first step is missing and its second is not.
    workspace.change_files(&caller.at(4).call(), &[write("d", "1")]).unwrap();
    let overlapping = workspace.change_files(&caller.at(3).call(), &[write("c", "2"), write("d", "2")]);
    assert_eq!(overlapping.unwrap_err().reason(), Reason::Conflict);
    assert_eq!((fixture.text("d").unwrap(), fixture.text("c")), ("1".to_owned(), None));
}

#[test]
fn steps_that_are_divided_otherwise_are_done_once_and_the_rest_is_done() {
    let fixture = Fixture::new();
    let caller = Caller::numbered(1);
    let first = fixture.open().change_files(&caller.call(), &[write("a", "1"), write("b", "1")]).unwrap();
    fixture.put("a", "the user's");
    let workspace = fixture.open();
    let changes = [write("a", "1"), write("b", "1"), replace("b", (1, 1), "2", None), write("c", "1")];
    let outcomes = workspace.change_files(&caller.call(), &changes).unwrap();
    assert_eq!(outcomes[..2], first);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let texts = ["a", "b", "c"].map(|name| fixture.text(name).unwrap());
    assert_eq!(texts, ["the user's", "2", "1"]);
    assert_eq!(workspace.change_files(&caller.call(), &changes).unwrap(), outcomes);
    // Any part of them is what it was.
    assert_eq!(workspace.change_files(&caller.at(1).call(), &changes[1..3]).unwrap(), outcomes[1..3]);
}

#[test]
fn cancelled_call_is_answered_from_the_record_and_begins_nothing() {
    let fixture = Fixture::new();
    let caller = Caller::numbered(1);
    let workspace = fixture.open();
    let outcomes = workspace.change_files(&caller.call(), &batch()).unwrap();
    let response =
        workspace.execute_command(&caller.at(4).call(), &append_to_log(), &mut Unobserved).unwrap();
    let cancelled = Caller { cancel: CancelFlag::new(), ..caller.clone() };
    cancelled.cancel.cancel();
    assert_is_answered_from_the_record(&workspace, &fixture, &cancelled, &outcomes, &response);
    let error = workspace.change_files(&cancelled.at(5).call(), &[write("more", "")]).unwrap_err();
    assert_eq!((error.reason(), error.details().count()), (Reason::Cancelled, 0));
    let more = workspace.execute_command(&cancelled.at(5).call(), &command("touch more"), &mut Unobserved);
    let error = more.unwrap_err();
    assert_eq!((error.reason(), error.details().count()), (Reason::Cancelled, 0));
    assert_eq!(fixture.text("more"), None);
    // Recorded and unrecorded steps in one batch.
    let mut longer = batch();
    longer.push(write("more", ""));
    let other = Caller::numbered(2);
    workspace.change_files(&other.call(), &longer[..2]).unwrap();
    let other = Caller { cancel: cancelled.cancel.clone(), ..other };
    let mixed = workspace.change_files(&other.call(), &longer).unwrap();
    let reasons: Vec<_> = mixed.iter().map(|outcome| outcome.as_ref().err().map(WapError::reason)).collect();
    assert_eq!(
        reasons,
        [None, None, Some(Reason::Cancelled), Some(Reason::Cancelled), Some(Reason::Cancelled)]
    );
    assert_eq!(fixture.text("more"), None);
}

#[test]
fn command_without_a_known_end_is_reported_to_a_cancelled_call_too() {
    let fixture = Fixture::new();
    let caller = Caller::numbered(1);
    start_without_end(&fixture.open_journal(), &caller);
    let workspace = fixture.open();
    caller.cancel.cancel();
    for _ in 0..2 {
        let outcome = workspace.execute_command(&caller.call(), &command("touch ran"), &mut Unobserved);
        assert_eq!(outcome.unwrap_err().reason(), Reason::OutcomeUnknown);
    }
    assert_eq!(fixture.text("ran"), None);
}

/// Records a command as started in the journal, as a daemon does that is killed right then.
fn start_without_end(journal: &Journal, caller: &Caller) {
    let RunState::New(run) = journal.begin_run(&key(caller)).unwrap() else { panic!("the run is new") };
    journal.start_step(run.number(), 0, StepKind::ShellCommand, "touch ran").unwrap();
}

#[test]
fn command_without_a_known_end_is_never_run_again() {
    let fixture = Fixture::new();
    let caller = Caller::numbered(1);
    start_without_end(&fixture.open_journal(), &caller);
    for _ in 0..2 {
        // Twice each in two processes: the first time it is recorded, then it is answered from the record.
        let workspace = fixture.open();
        for _ in 0..2 {
            let outcome = workspace.execute_command(&caller.call(), &command("touch ran"), &mut Unobserved);
            assert_eq!(outcome.unwrap_err().reason(), Reason::OutcomeUnknown);
        }
        assert_eq!(fixture.text("ran"), None);
    }
    let workspace = fixture.open();
    workspace.execute_command(&caller.at(1).call(), &command("touch ran"), &mut Unobserved).unwrap();
    assert_eq!(fixture.text("ran").unwrap(), "");
}

#[test]
fn refused_command_leaves_no_step() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let caller = Caller::numbered(1);
    for refused in [command("  "), ExecuteCommand { timeout: Some(0), ..command("true") }] {
        workspace.execute_command(&caller.call(), &refused, &mut Unobserved).unwrap_err();
    }
    let response = workspace.execute_command(&caller.call(), &command("echo now"), &mut Unobserved).unwrap();
    assert_eq!(response.stdout, "now\n");
}

#[test]
fn same_text_under_another_sequence_is_not_carried_out_by_mistake() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let first = Caller::numbered(1);
    workspace.change_files(&first.call(), &[write("a", "1")]).unwrap();
    let run = RunKey { sequence: 2, ..first.origin.run.clone() };
    let error = workspace.change_files(&Caller::in_run(run).call(), &[write("a", "2")]).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert!(error.message().contains("sequence 1"), "{error}");
    assert_eq!(fixture.text("a").unwrap(), "1");
}

#[test]
fn outcome_that_the_journal_cannot_take_is_recorded_without_its_output() {
    let fixture = Fixture::new();
    let limits = change_journal::JournalLimits { outcome_bytes: 5_000, ..Default::default() };
    let open = || {
        let journal = Journal::open(&fixture.path().join("state/journal"), limits.clone()).unwrap().0;
        fixture.open_with(journal, fixture.config()).0
    };
    let caller = Caller::numbered(1);
    let workspace = open();
    let request = command("seq 1 5000; echo ran >> commands; exit 3");
    let response = workspace.execute_command(&caller.call(), &request, &mut Unobserved).unwrap();
    assert_eq!((response.exit_code, response.is_output_truncated), (3, true));
    let whole = read(&workspace, response.whole_output.as_ref().unwrap()).unwrap();
    assert_eq!(whole.total_lines, 5_000);
    drop(workspace);
    let again = open().execute_command(&caller.call(), &request, &mut Unobserved).unwrap();
    assert_eq!(again, response);
    assert_eq!(fixture.text("commands").unwrap(), "ran\n");
}

#[test]
fn another_request_under_a_recorded_step_is_refused() {
    let fixture = Fixture::new();
    let caller = Caller::numbered(1);
    let workspace = fixture.open();
    fixture.put("a", "1\n2\n");
    let first = [write("b", "first\n"), replace("a", (1, 1), "one", current_version(&workspace, "a"))];
    let outcomes = workspace.change_files(&caller.call(), &first).unwrap();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let long = "x".repeat(300);
    let ran = |text: &str, step: u32| {
        workspace.execute_command(&caller.at(step).call(), &command(text), &mut Unobserved)
    };
    let text = format!("echo ran >> log # {long} 1");
    ran(&text, 2).unwrap();
    let others = [
        [write("b", "other\n"), first[1].clone()],
        [write("c", "first\n"), first[1].clone()],
        [first[0].clone(), replace("a", (2, 2), "one", None)],
        [delete("b"), first[1].clone()],
    ];
    for other in others {
        let error = workspace.change_files(&caller.call(), &other).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict, "{error}");
        assert!(error.message().contains("made with another request"), "{error}");
    }
    for other in [format!("echo ran >> log # {long} 2"), "echo other".to_owned()] {
        assert_eq!(ran(&other, 2).unwrap_err().reason(), Reason::Conflict);
    }
    let in_folder = ExecuteCommand { environment: Some([("A".into(), "b".into())].into()), ..command(&text) };
    let other = workspace.execute_command(&caller.at(2).call(), &in_folder, &mut Unobserved);
    assert_eq!(other.unwrap_err().reason(), Reason::Conflict);
    assert!(fixture.text("c").is_none() && fixture.text("b").as_deref() == Some("first\n"));
    assert_eq!(fixture.text("a").unwrap(), "one\n2\n");
    // The control: the same requests are answered from the record, whatever was read of the files or waited for since.
    let again = [first[0].clone(), replace("a", (1, 1), "one", current_version(&workspace, "a"))];
    assert_eq!(workspace.change_files(&caller.call(), &again).unwrap(), outcomes);
    let patient = ExecuteCommand { timeout: Some(59_000), ..command(&text) };
    workspace.execute_command(&caller.at(2).call(), &patient, &mut Unobserved).unwrap();
    assert_eq!(fixture.text("log").unwrap(), "ran\n");
}

#[test]
fn changes_that_are_made_together_are_taken_back_in_a_run_of_one_call_too() {
    for caller in [Caller::once(), Caller::numbered(1)] {
        let fixture = Fixture::new();
        fixture.put("a", "1\n");
        let workspace = fixture.open();
        let version = current_version(&workspace, "a").unwrap();
        let exchange =
            |new: &str| vec![LineExchange { at: 0, old: vec!["1".to_owned()], new: vec![new.to_owned()] }];
        let changes = [
            Reversible::edit("a", Some(version.clone()), &exchange("one")),
            Reversible::edit("missing", Some(version.clone()), &exchange("two")),
        ];
        for _ in 0..2 {
            let refused = change_together(&workspace, &caller.call(), &changes).unwrap_err();
            assert!(refused.left.is_empty(), "{refused}");
            assert_eq!(fixture.text("a").unwrap(), "1\n");
        }
    }
}

#[test]
fn a_change_that_was_judged_on_another_file_is_not_made_and_not_recorded() {
    let judged_on =
        |version: Option<FileVersion>| Some(version.map_or(JudgedFile::Absent, JudgedFile::Version));
    let version_of = |workspace: &dyn Workspace| {
        let request = ReadFile { path: "a".into(), ..ReadFile::default() };
        workspace.read_file(&Caller::once().call(), &request).unwrap().version
    };
    let edit = |judged| {
        let FileChange::Modify(modify) = replace("a", (1, 1), "edited", None) else { panic!("an edit") };
        FileChange::Modify(ModifyFile { judged, ..modify })
    };
    let append = |judged| {
        let (path, content) = ("a".to_owned(), "more\n".to_owned());
        let mode = Some(WriteMode::Append);
        FileChange::Write(WriteFile { path, content, mode, create_directories: None, judged })
    };
    let changes: [&dyn Fn(Option<JudgedFile>) -> FileChange; 2] = [&edit, &append];
    for (change, after) in changes.into_iter().zip(["edited\ntwo\n", "one\ntwo\nmore\n"]) {
        let fixture = Fixture::new();
        let workspace = fixture.open();
        fixture.put("a", "one\n");
        let former = version_of(&workspace);
        fixture.put("a", "one\ntwo\n");
        let caller = Caller::numbered(1);
        let make = |judged| workspace.change_files(&caller.call(), &[write("b", "b\n"), change(judged)]);
        for judged in [judged_on(None), judged_on(former.clone())] {
            let error = make(judged).unwrap_err();
            assert!(JudgedFile::has_refused(&error) && error.reason() == Reason::Busy, "{error:?}");
            assert_eq!(fixture.text("a").as_deref(), Some("one\ntwo\n"));
            assert_eq!(fixture.text("b"), None);
        }
        // The control: on the judged file it is made, under the same step.
        let outcomes = make(judged_on(version_of(&workspace))).unwrap();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(fixture.text("a").as_deref(), Some(after));
        // Made again it has its answer, whatever it was judged on.
        for judged in [judged_on(None), judged_on(former), None] {
            assert_eq!(make(judged).unwrap(), outcomes);
        }
        assert_eq!(fixture.text("a").as_deref(), Some(after));
    }
}
