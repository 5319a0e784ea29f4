//! The queue in a journal.

use std::collections::BTreeMap;
use std::time::Duration;

use change_journal::{DocumentWrite, Journal};
use change_review::{
    Content, Decision, Draft, NewProposal, ProposalEnd, ProposalId, ProposedCall, Queue, QueueError,
    QueueLimits, Resolution, State, Tried,
};
use wap_core::{ExecuteCommand, FileChange, FileVersion, JudgedFile, ModifyFile, WriteFile};

fn queue() -> Queue {
    Queue::new(Journal::in_memory().expect("memory suffices"), QueueLimits::default())
}

fn reply(text: &str) -> NewProposal {
    NewProposal {
        conversation: "session-1".to_owned(),
        front_end: "session".to_owned(),
        subject: "Fix the test".to_owned(),
        content: Content::Reply(serde_json::json!({ "text": text })),
        steps: Vec::new(),
    }
}

fn propose(queue: &Queue, text: &str) -> ProposalId {
    queue.propose(reply(text)).expect("there is room").id
}

fn decided() -> State {
    let (resolution, review) = (Resolution::default(), String::new());
    State::Decided(Decision {
        resolution,
        review,
        has_landed: true,
        answers: serde_json::Value::Null,
        is_answered: false,
        is_closed: false,
    })
}

#[test]
fn the_same_content_is_the_same_proposal_until_it_is_answered() {
    let queue = queue();
    let first = propose(&queue, "a");
    assert_eq!(propose(&queue, "a"), first);
    queue.advance(first, decided(), |_| true).expect("it is pending");
    assert_eq!(propose(&queue, "a"), first);
    let State::Decided(decision) = decided() else { unreachable!("the state is decided") };
    queue
        .advance(first, State::Decided(Decision { is_answered: true, ..decision }), |_| true)
        .expect("it exists");
    assert_ne!(propose(&queue, "a"), first);
}

#[test]
fn an_old_decision_answers_no_new_request() {
    let queue = queue();
    let first = propose(&queue, "a");
    queue.advance(first, decided(), |_| true).expect("it is pending");
    let second = propose(&queue, "b");
    assert_ne!(second, first);
    // The folder has changed by now.
    assert_ne!(propose(&queue, "a"), first);
}

#[test]
fn a_landing_of_a_draft_that_was_saved_since_is_refused() {
    let queue = queue();
    let id = propose(&queue, "a");
    let draft = queue.save_draft(id, Draft::default()).expect("it is current");
    let landing = || State::Landing {
        resolution: Resolution::default(),
        review: String::new(),
        adopted: None,
        expected: BTreeMap::new(),
    };
    let late = queue.begin_landing(id, draft.revision - 1, landing());
    assert!(matches!(late, Err(QueueError::Revised { revision: 1 })), "{late:?}");
    queue.begin_landing(id, draft.revision, landing()).expect("it is the draft that was seen");
    assert!(matches!(queue.save_draft(id, draft), Err(QueueError::Decided { .. })));
}

#[test]
fn of_two_windows_none_overwrites_the_other() {
    let queue = queue();
    let id = propose(&queue, "a");
    let read = queue.draft(id).expect("it is read");
    let saved =
        queue.save_draft(id, Draft { summary: "first".to_owned(), ..read.clone() }).expect("it is current");
    assert_eq!(saved.revision, 1);
    let late = queue.save_draft(id, Draft { summary: "second".to_owned(), ..read });
    assert!(matches!(late, Err(QueueError::Revised { revision: 1 })), "{late:?}");
    assert_eq!(queue.draft(id).expect("it is read").summary, "first");
}

#[test]
fn a_draft_of_a_proposal_that_is_over_is_refused() {
    let queue = queue();
    let id = propose(&queue, "a");
    queue.advance(id, decided(), |_| true).expect("it is pending");
    assert!(matches!(queue.save_draft(id, Draft::default()), Err(QueueError::Decided { .. })));
    assert!(matches!(queue.save_draft(ProposalId(99), Draft::default()), Err(QueueError::Unknown { .. })));
}

#[test]
fn a_waiting_caller_wakes_when_the_proposal_is_decided() {
    let queue = queue();
    let id = propose(&queue, "a");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| queue.wait(id, Duration::from_secs(60), &|| false));
        queue.advance(id, decided(), |_| true).expect("it is pending");
        let proposal = waiting.join().expect("the thread ends").expect("it is read");
        assert_eq!(proposal.state, decided());
    });
}

