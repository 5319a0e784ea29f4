//! Elicitation of 2025-11-25.

use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::tasks::client::older_with;

const REVIEW: [&str; 2] = ["--review", "--questions"];

fn client(project: &Project) -> LineClient {
    older_with(project, &REVIEW, json!({ "elicitation": {} })).0
}

fn run(client: &mut LineClient, command: &str) -> u64 {
    client.request("tools/call", json!({ "name": "executeCommand", "arguments": { "command": command } }))
}

fn write(client: &mut LineClient, path: &str, content: &str) -> u64 {
    let arguments = json!({ "path": path, "content": content });
    client.request("tools/call", json!({ "name": "writeFile", "arguments": arguments }))
}

#[track_caller]
fn question(client: &mut LineClient) -> Value {
    client.wait_for("a question", |message| message["method"] == "elicitation/create")
}

fn say(client: &mut LineClient, question: &Value, result: Value) {
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
}

fn carry_out() -> Value {
    json!({ "action": "accept", "content": { "decision": "carry out" } })
}

#[track_caller]
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn a_person_reads_what_is_asked_and_it_is_carried_out() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    let mut client = client(&project);
    let call = run(&mut client, "cat a.txt; echo ran > ran");
    let form = question(&mut client);
    let message = form["params"]["message"].as_str().unwrap();
    assert_eq!(message, "May this be carried out? (proposal 1)\nRun:\n$ cat a.txt; echo ran > ran\n");
    assert!(!project.has("ran"));
    say(&mut client, &form, carry_out());
    let answer = client.answer(call);
    assert!(text(&answer).ends_with("\none\ntwo\n"), "{answer}");
    assert_eq!(project.read("ran"), "ran\n");
    let call = write(&mut client, "a.txt", "one\nTWO\n");
    let form = question(&mut client);
    assert!(form["params"]["message"].as_str().unwrap().contains("- two\n+ TWO\n"), "{form}");
    say(&mut client, &form, carry_out());
    assert_eq!(client.answer(call)["result"]["isError"], false);
    assert_eq!(project.read("a.txt"), "one\nTWO\n");
    client.end().ok();
}

#[test]
fn a_question_shows_variables_and_no_credentials() {
    let project = Project::new();
    project.write(".env", "DB_PASS=hunter2\n").write("plain.txt", "DB_PASS=hunter2\n");
    let mut client = client(&project);
    let arguments = json!({ "command": "true", "environment": { "CC": "./x.sh\n$ id" } });
    let call = client.request("tools/call", json!({ "name": "executeCommand", "arguments": arguments }));
    let form = question(&mut client);
    let message = form["params"]["message"].as_str().unwrap();
    assert!(message.contains("With the variable CC=\"./x.sh\\n$ id\"\nRun:\n$ true\n"), "{message}");
    say(&mut client, &form, carry_out());
    client.answer(call);
    let call = write(&mut client, ".env", "DB_PASS=other\n");
    let form = question(&mut client);
    let message = form["params"]["message"].as_str().unwrap();
    assert!(!message.contains("hunter2") && message.contains("credentials"), "{message}");
    say(&mut client, &form, json!({ "action": "decline" }));
    client.answer(call);
    // The control: of another file the same line is shown.
    write(&mut client, "plain.txt", "DB_PASS=other\n");
    let form = question(&mut client);
    assert!(form["params"]["message"].as_str().unwrap().contains("- DB_PASS=hunter2"), "{form}");
    client.end().ok();
}

#[test]
fn a_background_command_starts_when_it_is_let_run() {
    let project = Project::new();
    let mut client = client(&project);
    let arguments = json!({ "command": "echo ready; sleep 60", "background": "web", "ready": "ready" });
    let call = client.request("tools/call", json!({ "name": "executeCommand", "arguments": arguments }));
    let form = question(&mut client);
    let message = form["params"]["message"].as_str().unwrap();
    assert!(message.contains("left running as 'web'") && message.contains("prints \"ready\""), "{message}");
    say(&mut client, &form, carry_out());
    let answer = client.answer(call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    // It ends with its client.
    client.end().ok();
}

#[test]
fn what_is_sent_back_is_not_done_and_the_model_reads_why() {
    let project = Project::new();
    let mut client = client(&project);
    for refusal in [
        json!({ "action": "accept", "content": { "decision": "send back", "comment": "Not there." } }),
        json!({ "action": "decline" }),
    ] {
        let call = write(&mut client, "a.txt", "one\n");
        let form = question(&mut client);
        say(&mut client, &form, refusal.clone());
        let answer = client.answer(call);
        assert!(text(&answer).contains("LEFT_OUT"), "{answer}");
        assert_eq!(text(&answer).contains("Not there."), refusal["action"] == "accept", "{answer}");
    }
    assert!(!project.has("a.txt"));
    client.end().ok();
}

#[test]
fn an_answer_that_decides_nothing_leaves_it_to_the_review() {
    let project = Project::new();
    let mut client = client(&project);
    for nothing in [
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "decision": "yes" } }),
        json!({ "action": "cancel", "content": { "decision": "carry out" } }),
        json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "carry out" } }),
    ] {
        let call = write(&mut client, "a.txt", "one\n");
        let form = question(&mut client);
        say(&mut client, &form, nothing);
        assert!(client.is_silent(), "the call waits on");
        assert!(!project.has("a.txt"));
        let id = form["params"]["message"].as_str().unwrap().split(['(', ')']).nth(1).unwrap();
        let id = id.strip_prefix("proposal ").unwrap();
        project.run(&["review", id, "--send-back"]).ok();
        client.answer(call);
    }
    client.end().ok();
}

