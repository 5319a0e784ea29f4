//! Landings that the end of a process has interrupted: what opening the state folder makes of each.

use std::collections::BTreeMap;

use change_journal::{Journal, JournalLimits};
use change_review::{
    Content, NewProposal, ProposalId, ProposedCall, Queue, QueueLimits, RecordedStep, Resolution, State,
};
use serde_json::Value;
use wap_core::{FileChange, WriteFile};
use workspace_host::review::CarryOut;

use crate::fixture::project::Project;

const CONVERSATION: &str = "a client";

fn write(path: &str) -> ProposedCall {
    let (path, content) = (path.to_owned(), "by the model\n".to_owned());
    ProposedCall::Changes(vec![FileChange::Write(WriteFile {
        path,
        content,
        mode: None,
        create_directories: None,
        judged: None,
    })])
}

fn content(run: &str, paths: &[&str]) -> Content {
    Content::Calls { run: run.to_owned(), calls: paths.iter().map(|path| write(path)).collect() }
}

/// A project in which the first step of the run `begun` was carried out, and `a.txt` saved by the user since.
fn begun() -> Project {
    let project = Project::new();
    let request = CarryOut {
        conversation: CONVERSATION.to_owned(),
        content: content("begun", &["a.txt"]),
        resolution: Resolution::default(),
        review: String::new(),
        adopted: None,
        expected: BTreeMap::new(),
    };
    project.run_with_input(&["carry-out"], &serde_json::to_string(&request).unwrap()).ok();
    assert_eq!(project.read("a.txt"), "by the model\n");
    project.write("a.txt", "by the user\n");
    project
}

/// Leaves the state that a process leaves that is killed in the landing of these contents.
fn killed(project: &Project, landings: &[(Content, Option<Vec<RecordedStep>>)], expected: &[&str]) {
    let (journal, _) = Journal::open(&project.base().join("journal"), JournalLimits::default()).unwrap();
    let queue = Queue::new(journal, QueueLimits::default());
    for (content, adopted) in landings {
        let new = NewProposal {
            conversation: CONVERSATION.to_owned(),
            front_end: "wap".to_owned(),
            subject: "change files".to_owned(),
            content: content.clone(),
            steps: Vec::new(),
        };
        let id = queue.propose(new).unwrap().id;
        let landing = State::Landing {
            resolution: Resolution::default(),
            review: String::new(),
            adopted: adopted.clone(),
            // None of them was there.
            expected: expected.iter().map(|path| ((*path).to_owned(), None)).collect(),
        };
        queue.begin_landing(id, 0, landing).unwrap();
    }
}

fn state(project: &Project, id: u64) -> Value {
    let id = ProposalId(id).to_string();
    project.run(&["review", &id, "--json"]).ok().json()["proposal"]["state"].clone()
}

#[test]
fn one_that_was_not_begun_waits_again() {
    let project = begun();
    killed(&project, &[(content("another run", &["a.txt", "b.txt"]), None)], &[]);
    assert_eq!(state(&project, 1), "pending");
    assert_eq!(project.read("a.txt"), "by the user\n");
    assert!(!project.has("b.txt"));
    // It was planned anew, and lands when it was looked at.
    project.run(&["review", "1", "--land"]).ok();
    assert_eq!(
        (project.read("a.txt"), project.read("b.txt")),
        ("by the model\n".into(), "by the model\n".into())
    );
}

#[test]
fn one_that_was_begun_is_completed_and_no_step_is_made_twice() {
    let project = begun();
    killed(&project, &[(content("begun", &["a.txt", "b.txt"]), None)], &[]);
    let state = state(&project, 1);
    assert_eq!(state["decided"]["hasLanded"], true, "{state}");
    assert_eq!(project.read("a.txt"), "by the user\n", "that step was on record");
    assert_eq!(project.read("b.txt"), "by the model\n");
}

#[test]
fn completing_one_overwrites_no_file_that_came_since() {
    let project = begun();
    project.write("b.txt", "by the user\n");
    killed(&project, &[(content("begun", &["a.txt", "b.txt"]), None)], &["b.txt"]);
    let state = state(&project, 1);
    let answers = state["decided"]["answers"].to_string();
    assert!(answers.contains("has changed since this change was looked at"), "{state}");
    assert_eq!(project.read("b.txt"), "by the user\n");
}

#[test]
fn one_whose_overlay_was_not_adopted_waits_again_whatever_else_its_run_has_done() {
    let project = begun();
    killed(&project, &[(content("begun", &["a.txt", "b.txt"]), Some(Vec::new()))], &[]);
    assert_eq!(state(&project, 1), "pending");
    assert_eq!(project.read("a.txt"), "by the user\n");
    assert!(!project.has("b.txt"));
}

#[test]
fn one_that_cannot_be_recovered_keeps_no_other_from_it() {
    let project = begun();
    let unreadable = Content::Reply(Value::String("another version wrote it".to_owned()));
    killed(&project, &[(unreadable, None), (content("begun", &["a.txt", "b.txt"]), None)], &[]);
    let state = state(&project, 2);
    assert_eq!(state["decided"]["hasLanded"], true, "{state}");
    assert_eq!(project.read("b.txt"), "by the model\n");
}
