//! The client of the crate `rmcp`.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, GetTaskParams, Implementation, ProtocolVersion, TaskPayload,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;

use crate::fixture::project::{Project, program};
use crate::server::real_clients::common_task::{CommonTask, ERAS, Servers, TRANSPORTS, problem_of};

/// A client with its person.
struct Host {
    capabilities: Value,
    /// The decisions of the person, the next one last.
    decisions: Mutex<Vec<String>>,
}

impl Host {
    /// Takes tasks, and is asked nothing.
    fn with_tasks() -> Host {
        let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        Host { capabilities, decisions: Mutex::default() }
    }

    fn with_person(questions: &[Value]) -> Host {
        let decisions =
            questions.iter().rev().map(|question| question["decision"].as_str().unwrap().to_owned());
        Host {
            capabilities: json!({ "elicitation": { "form": {} } }),
            decisions: Mutex::new(decisions.collect()),
        }
    }
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = serde_json::from_value(self.capabilities.clone()).unwrap();
        ClientConfig::new(capabilities, Implementation::new("common-task", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let decision = self.decisions.lock().unwrap().pop().expect("no more questions are expected");
        Ok(match decision.as_str() {
            "decline" => ElicitResult::new(ElicitationAction::Decline),
            _ => ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "decision": decision })),
        })
    }
}

type Connected = RunningService<RoleClient, Host>;

/// Connects to a server over HTTP, or to a new one on the folder of a project.
async fn connected(
    host: Host,
    era: &str,
    over_http: Option<&(String, String)>,
    project: &Project,
    options: &[&str],
) -> Connected {
    let lifecycle = match era {
        "legacy" => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    };
    match over_http {
        Some((url, token)) => {
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).auth_header(token);
            let transport = StreamableHttpClientTransport::from_config(config);
            host.serve_with_lifecycle(transport, lifecycle).await.unwrap()
        }
        None => {
            let mut command = tokio::process::Command::new(program());
            command.args(["mcp", "--workspace"]).arg(project.workspace()).args(options);
            command.env("HOME", project.folder());
            host.serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), lifecycle).await.unwrap()
        }
    }
}

fn params(call: &Value) -> CallToolRequestParams {
    let arguments = call["arguments"].as_object().unwrap().clone();
    CallToolRequestParams::new(call["tool"].as_str().unwrap().to_owned()).with_arguments(arguments)
}

/// Makes a call; questions that it brings are answered by the person.
#[track_caller]
fn check(call: &Value, result: &impl serde::Serialize) {
    assert_eq!(problem_of(call, &serde_json::to_value(result).unwrap()), None);
}

/// Makes a call that becomes a task, and polls until it has ended.
async fn take_a_task(client: &Connected, call: &Value) {
    let CallToolResponse::Task(created) = client.peer().call_tool_once(params(call)).await.unwrap() else {
        panic!("it has become no task: {call}");
    };
    loop {
        let state = client.peer().get_task(GetTaskParams::new(created.task.task_id.clone())).await.unwrap();
        match state.task.payload {
            TaskPayload::Completed { result } => return check(call, &result),
            TaskPayload::Working => tokio::time::sleep(Duration::from_millis(100)).await,
            other => panic!("{other:?}"),
        }
    }
}

async fn complete(task: &CommonTask, servers: &Servers, mode: &str) -> Vec<String> {
    let over_http = servers.over_http();
    let [plain, asking] = [0, 1].map(|index| over_http.as_ref().map(|both| &both[index]));
    let client = connected(Host::with_tasks(), mode, plain, &servers.project, &["--tools", "undo"]).await;
    let mut done = Vec::new();
    for step in task.steps() {
        for call in step["calls"].as_array().into_iter().flatten() {
            check(call, &client.call_tool(params(call)).await.unwrap());
        }
        if step.get("task").is_some() {
            if mode == "legacy" {
                continue;
            }
            take_a_task(&client, &step["task"]).await;
        }
        if let Some(questions) = step["questions"].as_array() {
            let person = Host::with_person(questions);
            let options = ["--review", "--questions"];
            let client = connected(person, mode, asking, &servers.asking, &options).await;
            for question in questions {
                check(question, &client.call_tool(params(question)).await.unwrap());
            }
            assert!(client.service().decisions.lock().unwrap().is_empty());
            client.cancel().await.unwrap();
        }
        done.push(step["name"].as_str().unwrap().to_owned());
    }
    client.cancel().await.unwrap();
    done
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_client_of_rmcp_completes_the_common_task() {
    let task = CommonTask::read();
    for transport in TRANSPORTS {
        for (mode, era) in ERAS {
            let servers = Servers::new(&task, transport);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let done = runtime.block_on(complete(&task, &servers, mode));
            let done: Vec<&str> = done.iter().map(String::as_str).collect();
            task.is_done("rmcp", era, transport, &done);
            servers.are_as_expected(true);
        }
    }
}
