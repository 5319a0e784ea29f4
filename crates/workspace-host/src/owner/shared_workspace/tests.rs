//! Tasks and the end of an owner.

use std::sync::mpsc::channel;

use super::*;
use crate::tasks::RunningTask;
use crate::{NoNotices, TaskId};

/// The owner of a state folder in a temporary one.
fn owner() -> (tempfile::TempDir, SharedWorkspace, Arc<Opened>) {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let shared = SharedWorkspace::staying(&options, &paths, &notices);
    let opened = shared.owned().unwrap_or_else(|failure| panic!("{}", failure.message)).unwrap();
    (folder, shared, opened)
}

/// Returns a task that this flag cancels.
fn running(cancel: &CancelFlag) -> RunningTask {
    RunningTask { cancel: cancel.clone(), ..RunningTask::default() }
}

#[test]
fn a_task_that_begins_while_others_are_cancelled_is_cancelled_too() {
    let (_folder, shared, opened) = owner();
    let tasks = Arc::clone(opened.tasks());
    let [(one, of_one), (late, of_late)] = [(); 2].map(|()| (TaskId::new(), CancelFlag::new()));
    tasks.running().insert(one.clone(), running(&of_one));
    let (begins, of_begun, id) = (Arc::clone(&tasks), running(&of_late), late.clone());
    let _of_one = of_one.on_cancel(Box::new(move || {
        let mut running = begins.running();
        running.insert(id, of_begun);
        running.remove(&one);
    }));
    let ends = Arc::clone(&tasks);
    let _of_late = of_late.on_cancel(Box::new(move || drop(ends.running().remove(&late))));
    let ending = CancelFlag::new();
    ending.cancel();
    shared.leave(&ending);
    assert!(of_late.is_cancelled());
}

#[test]
fn a_task_that_begins_while_commands_end_is_waited_for() {
    let (_folder, shared, opened) = owner();
    let (tasks, id) = (Arc::clone(opened.tasks()), TaskId::new());
    let host = Arc::clone(opened.door.host());
    let command = host.begin(true).expect("it stays");
    drop(opened);
    thread::scope(|scope| {
        let (left, has_left) = channel();
        scope.spawn(move || {
            shared.leave(&CancelFlag::new());
            let _ = left.send(());
        });
        while host.begin(true).is_some() {
            thread::sleep(PAUSE);
        }
        tasks.running().insert(id.clone(), RunningTask::default());
        drop(command);
        assert!(has_left.recv_timeout(Duration::from_millis(300)).is_err(), "the task runs");
        tasks.running().remove(&id);
        // The control: then it leaves.
        has_left.recv_timeout(Duration::from_secs(60)).unwrap();
    });
}
