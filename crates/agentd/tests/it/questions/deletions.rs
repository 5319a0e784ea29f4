//! Commands that delete many files.

use std::fs::File;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::tasks::client::{bare, meta, older_with};

const OPTIONS: [&str; 3] = ["--questions", "--ask-deletions", "2"];

fn project() -> Project {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.write(&format!("old/{name}.txt"), "old\n");
    }
    project
}

fn client(project: &Project, capabilities: Value) -> LineClient {
    older_with(project, &OPTIONS, capabilities).0
}

fn run(client: &mut LineClient, command: &str) -> u64 {
    client.request("tools/call", json!({ "name": "executeCommand", "arguments": { "command": command } }))
}

fn question(client: &mut LineClient) -> Value {
    client.wait_for("a question", |message| message["method"] == "elicitation/create")
}

fn say(client: &mut LineClient, question: &Value, result: &Value) {
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
}

fn carry_out() -> Value {
    json!({ "action": "accept", "content": { "decision": "carry out" } })
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn a_command_that_deletes_few_files_lands_without_a_question() {
    let project = project();
    let mut client = client(&project, json!({ "elicitation": {} }));
    let call = run(&mut client, "rm old/a.txt old/b.txt; echo ran >> ran; echo done");
    let answer = client.answer(call);
    assert!(text(&answer).ends_with("\ndone\n"), "{answer}");
    assert!(!project.has("old/a.txt") && project.has("old/c.txt"));
    assert_eq!(project.read("ran"), "ran\n");
    client.end().ok();
}

#[test]
fn a_command_that_deletes_many_files_is_asked_about_and_lands_as_it_was_tried() {
    let project = project();
    let mut client = client(&project, json!({ "elicitation": {} }));
    let call = run(&mut client, "rm -r old; echo ran >> ran; echo done");
    let form = question(&mut client);
    let message = form["params"]["message"].as_str().unwrap();
    let files = "It deletes 3 files:\n- old/a.txt\n- old/b.txt\n- old/c.txt\n";
    assert!(message.contains(files) && message.contains("$ rm -r old; echo ran"), "{message}");
    assert!(project.has("old/a.txt") && !project.has("ran"), "it was only tried outside of the folder");
    say(&mut client, &form, &carry_out());
    let answer = client.answer(call);
    assert!(text(&answer).ends_with("\ndone\n"), "{answer}");
    assert!(!project.has("old/a.txt"));
    assert_eq!(project.read("ran"), "ran\n", "it was not run again");
    client.end().ok();
}

#[test]
fn what_is_not_allowed_deletes_nothing() {
    let project = project();
    let mut client = client(&project, json!({ "elicitation": {} }));
    let call = run(&mut client, "rm -r old");
    let form = question(&mut client);
    say(&mut client, &form, &json!({ "action": "decline" }));
    assert!(text(&client.answer(call)).contains("LEFT_OUT"));
    let call = run(&mut client, "rm -rf old");
    let form = question(&mut client);
    // An empty consent decides nothing: the call waits on for the user.
    say(&mut client, &form, &json!({ "action": "accept" }));
    assert!(client.is_silent());
    assert!(project.has("old/a.txt"));
    client.notify("notifications/cancelled", json!({ "requestId": call }));
    client.end().ok();
}

#[test]
fn a_client_without_forms_waits_for_the_review() {
    let project = project();
    let mut client = client(&project, json!({}));
    let call = run(&mut client, "rm -r old; echo done");
    // Before there is a proposal, and before it is tried, it cannot land.
    eventually("it can land", || {
        assert!(project.has("old/a.txt"));
        project.run(&["review", "1", "--land"]).code == 0
    });
    let answer = text(&client.answer(call)).to_owned();
    assert!(answer.contains("done"), "{answer}");
    assert!(!project.has("old/a.txt"));
    client.end().ok();
}

#[test]
fn a_command_that_is_left_running_is_asked_about_before_it_starts() {
    let project = project();
    let mut client = client(&project, json!({ "elicitation": {} }));
    let arguments = json!({ "command": "echo ready; sleep 60", "background": "web", "ready": "ready" });
    let call = client.request("tools/call", json!({ "name": "executeCommand", "arguments": arguments }));
    let form = question(&mut client);
    assert!(form["params"]["message"].as_str().unwrap().contains("left running as 'web'"), "{form}");
    say(&mut client, &form, &json!({ "action": "decline" }));
    assert!(text(&client.answer(call)).contains("LEFT_OUT"));
    client.end().ok();
}

#[test]
fn commands_cannot_go_around_it_as_tasks() {
    let project = project();
    let (mut client, info) = older_with(&project, &OPTIONS, json!({}));
    assert_eq!(info["capabilities"]["tasks"], Value::Null, "{info}");
    let call = json!({ "name": "executeCommand", "arguments": { "command": "rm -r old" }, "task": {} });
    let refused = client.ask("tools/call", call);
    assert_eq!(refused["error"]["code"], -32_601, "{refused}");
    assert!(project.has("old/a.txt"));
    client.end().ok();
}

#[test]
fn the_newer_era_is_asked_by_its_answer_and_a_replay_does_nothing() {
    let project = project();
    let mut client = bare(&project, &OPTIONS);
    let mut call = json!({
        "_meta": meta(&json!({ "elicitation": { "form": {} } })),
        "name": "executeCommand",
        "arguments": { "command": "rm -r old; echo ran >> ran; echo done" }
    });
    let question = client.does("tools/call", call.clone());
    assert!(question.to_string().contains("It deletes 3 files"), "{question}");
    call["requestState"] = question["requestState"].clone();
    call["inputResponses"] = json!({ "review": carry_out() });
    let ran = client.does("tools/call", call.clone());
    assert!(ran["content"][0]["text"].as_str().unwrap().ends_with("\ndone\n"), "{ran}");
    assert!(!project.has("old/a.txt"));
    // The files are there again: the old consent is not one for them.
    project.write("old/a.txt", "a\n").write("old/b.txt", "b\n").write("old/c.txt", "c\n");
    let again = client.does("tools/call", call);
    assert_eq!(again["resultType"], "input_required", "{again}");
    assert!(project.has("old/a.txt"));
    assert_eq!(project.read("ran"), "ran\n");
    client.end().ok();
}

#[test]
fn a_file_is_deleted_also_if_no_journal_keeps_it_or_something_else_takes_its_place() {
    for command in [
        // Nothing brings these back.
        "rm old/*.large",
        "rm old/*.link",
        "rm old/*.pipe",
        "for file in old/*.txt; do rm $file; mkdir $file; done",
        "for file in old/*.txt; do ln -sf /dev/null $file; done",
    ] {
        let project = project();
        for name in ["a", "b", "c"] {
            let large = File::create(project.workspace().join(format!("old/{name}.large"))).unwrap();
            large.set_len(17 << 20).unwrap();
            symlink("/dev/null", project.workspace().join(format!("old/{name}.link"))).unwrap();
            let pipe = project.workspace().join(format!("old/{name}.pipe"));
            mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        let mut client = client(&project, json!({ "elicitation": {} }));
        run(&mut client, command);
        let form = question(&mut client);
        let message = form["params"]["message"].as_str().unwrap();
        assert!(message.contains("It deletes 3 files:\n- old/a."), "{command}: {message}");
        say(&mut client, &form, &json!({ "action": "decline" }));
        client.end().ok();
    }
}
