//! `agentd apply --dry-run`: shows the effects of a reply without carrying it out.

use serde::Serialize;
use tagproto::{Incoming, Session, Strictness, read_in};
use wap_core::CancelFlag;
use workspace_host::PlanLine;
use workspace_host::SharedSessions;
use workspace_host::obeyed_names::obeyed_names;
use workspace_host::{PlanReply, SessionReply};

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Outcome};
use crate::views::console::Console;
use crate::views::plan_view::describe;
use crate::views::progress::one_line;
use crate::views::terminal_text::LineWidth;

#[derive(Serialize)]
struct Plan {
    session: String,
    sequence: u32,
    repairs: Vec<String>,
    plan: Vec<PlanLine>,
    /// The reason that nothing would be done, for a reply that would be held.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<&'static str>,
}

/// Shows every block with its result as far as it can be known, and the differences of file changes.
pub(crate) fn dry_run(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
    submitted: SessionReply,
    cancel: &CancelFlag,
) -> Outcome {
    let plan = PlanReply { reply: submitted.clone(), timeout: common.command_timeout() };
    let plan = sessions.call(&plan, cancel)?;
    let incoming = session.incoming(&submitted.text);
    let reply = read_in(incoming.text().unwrap_or_default(), Strictness::Repair, session.dialect);
    if console.json {
        console.json_result(&Plan {
            session: session.session_id.to_string(),
            sequence: session.sequence_number,
            repairs: reply.repairs.iter().map(|kind| kind.to_string()).collect(),
            plan: plan.lines,
            held: plan.is_held.then(|| held_reason(&incoming)),
        });
        return Ok(Exit::Done);
    }
    if !plan.would_execute && !plan.is_held {
        console.notice("this reply was executed before: applying it would do nothing");
    }
    console.result(&format!(
        "reply to message {} of session {}, not executed:",
        session.sequence_number, session.session_id
    ));
    if plan.is_held {
        console.result(&format!("  nothing would be done: {}", held_reason(&incoming)));
        return Ok(Exit::Done);
    }
    for line in describe(&reply, &obeyed_names(&common.host()), LineWidth::of_results()) {
        console.result(&line);
    }
    for line in plan.lines {
        if !line.success {
            console.result(&format!(
                "\nwould fail: {}: {}\n{}",
                line.command_type,
                one_line(&line.summary),
                line.output
            ));
        } else if !line.diff.is_empty() {
            console.file_result(&format!("\n{}", line.diff.trim_end()));
        }
    }
    Ok(Exit::Done)
}

/// Returns the reason that nothing of a reply would be carried out.
fn held_reason(incoming: &Incoming<'_>) -> &'static str {
    match incoming {
        Incoming::NotContinued => "the reply does not go on where the one before it was cut off",
        _ => "the reply ends inside a block, and the next message would ask the model to go on",
    }
}
