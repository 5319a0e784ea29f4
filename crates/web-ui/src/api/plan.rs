//! The plan of a reply: the effects of running it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tag_session::InboxFile;
use tagproto::{Block, Incoming, Item, ReadRange, RepairKind, Strictness, UnobservedExecution, read_in};
use wap_core::{CancelFlag, visible_line};
use workspace_host::obeyed_names::reported_reason;
use workspace_host::{PlanLine, PlanReply, SessionReply, Watching};

use super::{read, session_id};
use crate::answer::{Refused, json};
use crate::bounded_text::{AnswerBudget, BoundedText, TextBounds, bounded};
use crate::page::Page;

/// The most blocks of a plan.
const MOST_BLOCKS: usize = 300;

/// The most characters of a title, and of a command or text that is shown in full.
const TITLE_CHARACTERS: usize = 200;

/// The lines before and after an error that are shown with it.
const CONTEXT_LINES: usize = 2;

/// The most lines of an error.
const ERROR_LINES: usize = 12;

/// A reply, pasted or from the inbox.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Submitted {
    /// The text; `None` for the named reply in the inbox.
    pub(super) text: Option<String>,
    /// The name of the file in the inbox.
    pub(super) file: Option<String>,
    /// True to run a text again that was run before.
    #[serde(default)]
    pub(super) again: bool,
    /// True to run the complete blocks of a reply that was cut off.
    #[serde(default)]
    pub(super) run_complete: bool,
    /// The mark of the planned text: the file in the inbox may have changed since.
    mark: Option<String>,
    /// The message that was pending then.
    pub(super) sequence: Option<u32>,
}

/// The effects of a reply.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanView {
    /// The mark of the planned text; a request to run the reply repeats it along with the pending message.
    mark: String,
    sequence: u32,
    /// False if it was executed before.
    would_execute: bool,
    /// The reason that nothing would be executed; `None` if something would.
    held: Option<&'static str>,
    /// The refusal of the reply as a whole; `None` if it is accepted.
    refused: Option<RefusedReply>,
    /// The repaired paste damage, described for the user.
    repairs: Vec<&'static str>,
    /// True if a command precedes a change of a file, which the command may have modified.
    changes_behind_a_command: bool,
    blocks: Vec<BlockPlan>,
    blocks_left_out: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefusedReply {
    message: String,
    advice: Option<String>,
    excerpt: Option<Excerpt>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BlockPlan {
    kind: &'static str,
    title: String,
    /// Its first and last line in the reply.
    lines: [u32; 2],
    success: bool,
    summary: String,
    output: BoundedText,
    difference: BoundedText,
    /// The command, or the text for the user.
    text: Option<BoundedText>,
    /// The reason that other programs obey the file.
    obeyed: Option<String>,
    /// The lines of a malformed block.
    excerpt: Option<Excerpt>,
}

/// Lines of a reply, some of them marked.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Excerpt {
    first_line: u32,
    marked: [u32; 2],
    text: BoundedText,
}

impl Submitted {
    /// Loads the text of the reply, and its file if it is in the inbox.
    pub(super) fn take(&mut self, page: &Page) -> Result<(String, Option<InboxFile>), Refused> {
        if let Some(name) = &self.file {
            let gone = || Refused::missing(format!("inbox/{name} is not there any more"));
            let file = page.waiting_reply(name).ok_or_else(gone)?;
            if self.mark.as_ref().is_some_and(|mark| *mark != mark_of(&file.text)) {
                let text =
                    format!("inbox/{name} has changed since it was looked at, and nothing of it has run");
                return Err(Refused::new(StatusCode::CONFLICT, text).advise("look at it again"));
            }
            return Ok((file.text.clone(), Some(file)));
        }
        let text = self.text.take().unwrap_or_default();
        if text.len() as u64 > tag_session::REPLY_LIMIT_BYTES {
            let most = tag_session::REPLY_LIMIT_BYTES;
            return Err(Refused::bad(format!("a reply has at most {most} bytes")));
        }
        Ok((text, None))
    }
}

/// Returns a mark that is unique to the text.
fn mark_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Returns the effects of a reply without executing it.
pub(crate) async fn plan(State(page): State<Arc<Page>>, Path(id): Path<String>, body: Bytes) -> Response {
    page.answer(move |page| {
        let mut submitted: Submitted = read(&body)?;
        let (text, _) = submitted.take(page)?;
        let sessions = page.sessions()?;
        let session = sessions.session(session_id(&id)?)?;
        let incoming = session.incoming(&text);
        let read = read_in(incoming.text().unwrap_or_default(), Strictness::Repair, session.dialect);
        let mut plan = PlanView {
            mark: mark_of(&text),
            sequence: session.sequence_number,
            would_execute: true,
            held: None,
            refused: None,
            repairs: read.repairs.iter().map(RepairKind::description).collect(),
            changes_behind_a_command: changes_behind_a_command(&read.items),
            blocks: Vec::new(),
            blocks_left_out: read.items.len().saturating_sub(MOST_BLOCKS),
        };
        let Submitted { again, run_complete, .. } = submitted;
        let reply = SessionReply { session: session.session_id, text: text.clone(), again, run_complete };
        let mut observer = UnobservedExecution;
        let mut watching = Watching::new(&[], &mut observer);
        let request = PlanReply { reply, timeout: page.timeout() };
        let planned = sessions.call_watched(&request, &CancelFlag::new(), &mut watching)?;
        let lines = match planned {
            Ok(planned) => {
                plan.would_execute = planned.would_execute;
                plan.held = planned.is_held.then(|| held_reason(&incoming));
                planned.lines
            }
            Err(refusal) => {
                let excerpt =
                    read.refused.map(|refused| excerpt(&text, refused.line_number, refused.line_number));
                let failure = refusal.into_failure();
                plan.refused =
                    Some(RefusedReply { message: failure.message, advice: failure.advice, excerpt });
                Vec::new()
            }
        };
        let whole = incoming.text().unwrap_or_default();
        let mut lines = lines.into_iter();
        let mut budget = AnswerBudget::new();
        page.protected.look_again();
        for item in read.items.iter().take(MOST_BLOCKS) {
            plan.blocks.push(block(page, item, (whole, lines.next()), &mut budget));
        }
        Ok(json(&plan))
    })
    .await
}

