//! Tests of `wap-calls` through its public API.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use memory_workspace::MemoryWorkspace;
use proptest::prelude::*;
use wap_calls::{CallPool, Client};
use wap_core::{
    CancelFlag, DeleteFile, ModifyFile, ModifyOperation, ReadFile, Reason, Request, Response, Unobserved,
    WapError, Workspace, WriteFile,
};

type Answer = Result<Response, WapError>;

fn client(workspace: MemoryWorkspace) -> Arc<Client> {
    let workspace: Arc<dyn Workspace> = Arc::new(workspace);
    Client::new("test", &workspace, &CallPool::new())
}

fn read(path: &str) -> Request {
    Request::ReadFile(ReadFile { path: path.into(), ..ReadFile::default() })
}

fn write(path: &str) -> Request {
    Request::WriteFile(WriteFile { path: path.into(), content: "new\n".into(), ..WriteFile::default() })
}

fn begin(client: &Arc<Client>, request: Request, cancel: &CancelFlag, sender: &Sender<Answer>) {
    let sender = sender.clone();
    client.begin(request, cancel.clone(), Box::new(Unobserved), move |answer| {
        let _ = sender.send(answer);
    });
}

#[test]
fn errors_that_clients_read() {
    let workspace = MemoryWorkspace::with_files([("a.txt", "one\n")]);
    workspace.before_changes(|_, _| panic!("the workspace has a fault"));
    let client = client(workspace);
    let (sender, answers) = channel();
    let mut texts = String::new();
    for request in [write("a.txt"), read("missing.txt"), read("a.txt")] {
        begin(&client, request, &CancelFlag::new(), &sender);
        texts.push_str(&match answers.recv().unwrap() {
            Ok(_) => "an answer\n".to_owned(),
            Err(error) => format!("{error}\n"),
        });
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn two_clients_have_two_conversations() {
    let workspace: Arc<dyn Workspace> = Arc::new(MemoryWorkspace::default());
    let pool = CallPool::new();
    let [one, other] = [(); 2].map(|()| Client::new("test", &workspace, &pool).origin());
    assert_ne!(one.conversation, other.conversation);
    assert!(one.conversation.0.starts_with("test-"));
}

#[test]
fn every_text_of_a_waiting_request_counts() {
    let text = || "x".repeat(16 << 20);
    let delete = ModifyOperation::Delete { start_line: 1, end_line: 1, was: Some("x".repeat(16 << 10)) };
    for large in [
        Request::DeleteFile(DeleteFile { path: text(), ..DeleteFile::default() }),
        Request::WriteFile(WriteFile { path: text(), ..WriteFile::default() }),
        Request::ModifyFile(ModifyFile { operations: vec![delete; 1_024], ..ModifyFile::default() }),
    ] {
        let workspace = MemoryWorkspace::with_files([("a.txt", "one\n")]);
        let (release, released) = channel::<()>();
        workspace.before_changes(move |_, _| {
            // Blocks until the sender is dropped.
            let _ = released.recv();
        });
        let client = client(workspace);
        let [(short, of_short), (long, of_long)] = [channel(), channel()];
        // Some of these keep all threads busy, and the others wait.
        for _ in 0..8 {
            begin(&client, write("a.txt"), &CancelFlag::new(), &short);
        }
        for _ in 0..16 {
            begin(&client, large.clone(), &CancelFlag::new(), &long);
        }
        // The control: another short request fits in addition.
        begin(&client, write("a.txt"), &CancelFlag::new(), &short);
        drop((release, short, long));
        let is_refused = |answer: &Answer| matches!(answer, Err(error) if error.reason() == Reason::Busy);
        assert_eq!(of_short.iter().filter(is_refused).count(), 0);
        let refused = of_long.iter().filter(is_refused).count();
        assert!((12..=13).contains(&refused), "{refused} of {}", large.tool().name());
    }
}

proptest! {
    #[test]
    fn each_call_is_answered_exactly_once(
        calls in prop::collection::vec((any::<bool>(), any::<bool>()), 0..40),
        cancels_all in any::<bool>(),
    ) {
        let client = client(MemoryWorkspace::with_files([("a.txt", "one\n")]));
        let (sender, answers) = channel();
        for (is_write, is_cancelled) in &calls {
            let cancel = CancelFlag::new();
            let request = if *is_write { write("b.txt") } else { read("a.txt") };
            begin(&client, request, &cancel, &sender);
            if *is_cancelled {
                cancel.cancel();
            }
        }
        if cancels_all {
            client.cancel_all();
        }
        drop(sender);
        // This ends when every call has dropped its sender, so it cannot miss a second answer.
        prop_assert_eq!(answers.iter().count(), calls.len());
    }
}
