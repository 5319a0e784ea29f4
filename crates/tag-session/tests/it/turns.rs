//! Concurrent changes of one session.

use std::fs;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tag_session::{ApplyOptions, Review, SessionError, TextFilter};

use crate::desk::{Desk, apply, apply_with, begin, executed};

const MAKE: &str = "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n";
const TEST: &str = "[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n";

#[test]
fn another_reply_to_a_message_is_busy_while_one_is_executed() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let mut inner = None;
    let mut review = |_: &tagproto::Reply<'_>| {
        inner = Some(apply(&sessions, id, TEST));
        Review::Accept
    };
    let options = ApplyOptions { review: Some(&mut review), ..ApplyOptions::default() };
    executed(apply_with(&sessions, id, MAKE, options));
    assert!(matches!(inner, Some(Err(SessionError::Busy))), "{inner:?}");
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
    // The control: the next message accepts it.
    assert_eq!(executed(apply(&sessions, id, TEST)).session.sequence_number, 3);
}

#[test]
fn an_answer_to_a_message_whose_reply_is_being_executed_is_refused() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let mut late = None;
    let mut review = |_: &tagproto::Reply<'_>| {
        late = Some(sessions.answer(id, 1, "yes"));
        Review::Accept
    };
    let options = ApplyOptions { review: Some(&mut review), ..ApplyOptions::default() };
    let next = executed(apply_with(&sessions, id, MAKE, options)).session;
    // The model would never see the answer.
    assert!(matches!(late, Some(Err(SessionError::Busy))), "{late:?}");
    // The control: the message that is now pending accepts it.
    sessions.answer(id, 2, "yes").unwrap();
    assert!(fs::read_to_string(desk.outbox_file(&next)).unwrap().contains("\nyes\n"));
}

#[test]
fn an_answer_does_not_take_a_session_back_to_an_answered_message() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let (entered, is_entered) = channel();
    let (resume, resumed) = channel::<()>();
    let resumed = Mutex::new(resumed);
    // The filter sees the answer after the session was read and before it is written.
    let sessions = Arc::new(sessions.with_filter(TextFilter::new(move |text| {
        if text == "yes" {
            entered.send(()).unwrap();
            let waited = resumed.lock().unwrap().recv_timeout(Duration::from_millis(500));
            assert!(matches!(waited, Ok(()) | Err(RecvTimeoutError::Timeout)));
        }
        text.to_owned()
    })));
    let id = begin(&sessions).session_id;
    std::thread::scope(|scope| {
        scope.spawn(|| sessions.answer(id, 1, "yes").unwrap());
        is_entered.recv().unwrap();
        executed(apply(&sessions, id, MAKE));
        // The answer may have finished by now.
        let _ = resume.send(());
    });
    let session = sessions.session(id).unwrap();
    assert_eq!(session.sequence_number, 2);
    let name = session.session_file_name();
    let file = fs::read_to_string(desk.base().join("sessions").join(name)).unwrap();
    assert!(file.contains("\"sequenceNumber\": 2"), "{file}");
}

#[test]
fn an_answer_that_was_not_written_to_its_file_is_written_when_it_is_repeated() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    let file = desk.outbox_file(&session);
    let before = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(sessions.answer(session.session_id, 1, "yes").is_err());
    fs::remove_dir(&file).unwrap();
    fs::write(&file, before).unwrap();
    sessions.answer(session.session_id, 1, "yes").unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("\nyes\n").count(), 1, "{text}");
}