fn block(
    page: &Page,
    item: &Item<'_>,
    (text, line): (&str, Option<PlanLine>),
    budget: &mut AnswerBudget,
) -> BlockPlan {
    let lines = item.lines();
    let (success, summary, output, difference) = match &line {
        Some(line) => (
            line.success,
            budget.take(&line.summary, TextBounds::OUTPUT).text,
            budget.take(&line.output, TextBounds::OUTPUT),
            budget.take(&line.diff, TextBounds::DIFFERENCE),
        ),
        None => {
            (matches!(item, Item::Block(_)), String::new(), BoundedText::default(), BoundedText::default())
        }
    };
    let (obeyed, whole) = match item {
        Item::Block(block) => (
            block.value.path().and_then(|path| {
                let changes = !matches!(block.value, Block::ReadFile { .. });
                reported_reason(&page.protected, path).filter(|_| changes).map(str::to_owned)
            }),
            // Bounded separately: together these are not longer than the reply.
            whole_text(&block.value).map(|text| bounded(text, TextBounds::OUTPUT)),
        ),
        Item::Error(_) => (None, None),
    };
    BlockPlan {
        kind: item.kind().name(),
        title: block_title(item),
        lines: [lines.first, lines.last],
        success,
        summary: match item {
            Item::Error(error) => error.to_string(),
            Item::Block(_) => summary,
        },
        output,
        difference,
        text: whole,
        obeyed,
        excerpt: matches!(item, Item::Error(_)).then(|| excerpt(text, lines.first, lines.last)),
    }
}

/// Returns the text of a block that the user has to read completely.
fn whole_text<'a>(block: &'a Block<'_>) -> Option<&'a str> {
    match block {
        Block::RunCommand { command, .. } => Some(command),
        Block::Message { text } | Block::Done { summary: text } => Some(text),
        _ => None,
    }
}

/// Returns a title for a block: its file, command or text.
pub(crate) fn block_title(item: &Item<'_>) -> String {
    let Item::Block(block) = item else { return "cannot be read".to_owned() };
    let title = match &block.value {
        Block::EditFile { path, start_line, end_line, .. } => format!("{path} {start_line}–{end_line}"),
        Block::EditText { path, hunks, .. } => match hunks.len() {
            1 => format!("{path} by text"),
            count => format!("{path} by text, {count} hunks"),
        },
        Block::ReadFile { path, range: ReadRange::Lines { start_line, end_line } } => {
            let number = |line: &Option<i32>| line.map(|line| line.to_string()).unwrap_or_default();
            format!("{path} {}–{}", number(start_line), number(end_line))
        }
        Block::CreateFile { path, body, .. } => format!("{path}, {} lines", body.line_count()),
        Block::DeleteFile { path, .. } | Block::ReadFile { path, .. } => path.to_string(),
        Block::RunCommand { command, background: Some(process) } => {
            format!("{} in the background: {command}", process.name)
        }
        Block::RunCommand { command, .. } => command.to_string(),
        Block::StopProcess { name } => name.to_string(),
        Block::Message { text } | Block::Done { summary: text } => text.to_string(),
    };
    visible_line(&title, TITLE_CHARACTERS)
}

fn excerpt(text: &str, first: u32, last: u32) -> Excerpt {
    let first_index = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let start = first_index.saturating_sub(CONTEXT_LINES);
    let length = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX).min(ERROR_LINES);
    let lines: Vec<&str> =
        text.lines().skip(start).take(first_index - start + length + 1 + CONTEXT_LINES).collect();
    Excerpt {
        first_line: u32::try_from(start + 1).unwrap_or(u32::MAX),
        marked: [first, last],
        text: bounded(&lines.join("\n"), TextBounds::OUTPUT),
    }
}

fn held_reason(incoming: &Incoming<'_>) -> &'static str {
    match incoming {
        Incoming::NotContinued => "the reply does not go on where the one before it was cut off",
        _ => "the reply ends inside a block; running it asks the model to go on, in the next message",
    }
}

/// Checks whether a block that changes a file follows a command.
fn changes_behind_a_command(items: &[Item<'_>]) -> bool {
    let blocks = items.iter().filter_map(|item| match item {
        Item::Block(block) => Some(&block.value),
        Item::Error(_) => None,
    });
    let mut rest = blocks.skip_while(|block| !matches!(block, Block::RunCommand { .. }));
    rest.any(|block| block.path().is_some() && !matches!(block, Block::ReadFile { .. }))
}
