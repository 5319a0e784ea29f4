//! Landings on files that another program saves after the plan was made.

use std::collections::BTreeMap;

use change_journal::ContentHash;
use change_review::{Content, ProposedCall, Resolution};
use wap_core::{FileChange, WriteFile};
use workspace_host::review::CarryOut;

use crate::fixture::project::Project;

/// Carries out a change of `a.txt`, planned on this file; `None` if nothing is expected of it.
fn carried_out(project: &Project, run: &str, planned_on: Option<Option<&str>>) -> serde_json::Value {
    let write = |path: &str| {
        let (path, content) = (path.to_owned(), "by the model\n".to_owned());
        FileChange::Write(WriteFile { path, content, mode: None, create_directories: None, judged: None })
    };
    let hash = |text: &str| ContentHash::of(text.as_bytes()).to_string();
    let expected: BTreeMap<_, _> =
        planned_on.map(|text| ("a.txt".to_owned(), text.map(hash))).into_iter().collect();
    let request = CarryOut {
        conversation: "a client".to_owned(),
        content: Content::Calls {
            run: run.to_owned(),
            calls: vec![ProposedCall::Changes(vec![write("a.txt"), write("b.txt")])],
        },
        resolution: Resolution::default(),
        review: String::new(),
        adopted: None,
        expected,
    };
    project.run_with_input(&["carry-out"], &serde_json::to_string(&request).unwrap()).ok().json()
}

#[test]
fn a_file_that_was_saved_after_the_plan_is_not_overwritten() {
    let project = Project::new();
    project.write("a.txt", "by another program\n");
    for (run, planned_on) in [("one", Some("planned\n")), ("two", None)] {
        let carried = carried_out(&project, run, Some(planned_on));
        assert_eq!(carried["steps"][0]["outcome"]["success"], false, "{carried}");
        let summary = carried["steps"][0]["outcome"]["summary"].to_string();
        assert!(summary.contains("has changed since this change was looked at"), "{summary}");
        assert_eq!(project.read("a.txt"), "by another program\n");
        // The rest of the batch is not held back.
        assert_eq!(carried["steps"][1]["outcome"]["success"], true, "{carried}");
    }
    // The controls: on the expected file, and without an expectation.
    let carried = carried_out(&project, "three", Some(Some("by another program\n")));
    assert_eq!(carried["steps"][0]["outcome"]["success"], true, "{carried}");
    assert_eq!(project.read("a.txt"), "by the model\n");
    project.write("a.txt", "by another program\n");
    let carried = carried_out(&project, "four", None);
    assert_eq!(carried["steps"][0]["outcome"]["success"], true, "{carried}");
    assert_eq!(project.read("a.txt"), "by the model\n");
}
