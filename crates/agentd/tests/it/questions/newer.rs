//! Answers of 2026-07-28 that require input.

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::tasks::client::{bare, meta};

const REVIEW: [&str; 2] = ["--review", "--questions"];

fn elicits() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn command(text: &str) -> Value {
    json!({ "_meta": meta(&elicits()), "name": "executeCommand", "arguments": { "command": text } })
}

fn with(mut call: Value, state: &Value, answer: Value) -> Value {
    call["requestState"] = state.clone();
    call["inputResponses"] = json!({ "review": answer });
    call
}

fn carry_out() -> Value {
    json!({ "action": "accept", "content": { "decision": "carry out" } })
}

/// Makes a call that is answered with a question, and returns the handle for the answer.
#[track_caller]
fn question_about(client: &mut LineClient, call: Value) -> Value {
    let answer = client.does("tools/call", call);
    assert_eq!(answer["resultType"], "input_required", "{answer}");
    let message = &answer["inputRequests"]["review"]["params"]["message"];
    assert!(message.as_str().unwrap().starts_with("May this be carried out?"), "{answer}");
    answer["requestState"].clone()
}

#[test]
fn a_call_is_made_again_with_the_answer_and_carried_out_once() {
    let project = Project::new();
    let mut client = bare(&project, &REVIEW);
    let call = command("echo ran >> ran; echo done");
    let state = question_about(&mut client, call.clone());
    assert!(!project.has("ran"));
    let answered = with(call.clone(), &state, carry_out());
    let ran = client.does("tools/call", answered.clone());
    assert_eq!(ran["resultType"], "complete", "{ran}");
    assert!(ran["content"][0]["text"].as_str().unwrap().ends_with("\ndone\n"), "{ran}");
    // Replayed, it does nothing: it is a new call, about which is asked anew.
    assert_ne!(question_about(&mut client, answered), state);
    assert_eq!(project.read("ran"), "ran\n");
    client.end().ok();
}

#[test]
fn a_forged_answer_and_one_for_another_call_do_nothing() {
    let project = Project::new();
    let mut client = bare(&project, &REVIEW);
    let call = command("touch harmless");
    let state = question_about(&mut client, call.clone());
    for forged in [json!("0"), json!(""), json!("1"), json!("8d94d4b1098345e5ae880f2c79c59b27")] {
        question_about(&mut client, with(call.clone(), &forged, carry_out()));
    }
    question_about(&mut client, with(command("touch harmful"), &state, carry_out()));
    // An answer without the state that names its question.
    let mut bare_answer = command("touch harmful");
    bare_answer["inputResponses"] = json!({ "review": carry_out() });
    question_about(&mut client, bare_answer);
    assert!(!project.has("harmful") && !project.has("harmless"));
    client.end().ok();
}

#[test]
fn what_was_decided_elsewhere_is_answered_with_that_decision() {
    let project = Project::new();
    let mut client = bare(&project, &REVIEW);
    let call = command("touch ran");
    let state = question_about(&mut client, call.clone());
    project.run(&["review", "1", "--send-back", "--say", "Not now."]).ok();
    let late = client.does("tools/call", with(call, &state, carry_out()));
    let text = late["content"][0]["text"].as_str().unwrap();
    assert!(late["isError"] == true && text.contains("Not now."), "{late}");
    assert!(!project.has("ran"));
    client.end().ok();
}

#[test]
fn an_answer_that_comes_at_once_gets_its_outcome() {
    let project = Project::new();
    let mut client = bare(&project, &REVIEW);
    for (number, answer) in (0..10).map(|number| (number, number % 2 == 0)) {
        let path = format!("{number}.txt");
        let arguments = json!({ "path": path, "content": "one\n" });
        let call = json!({ "_meta": meta(&elicits()), "name": "writeFile", "arguments": arguments });
        let state = question_about(&mut client, call.clone());
        let verdict = if answer { carry_out() } else { json!({ "action": "decline" }) };
        let outcome = client.does("tools/call", with(call, &state, verdict));
        assert_eq!(outcome["isError"], !answer, "{outcome}");
        assert_eq!(outcome.to_string().contains("LEFT_OUT"), !answer, "{outcome}");
        assert_eq!(project.has(&path), answer);
    }
    client.end().ok();
}

#[test]
fn an_answer_that_decides_nothing_names_what_the_user_can_run() {
    let project = Project::new();
    let mut client = bare(&project, &REVIEW);
    for nothing in
        [json!({ "action": "cancel" }), json!({ "action": "accept" }), json!("carry out"), json!(null)]
    {
        let call = command("touch ran");
        let state = question_about(&mut client, call.clone());
        let answer = client.does("tools/call", with(call, &state, nothing));
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("PENDING_REVIEW") && text.contains("`agentd review 1`"), "{answer}");
    }
    assert!(!project.has("ran"));
    client.end().ok();
}

#[test]
fn an_approval_of_what_has_changed_since_does_nothing() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = bare(&project, &REVIEW);
    let arguments = json!({ "path": "a.txt", "content": "two\n" });
    let call = json!({ "_meta": meta(&elicits()), "name": "writeFile", "arguments": arguments });
    let state = question_about(&mut client, call.clone());
    project.write("a.txt", "mine\n");
    let next = question_about(&mut client, with(call.clone(), &state, carry_out()));
    assert_eq!(project.read("a.txt"), "mine\n");
    client.does("tools/call", with(call, &next, carry_out()));
    assert_eq!(project.read("a.txt"), "two\n");
    client.end().ok();
}
