//! Calls that wait for a person.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use test_support::Caller;
use wap_core::{Call, CancelFlag, ExecuteCommand, FileChange, Reason, Unobserved, Workspace, WriteFile};
use workspace_host::{
    HostOptions, NoNotices, ReviewPolicy, ReviewedWorkspace, SharedNotices, SharedWorkspace, WorkspacePaths,
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
