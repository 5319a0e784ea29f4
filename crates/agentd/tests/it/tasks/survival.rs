//! Tasks whose clients and processes come and go.

use serde_json::json;

use super::client::{LAYERLESS, begin, older, result, state};
use crate::fixture::daemon::eventually;
use crate::fixture::project::Project;

const WAITING: &str = "while [ ! -e go ]; do sleep 0.05; done; echo done";

#[test]
fn a_task_survives_the_process_of_its_client() {
    let project = Project::new();
    let mut owner = older(&project, &LAYERLESS);
    owner.does("tools/call", json!({ "name": "exploreFiles", "arguments": { "path": "." } }));
    let mut client = older(&project, &LAYERLESS);
    let id = begin(&mut client, WAITING);
    client.kill();
    let mut next = older(&project, &LAYERLESS);
    assert_eq!(state(&mut next, &id)["status"], "working");
    project.write("go", "");
    assert!(result(&mut next, &id).0.ends_with("\ndone\n"));
    next.end().ok();
    owner.end().ok();
}

#[test]
fn an_owner_whose_client_is_gone_stays_until_its_tasks_have_ended() {
    let project = Project::new();
    let mut client = older(&project, &LAYERLESS);
    let id = begin(&mut client, WAITING);
    client.close_input();
    let mut next = older(&project, &LAYERLESS);
    assert_eq!(state(&mut next, &id)["status"], "working");
    // While it stays, it serves others as ever.
    next.does("tools/call", json!({ "name": "writeFile", "arguments": { "path": "go", "content": "" } }));
    assert!(result(&mut next, &id).0.ends_with("\ndone\n"));
    client.wait().ok();
    // The other process has the state folder now, and the result is in the journal.
    assert!(result(&mut next, &id).0.ends_with("\ndone\n"));
    next.end().ok();
}

#[test]
fn a_task_whose_owner_was_killed_is_unknown_and_never_runs_again() {
    let project = Project::new();
    let mut owner = older(&project, &LAYERLESS);
    let done = begin(&mut owner, "echo done");
    assert!(result(&mut owner, &done).0.ends_with("\ndone\n"));
    let id = begin(&mut owner, "echo x >> runs; sleep 600");
    // The shell makes the file before it writes to it.
    eventually("the command runs", || project.has("runs") && project.read("runs") == "x\n");
    owner.kill();
    let mut next = older(&project, &LAYERLESS);
    let unknown = state(&mut next, &id);
    assert_eq!(unknown["status"], "failed", "{unknown}");
    assert!(unknown["statusMessage"].as_str().unwrap().starts_with("UNKNOWN: "), "{unknown}");
    let (text, is_error) = result(&mut next, &id);
    assert!(is_error && text.contains("OUTCOME_UNKNOWN") && text.contains("not run again"), "{text}");
    assert_eq!(project.read("runs"), "x\n");
    // The control: what had ended before is known.
    assert!(result(&mut next, &done).0.ends_with("\ndone\n"));
    next.end().ok();
}

#[test]
fn an_owner_that_is_terminated_cancels_its_tasks_and_records_it() {
    let project = Project::new();
    let mut owner = older(&project, &LAYERLESS);
    let id = begin(&mut owner, "sleep 600");
    let status = std::process::Command::new("kill").args(["-TERM", &owner.process_id().to_string()]).status();
    assert!(status.unwrap().success());
    owner.wait();
    let mut next = older(&project, &LAYERLESS);
    let (text, is_error) = result(&mut next, &id);
    assert!(is_error && text.contains("CANCELLED"), "{text}");
    next.end().ok();
}
