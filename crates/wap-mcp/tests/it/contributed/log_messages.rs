//! Log messages of a contribution: those that the client wants, in both eras.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonObject, Tool};
use serde_json::{Value, json};
use wap_mcp::{Contribution, ContributionCall, LogLevel, Outcome};

use super::client::{Answer, Client, config};

const LEVELS: [(LogLevel, &str); 8] = [
    (LogLevel::Debug, "debug"),
    (LogLevel::Info, "info"),
    (LogLevel::Notice, "notice"),
    (LogLevel::Warning, "warning"),
    (LogLevel::Error, "error"),
    (LogLevel::Critical, "critical"),
    (LogLevel::Alert, "alert"),
    (LogLevel::Emergency, "emergency"),
];

/// A tool that writes a message of each level, and one that writes a message of a length.
struct Logging {
    /// False for a contribution that does not declare it.
    says_so: bool,
}

impl Contribution for Logging {
    fn tools(&self) -> Vec<Tool> {
        ["log", "talk"].map(|name| Tool::new(name, "Logs", Arc::new(JsonObject::new()))).to_vec()
    }

    fn logs(&self) -> bool {
        self.says_so
    }

    fn call_tool(
        &self,
        call: &ContributionCall,
        name: &str,
        arguments: JsonObject,
    ) -> Result<Outcome<CallToolResult>, ErrorData> {
        if name == "talk" {
            let bytes = arguments["bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok()).unwrap();
            call.log(LogLevel::Alert, None, json!("x".repeat(bytes)));
        } else {
            for (level, name) in LEVELS {
                call.log(level, Some("disk"), json!({ "level": name }));
            }
        }
        Ok(Outcome::Done(CallToolResult::success(vec![ContentBlock::text("logged")])))
    }
}

fn logging() -> Arc<wap_mcp::McpConfig> {
    config(Logging { says_so: true })
}

/// Calls the tool in the older era, and returns the levels of the messages before the answer.
async fn logged(client: &mut Client) -> Vec<String> {
    levels(&client.ask("tools/call", json!({ "name": "log" })).await)
}

fn levels(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.message["result"]["content"][0]["text"], "logged", "{}", answer.message);
    let level = |message: &Value| {
        assert_eq!(message["method"], "notifications/message", "{message}");
        let params = &message["params"];
        assert_eq!((&params["logger"], &params["data"]["level"]), (&json!("disk"), &params["level"]));
        params["level"].as_str().unwrap().to_owned()
    };
    answer.notifications.iter().map(level).collect()
}

/// Returns the names of the levels from one on.
fn from(least: &str) -> Vec<&'static str> {
    LEVELS.into_iter().map(|(_, name)| name).skip_while(|name| *name != least).collect()
}

async fn choose(client: &mut Client, level: Value) -> Value {
    client.ask("logging/setLevel", json!({ "level": level })).await.message
}

#[tokio::test]
async fn a_client_receives_its_chosen_levels() {
    let mut client = Client::older(&logging()).await;
    assert_eq!(client.capabilities["logging"], json!({}));
    assert_eq!(logged(&mut client).await, from("info"), "nothing was chosen");
    for (_, level) in LEVELS {
        assert_eq!(choose(&mut client, json!(level)).await["result"], json!({}));
        assert_eq!(logged(&mut client).await, from(level));
    }
}

#[tokio::test]
async fn an_unknown_level_is_refused_and_changes_nothing() {
    let mut client = Client::older(&logging()).await;
    choose(&mut client, json!("alert")).await;
    for unknown in [json!("loud"), json!("Debug"), json!(""), json!(0), Value::Null] {
        let refused = choose(&mut client, unknown).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert_eq!(client.ask("logging/setLevel", json!({})).await.message["error"]["code"], -32602);
    assert_eq!(logged(&mut client).await, from("alert"));
}

#[tokio::test]
async fn each_client_has_its_own_level() {
    let config = logging();
    let (mut one, mut other) = (Client::older(&config).await, Client::older(&config).await);
    choose(&mut one, json!("emergency")).await;
    choose(&mut other, json!("debug")).await;
    assert_eq!(logged(&mut one).await, from("emergency"));
    assert_eq!(logged(&mut other).await, from("debug"));
}

#[tokio::test]
async fn a_contribution_that_does_not_declare_logging_sends_nothing() {
    let mut client = Client::older(&config(Logging { says_so: false })).await;
    assert_eq!(client.capabilities["logging"], Value::Null);
    for level in ["debug", "loud"] {
        assert_eq!(choose(&mut client, json!(level)).await["error"]["code"], -32601);
    }
    assert!(logged(&mut client).await.is_empty());
}

#[tokio::test]
async fn a_request_of_the_newer_era_chooses_for_itself() {
    let mut client = Client::connect(&logging());
    let mut ask = async |more: Value| client.ask_newer("tools/call", json!({ "name": "log" }), more).await;
    let key = "io.modelcontextprotocol/logLevel";
    assert!(levels(&ask(json!({})).await).is_empty());
    for (_, level) in LEVELS {
        assert_eq!(levels(&ask(json!({ key: level })).await), from(level));
    }
    assert!(levels(&ask(json!({})).await).is_empty(), "the level was of one request");
    for unknown in [json!("loud"), json!(3)] {
        let refused = ask(json!({ key: unknown })).await;
        assert_eq!(refused.message["error"]["code"], -32602, "{}", refused.message);
        assert!(refused.notifications.is_empty());
    }
    let set = client.ask_newer("logging/setLevel", json!({ "level": "debug" }), json!({})).await;
    assert_eq!(set.message["error"]["code"], -32601, "{}", set.message);
}

#[tokio::test]
async fn a_message_that_is_too_long_is_counted_in_the_last_one() {
    let mut client = Client::older(&logging()).await;
    let mut talk = async |bytes: usize| {
        let params = json!({ "name": "talk", "arguments": { "bytes": bytes } });
        client.ask("tools/call", params).await.notifications
    };
    // Two bytes are the quotation marks.
    let longest = 16 * 1_024 - 2;
    let sent = talk(longest).await;
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["params"]["data"].as_str().map(str::len), Some(longest));
    let left_out = talk(longest + 1).await;
    assert_eq!(left_out.len(), 1);
    let params = json!({
        "level": "alert",
        "data": { "text": "log messages that were left out: 1", "tooMany": 0, "tooLong": 1 },
    });
    assert_eq!(left_out[0]["params"], params);
}
