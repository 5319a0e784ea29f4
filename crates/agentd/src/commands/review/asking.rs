//! Asking a person before a reply is carried out.

use std::io::IsTerminal;

use tag_session::SessionError;
use tagproto::{Block, Item, Reply, Strictness, UnobservedExecution, read_in};
use wap_core::CancelFlag;
use workspace_host::obeyed_names::obeyed_names;
use workspace_host::{
    ApplyReply, PlanLine, PlanReply, ReplyState, ReviewPolicy, SessionRefusal, SharedSessions, Watching,
};

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};
use crate::views::console::{Console, Tone};
use crate::views::plan_view::describe;
use crate::views::progress::{one_line, printable};
use crate::views::screen;
use crate::views::terminal_text::LineWidth;
use crate::views::typed_line::typed_decision;

/// Most lines of the difference of one block, and of all of them together.
const BLOCK_LINES: usize = 400;
const ALL_LINES: usize = 2_000;

/// Most characters of one line.
const LINE_CHARACTERS: usize = 1_000;

/// Shows what a reply would do and asks for confirmation, unless it was executed before. A refusal is returned without a
/// question.
pub(crate) fn review(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    request: &ApplyReply,
    cancel: &CancelFlag,
) -> Result<Result<(), SessionRefusal>, Failure> {
    Ok(match confirmed(common, console, sessions, request, false, cancel)? {
        NextStep::Refused(refusal) => Err(refusal),
        NextStep::Execute | NextStep::Queue { .. } => Ok(()),
        NextStep::Stopped => {
            return Err(Failure::new(Exit::Interrupted, "stopped at the question; nothing was executed"));
        }
    })
}

/// The next step with a reply that arrived.
pub(crate) enum NextStep {
    /// It is executed.
    Execute,
    /// It is refused.
    Refused(SessionRefusal),
    /// The user has stopped everything at the question. The reply stays where it is.
    Stopped,
    /// It waits in the queue for a reviewer.
    Queue {
        /// True if the user wants to review it here and now.
        opens_view: bool,
    },
}

/// Shows what a reply would do and asks for confirmation, unless it was executed before. `offers_view` is true if the answer may
/// be to look at it in the view of the queue.
fn confirmed(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    request: &ApplyReply,
    offers_view: bool,
    cancel: &CancelFlag,
) -> Result<NextStep, Failure> {
    let session = sessions.session(request.reply.session)?;
    let incoming = session.incoming(&request.reply.text);
    let reply = read_in(incoming.text().unwrap_or_default(), Strictness::Repair, session.dialect);
    if let Some(refusal) = reply.refused {
        return Ok(NextStep::Refused(SessionError::Refused(refusal).into()));
    }
    if incoming.is_held(request.reply.run_complete) {
        return Ok(NextStep::Execute);
    }
    let mut observer = UnobservedExecution;
    let mut watching = Watching::new(&[], &mut observer);
    let state = ReplyState(request.reply.clone());
    let would_execute = match sessions.call_watched(&state, cancel, &mut watching)? {
        Ok(would_execute) => would_execute,
        Err(refusal) => return Ok(NextStep::Refused(refusal)),
    };
    if !would_execute {
        return Ok(NextStep::Execute);
    }
    let plan = PlanReply { reply: request.reply.clone(), timeout: request.timeout };
    let plan = match sessions.call_watched(&plan, cancel, &mut watching)? {
        Ok(plan) => plan,
        Err(refusal) => return Ok(NextStep::Refused(refusal)),
    };
    Ok(match ask(common, console, &reply, &plan.lines, offers_view, cancel) {
        Answer::Execute => NextStep::Execute,
        Answer::Stop => NextStep::Stopped,
        Answer::View => NextStep::Queue { opens_view: true },
        Answer::Decline => NextStep::Refused(SessionError::Declined.into()),
    })
}

/// The answer to the question whether a reply is executed.
enum Answer {
    Execute,
    /// It is reviewed hunk by hunk.
    View,
    Decline,
    /// The user has pressed Ctrl-C, or another program ends this one.
    Stop,
}

