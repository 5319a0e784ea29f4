//! Messages in the outbox that a user edited, and files next to them.

use std::fs;

use tag_session::NewSession;
use tagproto::Dialect;
use wap_core::CancelFlag;

use crate::desk::{Desk, begin};

const NOTE: &str = "Mind the tests, they are slow.\n";

#[test]
fn an_edited_message_is_kept_when_it_is_rewritten() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    let file = desk.outbox_file(&session);
    let name = session.outbox_file_name();
    let edited = fs::read_to_string(&file).unwrap() + NOTE;
    fs::write(&file, &edited).unwrap();
    sessions.answer(session.session_id, 1, "yes").unwrap();
    let kept = |number| desk.base().join(format!("outbox/{name}.edited-{number}"));
    assert_eq!(fs::read_to_string(kept(1)).unwrap(), edited);
    let good = fs::read_to_string(&file).unwrap();
    assert!(good.contains("\nyes\n") && !good.contains(NOTE), "{good}");
    drop(sessions);

    fs::write(&file, &edited).unwrap();
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.edited, [(format!("outbox/{name}"), format!("outbox/{name}.edited-2"))]);
    assert_eq!((fs::read_to_string(kept(2)).unwrap(), fs::read_to_string(&file).unwrap()), (edited, good));
    drop(sessions);
    assert_eq!(desk.open().1, tag_session::Reconciled::default());
}

#[test]
fn a_message_damaged_by_a_crash_is_not_kept() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    let file = desk.outbox_file(&session);
    let mut states = vec![fs::read(&file).unwrap()];
    for answer in ["yes", "no"] {
        sessions.answer(session.session_id, 1, answer).unwrap();
        states.push(fs::read(&file).unwrap());
    }
    drop(sessions);
    let good = states.last().unwrap().clone();
    // The rest of an unsynced file after a power loss.
    let half = good.len() / 2;
    states.push(good[..half].to_vec());
    states.push([&good[..half], &vec![0; good.len() - half]].concat());
    for state in states {
        fs::write(&file, state).unwrap();
        let (_, reconciled) = desk.open();
        assert!(reconciled.edited.is_empty(), "{reconciled:?}");
        assert_eq!(fs::read(&file).unwrap(), good);
    }
    assert_eq!(desk.names("outbox"), [session.outbox_file_name()]);
}

#[test]
fn files_next_to_the_parts_of_a_message_are_not_removed() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let new = NewSession {
        id: "a1b2c3d4".parse().unwrap(),
        task: "make it work",
        dialect: Dialect::Agentd,
        token_budget: None,
        paste_characters: Some(2_000),
        task_files: &[],
        read_files: &[],
        surroundings: &[],
        handover: None,
    };
    let session = sessions.create_once(&new, &CancelFlag::new()).unwrap();
    let prefix = session.outbox_part_prefix();
    let own = ["1 with notes.txt", "1of3.txt~", "1of3 copy.txt", "s.txt"].map(|end| format!("{prefix}{end}"));
    let old = format!("{prefix}98of99.txt");
    for name in own.iter().chain([&old]) {
        fs::write(desk.base().join("outbox").join(name), NOTE).unwrap();
    }
    sessions.answer(session.session_id, 1, "yes").unwrap();
    let names = desk.names("outbox");
    for name in &own {
        assert!(names.contains(name), "{name} is gone: {names:?}");
    }
    assert!(!names.contains(&old), "the control: a part of an earlier text is removed");
}
