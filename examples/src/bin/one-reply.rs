//! One round of the bracket-tag protocol over a workspace in memory: a reply is read and carried out, and the next
//! message to the model is printed. A program of your own would use another [`Workspace`].
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use memory_workspace::MemoryWorkspace;
use tagproto::{Dialect, OutboxLimits, Session, SessionId, Strictness, UnobservedExecution};
use wap_core::{
    Call, CancelFlag, ConversationId, ExecuteCommandResponse, Origin, Retention, RunKey, Workspace,
};

/// The answer of a model. The file was never shown to it, so the numbers mean the current version.
const REPLY: &str = r#"I greet properly and look at the result.

[EDIT_FILE path="greet.sh" start_line="1" end_line="1"]
echo "Hello, $1!"
[/EDIT_FILE]
[READ_FILE path="greet.sh"]
[RUN_COMMAND]
sh greet.sh world
[/RUN_COMMAND]
[DELETE_FILE path="../elsewhere.txt"]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = MemoryWorkspace::with_files([("greet.sh", "echo hi\n")]);
    let printed = ExecuteCommandResponse {
        stdout: "Hello, world!\n".to_owned(),
        stderr: String::new(),
        exit_code: 0,
        is_output_truncated: false,
        denied: Vec::new(),
        duration_ms: 3,
        signal: None,
        background: None,
        whole_output: None,
        sandbox: String::new(),
        warnings: Vec::new(),
    };
    workspace.on_command("sh greet.sh world", Ok(printed));

    // Time, ids and randomness come from the caller; the codec has none of its own.
    let id = SessionId::from_random([0xa1, 0xb2, 0xc3, 0xd4]);
    let mut session = Session::new(id, "Greet politely.", "2030-01-01T00:00:00Z", Dialect::Agentd, None);
    // The workspace carries out a step of a run once, even if another caller repeats it.
    let origin = Origin {
        conversation: ConversationId(id.to_string()),
        run: RunKey { sequence: session.sequence_number, digest: "a digest of the reply".to_owned() },
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };

    let reply = tagproto::read(REPLY, Strictness::Repair);
    let base = tagproto::base_versions(&reply.items, &session, &workspace, &call)?;
    let execution = tagproto::execute(
        &reply.items,
        session.dialect,
        base,
        Duration::from_secs(30),
        &workspace,
        &call,
        &mut UnobservedExecution,
    )?;
    session.advance(execution, "2030-01-01T00:00:05Z");

    let context = tagproto::gather(&session, &workspace, &call, &OutboxLimits::default())?;
    let sandbox = workspace.workspace_info(&call)?.sandbox;
    println!("{}", tagproto::render_outbox(&session, &context, &sandbox).text);
    Ok(())
}
