//! MCP clients of both eras on standard input and output, with what they ask.

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

/// Starts a server with a client of the older era.
pub(crate) fn older(project: &Project, options: &[&str]) -> LineClient {
    let mut client = bare(project, options);
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    });
    let info = client.does("initialize", hello);
    assert_eq!(info["capabilities"]["resources"]["subscribe"], true, "{info}");
    client.notify("notifications/initialized", json!({}));
    client
}

/// Starts a server without saying anything to it.
pub(crate) fn bare(project: &Project, options: &[&str]) -> LineClient {
    let mut arguments = vec!["mcp"];
    arguments.extend(options);
    LineClient::start(project.command(&arguments))
}

/// The parameters of a request of the newer era.
pub(crate) fn newer(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    params
}

/// Calls a tool that succeeds.
#[track_caller]
pub(crate) fn tool(client: &mut LineClient, name: &str, arguments: Value) -> String {
    let result = client.does("tools/call", json!({ "name": name, "arguments": arguments }));
    assert_ne!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[track_caller]
pub(crate) fn write(client: &mut LineClient, path: &str, content: &str) {
    tool(client, "writeFile", json!({ "path": path, "content": content }));
}

/// The text of a resource.
#[track_caller]
pub(crate) fn read(client: &mut LineClient, uri: &str) -> String {
    let read = client.does("resources/read", json!({ "uri": uri }));
    assert_eq!(read["contents"][0]["uri"], uri, "{read}");
    read["contents"][0]["text"].as_str().unwrap().to_owned()
}

/// The names of the first part of the list.
#[track_caller]
pub(crate) fn listed(client: &mut LineClient) -> Vec<String> {
    let list = client.does("resources/list", json!({}));
    let resources = list["resources"].as_array().unwrap().iter();
    resources.map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

/// The texts of a prompt's messages, embedded resources too.
#[track_caller]
pub(crate) fn prompt(client: &mut LineClient, name: &str, arguments: Value) -> String {
    let result = client.does("prompts/get", json!({ "name": name, "arguments": arguments }));
    let text = |message: &Value| {
        let content = &message["content"];
        content["text"].as_str().or(content["resource"]["text"].as_str()).unwrap().to_owned()
    };
    result["messages"].as_array().unwrap().iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The completions of an argument of a prompt.
#[track_caller]
pub(crate) fn completions(client: &mut LineClient, prompt: &str, argument: &str, begun: &str) -> Vec<String> {
    let result = client.does(
        "completion/complete",
        json!({
            "ref": { "type": "ref/prompt", "name": prompt },
            "argument": { "name": argument, "value": begun }
        }),
    );
    let values = result["completion"]["values"].as_array().unwrap().iter();
    values.map(|value| value.as_str().unwrap().to_owned()).collect()
}