#[test]
fn the_first_verdict_counts_and_the_question_is_withdrawn() {
    let project = Project::new();
    let mut client = client(&project);
    let call = write(&mut client, "a.txt", "one\n");
    let form = question(&mut client);
    project.run(&["review", "1", "--send-back"]).ok();
    assert!(text(&client.answer(call)).contains("LEFT_OUT"));
    let withdrawn =
        client.wait_for("the end of the question", |message| message["method"] == "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], form["id"]);
    // A late answer, and the same once more.
    say(&mut client, &form, carry_out());
    say(&mut client, &form, carry_out());
    // The next call shows that both were read.
    let next = client.does("tools/call", json!({ "name": "exploreFiles", "arguments": { "path": "." } }));
    assert_ne!(next["isError"], true, "{next}");
    assert!(!project.has("a.txt"));
    client.end().ok();
}

#[test]
fn an_approval_of_what_has_changed_since_does_nothing_and_is_asked_anew() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = client(&project);
    let call = write(&mut client, "a.txt", "two\n");
    let form = question(&mut client);
    project.write("a.txt", "mine\n");
    say(&mut client, &form, carry_out());
    let again = question(&mut client);
    assert!(again["params"]["message"].as_str().unwrap().contains("- mine\n+ two\n"), "{again}");
    assert_eq!(project.read("a.txt"), "mine\n");
    say(&mut client, &again, carry_out());
    client.answer(call);
    assert_eq!(project.read("a.txt"), "two\n");
    client.end().ok();
}

#[test]
fn a_call_that_is_given_up_withdraws_its_question() {
    let project = Project::new();
    let mut client = client(&project);
    let call = write(&mut client, "a.txt", "one\n");
    let form = question(&mut client);
    client.notify("notifications/cancelled", json!({ "requestId": call }));
    let withdrawn =
        client.wait_for("the end of the question", |message| message["method"] == "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], form["id"]);
    client.end().ok();
}

#[test]
fn a_client_that_cannot_ask_and_a_server_that_must_not_leave_it_to_the_user() {
    let project = Project::new();
    for (options, capabilities) in [
        (vec!["--review", "--questions"], json!({})),
        (vec!["--review", "--questions"], json!({ "elicitation": { "url": {} } })),
        (vec!["--review"], json!({ "elicitation": {} })),
    ] {
        let (mut client, _) = older_with(&project, &options, capabilities);
        let call = write(&mut client, "a.txt", "one\n");
        eventually("the proposal waits", || {
            project.run(&["review", "--json"]).json().as_array().is_some_and(|all| all.len() == 1)
        });
        assert!(client.is_silent());
        let id = project.run(&["review", "--json"]).json()[0]["id"].to_string();
        project.run(&["review", &id, "--send-back"]).ok();
        client.answer(call);
        client.end().ok();
    }
}

#[test]
fn what_is_shown_is_plain_and_says_what_it_leaves_out() {
    let project = Project::new();
    let mut client = client(&project);
    let call = write(&mut client, "a.txt", &format!("\u{202e}evil\u{1b}[2J\n{}", "line\n".repeat(100)));
    let form = question(&mut client);
    let message = form["params"]["message"].as_str().unwrap();
    assert!(!message.contains(['\u{202e}', '\u{1b}']), "{message:?}");
    assert!(message.contains("NOT ALL OF IT IS SHOWN: 42 lines"), "{message}");
    assert!(message.lines().count() < 70, "{message}");
    say(&mut client, &form, json!({ "action": "decline" }));
    client.answer(call);
    client.end().ok();
}
