//! The queue in a journal.

use std::time::Duration;

use change_journal::Journal;
use change_review::{
    Content, Decision, Draft, NewProposal, ProposalId, Queue, QueueError, Resolution, State,
};

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
    let new = reply(text);
    let content = new.content.clone();
    queue.propose(new, |other| *other == content).expect("there is room").id
}

fn decided() -> State {
    let (resolution, review) = (Resolution::default(), String::new());
    State::Decided(Decision {
        resolution,
        review,
        has_landed: true,
        answers: serde_json::Value::Null,
        is_answered: false,
    })
}

#[test]
fn the_same_content_is_the_same_proposal_until_it_is_answered() {
    let queue = Queue::new(Journal::in_memory().expect("memory suffices"));
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
    let queue = Queue::new(Journal::in_memory().expect("memory suffices"));
    let first = propose(&queue, "a");
    queue.advance(first, decided(), |_| true).expect("it is pending");
    let second = propose(&queue, "b");
    assert_ne!(second, first);
    // The folder is another one by now.
    assert_ne!(propose(&queue, "a"), first);
}

#[test]
fn a_landing_of_a_draft_that_was_saved_since_is_refused() {
    let queue = Queue::new(Journal::in_memory().expect("memory suffices"));
    let id = propose(&queue, "a");
    let draft = queue.save_draft(id, Draft::default()).expect("it is current");
    let landing =
        || State::Landing { resolution: Resolution::default(), review: String::new(), adopted: None };
    let late = queue.begin_landing(id, draft.revision - 1, landing());
    assert!(matches!(late, Err(QueueError::Revised { revision: 1 })), "{late:?}");
    queue.begin_landing(id, draft.revision, landing()).expect("it is the draft that was seen");
    assert!(matches!(queue.save_draft(id, draft), Err(QueueError::Decided { .. })));
}

#[test]
fn of_two_windows_none_overwrites_the_other() {
    let queue = Queue::new(Journal::in_memory().expect("memory suffices"));
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
    let queue = Queue::new(Journal::in_memory().expect("memory suffices"));
    let id = propose(&queue, "a");
    queue.advance(id, decided(), |_| true).expect("it is pending");
    assert!(matches!(queue.save_draft(id, Draft::default()), Err(QueueError::Decided { .. })));
    assert!(matches!(queue.save_draft(ProposalId(99), Draft::default()), Err(QueueError::Unknown { .. })));
}

#[test]
fn a_waiting_caller_wakes_when_the_proposal_is_decided() {
    let queue = Queue::new(Journal::in_memory().expect("memory suffices"));
    let id = propose(&queue, "a");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| queue.wait(id, Duration::from_secs(60), &|| false));
        queue.advance(id, decided(), |_| true).expect("it is pending");
        let proposal = waiting.join().expect("the thread ends").expect("it is read");
        assert_eq!(proposal.state, decided());
    });
}
