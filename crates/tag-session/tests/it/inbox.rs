//! What the inbox tells, and where files go.

use std::fs;
use std::time::{Duration, Instant};

use rel_path::RelPath;
use tag_session::{Found, Unusable, Waited};
use wap_core::CancelFlag;

use crate::desk::Desk;

fn found(waited: Waited) -> Found {
    match waited {
        Waited::Found(found) => found,
        Waited::Cancelled => panic!("nobody cancelled"),
    }
}

#[test]
fn replies_come_oldest_first_and_as_they_were_written() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    for (name, text) in [("c.txt", "first\r\n"), ("a.txt", "\u{feff}second"), ("b.txt", "third\n")] {
        desk.put(name, text);
        std::thread::sleep(Duration::from_millis(20));
    }
    for (name, text) in [("c.txt", "first\r\n"), ("a.txt", "\u{feff}second"), ("b.txt", "third\n")] {
        let Found::Reply(file) = found(sessions.wait(&cancel).unwrap()) else { panic!("{name} is a reply") };
        assert_eq!((file.name.to_string().as_str(), file.text.as_str()), (name, text));
        sessions.move_to_processed(&file.name).unwrap();
    }
    assert_eq!(desk.names("inbox/processed"), ["a.txt", "b.txt", "c.txt"]);
}

#[test]
fn a_reply_that_was_there_before_is_found_and_one_that_comes_later_wakes() {
    let desk = Desk::with_files([]);
    desk.open();
    desk.put("before.txt", "here\n");
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    let Found::Reply(file) = found(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
    sessions.move_to_processed(&file.name).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            desk.put("later.txt", "here too\n");
        });
        let Found::Reply(file) = found(sessions.wait(&cancel).unwrap()) else { panic!("it is a reply") };
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
fn what_is_no_text_or_too_large_is_set_aside_under_a_free_name() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    for name in ["inbox/set-aside/x.txt", "inbox/set-aside/x-2.txt"] {
        desk.put("x.txt", [0xff, 0x00]);
        let Found::Unusable { why, set_aside, .. } = found(sessions.wait(&cancel).unwrap()) else {
            panic!("it is no reply")
        };
        assert!(matches!(why, Unusable::NotText(_)), "{why}");
        assert_eq!(set_aside.unwrap().0.to_str().unwrap(), name);
    }
    let large = fs::File::create(desk.base().join("beside")).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    drop(large);
    fs::rename(desk.base().join("beside"), desk.base().join("inbox/large.txt")).unwrap();
    let Found::Unusable { why, .. } = found(sessions.wait(&cancel).unwrap()) else {
        panic!("it is no reply")
    };
    assert!(matches!(why, Unusable::TooLarge { bytes } if bytes == (16 << 20) + 1), "{why}");
    assert_eq!(desk.names("inbox/set-aside"), ["large.txt", "x-2.txt", "x.txt"]);
}

#[test]
fn an_unusable_file_does_not_hold_up_those_behind_it() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    std::os::unix::fs::symlink("elsewhere", desk.base().join("inbox/a.txt")).unwrap();
    fs::write(desk.base().join("inbox/b.txt"), "").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    desk.put("c.txt", "here\n");
    let mut told = Vec::new();
    let reply = loop {
        match found(sessions.wait(&cancel).unwrap()) {
            Found::Reply(file) => break file,
            Found::Unusable { name, .. } => told.push(name.to_string()),
        }
    };
    assert_eq!(reply.name.to_string(), "c.txt");
    assert_eq!(told, ["a.txt"]);
    sessions.move_to_processed(&reply.name).unwrap();
    let Found::Unusable { name, why, set_aside: None } = found(sessions.wait(&cancel).unwrap()) else {
        panic!("the empty file is told, and stays")
    };
    assert_eq!((name.to_string().as_str(), &why), ("b.txt", &Unusable::Empty));
}

#[test]
fn putting_away_a_file_that_is_gone_is_no_failure_and_setting_it_aside_is_one() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let gone = RelPath::parse("gone.txt").unwrap();
    sessions.move_to_processed(&gone).unwrap();
    assert!(sessions.set_aside(&gone).is_err());
}
