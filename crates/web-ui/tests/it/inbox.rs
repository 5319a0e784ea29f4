//! The watch of the inbox.

use std::fs;

use crate::site::{Site, eventually};

/// The number of names that are tried for a file that is moved.
const NAMES_TRIED: usize = 10_000;

#[test]
fn replies_are_picked_up_after_a_failure() {
    let site = Site::new();
    let inbox = site.workspace().join(".agentd/inbox");
    let last_event = || site.get("overview")["lastEvent"].as_str().unwrap().to_owned();
    let before = last_event();
    // A file that is not text is quarantined, and here every name for it is in use.
    let first = inbox.join("set-aside/bad.txt");
    fs::write(&first, "earlier").unwrap();
    for number in 2..=NAMES_TRIED {
        fs::hard_link(&first, inbox.join(format!("set-aside/bad-{number}.txt"))).unwrap();
    }
    site.drop_bytes("bad.txt", b"\xff\x00\x00\xff");
    eventually("the failure is reported", || (last_event() != before).then_some(()));
    assert!(inbox.join("bad.txt").exists(), "the control: it could not be moved");
    site.drop_reply("good.txt", "[MESSAGE]\nhello\n[/MESSAGE]\n");
    eventually("the next reply is picked up", || {
        let waiting = site.get("overview")["inbox"].clone();
        (waiting[0]["name"] == "good.txt").then_some(())
    });
}

#[test]
fn no_reply_is_forgotten_while_many_wait() {
    let site = Site::new();
    let inbox = site.workspace().join(".agentd/inbox");
    let waiting = || site.get("overview")["inbox"].as_array().unwrap().clone();
    for number in 1..=18 {
        site.drop_reply(&format!("{number:02}.txt"), "[MESSAGE]\nhello\n[/MESSAGE]\n");
    }
    eventually("sixteen have arrived", || (waiting().len() == 16).then_some(()));
    // As they are put away, the others come.
    for number in 1..=18 {
        let name = format!("{number:02}.txt");
        eventually("it is shown", || waiting().iter().any(|reply| reply["name"] == *name).then_some(()));
        fs::remove_file(inbox.join(&name)).unwrap();
    }
    eventually("none is left", || waiting().is_empty().then_some(()));
}
