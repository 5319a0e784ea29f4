//! Edits by text, and replies in the edit formats of other programs, through the built program.

use serde_json::json;

use crate::fixture::project::Project;

const HUNK: &str = "a.txt\n<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n";

#[test]
fn an_edit_by_text_changes_the_lines_that_it_names() {
    let project = Project::new();
    project.write("a.txt", "one\r\n  two\r\nthree\r\n");
    project.begin("a task");
    let reply =
        format!("[EDIT_FILE path=\"a.txt\"]\n{}[/EDIT_FILE]\n", HUNK.strip_prefix("a.txt\n").unwrap());
    let applied = project.apply(&reply, &["--json"]).ok().json();
    assert_eq!(applied["results"][0]["summary"], "Edited 'a.txt' (1 hunk, +1 -1 lines)");
    assert_eq!(project.read("a.txt"), "one\r\n  TWO\r\nthree\r\n");
    // An edit whose text is nowhere shows what is most like it.
    let stale = reply.replace("\ntwo\n", "\nthree and more\n");
    let applied = project.apply(&stale, &["--json"]).json();
    let result = &applied["results"][0];
    assert_eq!(result["success"], false, "{result}");
    let summary = result["summary"].as_str().unwrap();
    assert!(summary.contains("most like it is line 3"), "{summary}");
    assert!(result["output"].as_str().unwrap().contains("3|three"), "{result}");
}

#[test]
fn a_reply_in_another_format_is_carried_out_recorded_and_undone() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n").write("b.txt", "x\n");
    project.begin("a task");
    let reply = format!("{HUNK}\n*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\n");
    // The plan shows what would be done.
    let review = project.apply(&reply, &["--review"]).exits(4);
    review.says("-two").says("+TWO");
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
    project.apply(&reply, &[]).ok();
    assert_eq!((project.read("a.txt").as_str(), project.has("b.txt")), ("one\nTWO\n", false));
    project.run(&["undo"]).ok();
    assert_eq!((project.read("a.txt").as_str(), project.read("b.txt").as_str()), ("one\ntwo\n", "x\n"));
}

#[test]
fn a_format_that_is_quoted_in_a_message_is_not_carried_out() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    project.begin("a task");
    project.apply(&format!("[MESSAGE]\n{HUNK}[/MESSAGE]\n"), &[]).ok();
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
}

#[test]
fn a_path_in_another_format_is_held_to_the_workspace() {
    let project = Project::new();
    project.begin("a task");
    let reply =
        "*** Begin Patch\n*** Add File: ../outside.txt\n+x\n*** Add File: .git/config\n+x\n*** End Patch\n";
    let applied = project.apply(reply, &["--json"]).json();
    let summaries: Vec<&str> = applied["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|result| result["summary"].as_str())
        .collect();
    assert!(
        summaries[0].starts_with("REJECTED: Path '../outside.txt' is outside workspace"),
        "{summaries:?}"
    );
    assert!(summaries[1].starts_with("REJECTED: Path '.git/config' is protected"), "{summaries:?}");
    assert!(!project.folder().parent().unwrap().join("outside.txt").exists());
}

#[test]
fn replace_text_of_a_call_counts_its_matches() {
    let project = Project::new();
    project.write("a.txt", "f(1) + f(1)\n");
    let call = |expected: u32| {
        let operation = json!({ "type": "replaceText", "oldText": "f(1)", "newText": "g(1)", "expectedMatches": expected });
        let request = json!({ "path": "a.txt", "operations": [operation] });
        project.run(&["call", "modifyFile", &request.to_string()])
    };
    let refused = call(1).exits(1).json();
    assert_eq!((&refused["code"], &refused["details"]["matches"]), (&json!("INVALID_ARGUMENT"), &json!(2)));
    assert_eq!(project.read("a.txt"), "f(1) + f(1)\n");
    call(2).ok();
    assert_eq!(project.read("a.txt"), "g(1) + g(1)\n");
}
