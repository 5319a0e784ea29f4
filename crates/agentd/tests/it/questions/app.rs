//! The two tools of the app `ui://agentd/review`.

use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::tasks::client::{bare, meta, older_with};

const REVIEW: [&str; 2] = ["--review", "--questions"];
const APP: &str = "ui://agentd/review";
const APP_TOOLS: [&str; 2] = ["reviewShow", "reviewDecide"];

/// The capabilities of a host that draws apps.
fn draws() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } } })
}

fn host(project: &Project) -> LineClient {
    older_with(project, &REVIEW, draws()).0
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("writeFile", json!({ "path": path, "content": content }))
}

fn begin(client: &mut LineClient, (tool, arguments): &(&str, Value)) -> u64 {
    client.request("tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Calls a tool of the app.
#[track_caller]
fn calls(client: &mut LineClient, tool: &str, arguments: Value) -> Value {
    client.does("tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Looks until the app is shown the proposal of a call.
#[track_caller]
fn pending_review(client: &mut LineClient, (tool, arguments): &(&str, Value)) -> Value {
    let mut review = Value::Null;
    eventually("the proposal is shown", || {
        review = calls(client, "reviewShow", json!({ "tool": tool, "arguments": arguments }));
        review["structuredContent"]["state"] == "pending"
    });
    review["structuredContent"].take()
}

#[track_caller]
fn decides(client: &mut LineClient, handle: &Value, decision: &str, comment: &str) -> Value {
    calls(client, "reviewDecide", json!({ "handle": handle, "decision": decision, "comment": comment }))
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn only_a_host_that_draws_apps_is_offered_the_tools_and_only_where_clients_may_answer() {
    let project = Project::new();
    for (options, capabilities, is_offered) in [
        (REVIEW.as_slice(), draws(), true),
        (&REVIEW, json!({}), false),
        (&REVIEW, json!({ "elicitation": {} }), false),
        (&REVIEW, json!({ "extensions": { "io.modelcontextprotocol/ui": {} } }), false),
        (&["--review"], draws(), false),
    ] {
        let (mut client, _) = older_with(&project, options, capabilities.clone());
        let list = client.does("tools/list", json!({}));
        for tool in APP_TOOLS {
            assert_eq!(names(&list).contains(&tool), is_offered, "{options:?} {capabilities}");
        }
        let ties = list.to_string().matches(APP).count();
        assert_eq!(ties > 0, is_offered, "{options:?} {capabilities}");
        // A name that was guessed is unknown, too.
        for tool in APP_TOOLS {
            let answer = client.ask("tools/call", json!({ "name": tool, "arguments": {} }));
            assert_eq!(answer["error"]["code"] == -32602, !is_offered, "{answer}");
        }
        client.end().ok();
    }
}

#[test]
fn the_reviewed_tools_are_tied_to_the_app_which_the_model_does_not_see() {
    let project = Project::new();
    let mut client = host(&project);
    let list = client.does("tools/list", json!({}));
    for tool in list["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let is_for_app = APP_TOOLS.contains(&name);
        let is_tied = is_for_app || ["writeFile", "modifyFile", "executeCommand"].contains(&name);
        for uri in [&tool["_meta"]["ui"]["resourceUri"], &tool["_meta"]["ui/resourceUri"]] {
            assert_eq!(uri == APP, is_tied, "{tool}");
        }
        assert_eq!(tool["_meta"]["ui"]["visibility"] == json!(["app"]), is_for_app, "{tool}");
    }
    let resources = client.does("resources/list", json!({}));
    assert_eq!(resources["resources"][0]["uri"], APP, "{resources}");
    let read = client.does("resources/read", json!({ "uri": APP }));
    let document = &read["contents"][0];
    assert_eq!(document["mimeType"], "text/html;profile=mcp-app");
    assert_eq!(document["_meta"]["ui"]["csp"]["connectDomains"], json!([]));
    assert!(document["text"].as_str().unwrap().starts_with("<!DOCTYPE html>"));
    client.end().ok();
}

#[test]
fn what_was_shown_lands_once_and_the_call_gets_its_outcome() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    let mut client = host(&project);
    let call = write("a.txt", "one\nTWO\n");
    let id = begin(&mut client, &call);
    let review = pending_review(&mut client, &call);
    let lines: Vec<_> = review["steps"][0]["lines"].as_array().unwrap().iter().collect();
    assert!(lines.contains(&&json!({ "kind": "removed", "text": "- two" })), "{review}");
    assert!(lines.contains(&&json!({ "kind": "added", "text": "+ TWO" })), "{review}");
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
    let landed = decides(&mut client, &review["handle"], "land", "");
    assert_eq!(text(&landed), "proposal 1 was carried out", "{landed}");
    assert_eq!(client.answer(id)["result"]["isError"], false);
    assert_eq!(project.read("a.txt"), "one\nTWO\n");
    project.write("a.txt", "mine\n");
    for handle in [&review["handle"], &review["view"], &json!("1"), &json!("")] {
        let again = decides(&mut client, handle, "land", "");
        assert!(again["isError"] == true && text(&again).contains("nothing was done"), "{again}");
    }
    assert_eq!(project.read("a.txt"), "mine\n");
    let after = calls(&mut client, "reviewShow", json!({ "view": review["view"] }));
    assert_eq!(after["structuredContent"]["state"], "landed", "{after}");
    assert_eq!(after["structuredContent"]["handle"], Value::Null);
    client.end().ok();
}

#[test]
fn what_is_sent_back_is_not_done_and_the_model_reads_why() {
    let project = Project::new();
    let mut client = host(&project);
    let call = ("executeCommand", json!({ "command": "touch ran" }));
    let id = begin(&mut client, &call);
    let review = pending_review(&mut client, &call);
    assert!(review.to_string().contains("$ touch ran"), "{review}");
    let back = decides(&mut client, &review["handle"], "sendBack", " Not there. ");
    assert_eq!(back["isError"], false, "{back}");
    let answer = client.answer(id)["result"].take();
    assert!(text(&answer).contains("LEFT_OUT") && text(&answer).contains("Not there."), "{answer}");
    assert!(!project.has("ran"));
    client.end().ok();
}

#[test]
fn a_verdict_about_what_has_changed_since_does_nothing() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = host(&project);
    let call = write("a.txt", "two\n");
    let id = begin(&mut client, &call);
    let review = pending_review(&mut client, &call);
    project.write("a.txt", "mine\n");
    let late = decides(&mut client, &review["handle"], "land", "");
    assert!(late["isError"] == true && text(&late).contains("changed"), "{late}");
    assert_eq!(project.read("a.txt"), "mine\n");
    let again =
        calls(&mut client, "reviewShow", json!({ "view": review["view"] }))["structuredContent"].take();
    assert!(again.to_string().contains("- mine"), "{again}");
    decides(&mut client, &again["handle"], "land", "");
    client.answer(id);
    assert_eq!(project.read("a.txt"), "two\n");
    client.end().ok();
}

#[test]
fn proposals_of_other_clients_cannot_be_opened() {
    let project = Project::new();
    let mut other = host(&project);
    let call = ("executeCommand", json!({ "command": "touch ran" }));
    begin(&mut other, &call);
    let review = pending_review(&mut other, &call);
    let mut client = host(&project);
    // The same words, in a call that this client has not made.
    let guessed = calls(&mut client, "reviewShow", json!({ "tool": call.0, "arguments": call.1 }));
    assert_eq!(guessed["structuredContent"], json!({ "state": "absent" }), "{guessed}");
    for arguments in [json!({ "proposal": 1 }), json!({ "view": 1 })] {
        let refused = calls(&mut client, "reviewShow", arguments);
        assert_eq!(refused["isError"], true, "{refused}");
    }
    // Another server process: what one has shown, another does not know.
    let foreign = decides(&mut client, &review["handle"], "land", "");
    assert_eq!(foreign["isError"], true, "{foreign}");
    assert!(!project.has("ran"));
    client.end().ok();
    decides(&mut other, &review["handle"], "sendBack", "");
}

#[test]
fn what_is_not_shown_whole_is_not_landed() {
    let project = Project::new();
    project.write(".env", "DB_PASS=hunter2\n");
    let mut client = host(&project);
    for call in [
        write("long.txt", &"line\n".repeat(4_000)),
        write("wide.txt", &"x".repeat(3_000)),
        write(".env", "DB_PASS=other\n"),
    ] {
        let id = begin(&mut client, &call);
        let review = pending_review(&mut client, &call);
        assert_eq!(review["isCut"], true, "{}", call.1["path"]);
        assert!(!review.to_string().contains("hunter2"));
        let refused = decides(&mut client, &review["handle"], "land", "");
        assert!(text(&refused).contains("`agentd review"), "{refused}");
        let again = calls(&mut client, "reviewShow", json!({ "view": review["view"] }));
        decides(&mut client, &again["structuredContent"]["handle"], "sendBack", "");
        assert_eq!(client.answer(id)["result"]["isError"], true);
    }
    assert_eq!(project.read(".env"), "DB_PASS=hunter2\n");
    assert!(!project.has("long.txt") && !project.has("wide.txt"));
    client.end().ok();
}

#[test]
fn a_host_of_the_newer_era_lands_what_a_call_without_a_session_proposes() {
    let project = Project::new();
    let mut client = bare(&project, &REVIEW);
    let with = |tool: &str, arguments: Value| json!({ "_meta": meta(&draws()), "name": tool, "arguments": arguments });
    let arguments = json!({ "path": "a.txt", "content": "one\n" });
    let id = client.request("tools/call", with("writeFile", arguments.clone()));
    let mut review = Value::Null;
    eventually("the proposal is shown", || {
        // Without the name of the tool, which hosts need not say.
        review = client.does("tools/call", with("reviewShow", json!({ "arguments": arguments })));
        review["structuredContent"]["state"] == "pending"
    });
    let handle = &review["structuredContent"]["handle"];
    client.does("tools/call", with("reviewDecide", json!({ "handle": handle, "decision": "land" })));
    assert_eq!(client.answer(id)["result"]["isError"], false);
    assert_eq!(project.read("a.txt"), "one\n");
    client.end().ok();
}
