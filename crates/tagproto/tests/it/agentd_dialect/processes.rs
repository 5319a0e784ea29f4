//! Background processes: RUN_COMMAND with a name, STOP_PROCESS, and their strict parsing.

use memory_workspace::MemoryWorkspace;
use tagproto::{Background, BaseVersions, Block, Dialect, Item, Strictness, parse, read_in, render_block};
use wap_core::{ExecuteCommandResponse, ProcessState, StartedProcess};

use crate::fixture::recording::Recording;
use crate::fixture::round_trip::{ended, run_items, session};

const REPLY: &str = "\
[RUN_COMMAND background=\"web\" ready=\"Listening on\"]
npm run dev
[/RUN_COMMAND]
[STOP_PROCESS name=\"web\"]
";

fn blocks(reply: &str, dialect: Dialect) -> Vec<Block<'static>> {
    let block = |item: &Item<'_>| match item {
        Item::Block(block) => block.value.clone().into_owned(),
        Item::Error(error) => panic!("{error}"),
    };
    read_in(reply, Strictness::Repair, dialect).items.iter().map(block).collect()
}

fn faults(reply: &str) -> Vec<String> {
    let fault = |item: &Item<'_>| match item {
        Item::Error(error) => Some(error.to_string()),
        Item::Block(_) => None,
    };
    read_in(reply, Strictness::Repair, Dialect::Agentd).items.iter().filter_map(fault).collect()
}

#[test]
fn the_tags_are_read_in_this_dialect_only() {
    let background = Background { name: "web".into(), ready: Some("Listening on".into()) };
    let started = Block::RunCommand { command: "npm run dev".into(), background: Some(background) };
    let stopped = Block::StopProcess { name: "web".into() };
    assert_eq!(blocks(REPLY, Dialect::Agentd), [started.clone(), stopped.clone()]);
    let written = render_block(&started).unwrap() + &render_block(&stopped).unwrap();
    assert_eq!(written, REPLY);
    // The original ignores unknown attributes, and takes the other tag for prose.
    let plain = Block::RunCommand { command: "npm run dev".into(), background: None };
    assert_eq!(blocks(REPLY, Dialect::CodingAgent), std::slice::from_ref(&plain));
    let [Item::Block(strict)] = &*parse(REPLY) else { panic!("one block") };
    assert_eq!(strict.value, plain);
}

#[test]
fn a_tag_without_a_name_is_refused_with_the_right_form() {
    for (reply, fault) in [
        (
            "[STOP_PROCESS]",
            "STOP_PROCESS missing name attribute; write [STOP_PROCESS name=\"web\"] with double quotes",
        ),
        (
            "[STOP_PROCESS name=web]",
            "STOP_PROCESS missing name attribute; write [STOP_PROCESS name=\"web\"] with double quotes",
        ),
        (
            "[RUN_COMMAND ready=\"up\"]\nx\n[/RUN_COMMAND]",
            "RUN_COMMAND missing background attribute, the name of the process; write [RUN_COMMAND background=\"web\" \
             ready=\"text on its output\"] with double quotes",
        ),
        (
            "[RUN_COMMAND background=\"a\" background=\"b\"]\nx\n[/RUN_COMMAND]",
            "RUN_COMMAND duplicate attribute 'background'; give it once",
        ),
    ] {
        assert_eq!(faults(reply), [fault], "{reply}");
    }
}

#[test]
fn a_reply_starts_and_stops_a_process_as_steps() {
    let workspace = Recording::of(MemoryWorkspace::new());
    let process =
        StartedProcess { name: "web".into(), state: ProcessState::Ready, output: "@process/web".into() };
    let started = ExecuteCommandResponse { background: Some(process), ..ended("Listening on 8000\n", "", 0) };
    workspace.inner.on_command("npm run dev", Ok(started));
    workspace.inner.on_command("curl localhost:8000", Ok(ended("hello\n", "", 0)));
    let reply = REPLY.replace(
        "[STOP_PROCESS",
        "[RUN_COMMAND]\ncurl localhost:8000\n[/RUN_COMMAND]\n[STOP_PROCESS name=\"other\"]\n[STOP_PROCESS",
    );
    let session = session("T", Dialect::Agentd);
    let items = read_in(&reply, Strictness::Repair, Dialect::Agentd).items;
    let execution = run_items(&items, &session, BaseVersions::default(), &workspace);
    let summaries: Vec<_> = execution.results.iter().map(|result| result.summary.as_str()).collect();
    assert_eq!(
        summaries,
        [
            "Started 'npm run dev' in the background as 'web' (ready); READ_FILE path=\"@process/web\" shows its output",
            "Ran 'curl localhost:8000' (exit code 0)",
            "Failed to stop 'other': there is no background process 'other'",
            "Stopped 'web' (exit code 143)",
        ]
    );
    assert_eq!(execution.results[3].output, "Listening on 8000\n");
    assert_eq!(
        workspace.take_effects(),
        [
            "0: start npm run dev as web until Some(\"Listening on\") (Some(30000) ms)",
            "1: run curl localhost:8000 (30000 ms)",
            "2: stop other",
            "3: stop web",
        ]
    );
    let glanced = "[RUN_COMMAND background=\"web\"]\nnpm run dev\n[/RUN_COMMAND]";
    run_items(
        &read_in(glanced, Strictness::Repair, Dialect::Agentd).items,
        &session,
        BaseVersions::default(),
        &workspace,
    );
    assert_eq!(workspace.take_effects(), ["0: start npm run dev as web until None (None ms)"]);
}

#[test]
fn results_are_kept_by_name() {
    let text = r#"{"commandType":"STOP_PROCESS","summary":"Stopped","success":true,"output":""}"#;
    let result: tagproto::CommandResult = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&result).unwrap(), text);
}
