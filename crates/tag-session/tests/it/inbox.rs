//! The reports of the inbox, and the folders to which its files are moved.

use std::fs;
use std::time::{Duration, Instant};

use tag_session::{InboxEvent, Unusable, Waited};
use wap_core::CancelFlag;

use crate::desk::Desk;

fn event(waited: Waited) -> InboxEvent {
    match waited {
        Waited::Event(event) => event,
        Waited::Cancelled => panic!("the wait was cancelled"),
    }
}

#[test]
fn replies_arrive_oldest_first_and_unchanged() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    for (name, text) in [("c.txt", "first\r\n"), ("a.txt", "\u{feff}second"), ("b.txt", "third\n")] {
        desk.put(name, text);
        std::thread::sleep(Duration::from_millis(20));
    }
    for (name, text) in [("c.txt", "first\r\n"), ("a.txt", "\u{feff}second"), ("b.txt", "third\n")] {
        let InboxEvent::Reply(file) = event(sessions.wait(&cancel).unwrap()) else {
            panic!("{name} is a reply")
        };
        assert_eq!((file.name.to_string().as_str(), file.text.as_str()), (name, text));
        sessions.move_to_processed(&file).unwrap();
    }
    assert_eq!(desk.names("inbox/processed"), ["a.txt", "b.txt", "c.txt"]);
}

#[test]
fn an_earlier_reply_is_returned_and_a_later_one_ends_the_wait() {
    let desk = Desk::with_files([]);
    desk.open();
    desk.put("before.txt", "here\n");
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    let InboxEvent::Reply(file) = event(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
    sessions.move_to_processed(&file).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            desk.put("later.txt", "here too\n");
        });
        let InboxEvent::Reply(file) = event(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
        assert_eq!(file.name.to_string(), "later.txt");
    });
}

#[test]
fn cancelling_ends_the_wait() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            cancel.cancel();
        });
        assert!(matches!(sessions.wait(&cancel).unwrap(), Waited::Cancelled));
    });
    assert!(began.elapsed() < Duration::from_secs(30));
    assert!(matches!(sessions.wait(&cancel).unwrap(), Waited::Cancelled));
}

#[test]
fn a_file_that_is_not_text_or_too_large_is_quarantined_under_a_free_name() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    for name in ["inbox/set-aside/x.txt", "inbox/set-aside/x-2.txt"] {
        desk.put("x.txt", [0xff, 0x00]);
        let InboxEvent::Unusable { why, set_aside, .. } = event(sessions.wait(&cancel).unwrap()) else {
            panic!("it is not a reply")
        };
        assert!(matches!(why, Unusable::NotText(_)), "{why}");
        assert_eq!(set_aside.unwrap().0.to_str().unwrap(), name);
    }
    let large = fs::File::create(desk.base().join("temporary")).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    drop(large);
    fs::rename(desk.base().join("temporary"), desk.base().join("inbox/large.txt")).unwrap();
    let InboxEvent::Unusable { why, .. } = event(sessions.wait(&cancel).unwrap()) else {
        panic!("it is not a reply")
    };
    assert!(matches!(why, Unusable::TooLarge { bytes } if bytes == (16 << 20) + 1), "{why}");
    assert_eq!(desk.names("inbox/set-aside"), ["large.txt", "x-2.txt", "x.txt"]);
}

#[test]
fn an_unusable_file_does_not_delay_later_ones() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    std::os::unix::fs::symlink("elsewhere", desk.base().join("inbox/a.txt")).unwrap();
    fs::write(desk.base().join("inbox/b.txt"), "").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    desk.put("c.txt", "here\n");
    let mut reported = Vec::new();
    let reply = loop {
        match event(sessions.wait(&cancel).unwrap()) {
            InboxEvent::Reply(file) => break file,
            InboxEvent::Unusable { name, .. } => reported.push(name.to_string()),
        }
    };
    assert_eq!(reply.name.to_string(), "c.txt");
    assert_eq!(reported, ["a.txt"]);
    sessions.move_to_processed(&reply).unwrap();
    let InboxEvent::Unusable { name, why, set_aside: None } = event(sessions.wait(&cancel).unwrap()) else {
        panic!("the empty file is reported, and stays")
    };
    assert_eq!((name.to_string().as_str(), &why), ("b.txt", &Unusable::Empty));
}

#[test]
fn moving_a_missing_file_to_processed_succeeds_and_quarantining_it_fails() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    desk.put("gone.txt", "here\n");
    let InboxEvent::Reply(file) = event(sessions.wait(&CancelFlag::new()).unwrap()) else {
        panic!("it is a reply")
    };
    fs::remove_file(desk.base().join("inbox/gone.txt")).unwrap();
    sessions.move_to_processed(&file).unwrap();
    assert!(sessions.set_aside(&file).is_err());
}

#[test]
fn a_reply_that_was_saved_over_an_executed_one_stays_in_the_inbox() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    desk.put("reply.txt", "first\n");
    let InboxEvent::Reply(first) = event(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
    // While the first reply is executed.
    desk.put("reply.txt", "second\n");
    sessions.move_to_processed(&first).unwrap();
    assert_eq!((desk.names("inbox"), desk.names("inbox/processed")), (vec!["reply.txt".into()], vec![]));
    let InboxEvent::Reply(second) = event(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
    assert_eq!(second.text, "second\n");
    // The control: the same text, saved again, is the executed reply.
    desk.put("reply.txt", "second\r\n");
    desk.put("reply.txt", "second\n");
    sessions.move_to_processed(&second).unwrap();
    assert_eq!((desk.names("inbox"), desk.names("inbox/processed")), (vec![], vec!["reply.txt".into()]));
}

#[test]
fn a_reply_that_was_saved_over_a_refused_one_stays_in_the_inbox() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    desk.put("reply.txt", "first\n");
    let InboxEvent::Reply(first) = event(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
    // While the first reply is refused.
    desk.put("reply.txt", "second\n");
    assert_eq!(sessions.set_aside(&first).unwrap(), None);
    assert_eq!((desk.names("inbox"), desk.names("inbox/set-aside")), (vec!["reply.txt".into()], vec![]));
    let InboxEvent::Reply(second) = event(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
    assert_eq!(second.text, "second\n");
    // The control: nothing was saved over it.
    assert_eq!(sessions.set_aside(&second).unwrap().unwrap().0.to_str(), Some("inbox/set-aside/reply.txt"));
    assert_eq!((desk.names("inbox"), desk.names("inbox/set-aside")), (vec![], vec!["reply.txt".into()]));
}
