//! Tasks that are cancelled without a server.

use std::fs;

use cocode_env::AgentState;
use cocode_fleet::ResultJudge;

use crate::fixture::Home;

/// Makes home with tasks of which no server has one.
fn unsent(agents: &[&str]) -> Home {
    let home = Home::with_agents(agents);
    home.journal.tasks().mark_unsent(&home.name.run).unwrap();
    home
}

/// Withdraws the first task, and returns whether that could be done.
fn withdraw(home: &Home) -> bool {
    home.journal.withdraw(&home.name, &home.record()).unwrap()
}

#[test]
fn a_task_that_no_server_has_is_withdrawn() {
    let home = unsent(&["a", "b"]);
    let names = home.names();
    // Listing tasks gives none out.
    assert_eq!(home.journal.unresolved().unwrap(), names);
    assert!(withdraw(&home));
    let record = home.record();
    assert_eq!(record.state, AgentState::Cancelled);
    assert_eq!(record.detail.as_deref(), Some("withdrawn: no server had it"));
    assert_eq!(home.journal.observer().take(), ["a ended: cancelled"]);
    // It is not given out any more; the other one is.
    home.journal.task(&names[0]).unwrap_err();
    assert_eq!(home.journal.unresolved().unwrap(), names[1..]);
    home.journal.task(&names[1]).unwrap();
}

#[test]
fn a_task_that_a_server_may_have_is_not_withdrawn() {
    let of_an_earlier_version = Home::new();
    let given_out = unsent(&["a"]);
    given_out.journal.task(&given_out.name).unwrap();
    let of_a_run_that_was_given_out = unsent(&["a", "b"]);
    of_a_run_that_was_given_out.journal.task(&of_a_run_that_was_given_out.names()[1]).unwrap();
    let given_out_by_an_earlier_process = unsent(&["a"]);
    let tasks = given_out_by_an_earlier_process.journal.tasks();
    tasks.mark_sent(&given_out_by_an_earlier_process.name.run).unwrap();
    let homes =
        [of_an_earlier_version, given_out, of_a_run_that_was_given_out, given_out_by_an_earlier_process];
    for home in &homes {
        assert!(!home.journal.tasks().is_unsent(&home.name.run));
        assert!(!withdraw(home));
        assert_eq!(home.record().state, AgentState::Pending);
        home.journal.task(&home.name).unwrap();
    }
}

#[test]
fn a_task_is_not_submitted_while_that_cannot_be_recorded() {
    let home = unsent(&["a"]);
    let mark = home.task_file(&home.name).with_file_name(format!("{}.unsent", home.name.run));
    fs::remove_file(&mark).unwrap();
    // Not even root removes a folder as a file.
    fs::create_dir(&mark).unwrap();
    home.journal.task(&home.name).unwrap_err();
    fs::remove_dir(&mark).unwrap();
    home.journal.task(&home.name).unwrap();
}