#[test]
fn a_proposal_that_was_closed_is_no_earlier_review() {
    let queue = queue();
    let (sent_back, closed) = (propose(&queue, "a"), propose(&queue, "b"));
    let State::Decided(decision) = decided() else { unreachable!("the state is decided") };
    let decision = Decision { has_landed: false, ..decision };
    for (id, is_closed) in [(sent_back, false), (closed, true)] {
        let end = State::Decided(Decision { is_closed, ..decision.clone() });
        queue.advance(id, end, |_| true).expect("it is pending");
    }
    let next = propose(&queue, "c");
    let earlier = queue.earlier(&queue.proposal(next).expect("it is whole")).expect("it is read");
    assert_eq!(earlier.iter().map(|one| one.id).collect::<Vec<_>>(), [sent_back]);
    let ends: Vec<_> = queue.list().expect("it is read").into_iter().map(|one| one.end).collect();
    assert_eq!(ends, [Some(ProposalEnd::SentBack), Some(ProposalEnd::Closed), None]);
}

/// Writes a document that no version writes.
fn damage(journal: &Journal, kind: &str, id: ProposalId) {
    let name = format!("review/{kind}/{:012}", id.0);
    journal
        .write_documents(&[DocumentWrite::Put { name: &name, bytes: b"{\"id\":" }])
        .expect("it is written");
}

#[test]
fn one_damaged_proposal_keeps_no_other_from_being_reviewed() {
    let journal = Journal::in_memory().expect("memory suffices");
    let queue = Queue::new(journal.clone(), QueueLimits::default());
    let (first, second) = (propose(&queue, "a"), propose(&queue, "b"));
    damage(&journal, "proposal", first);
    let listed = queue.list().expect("a list has no part in the damage");
    let faults: Vec<bool> = listed.iter().map(|one| one.fault.is_some()).collect();
    assert_eq!(faults, [true, false]);
    assert!(listed[0].fault.as_ref().is_some_and(|fault| fault.contains("cannot be read")), "{listed:?}");
    assert!(matches!(queue.proposal(first), Err(QueueError::Damaged { .. })));
    assert!(queue.landing().expect("nothing lands").is_empty());
    assert!(queue.earlier(&queue.proposal(second).expect("it is whole")).expect("it is read").is_empty());
    // The same request is a new proposal, with a new number.
    assert_eq!(propose(&queue, "a"), ProposalId(3));
    queue.save_draft(second, Draft::default()).expect("it is current");
    // Only what cannot be read is dropped.
    assert!(matches!(queue.drop_unreadable(second), Err(QueueError::Readable { .. })));
    queue.drop_unreadable(first).expect("it is damaged");
    assert!(queue.list().expect("it is read").iter().all(|one| one.fault.is_none() && one.id != first));
    assert!(matches!(queue.drop_unreadable(first), Err(QueueError::Unknown { .. })));
}

#[test]
fn of_a_damaged_draft_or_trial_the_proposal_stays() {
    let journal = Journal::in_memory().expect("memory suffices");
    let queue = Queue::new(journal.clone(), QueueLimits::default());
    let id = propose(&queue, "a");
    damage(&journal, "draft", id);
    damage(&journal, "tried", id);
    assert!(matches!(queue.draft(id), Err(QueueError::Damaged { .. })));
    queue.drop_unreadable(id).expect("they are damaged");
    assert_eq!(queue.draft(id).expect("it is empty"), Draft::default());
    assert_eq!(queue.tried(id).expect("there is none"), None);
    assert!(queue.proposal(id).expect("it is whole").is_pending());
}

#[test]
fn a_list_reads_no_proposal() {
    let journal = Journal::in_memory().expect("memory suffices");
    let queue = Queue::new(journal.clone(), QueueLimits::default());
    let id = propose(&queue, "a");
    let of = journal.reader().documents("review/proposal/").expect("it is read")[0].hash.to_string();
    // A summary that says something else than the proposal is what a list says, as long as it is about this proposal.
    let name = format!("review/summary/{:012}", id.0);
    let summary = journal.reader().document(&name).expect("it is read").expect("there is one");
    let text = String::from_utf8(summary.bytes).expect("it is a text");
    assert!(text.contains(&of), "{text}");
    let other = text.replace("Fix the test", "Another subject");
    journal
        .write_documents(&[DocumentWrite::Put { name: &name, bytes: other.as_bytes() }])
        .expect("it is written");
    assert_eq!(queue.list().expect("it is read")[0].subject, "Another subject");
    // The control: a proposal that an earlier version has written, and a summary that is damaged, are read from the proposal.
    let older = text.replace(&of, "").replace("Fix the test", "Another subject");
    let other_form = other.replace("\"form\":2", "\"form\":1");
    assert_ne!(other_form, other);
    for bytes in [older.as_bytes(), other_form.as_bytes(), b"[]", b""] {
        journal.write_documents(&[DocumentWrite::Put { name: &name, bytes }]).expect("it is written");
        assert_eq!(queue.list().expect("it is read")[0].subject, "Fix the test");
    }
    journal.write_documents(&[DocumentWrite::Remove { name: &name }]).expect("it is written");
    assert_eq!(queue.list().expect("it is read")[0].subject, "Fix the test");
}

