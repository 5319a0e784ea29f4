//! A session driven by hand: replies in, outboxes out.

use std::time::Duration;

use tagproto::{
    BaseVersions, Context, Dialect, Execution, Item, Outbox, OutboxLimits, Session, UnobservedExecution,
    base_versions, execute, gather, parse, render_outbox,
};
use wap_core::{ExecuteCommandResponse, Workspace};

use crate::call_frame::Frame;

pub(crate) const SANDBOX: &str = "sandbox: level=full; fs=overlay; net=off";

/// A session that has not begun.
pub(crate) fn session(task: &str, dialect: Dialect) -> Session {
    let id = "a1b2c3d4".parse().unwrap();
    Session::new(id, task, "2025-01-15T10:30:00Z", dialect, None)
}

/// Writes the pending outbox, and keeps what it shows.
pub(crate) fn outbox<W: Workspace + ?Sized>(session: &mut Session, workspace: &W) -> String {
    let frame = Frame::new("outbox");
    let context: Context = gather(session, workspace, &frame.call(), &OutboxLimits::default()).unwrap();
    let Outbox { text, shown_versions } = render_outbox(session, &context, SANDBOX);
    session.note_outbox(shown_versions, workspace, &frame.call());
    text
}

/// Carries out a reply without taking it over.
pub(crate) fn run<W: Workspace + ?Sized>(reply: &str, session: &Session, workspace: &W) -> Execution {
    let frame = Frame::new(reply);
    let items = parse(reply);
    let base = base_versions(&items, session, workspace, &frame.call()).unwrap();
    run_with(reply, session, base, workspace)
}

/// Carries out a reply whose line numbers are understood already.
pub(crate) fn run_with<W: Workspace + ?Sized>(
    reply: &str,
    session: &Session,
    base: BaseVersions,
    workspace: &W,
) -> Execution {
    run_items(&parse(reply), session, base, workspace)
}

/// Carries out blocks that were read already.
pub(crate) fn run_items<W: Workspace + ?Sized>(
    items: &[Item<'_>],
    session: &Session,
    base: BaseVersions,
    workspace: &W,
) -> Execution {
    let frame = Frame::new(&format!("{items:?}"));
    let observer = &mut UnobservedExecution;
    let timeout = Duration::from_secs(30);
    execute(items, session.dialect, base, timeout, workspace, &frame.call(), observer).unwrap()
}

/// Carries out a reply and takes over what it gave.
pub(crate) fn answer<W: Workspace + ?Sized>(reply: &str, session: &mut Session, workspace: &W) -> Execution {
    let execution = run(reply, session, workspace);
    session.advance(execution.clone(), "2025-01-15T10:35:00Z");
    execution
}

/// What a command left behind that ended by itself.
pub(crate) fn ended(stdout: &str, stderr: &str, exit_code: i32) -> ExecuteCommandResponse {
    ExecuteCommandResponse {
        stdout: stdout.into(),
        stderr: stderr.into(),
        exit_code,
        is_output_truncated: false,
        duration_ms: 1,
        signal: None,
        whole_output: None,
        sandbox: String::new(),
        warnings: Vec::new(),
        denied: Vec::new(),
    }
}