/// Decides whether a reply is executed: asks at a terminal, and sends it to the queue without one.
pub(crate) fn ask_about(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    request: &ApplyReply,
    policy: ReviewPolicy,
    cancel: &CancelFlag,
) -> Result<NextStep, Failure> {
    let is_reviewed = match policy {
        ReviewPolicy::None => false,
        ReviewPolicy::All => true,
        ReviewPolicy::Commands => runs_a_command(sessions, request)?,
    };
    if !is_reviewed {
        return Ok(NextStep::Execute);
    }
    if !std::io::stdin().is_terminal() {
        return Ok(NextStep::Queue { opens_view: false });
    }
    confirmed(common, console, sessions, request, screen::can_be_filled(), cancel)
}

fn runs_a_command(sessions: &SharedSessions, request: &ApplyReply) -> Result<bool, Failure> {
    let session = sessions.session(request.reply.session)?;
    let incoming = session.incoming(&request.reply.text);
    let reply = read_in(incoming.text().unwrap_or_default(), Strictness::Repair, session.dialect);
    Ok(reply
        .items
        .iter()
        .any(|item| matches!(item, Item::Block(block) if matches!(block.value, Block::RunCommand { .. }))))
}

/// Shows what a reply would do, with the differences that it would make to files, and asks for confirmation.
fn ask(
    common: &CommonOptions,
    console: Console,
    reply: &Reply<'_>,
    plan: &[PlanLine],
    offers_view: bool,
    cancel: &CancelFlag,
) -> Answer {
    for line in describe(reply, &obeyed_names(&common.host()), LineWidth::of_progress()) {
        console.notice(&line);
    }
    show(console, reply, plan);
    if !std::io::stdin().is_terminal() {
        console.notice("there is no terminal to answer at: not executed");
        return Answer::Decline;
    }
    let question = match offers_view {
        true => "execute this reply? [y/N, v: review it hunk by hunk] ",
        false => "execute this reply? [y/N] ",
    };
    let answer = typed_decision(question, cancel).unwrap_or_default();
    if cancel.is_cancelled() {
        return Answer::Stop;
    }
    match answer.trim() {
        "y" | "Y" | "yes" => Answer::Execute,
        "v" | "V" if offers_view => Answer::View,
        _ => Answer::Decline,
    }
}

/// Shows the differences, and the blocks that would fail, as far as there is room.
fn show(console: Console, reply: &Reply<'_>, plan: &[PlanLine]) {
    let mut left = ALL_LINES;
    for line in plan {
        if !line.success {
            let reason = format!("would fail: {}: {}", line.command_type, one_line(&line.summary));
            console.notice_row(&[(Tone::Bad, &reason)]);
        }
        let lines: Vec<&str> = line.diff.trim_end().lines().collect();
        let count = lines.len().min(BLOCK_LINES).min(left);
        left -= count;
        for line in &lines[..count] {
            console.notice_row(&[(tone(line), &cut(&printable(line)))]);
        }
        if count < lines.len() {
            console.notice(&format!(
                "… {} more lines of this difference; `agentd apply --dry-run FILE` prints all of it",
                lines.len() - count
            ));
        }
    }
    if changes_after_a_command(reply) {
        console.notice("the differences are those of the files as they are now: a command before an edit may change them");
    }
}

fn tone(line: &str) -> Tone {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Tone::Strong,
        [b'+', ..] => Tone::Good,
        [b'-', ..] => Tone::Bad,
        [b'@', b'@', ..] => Tone::Faint,
        _ => Tone::Plain,
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Checks whether a block that changes a file follows a command.
fn changes_after_a_command(reply: &Reply<'_>) -> bool {
    let blocks = reply.items.iter().filter_map(|item| match item {
        Item::Block(block) => Some(&block.value),
        Item::Error(_) => None,
    });
    let mut following = blocks.skip_while(|block| !matches!(block, Block::RunCommand { .. }));
    following.any(|block| {
        matches!(
            block,
            Block::CreateFile { .. }
                | Block::EditFile { .. }
                | Block::EditText { .. }
                | Block::DeleteFile { .. }
        )
    })
}
