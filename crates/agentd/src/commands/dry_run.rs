//! `agentd apply --dry-run`: what a reply would do, without doing it.

use local_workspace::DryWorkspace;
use serde::Serialize;
use tag_session::SessionError;
use tagproto::{
    Block, CommandResult, ExecutionObserver, Item, Reply, Session, Strictness, base_versions, execute,
    read_in,
};
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey, WapError};

use crate::cli::Common;
use crate::console::Console;
use crate::exit::{Exit, Outcome};
use crate::obeyed_names::obeyed_names;
use crate::plan_view::describe;
use crate::progress::one_line;
use crate::session_failure::explain;
use crate::state::LocalSessions;
use crate::terminal_text::LineWidth;

#[derive(Serialize)]
struct Plan {
    session: String,
    sequence: u32,
    repairs: Vec<String>,
    plan: Vec<PlanLine>,
}

/// What a block would give.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanLine {
    pub command_type: String,
    /// What would be shown as its result; for a command what would run.
    pub summary: String,
    pub success: bool,
    pub output: String,
    /// The difference of the file that it would change, if it would.
    pub diff: String,
}

/// Shows every block with its result as far as it can be known, and the differences of file changes.
pub(crate) fn dry_run(
    common: &Common,
    console: Console,
    sessions: &LocalSessions,
    session: &Session,
    text: &str,
    again: bool,
    cancel: &CancelFlag,
) -> Outcome {
    let would_execute = sessions.would_execute(session.session_id, text, again).map_err(explain)?;
    let reply = read_in(text, Strictness::Repair, session.dialect);
    if let Some(refusal) = reply.refused {
        return Err(explain(SessionError::Refused(refusal)));
    }
    let lines = plan(common, sessions, session, &reply, cancel)
        .map_err(|error| explain(SessionError::Workspace(error)))?;
    let plan = lines;
    if console.json {
        console.json_result(&Plan {
            session: session.session_id.to_string(),
            sequence: session.sequence_number,
            repairs: reply.repairs.iter().map(|kind| kind.to_string()).collect(),
            plan,
        });
        return Ok(Exit::Done);
    }
    if !would_execute {
        console.notice("this reply was executed before: applying it would do nothing");
    }
    console.result(&format!(
        "reply to message {} of session {}, not executed:",
        session.sequence_number, session.session_id
    ));
    for line in describe(&reply, &obeyed_names(common), LineWidth::of_results()) {
        console.result(&line);
    }
    for line in plan {
        if !line.success {
            console.result(&format!(
                "\nwould fail: {}: {}\n{}",
                line.command_type,
                one_line(&line.summary),
                line.output
            ));
        } else if !line.diff.is_empty() {
            console.result(&format!("\n{}", line.diff.trim_end()));
        }
    }
    Ok(Exit::Done)
}

/// Works out what each block of a reply would give, by the code that carries it out, on top of the files as they are.
///
/// # Errors
///
/// What stops the workspace as a whole.
pub(crate) fn plan(
    common: &Common,
    sessions: &LocalSessions,
    session: &Session,
    reply: &Reply<'_>,
    cancel: &CancelFlag,
) -> Result<Vec<PlanLine>, WapError> {
    let dry = DryWorkspace::new(sessions.workspace());
    let origin = Origin {
        conversation: ConversationId(session.session_id.to_string()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel, time_left: None };
    let base = base_versions(&reply.items, session, &dry, &call)?;
    let mut lines = Lines(Vec::new());
    execute(&reply.items, session.dialect, base, common.command_timeout(), &dry, &call, &mut lines)?;
    let mut diffs = dry.into_planned().into_iter();
    for (line, changed) in &mut lines.0 {
        if *changed && let Some(change) = diffs.next() {
            line.diff = change.diff;
        }
    }
    Ok(lines.0.into_iter().map(|(line, _)| line).collect())
}

/// Collects the results, each with whether it changed a file.
struct Lines(Vec<(PlanLine, bool)>);

impl ExecutionObserver for Lines {
    fn block_finished(
        &mut self,
        _: usize,
        item: &Item<'_>,
        result: &CommandResult,
        changed: Option<&wap_core::FileChanged>,
    ) {
        let command = match item {
            Item::Block(block) => match &block.value {
                Block::RunCommand { command } => Some(command),
                _ => None,
            },
            Item::Error(_) => None,
        };
        let line = PlanLine {
            command_type: result.command_type.to_string(),
            // What a command gives is not known without running it.
            summary: command
                .map_or_else(|| result.summary.clone(), |command| format!("Would run '{command}'")),
            success: result.success || command.is_some(),
            output: if command.is_some() { String::new() } else { result.output.clone() },
            diff: String::new(),
        };
        self.0.push((line, changed.is_some()));
    }
}
