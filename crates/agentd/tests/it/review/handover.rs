//! A piece of work that changes hands.

use serde_json::json;

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

const FILE: &str = "one\ntwo\nthree\n";

/// The name of the only client in the log.
fn client_of(project: &Project) -> String {
    let log = project.run(&["log"]).ok().stdout;
    let line = log.lines().next().unwrap_or_default();
    line.split_whitespace().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_chat_goes_on_with_what_a_client_began_and_all_of_it_is_undone_as_one() {
    let project = Project::new();
    project.write("a.txt", FILE);
    let mut client = LineClient::start(project.command(&["wap"]));
    client.does("writeFile", json!({ "path": "a.txt", "content": "ONE\ntwo\nthree\n" }));
    client.does("executeCommand", json!({ "command": "echo it is not right; exit 3" }));
    client.close_input();
    client.end().ok();
    let from = client_of(&project);
    let id = project.begin_with(&["--from", &from, "go on with it"]);
    let message = project.outbox(&id, 1);
    for said in
        ["## Work So Far", "+ONE", "-one", "`echo it is not right; exit 3`: exit code 3", "it is not right"]
    {
        assert!(message.contains(said), "no '{said}' in {message}");
    }
    let edit = "[EDIT_FILE path=\"a.txt\" start_line=\"3\" end_line=\"3\"]\nTHREE\n[/EDIT_FILE]\n";
    project.apply(&format!("[READ_FILE path=\"a.txt\"]\n{edit}"), &[]).ok();
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nTHREE\n");
    // A second chat goes on with the first.
    let second = project.begin_with(&["--from", &id, "finish it"]);
    let message = project.outbox(&second, 1);
    assert!(message.contains("The task was: go on with it") && message.contains("+THREE"), "{message}");
    project
        .apply(&format!("Reply-To: {second}-1\n[CREATE_FILE path=\"b.txt\"]\nb\n[/CREATE_FILE]\n"), &[])
        .ok();
    project.run(&["undo", "--session", &second, "--with-origin"]).ok();
    assert_eq!(project.read("a.txt"), FILE);
    assert!(!project.has("b.txt"));
}

#[test]
fn work_that_does_not_exist_is_refused() {
    let project = Project::new();
    project
        .run(&["new", "--no-wait", "--from", "00000000", "a task"])
        .exits(2)
        .says("there is no work of a conversation");
}
