//! The experimental tasks of 2025-11-25.

use serde_json::{Value, json};

use super::client::{LAYERLESS, as_task, begin, older, older_with, result, state};
use crate::fixture::daemon::eventually;
use crate::fixture::project::Project;

#[test]
fn the_list_says_which_tool_can_be_a_task() {
    let project = Project::new();
    let (mut client, info) = older_with(&project, &[], json!({}));
    assert!(info["capabilities"]["tasks"]["requests"]["tools"]["call"].is_object(), "{info}");
    let list = client.does("tools/list", json!({}));
    let support = |tool: &Value| (tool["name"].clone(), tool["execution"]["taskSupport"].clone());
    let supports: Vec<_> = list["tools"].as_array().unwrap().iter().map(support).collect();
    for (name, support) in supports {
        let is_command = name == "executeCommand";
        assert_eq!(support, if is_command { json!("optional") } else { Value::Null }, "{name}");
    }
    client.end().ok();
}

#[test]
fn a_task_is_created_polled_fetched_and_listed() {
    let project = Project::new();
    let mut client = older(&project, &LAYERLESS);
    let id = begin(&mut client, "while [ ! -e go ]; do sleep 0.05; done; echo done");
    let working = state(&mut client, &id);
    assert_eq!(working["status"], "working", "{working}");
    assert!(working["statusMessage"].as_str().unwrap().contains("echo done"), "{working}");
    // The result is awaited, while other calls are answered.
    let waiting = client.request("tasks/result", json!({ "taskId": id }));
    client.does("tools/call", json!({ "name": "writeFile", "arguments": { "path": "go", "content": "" } }));
    let fetched = client.answer(waiting);
    let text = fetched["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("exit code 0 ") && text.ends_with("\ndone\n"), "{fetched}");
    let related = &fetched["result"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
    assert_eq!(*related, json!(id));
    assert_eq!(state(&mut client, &id)["status"], "completed");
    // Again, as often as a client wants.
    assert!(result(&mut client, &id).0.ends_with("\ndone\n"));
    let other = begin(&mut client, "echo other");
    result(&mut client, &other);
    let list = client.does("tasks/list", json!({}));
    let ids: Vec<_> = list["tasks"].as_array().unwrap().iter().map(|task| task["taskId"].clone()).collect();
    assert_eq!(ids, [json!(other), json!(id)], "the newest first");
    client.end().ok();
}

#[test]
fn a_cancelled_task_kills_its_command_and_stays_cancelled() {
    let project = Project::new();
    let mut client = older(&project, &LAYERLESS);
    let id = begin(&mut client, "touch begun; sleep 600; touch ended");
    eventually("the command runs", || project.has("begun"));
    let cancelled = client.does("tasks/cancel", json!({ "taskId": id }));
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    let (text, is_error) = result(&mut client, &id);
    assert!(is_error && text.contains("CANCELLED"), "{text}");
    let again = client.ask("tasks/cancel", json!({ "taskId": id }));
    assert_eq!(again["error"]["code"], -32_602, "{again}");
    // The next command has its turn, so the other one is gone.
    let next = begin(&mut client, "echo next");
    assert!(result(&mut client, &next).0.ends_with("\nnext\n"));
    assert!(!project.has("ended"));
    client.end().ok();
}

#[test]
fn a_command_that_fails_or_is_refused_is_a_task_that_failed() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    // An exit code is a result like any other.
    let id = begin(&mut client, "exit 3");
    let (text, is_error) = result(&mut client, &id);
    assert!(!is_error && text.starts_with("exit code 3 "), "{text}");
    assert_eq!(state(&mut client, &id)["status"], "completed");
    let call = json!({
        "name": "executeCommand", "task": {}, "arguments": { "command": "true", "workingDirectory": "missing" }
    });
    let id = client.does("tools/call", call)["task"]["taskId"].as_str().unwrap().to_owned();
    let (text, is_error) = result(&mut client, &id);
    assert!(is_error && text.contains("PATH_NOT_FOUND"), "{text}");
    assert_eq!(state(&mut client, &id)["status"], "failed");
    client.end().ok();
}

#[test]
fn what_is_no_task_says_so() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    let code = |answer: Value| answer["error"]["code"].as_i64();
    let mut read = as_task("");
    read["name"] = json!("readFile");
    assert_eq!(code(client.ask("tools/call", read)), Some(-32_601));
    let mut background = as_task("sleep 60");
    background["arguments"]["background"] = json!("server");
    assert_eq!(code(client.ask("tools/call", background)), Some(-32_602));
    let unknown = ["task-0", "../../etc", "task-01a213ddf31d-70069bd591344fb1a0c3d00d2d616961"];
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        for id in unknown {
            let answer = client.ask(method, json!({ "taskId": id }));
            assert!(answer["error"]["message"].as_str().unwrap().contains("there is no task"), "{answer}");
        }
        assert_eq!(code(client.ask(method, json!({}))), Some(-32_602));
    }
    assert_eq!(code(client.ask("tasks/list", json!({ "cursor": "nonsense" }))), Some(-32_602));
    assert_eq!(code(client.ask("tasks/forget", json!({}))), Some(-32_601));
    client.end().ok();
}

#[test]
fn a_bounded_number_of_tasks_runs_at_once() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    let ids: Vec<String> = (0..32).map(|_| begin(&mut client, "sleep 600")).collect();
    let refused = client.ask("tools/call", as_task("true"));
    assert!(refused["error"]["message"].as_str().unwrap().contains("32 tasks run or wait"), "{refused}");
    for id in &ids {
        assert_eq!(client.does("tasks/cancel", json!({ "taskId": id }))["status"], "cancelled");
    }
    let id = begin(&mut client, "echo room");
    assert!(result(&mut client, &id).0.ends_with("\nroom\n"));
    client.end().ok();
}

#[test]
fn a_task_shows_no_secret_in_its_state_its_result_or_its_record() {
    let project = Project::new();
    let secret = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
    project.write("a.txt", &format!("token = \"{secret}\"\n"));
    let mut client = older(&project, &[]);
    let read = json!({ "name": "readFile", "arguments": { "path": "a.txt" } });
    let placeholder = "⟦secret:github-pat:1⟧";
    assert!(client.does("tools/call", read).to_string().contains(placeholder));
    // The placeholder stands for the value in the command, and the value for the placeholder in what comes back.
    let id = begin(&mut client, &format!("grep -c '{placeholder}' a.txt; cat a.txt"));
    let (text, _) = result(&mut client, &id);
    assert!(text.contains("\n1\n") && text.contains(placeholder) && !text.contains(&secret), "{text}");
    let working = state(&mut client, &id).to_string();
    assert!(working.contains(placeholder) && !working.contains(&secret), "{working}");
    let list = client.does("tasks/list", json!({})).to_string();
    assert!(list.contains(placeholder) && !list.contains(&secret), "{list}");
    client.end().ok();
}