#[test]
fn the_queue_is_bounded_by_number_and_by_bytes() {
    let journal = Journal::in_memory().expect("memory suffices");
    let limits = QueueLimits { pending: 3, pending_bytes: 20_000, kept: 2, kept_bytes: 30_000 };
    let queue = Queue::new(journal.clone(), limits);
    let long = "x".repeat(12_000);
    let refusal = |text: &str| queue.propose(reply(text)).expect_err("it is full");
    propose(&queue, &format!("{long}1"));
    let second = propose(&queue, &format!("{long}2"));
    assert!(
        matches!(refusal("small"), QueueError::Full { count: 2, bytes } if bytes > 24_000),
        "{}",
        refusal("small")
    );
    assert_eq!(refusal("small").to_string(), "2 proposals of 1 MiB wait already: review some of them first");
    // One that waits already is answered, and one that is over does not count.
    assert_eq!(propose(&queue, &format!("{long}2")), second);
    let answered = || {
        let State::Decided(decision) = decided() else { unreachable!("the state is decided") };
        State::Decided(Decision { is_answered: true, ..decision })
    };
    let finish = |id| queue.advance(id, answered(), |_| true).map(drop).expect("it exists");
    finish(second);
    let (third, fourth) = (propose(&queue, "small"), propose(&queue, "smaller"));
    assert!(matches!(refusal("smallest"), QueueError::Full { count: 3, .. }));
    // Of those that are over, two are kept, or fewer of long ones.
    finish(third);
    finish(fourth);
    finish(ProposalId(1));
    propose(&queue, "next");
    let ids = || queue.list().expect("it is read").iter().map(|one| one.id.0).collect::<Vec<_>>();
    assert_eq!(ids(), [3, 4, 5]);
    let fifth = ProposalId(5);
    finish(fifth);
    let sixth = propose(&queue, &format!("{long}3"));
    queue
        .keep_trial(sixth, &Tried { resolution: Resolution::default(), ..Tried::default() }, None)
        .expect("it waits");
    finish(sixth);
    let names = || journal.reader().documents("review/").expect("they are read").len();
    propose(&queue, "last");
    assert_eq!(ids(), [5, 6, 7]);
    // A proposal and its summary each, and one trial.
    assert_eq!(names(), 7);
}

#[test]
fn bytes_remove_no_decision_that_was_not_received() {
    let limits = QueueLimits { kept_bytes: 1_000, ..QueueLimits::default() };
    let queue = Queue::new(Journal::in_memory().expect("memory suffices"), limits);
    let first = propose(&queue, &"x".repeat(5_000));
    queue.advance(first, decided(), |_| true).expect("it is pending");
    propose(&queue, "b");
    assert!(queue.proposal(first).is_ok());
    let State::Decided(decision) = decided() else { unreachable!("the state is decided") };
    queue
        .advance(first, State::Decided(Decision { is_answered: true, ..decision }), |_| true)
        .expect("it exists");
    propose(&queue, "c");
    assert!(matches!(queue.proposal(first), Err(QueueError::Unknown { .. })));
}

#[test]
fn the_same_calls_are_one_proposal_whatever_their_run() {
    let queue = queue();
    let calls = |run: &str, command: &str| NewProposal {
        content: Content::Calls {
            run: run.to_owned(),
            calls: vec![ProposedCall::Command(ExecuteCommand {
                command: command.to_owned(),
                ..ExecuteCommand::default()
            })],
        },
        ..reply("")
    };
    let id = |new| queue.propose(new).expect("there is room").id;
    let first = id(calls("one", "true"));
    assert_eq!(id(calls("two", "true")), first);
    assert_ne!(id(calls("two", "false")), first);
    // Another conversation asks for itself.
    assert_ne!(id(NewProposal { conversation: "session-2".to_owned(), ..calls("one", "true") }), first);
}

#[test]
fn the_same_changes_are_one_proposal_whatever_file_an_adapter_has_judged_them_on() {
    let queue = queue();
    let proposed = |change: FileChange| NewProposal {
        content: Content::Calls { run: "one".to_owned(), calls: vec![ProposedCall::Changes(vec![change])] },
        ..reply("")
    };
    let id = |change| queue.propose(proposed(change)).expect("there is room").id;
    let version = |text: &str| Some(JudgedFile::Version(FileVersion(text.to_owned())));
    let modify = |path: &str, judged| {
        FileChange::Modify(ModifyFile { path: path.to_owned(), judged, ..ModifyFile::default() })
    };
    let write = |path: &str, judged| {
        FileChange::Write(WriteFile { path: path.to_owned(), judged, ..WriteFile::default() })
    };
    let first = id(modify("a", version("1")));
    assert_eq!(id(modify("a", version("2"))), first);
    let first = id(write("a", version("1")));
    assert_eq!(id(write("a", Some(JudgedFile::Absent))), first);
    // The control: another file is another change.
    assert_ne!(id(write("b", version("1"))), first);
}
