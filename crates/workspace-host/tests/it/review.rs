//! Calls that wait for a person.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use change_review::{ProposalId, StepEffect, steps_mark};
use tagproto::{CommandResult, Dialect, ExecutionObserver, Item, SessionId};
use test_support::Caller;
use wap_core::{
    Call, CancelFlag, ExecuteCommand, FileChange, FileChanged, ModifyFile, ModifyOperation, Reason,
    Unobserved, WapError, Workspace, WriteFile,
};
use workspace_host::{
    ApplyReply, CreateSession, DecideProposal, HostOptions, NoNotices, ProposeReply, ReviewPolicy,
    ReviewedWorkspace, SessionReply, SharedNotices, SharedSessions, SharedWorkspace, ShowProposal, Watching,
    WorkspacePaths,
};

/// The time that a cancellation is late in the last round, in microseconds.
const LATEST: u64 = 4_000;

fn write() -> FileChange {
    FileChange::Write(WriteFile { path: "a".into(), content: "x".into(), ..WriteFile::default() })
}

#[test]
fn a_cancelled_call_does_not_go_round_the_review() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let owner = Arc::new(SharedWorkspace::staying(&options, &paths, &notices));
    owner.open().unwrap();
    let client = Arc::new(SharedWorkspace::new(&options, &paths, &notices));
    for shared in [owner, client] {
        let reviewed = ReviewedWorkspace::new(shared, ReviewPolicy::All, "test");
        // Before the call, and at any moment of its plan.
        for late in (0..=LATEST).step_by(200) {
            let (caller, cancel) = (Caller::once(), CancelFlag::new());
            if late == 0 {
                cancel.cancel();
            }
            let call = Call { cancel: &cancel, time_left: Some(Duration::ZERO), ..caller.call() };
            let (changed, ran) = thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_micros(late));
                    cancel.cancel();
                });
                let changed = reviewed.change_files(&call, &[write()]).map(drop);
                let command = ExecuteCommand { command: "touch ran".to_owned(), ..ExecuteCommand::default() };
                (changed, reviewed.execute_command(&call, &command, &mut Unobserved).map(drop))
            });
            for answer in [changed, ran] {
                let error = answer.expect_err("it was not reviewed");
                let expected = [Reason::Cancelled, Reason::PendingReview, Reason::Busy];
                assert!(expected.contains(&error.reason()), "{late}: {error}");
            }
            for name in ["a", "ran"] {
                assert!(!folder.path().join(name).exists(), "{late}: {name} was not reviewed");
            }
        }
        // The control: a call that is not cancelled waits in the queue, and without a review it is made.
        let caller = Caller::once();
        let call = Call { time_left: Some(Duration::ZERO), ..caller.call() };
        let waiting = reviewed.change_files(&call, &[write()]).expect_err("it waits");
        assert_eq!(waiting.reason(), Reason::PendingReview);
    }
    let free = Arc::new(SharedWorkspace::new(&options, &paths, &notices));
    let free = ReviewedWorkspace::new(free, ReviewPolicy::None, "test");
    free.change_files(&Caller::once().call(), &[write()]).unwrap().remove(0).unwrap();
    assert!(folder.path().join("a").exists());
}

/// Cancels the call when the first block has been carried out, as the end of a client's connection does.
struct CancelAfterFirst<'a>(&'a CancelFlag);

impl ExecutionObserver for CancelAfterFirst<'_> {
    fn block_finished(&mut self, _: usize, _: &Item<'_>, _: &CommandResult, _: Option<&FileChanged>) {
        self.0.cancel();
    }
}

