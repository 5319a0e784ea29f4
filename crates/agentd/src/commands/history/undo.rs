//! `agentd undo`: taking changes back.

use clap::Args;
use local_workspace::{LocalWorkspace, Undo, UndoError, Undone, UndonePath};
use serde::Serialize;
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};
use workspace_host::SharedWorkspace;
use workspace_host::WorkspacePaths;
use workspace_host::last_change;
use workspace_host::state::bookkeeping::folded_line;
use workspace_host::{Obstacle, UndoAnswer, UndoRefusal, UndoRequest, undo_lines};

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Outcome};
use crate::views::console::Console;

#[derive(Debug, Args)]
pub(crate) struct UndoOptions {
    /// The number of a change as `log` shows it; of an undo, all of that undo [default: the changes of the newest
    /// reply, call or command that are in force].
    #[arg(value_name = "N", conflicts_with_all = ["reply", "session"])]
    pub change: Option<u64>,
    /// Undo everything that the reply, the call or the command of change N did.
    #[arg(long, requires = "change")]
    pub whole: bool,
    /// Undo the last reply that has changed anything.
    #[arg(long, conflicts_with = "session")]
    pub reply: bool,
    /// Undo everything that a session has changed, or a client by its name in `agentd log`.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Undo what the work that the session continues has changed as well, as one.
    #[arg(long, requires = "session")]
    pub with_origin: bool,
    /// Also list files that git ignores or that git keeps for itself; they are undone in any case.
    #[arg(long)]
    pub all: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    run: u64,
    paths: &'a [UndonePath],
    kept_folders: &'a [String],
    commands: &'a [String],
    not_undoable: &'a [String],
    already_as_before: &'a [String],
    /// The number of the change that reverts this undo.
    taken_back_by: Option<u64>,
}

#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a str,
    obstacles: &'a [Obstacle],
}

/// Undoes the requested changes.
pub(crate) fn undo(common: &CommonOptions, console: Console, options: &UndoOptions) -> Outcome {
    let cancel = cancel_flag()?;
    let paths = WorkspacePaths::find(&common.host())?;
    if !paths.has_sessions() {
        let nothing = last_change::nothing();
        if console.json {
            console.json_result(&Refusal { error: &nothing.message, obstacles: &[] });
        }
        return Err(nothing);
    }
    let request = UndoRequest {
        change: options.change,
        whole: options.whole,
        run: None,
        reply: options.reply,
        session: options.session.clone(),
        with_origin: options.with_origin,
    };
    let workspace = SharedWorkspace::new(&common.host(), &paths, &console.shared());
    workspace.open()?;
    let origin = origin();
    let answer = workspace.undo(&request, &Call { origin: &origin, cancel: &cancel, time_left: None })?;
    match answer {
        Ok(answer) => {
            report(console, &answer, options.all);
            if answer.reply_is_open {
                console.notice("this reply is not finished: applying it again, or `agentd resume`, continues with the rest of it");
            }
            Ok(Exit::Done)
        }
        Err(mut refusal) => {
            // That is for models.
            refusal.obstacles.iter_mut().for_each(|obstacle| obstacle.visible_diff = None);
            // A program reads every refusal as JSON.
            if console.json || !refusal.obstacles.is_empty() {
                show_obstacles(console, &refusal);
            }
            Err(refusal.into_failure())
        }
    }
}

fn origin() -> Origin {
    Origin {
        conversation: ConversationId("undo".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    }
}

/// Undoes changes as a separate run.
pub(crate) fn carry_out(
    workspace: &LocalWorkspace,
    what: &Undo,
    cancel: &CancelFlag,
) -> Result<Undone, UndoError> {
    let origin = origin();
    workspace.undo(&Call { origin: &origin, cancel, time_left: None }, what)
}

fn report(console: Console, answer: &UndoAnswer, shows_all: bool) {
    let UndoAnswer { undone, taken_back_by, bookkeeping, .. } = answer;
    let Undone { run, paths, kept_folders, commands, not_undoable, already_as_before, .. } = undone;
    if console.json {
        console.json_result(&Report {
            run: *run,
            paths,
            kept_folders,
            commands,
            not_undoable,
            already_as_before,
            taken_back_by: *taken_back_by,
        });
        return;
    }
    let is_folder = |path: &str| bookkeeping.contains(&format!("{path}/"));
    let is_folded = |path: &str| !shows_all && (bookkeeping.contains(path) || is_folder(path));
    let (folded, listed): (Vec<_>, Vec<_>) = undone.paths.iter().partition(|path| is_folded(&path.path));
    let folded = folded.iter().filter(|path| !is_folder(&path.path)).count();
    // If all paths would be folded, they are listed: a line that counts them would say nothing.
    if listed.is_empty() {
        undo_lines(undone).iter().for_each(|line| console.result(line));
    } else {
        let mut listed = undone.clone();
        listed.paths.retain(|path| !is_folded(&path.path));
        undo_lines(&listed).iter().for_each(|line| console.result(line));
        if let Some(line) = folded_line(folded) {
            console.result(&line);
        }
    }
    if let Some(number) = taken_back_by {
        console.progress(&format!("`agentd undo {number}` reverts this undo"));
    }
}

fn show_obstacles(console: Console, refusal: &UndoRefusal) {
    if console.json {
        console.json_result(&Refusal { error: &refusal.message, obstacles: &refusal.obstacles });
        return;
    }
    for obstacle in &refusal.obstacles {
        console.result(&format!("`{}` {}", obstacle.path, obstacle.why));
        if !obstacle.diff.is_empty() {
            console.file_result(&obstacle.diff);
        }
    }
}
