//! The history: a timeline over all conversations, differences, undo and redo.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::response::Response;
use change_journal::{ChangeNumber, JournalError, RunNumber};
use local_workspace::{FileDifference, differences, run_differences};
use serde::{Deserialize, Serialize};
use wap_core::CancelFlag;
use workspace_host::{
    BlamedLine, Exit, Failure, LogRange, Obstacle, RunLine, UndoRequest, blame, log_range, undo_lines,
};

use super::read;
use crate::answer::{Refused, json};
use crate::bounded_text::{BoundedText, TextBounds, bounded};
use crate::page::{Page, call, origin};

/// The most runs of a page of the timeline, and the most changes of each run.
const MOST_RUNS: u32 = 50;
const MOST_CHANGES: usize = 200;

/// The most files of a difference that are sent at once.
const MOST_FILES: usize = 50;

#[derive(Deserialize)]
pub(crate) struct Before {
    before: Option<u64>,
    limit: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Timeline {
    runs: Vec<RunLine>,
    has_more: bool,
}

/// Lists runs, newest first.
pub(crate) async fn list(State(page): State<Arc<Page>>, Query(part): Query<Before>) -> Response {
    page.answer(move |page| {
        let limit = part.limit.unwrap_or(MOST_RUNS).clamp(1, MOST_RUNS);
        // One more than is sent says whether there are more.
        let range = LogRange { before: part.before, limit: limit + 1, changes: MOST_CHANGES };
        let mut runs = log_range(&page.config.paths, &range)?;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = runs.len() > most;
        runs.truncate(most);
        Ok(json(&Timeline { runs, has_more }))
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct Between {
    /// All changes of one run.
    run: Option<u64>,
    /// The first and the last change.
    from: Option<u64>,
    to: Option<u64>,
    /// The files that earlier answers had.
    #[serde(default)]
    skip: usize,
}

#[derive(Serialize)]
struct Differences {
    files: Vec<FileView>,
    total: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView {
    path: String,
    lines_added: usize,
    lines_removed: usize,
    older_not_kept: bool,
    difference: BoundedText,
}

/// Returns the difference that changes have made, file by file.
pub(crate) async fn difference(State(page): State<Arc<Page>>, Query(between): Query<Between>) -> Response {
    page.answer(move |page| {
        let files = match page.config.paths.journal_reader()? {
            None => Vec::new(),
            Some(journal) => match between.run {
                Some(run) => run_differences(&journal, RunNumber(run))
                    .and_then(|files| files.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>())
                    .map_err(unreadable)?,
                None => {
                    let (from, to) = (between.from.unwrap_or(1), between.to.unwrap_or(u64::MAX));
                    if from > to {
                        return Err(Refused::bad(format!("{from} comes after {to}")));
                    }
                    differences(&journal, ChangeNumber(from)..=ChangeNumber(to)).map_err(unreadable)?
                }
            },
        };
        let files: Vec<_> = files.into_iter().filter(|file| !file.diff.is_empty()).collect();
        let total = files.len();
        let files = files.into_iter().skip(between.skip).take(MOST_FILES).map(file_view).collect();
        Ok(json(&Differences { files, total }))
    })
    .await
}

fn file_view(file: FileDifference) -> FileView {
    FileView {
        difference: bounded(&file.diff, TextBounds::DIFFERENCE),
        path: file.path,
        lines_added: file.lines_added,
        lines_removed: file.lines_removed,
        older_not_kept: file.is_cut,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn unreadable(error: JournalError) -> Failure {
    Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"))
}

/// The lines of a file that are traced at once.
const MOST_BLAMED_LINES: usize = 2_000;

#[derive(Deserialize)]
pub(crate) struct Traced {
    path: String,
    /// The first line, 1-based.
    #[serde(default = "first_line")]
    from: usize,
}

fn first_line() -> usize {
    1
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BlameView {
    path: String,
    lines: Vec<BlamedLineView>,
    total: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BlamedLineView {
    line: usize,
    text: BoundedText,
    by: String,
    change: Option<u64>,
    run: Option<u64>,
    conversation: Option<String>,
    began_at: Option<String>,
}

/// Returns lines of a file, each with the run that made it.
pub(crate) async fn lines(State(page): State<Arc<Page>>, Query(request): Query<Traced>) -> Response {
    page.answer(move |page| {
        let Traced { path, from } = request;
        let wanted = from..=from.saturating_add(MOST_BLAMED_LINES - 1);
        let traced = blame(&page.config.options, &page.config.paths, &path, &wanted)?;
        let view = |line: BlamedLine| BlamedLineView {
            line: line.line,
            text: bounded(&line.text, TextBounds::DIFFERENCE),
            by: line.by,
            change: line.change,
            run: line.run,
            conversation: line.conversation,
            began_at: line.began_at,
        };
        let lines = traced.lines.into_iter().map(view).collect();
        Ok(json(&BlameView { path: traced.path, lines, total: traced.total }))
    })
    .await
}

/// Names what is undone; exactly one of them.
#[derive(Deserialize)]
struct Undoing {
    run: Option<u64>,
    change: Option<u64>,
    session: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Undone {
    /// A line for each path.
    lines: Vec<String>,
    lines_left_out: usize,
    /// The change whose undo reverts this one; `None` if nothing was changed.
    redo: Option<u64>,
    reply_is_open: bool,
}

#[derive(Serialize)]
struct NotUndone {
    error: String,
    advice: Option<String>,
    obstacles: Vec<ObstacleView>,
}

#[derive(Serialize)]
struct ObstacleView {
    path: String,
    why: String,
    difference: BoundedText,
}

/// Undoes changes. A refusal lists the paths that prevent it, and is an answer.
pub(crate) async fn undo(State(page): State<Arc<Page>>, body: Bytes) -> Response {
    page.answer(move |page| {
        let Undoing { run, change, session } = read(&body)?;
        if [run.is_some(), change.is_some(), session.is_some()].iter().filter(|given| **given).count() != 1 {
            return Err(Refused::bad("name a run, a change or a session"));
        }
        let request = UndoRequest { change, run, reply: false, session, with_origin: false };
        let (origin, cancel) = (origin("undo"), CancelFlag::new());
        let sessions = page.sessions()?;
        let answer = sessions.workspace().undo(&request, &call(&origin, &cancel))?;
        Ok(match answer {
            Ok(answer) => {
                let mut lines = undo_lines(&answer.undone);
                let lines_left_out = lines.len().saturating_sub(MOST_CHANGES);
                lines.truncate(MOST_CHANGES);
                let redo = answer.taken_back_by;
                json(&Undone { lines, lines_left_out, redo, reply_is_open: answer.reply_is_open })
            }
            Err(refusal) => {
                let obstacle = |obstacle: &Obstacle| ObstacleView {
                    path: obstacle.path.clone(),
                    why: obstacle.why.clone(),
                    difference: bounded(&obstacle.diff, TextBounds::DIFFERENCE),
                };
                let obstacles = refusal.obstacles.iter().take(MOST_FILES).map(obstacle).collect();
                json(&NotUndone { error: refusal.message, advice: refusal.advice, obstacles })
            }
        })
    })
    .await
}
