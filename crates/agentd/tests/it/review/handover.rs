//! A piece of work that changes hands.

use serde_json::json;

use crate::cocode::desk::Desk;
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
    let id = project.begin_with(&["new", "--no-wait", "--json", "--from", &from, "go on with it"]);
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
    let second = project.begin_with(&["new", "--no-wait", "--json", "--from", &id, "finish it"]);
    let message = project.outbox(&second, 1);
    assert!(message.contains("The task was: go on with it") && message.contains("+THREE"), "{message}");
    project
        .apply(&format!("Reply-To: {second}-1\n[CREATE_FILE path=\"b.txt\"]\nb\n[/CREATE_FILE]\n"), &[])
        .ok();
    project.run(&["undo", "--session", &second, "--with-origin"]).ok();
    assert_eq!(project.read("a.txt"), FILE);
    assert!(!project.has("b.txt"));
    // What is undone is no work of theirs any more.
    let third = project.begin_with(&["new", "--no-wait", "--json", "--from", &id, "begin anew"]);
    let message = project.outbox(&third, 1);
    assert!(message.contains("have been undone") && !message.contains("+THREE"), "{message}");
}

#[test]
fn a_failed_command_that_printed_nothing_is_described_so() {
    let project = Project::new();
    let mut client = LineClient::start(project.command(&["wap"]));
    client.does("executeCommand", json!({ "command": "exit 3" }));
    client.close_input();
    client.end().ok();
    let from = client_of(&project);
    let id = project.begin_with(&["new", "--no-wait", "--json", "--from", &from, "go on with it"]);
    let message = project.outbox(&id, 1);
    assert!(message.contains("The last one, `exit 3`, failed and printed nothing.\n"), "{message}");
}

#[test]
fn work_that_does_not_exist_is_refused() {
    let project = Project::new();
    project
        .run(&["new", "--no-wait", "--from", "00000000", "a task"])
        .exits(2)
        .says("there is no work of a conversation");
}

#[test]
fn a_client_begins_a_chat_goes_on_an_agent_finishes_and_all_of_it_is_undone_as_one() {
    let desk = Desk::new();
    let project = &desk.project;
    project.write("a.txt", FILE);
    desk.git(&["commit", "-q", "-a", "-m", "three lines"]);
    let mut client = LineClient::start(project.command(&["mcp"]));
    client.does(
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "editor", "version": "1" } }),
    );
    client.notify("notifications/initialized", json!({}));
    let arguments = json!({ "path": "a.txt", "content": "ONE\ntwo\nthree\n" });
    client.does("tools/call", json!({ "name": "writeFile", "arguments": arguments }));
    client.close_input();
    client.end().ok();
    let from = client_of(project);
    let id = project.begin_with(&["new", "--no-wait", "--json", "--from", &from, "make all of it large"]);
    let edit = "[EDIT_FILE path=\"a.txt\" start_line=\"2\" end_line=\"2\"]\nTWO\n[/EDIT_FILE]\n";
    project
        .apply(
            &format!("[READ_FILE path=\"a.txt\"]\n{edit}[CREATE_FILE path=\"b.txt\"]\nb\n[/CREATE_FILE]\n"),
            &[],
        )
        .ok();
    let begun = project.read("a.txt");
    assert_eq!(begun, "ONE\nTWO\nthree\n");
    // The agent finds the files of the others, and their story in the text.
    let script = "grep -q 'make all of it large' \"$COCODE_ISSUE_BODY_FILE\" && grep -q '^+TWO' \"$COCODE_ISSUE_BODY_FILE\" \
         && grep -q TWO a.txt && sed -i s/three/THREE/ a.txt && echo c > c.txt && git add -A && git commit -q -m 'cocode ready for check'";
    let agent = format!("fixer={script}");
    let from = format!("session:{id}");
    let ran = desk.cocode(&["run", "--issue", "5", "--from", &from, "--agent-cmd", &agent]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(project.read("a.txt"), begun);
    let pick = ["pick", "fixer"];
    let would = desk.cocode(&[&pick[..], &["--dry-run"]].concat());
    would.ok().prints("would be taken into the files");
    assert_eq!(project.read("a.txt"), begun);
    desk.cocode(&pick).ok().prints("has been taken into the files");
    assert_eq!(project.read("a.txt"), "ONE\nTWO\nTHREE\n");
    assert_eq!(project.read("c.txt"), "c\n");
    desk.cocode(&pick).ok().prints("is in the files already");
    assert_eq!(desk.git(&["log", "--format=%s"]), "three lines\nstart");
    project.run(&["undo", "--session", &id, "--with-origin"]).ok();
    assert_eq!(project.read("a.txt"), FILE);
    assert!(!project.has("b.txt") && !project.has("c.txt"));
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
}

#[test]
fn work_of_which_the_workspace_keeps_a_part_only_is_not_reported_as_taken_in() {
    for is_whole in [true, false] {
        let desk = Desk::new();
        let project = &desk.project;
        let id = project.begin_with(&["new", "--no-wait", "--json", "more files"]);
        project.apply("[CREATE_FILE path=\"b.txt\"]\nb\n[/CREATE_FILE]\n", &[]).ok();
        let script = "mkdir -p tool/refs; echo x | tee c.txt tool/refs/x; git add -A; git commit -q -m 'cocode ready for check'";
        let (from, agent) = (format!("session:{id}"), format!("fixer={script}"));
        desk.cocode(&["run", "--issue", "5", "--from", &from, "--agent-cmd", &agent]).ok();
        if !is_whole {
            // With the agent's file, the folder would be a repository.
            project.write("tool/HEAD", "ref: refs/heads/main\n").write("tool/objects/x", "x\n");
        }
        let ran = desk.cocode(&["pick", "fixer"]);
        assert_eq!(project.read("c.txt"), "x\n");
        assert_eq!(project.has("tool/refs/x"), is_whole);
        if is_whole {
            ran.ok().prints("has been taken into the files");
        } else {
            ran.exits(1).prints("is in the files in part only").prints("`agentd undo`").says("tool/refs/x");
        }
    }
}

#[test]
fn an_agent_continues_only_work_that_there_is() {
    let desk = Desk::new();
    let run = |from: &str| desk.run(&["--from", from, "--agent-cmd", "a=true"]);
    run("session:00000000").exits(2).says("there is no work of a conversation").says("have done something");
    let id = desk.project.begin_with(&["new", "--no-wait", "--json", "a task"]);
    run(&id).exits(2).says("there is no branch").says("session:");
}