#[test]
fn a_landing_that_was_begun_is_completed_though_its_client_goes() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let sessions = SharedSessions::open(&options, paths, &notices, true).unwrap();
    let never = CancelFlag::new();
    let create = CreateSession {
        id: SessionId::from_random([1, 2, 3, 4]),
        task: "make two files".to_owned(),
        dialect: Dialect::Agentd,
        budget: None,
        paste_characters: None,
        task_files: Vec::new(),
        read_files: Vec::new(),
        surroundings: Vec::new(),
        from: None,
    };
    let session = sessions.call(&create, &never).unwrap().session_id;
    let text = "[CREATE_FILE path=\"a\"]\none\n[/CREATE_FILE]\n[READ_FILE path=\"a\"]\n\
         [CREATE_FILE path=\"b\"]\ntwo\n[/CREATE_FILE]\n";
    let reply = SessionReply { session, text: text.to_owned(), again: false, run_complete: false };
    let timeout = Duration::from_secs(30);
    let propose = ProposeReply(ApplyReply { reply, file: None, answering: 1, confirmed: true, timeout });
    let id = sessions.call(&propose, &never).unwrap().unwrap().id;
    let view = sessions.call(&ShowProposal(id), &never).unwrap();
    let mark = steps_mark(&view.proposal.steps);
    let decide = DecideProposal { id, sends_back: false, revision: view.draft.revision, mark };
    let cancel = CancelFlag::new();
    let mut observer = CancelAfterFirst(&cancel);
    let mut watching = Watching::new(&[], &mut observer);
    let decided = sessions.call_watched(&decide, &cancel, &mut watching).unwrap();
    assert!(cancel.is_cancelled(), "the control: it was cancelled in the middle");
    let decided = decided.unwrap_or_else(|refusal| panic!("{}", refusal.message));
    assert!(!decided.proposal.is_pending());
    for name in ["a", "b"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    assert_eq!(sessions.session(session).unwrap().sequence_number, 2);
}

#[test]
fn a_proposal_quotes_neither_lines_of_a_file_nor_a_variable_in_another_form() {
    let folder = tempfile::tempdir().unwrap();
    let value = "back\\slash\t77";
    let line = format!("{} secret", "y".repeat(100));
    std::fs::write(folder.path().join("a"), format!("alpha\n{line}\n")).unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let shared = Arc::new(SharedWorkspace::staying(&options, &paths, &notices));
    shared.open().unwrap();
    let sessions = SharedSessions::over(Arc::clone(&shared), paths).unwrap();
    let reviewed = ReviewedWorkspace::new(Arc::clone(&shared), ReviewPolicy::All, "test");
    let steps_of = |error: WapError| {
        let id = error.detail("proposal").and_then(|id| id.as_str()?.parse().ok()).expect("it is proposed");
        sessions.call(&ShowProposal(ProposalId(id)), &CancelFlag::new()).unwrap().proposal.steps
    };
    let edit = |old_text: &str| {
        let operation = ModifyOperation::ReplaceText {
            old_text: old_text.into(),
            new_text: "#".into(),
            expected_matches: None,
            whole_lines: None,
        };
        FileChange::Modify(ModifyFile {
            path: "a".into(),
            operations: vec![operation],
            ..ModifyFile::default()
        })
    };
    let caller = Caller::once();
    let call = Call { time_left: Some(Duration::ZERO), ..caller.call() };
    let steps = steps_of(reviewed.change_files(&call, &[edit("alpha\nzzz")]).unwrap_err());
    let problem = steps[0].problem.as_deref().unwrap();
    assert!(problem.ends_with("; most like it is lines 1-2"), "{problem}");
    // The control: the engine's error quotes the line.
    let caller = Caller::once();
    let error = shared.change_files(&caller.call(), &[edit("alpha\nzzz")]).unwrap().remove(0).unwrap_err();
    assert!(error.message().contains("yyy"), "{error}");
    let caller = Caller::once();
    let command = ExecuteCommand {
        command: "true".into(),
        environment: Some([("A".to_owned(), format!("{value}\nmore"))].into()),
        ready: Some("listening".to_owned()),
        ..ExecuteCommand::default()
    };
    let call = Call { time_left: Some(Duration::ZERO), ..caller.call() };
    let steps = steps_of(reviewed.execute_command(&call, &command, &mut Unobserved).unwrap_err());
    assert_eq!(steps[0].title, "run true");
    let StepEffect::Command(command) = &steps[0].effect else { unreachable!("the step runs a command") };
    assert_eq!(command.environment["A"], format!("{value}\nmore"));
    assert_eq!(command.ready.as_deref(), Some("listening"));
}
