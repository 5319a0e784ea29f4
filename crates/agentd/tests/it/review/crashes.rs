//! `kill -9` while drafting, trying and landing: no draft is lost, and every landing is whole or absent.

use std::time::{Duration, Instant};

use crate::fixture::daemon::Daemon;
use crate::fixture::project::Project;
use crate::review::sessions::waiting;

const LANDED: &str = "ONE\ntwo\nthree\nfour\nFIVE\nsix\nSEVEN\n";

/// The factor by which the number of rounds is raised.
fn soak_factor() -> u32 {
    std::env::var("SOAK_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}

/// Starts a command and kills it after a while, unless it has ended by then.
fn killed_after(project: &Project, arguments: &[&str], after: Duration) {
    let mut daemon = Daemon::start(project.command(arguments));
    let began = Instant::now();
    while daemon.is_running() && began.elapsed() < after {
        std::thread::sleep(Duration::from_millis(1));
    }
    daemon.kill();
}

fn is_pending(project: &Project) -> bool {
    project.run(&["review", "1", "--json"]).ok().json()["proposal"]["state"] == "pending"
}

#[test]
fn every_landing_is_whole_or_absent() {
    for round in 0..3 * soak_factor() {
        let (project, id, mut daemon) = waiting();
        daemon.kill();
        let before = project.read("a.txt");
        project.run(&["review", "1", "--comment", "1=a word that must not be lost"]).ok();
        // Moments that differ from round to round, from the first system call to the end.
        for attempt in 0..3_u32 {
            let milliseconds = u64::from((round * 131 + attempt * 67) % 400);
            let arguments: &[&str] = match attempt % 3 {
                0 => &["review", "1", "--comment", "2=another word"],
                1 => &["review", "1", "--try"],
                _ => &["review", "1", "--land"],
            };
            killed_after(&project, arguments, Duration::from_millis(milliseconds));
            // Opening the state folder completes or forgets what was begun.
            let review = project.run(&["review", "1", "--json"]).ok().json();
            assert_eq!(review["draft"]["comments"][0]["text"], "a word that must not be lost", "{review}");
            let (text, ran) = (project.read("a.txt"), project.written("ran.log"));
            if review["proposal"]["state"] == "pending" {
                assert_eq!((text.as_str(), ran), (before.as_str(), None), "round {round}, attempt {attempt}");
            } else {
                assert_eq!(
                    (text.as_str(), ran.as_deref()),
                    (LANDED, Some("ran\n")),
                    "round {round}, attempt {attempt}"
                );
            }
        }
        if is_pending(&project) {
            project.run(&["review", "1", "--land"]).ok();
        }
        assert_eq!(project.read("a.txt"), LANDED);
        assert_eq!(project.read("ran.log"), "ran\n");
        let outbox = project.outbox(&id, 2);
        assert!(outbox.contains("a word that must not be lost"), "{outbox}");
        assert!(!outbox.contains("[FAILED]"), "{outbox}");
    }
}
