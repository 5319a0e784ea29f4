//! Tasks that are given out again.

use std::fs;

use cocode_env::AgentState;
use cocode_fleet::{Notice, ResultJudge};

use crate::fixture::Home;

/// Gives all tasks up.
fn give_up(home: &Home) {
    home.journal.unresolved().unwrap();
    for name in home.names() {
        home.journal.ended(&name, &Notice::Dead { reasons: vec!["h: no disk".to_owned()] }).unwrap();
    }
}

fn generation(home: &Home) -> String {
    home.journal.tasks().get(&home.name).unwrap().unwrap().generation
}

#[test]
fn a_task_that_was_given_up_is_given_out_again_when_that_is_requested() {
    let home = Home::new();
    let first = generation(&home);
    give_up(&home);
    let record = home.record();
    assert_eq!((record.state, record.detail.as_deref()), (AgentState::Failed, Some("given up: h: no disk")));
    assert_eq!(home.journal.unresolved().unwrap(), []);
    assert_eq!(generation(&home), first);
    home.journal.tasks().request_retry(&home.name).unwrap();
    assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    assert_eq!(home.record().state, AgentState::Pending);
    assert_ne!(generation(&home), first);
    // Once.
    home.journal.ended(&home.name, &Notice::Cancelled).unwrap();
    assert_eq!(home.record().state, AgentState::Cancelled);
    assert_eq!(home.journal.unresolved().unwrap(), []);
}

#[test]
fn a_retry_that_fails_is_kept_and_other_tasks_do_not_wait_for_it() {
    let home = Home::with_agents(&["a", "b"]);
    give_up(&home);
    let names = home.names();
    for name in &names {
        home.journal.tasks().request_retry(name).unwrap();
    }
    let file = home.task_file(&names[0]);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, "{").unwrap();
    home.journal.observer().take();
    for _ in 0..2 {
        assert_eq!(home.journal.unresolved().unwrap(), names[1..]);
        assert!(home.journal.tasks().is_retried(&names[0]));
        assert!(!home.journal.tasks().is_retried(&names[1]));
    }
    let reported = "a: cannot be given out again, this is repeated: not the JSON of a task";
    assert_eq!(home.journal.observer().take(), [reported]);
    fs::write(&file, whole).unwrap();
    assert_eq!(home.journal.unresolved().unwrap(), names);
    assert!(!home.journal.tasks().is_retried(&names[0]));
    assert_eq!(home.record().state, AgentState::Pending);
}

#[test]
fn a_retry_whose_process_was_killed_before_it_was_given_out_is_carried_out() {
    let home = Home::new();
    let first = generation(&home);
    give_up(&home);
    let tasks = home.journal.tasks();
    assert!(!tasks.begin_retry(&home.name).unwrap());
    tasks.request_retry(&home.name).unwrap();
    assert!(tasks.begin_retry(&home.name).unwrap());
    assert!(tasks.is_retried(&home.name));
    assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    assert_ne!(generation(&home), first);
    assert!(!tasks.is_retried(&home.name));
}

#[test]
fn a_retry_whose_process_was_killed_after_it_was_given_out_is_not_carried_out_twice() {
    let home = Home::new();
    let tasks = home.journal.tasks();
    // Begun, and given out: the task waits.
    tasks.request_retry(&home.name).unwrap();
    assert!(tasks.begin_retry(&home.name).unwrap());
    assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    assert!(!tasks.is_retried(&home.name));
    home.journal.ended(&home.name, &Notice::Cancelled).unwrap();
    assert_eq!(home.journal.unresolved().unwrap(), []);
    assert_eq!(home.record().state, AgentState::Cancelled);
}

#[test]
fn a_retry_that_is_requested_before_home_knows_of_the_end_is_carried_out_after_it() {
    let home = Home::new();
    home.journal.tasks().request_retry(&home.name).unwrap();
    assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    assert!(home.journal.tasks().is_retried(&home.name));
    give_up(&home);
    assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    assert_eq!(home.record().state, AgentState::Pending);
    assert!(!home.journal.tasks().is_retried(&home.name));
}
