//! Clients of 2026-07-28, where each request is independent.

use contributed_tools::ExampleServer;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{Stream, post, stateless, stateless_request};

const FORMS: &str = r#"{"elicitation":{}}"#;

fn call(server: &ExampleServer, name: &str, more: &[(&str, Value)]) -> Value {
    let mut params = json!({ "name": name, "arguments": {} });
    for (field, value) in more {
        params[*field] = value.clone();
    }
    let capabilities = serde_json::from_str(FORMS).unwrap();
    stateless(server.address(), capabilities, "tools/call", params).1
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn a_tool_asks_and_is_called_again_with_the_answer() {
    let server = ExampleServer::start().unwrap();
    let question = call(&server, "test_input_required_result_elicitation", &[]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&question["result"]["inputRequests"]).unwrap());
    let answers = json!({ "user_name": accepted(json!({ "name": "Ada" })) });
    let answered = call(&server, "test_input_required_result_elicitation", &[("inputResponses", answers)]);
    assert_eq!(answered["result"]["content"][0]["text"], "Hello, Ada!", "{answered}");
}

#[test]
fn an_answer_without_consent_is_none() {
    let server = ExampleServer::start().unwrap();
    for answer in [
        json!({ "action": "decline", "content": { "name": "Ada" } }),
        json!({ "content": { "name": "Ada" } }),
        json!({ "action": "accept" }),
    ] {
        let answers = ("inputResponses", json!({ "user_name": answer }));
        let again = call(&server, "test_input_required_result_elicitation", &[answers]);
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    }
}

#[test]
fn a_state_counts_once_and_for_its_call_only() {
    let server = ExampleServer::start().unwrap();
    let tool = "test_input_required_result_request_state";
    let question = call(&server, tool, &[]);
    let state = &question["result"]["requestState"];
    assert!(state.as_str().is_some_and(|state| !state.contains("consent")), "{question}");
    let answers = ("inputResponses", json!({ "confirm": accepted(json!({ "ok": true })) }));
    let with = |tool: &str, state: Value| call(&server, tool, &[answers.clone(), ("requestState", state)]);
    // Another tool, and a name that was changed, are refused and use nothing up.
    assert_eq!(with("test_input_required_result_tampered_state", state.clone())["error"]["code"], -32602);
    assert_eq!(with(tool, json!("invented"))["error"]["code"], -32602);
    let done = with(tool, state.clone());
    assert_eq!(done["result"]["content"][0]["text"], "state-ok: requestState validated", "{done}");
    assert_eq!(with(tool, state.clone())["error"]["code"], -32602, "it was used");
}

#[test]
fn what_a_client_cannot_be_asked_is_an_error_that_names_it() {
    let server = ExampleServer::start().unwrap();
    let params = || json!({ "name": "test_missing_capability", "arguments": {} });
    let (status, refused) = stateless(server.address(), json!({}), "tools/call", params());
    assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32021)), "{refused}");
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({ "sampling": {} }));
    let (_, question) = stateless(server.address(), json!({ "sampling": {} }), "tools/call", params());
    assert_eq!(question["result"]["resultType"], "input_required", "{question}");
}

#[test]
fn resources_and_prompts_of_the_example_are_listed_and_read() {
    let server = ExampleServer::start().unwrap();
    let ask = |method: &str, params: Value| stateless(server.address(), json!({}), method, params).1;
    let read = ask("resources/read", json!({ "uri": "test://template/7/data" }));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("Data for ID: 7"), "{read}");
    for missing in ["test://template/../data", "test://nothing", "agentd://run/1"] {
        let refused = ask("resources/read", json!({ "uri": missing }));
        assert!(refused["error"].is_object(), "{missing}: {refused}");
    }
    let prompts = ask("prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"].as_array().unwrap().len(), 5, "{prompts}");
    let filled = ask(
        "prompts/get",
        json!({ "name": "test_prompt_with_arguments", "arguments": { "arg1": "a", "arg2": "b" } }),
    );
    let text = &filled["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Prompt with arguments: arg1='a', arg2='b'", "{filled}");
}

#[test]
fn the_tools_of_the_workspace_stay_its_own() {
    let server = ExampleServer::start().unwrap();
    let read = call(&server, "readFile", &[("arguments", json!({ "path": "hello.txt" }))]);
    assert!(read["result"]["content"][0]["text"].as_str().unwrap().contains("Hello!"), "{read}");
    assert_eq!(call(&server, "undo", &[])["error"]["code"], -32602);
}

/// Calls the tool that logs, and returns the levels of the messages before its answer.
fn logged(server: &ExampleServer, meta: Value) -> Vec<Value> {
    let params = json!({ "name": "test_logging_tool", "_meta": meta });
    let (headers, message) = stateless_request(json!({}), "tools/call", params);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut messages = post(server.address(), &headers, &message).messages;
    let answer = messages.pop().unwrap();
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert!(messages.iter().all(|message| message["method"] == "notifications/message"), "{messages:?}");
    messages.iter().map(|message| message["params"]["level"].clone()).collect()
}

#[test]
fn log_messages_come_only_to_a_request_that_asks_for_them() {
    let server = ExampleServer::start().unwrap();
    let none: [Value; 0] = [];
    assert_eq!(logged(&server, json!({})), none);
    let level = |level: &str| json!({ "io.modelcontextprotocol/logLevel": level });
    assert_eq!(logged(&server, level("debug")), ["debug", "warning", "error"]);
    assert_eq!(logged(&server, level("warning")), ["warning", "error"]);
    assert_eq!(logged(&server, json!({})), none);
}

#[test]
fn a_subscription_is_notified_of_the_resource_that_changes() {
    let server = ExampleServer::start().unwrap();
    let wanted = ["test://watched-resource", "test://static-text"];
    let params = json!({ "notifications": { "resourceSubscriptions": wanted } });
    let (headers, message) = stateless_request(json!({}), "subscriptions/listen", params);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut stream = Stream::open(server.address(), "POST", &headers, &message.to_string());
    let acknowledged = stream.next().unwrap();
    let expected = json!({ "resourceSubscriptions": ["test://watched-resource"] });
    assert_eq!(acknowledged["params"]["notifications"], expected, "{acknowledged}");
    // Once since it was acknowledged before the server looked at it, then for each change.
    for _ in 0..3 {
        let updated = stream.next().unwrap();
        assert_eq!(updated["method"], "notifications/resources/updated", "{updated}");
        assert_eq!(updated["params"]["uri"], "test://watched-resource");
        call(&server, "test_change_watched_resource", &[]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn no_invented_answer_is_taken_for_a_consent(action in "[a-z]{0,8}", ok in any::<bool>()) {
        prop_assume!(action != "accept" || !ok);
        let server = ExampleServer::start().unwrap();
        let tool = "test_input_required_result_request_state";
        let state = call(&server, tool, &[])["result"]["requestState"].clone();
        let answers = json!({ "confirm": { "action": action, "content": { "ok": ok } } });
        let again = call(&server, tool, &[("inputResponses", answers), ("requestState", state)]);
        prop_assert_eq!(&again["result"]["resultType"], "input_required");
    }
}
