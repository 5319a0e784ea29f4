//! `agentd undo`: taking changes back.

use change_journal::{
    ChangeNumber, ChangeState, Entry, EntryKind, JournalError, JournalReader, RecordedChange, RunNumber,
    StepKind,
};
use local_workspace::{
    LocalWorkspace, Undo, UndoEffect, UndoError, UndoObstacle, Undone, UndonePath, undone_by,
};
use serde::Serialize;
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

use crate::cli::{self, Common};
use crate::commands::session::{cancel_flag, parse_id};
use crate::console::Console;
use crate::exit::{Exit, Failure, Outcome};
use crate::progress::one_line;
use crate::state::{self, Places};

/// How many changes are looked at in one go.
const PAGE: u32 = 500;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    run: u64,
    paths: &'a [UndonePath],
    kept_folders: &'a [String],
    commands: &'a [String],
    not_undoable: &'a [String],
    /// The change by whose number this undo is taken back.
    taken_back_by: Option<u64>,
}

#[derive(Serialize)]
struct Refusal {
    error: String,
    obstacles: Vec<ObstacleLine>,
}

#[derive(Serialize)]
struct ObstacleLine {
    path: String,
    why: String,
    diff: String,
}

/// Takes back what is asked for.
pub(crate) fn undo(common: &Common, console: Console, asked: &cli::Undo) -> Outcome {
    let cancel = cancel_flag()?;
    let places = Places::find(common)?;
    if !places.has_sessions() {
        return Err(nothing());
    }
    let session = asked.session.as_deref().map(parse_id).transpose()?;
    let sessions = state::open(common, &places, console)?;
    let journal = sessions.journal_reader();
    let what = match (asked.change, session) {
        (Some(number), _) => of_number(journal, ChangeNumber(number))?,
        (None, Some(id)) => {
            sessions.session(id).map_err(crate::session_failure::explain)?;
            Undo::Conversation(ConversationId(id.to_string()))
        }
        (None, None) => last(journal, asked.reply).map_err(unreadable)?.ok_or_else(nothing)?,
    };
    match take_back(sessions.workspace(), &what, &cancel) {
        Ok(undone) => {
            report(console, journal, &undone).map_err(unreadable)?;
            if let Undo::Run(run) = what
                && journal
                    .run(run)
                    .map_err(unreadable)?
                    .is_some_and(|run| run.finished_at.is_none() && run.key.sequence > 0)
            {
                console.notice("this reply is not finished: applying it again, or `agentd resume`, goes on with the rest of it");
            }
            Ok(Exit::Done)
        }
        Err(UndoError::Obstacles(obstacles)) => {
            show_obstacles(console, &obstacles);
            Err(Failure::new(Exit::Failed, UndoError::Obstacles(obstacles).to_string())
                .advise("put those files back to how the change left them, or undo the later change as well"))
        }
        Err(error) => Err(explain(&error)),
    }
}

/// Takes something back as a run of its own.
pub(crate) fn take_back(
    workspace: &LocalWorkspace,
    what: &Undo,
    cancel: &CancelFlag,
) -> Result<Undone, UndoError> {
    let origin = Origin {
        conversation: ConversationId("undo".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    workspace.undo(&Call { origin: &origin, cancel, time_left: None }, what)
}

/// A change by its number; of an undo all of it, since it was all or nothing.
fn of_number(journal: &JournalReader, number: ChangeNumber) -> Result<Undo, Failure> {
    let change = journal.change(number).map_err(unreadable)?;
    let change = change.ok_or_else(|| explain(&UndoError::Unknown { number }))?;
    if change.undoes.is_none() {
        return Ok(Undo::Changes(vec![number]));
    }
    match undone_by(journal, number).map_err(unreadable)? {
        Some(by) => Err(explain(&UndoError::AlreadyUndone { number, by })),
        None => Ok(Undo::Run(change.run)),
    }
}

/// The last change of a file, or command that changed any, that is in force and is no undo, or the last reply that has made one.
pub(crate) fn last(journal: &JournalReader, reply: bool) -> Result<Option<Undo>, JournalError> {
    let mut before = None;
    loop {
        let changes = journal.latest_changes(before, PAGE)?;
        let Some(oldest) = changes.last() else { return Ok(None) };
        before = Some(oldest.number);
        for change in &changes {
            if !is_in_force(journal, change)? {
                continue;
            }
            if !reply {
                return last_of_step(journal, change).map(Some);
            }
            if is_of_a_reply(journal, change.run)? {
                return Ok(Some(Undo::Run(change.run)));
            }
        }
    }
}

/// One change of a file; of a command all that it did.
fn last_of_step(journal: &JournalReader, change: &RecordedChange) -> Result<Undo, JournalError> {
    let steps = journal.steps(change.run)?;
    let is_command =
        steps.iter().any(|step| step.index == change.step && step.kind == StepKind::ShellCommand);
    if !is_command {
        return Ok(Undo::Changes(vec![change.number]));
    }
    let mut numbers = Vec::new();
    for other in journal.changes_of_run(change.run)?.into_iter().filter(|other| other.step == change.step) {
        if other.state != ChangeState::Conflicted && undone_by(journal, other.number)?.is_none() {
            numbers.push(other.number);
        }
    }
    Ok(Undo::Changes(numbers))
}

fn is_in_force(journal: &JournalReader, change: &RecordedChange) -> Result<bool, JournalError> {
    let is_folder = [change.before, change.after].iter().flatten().all(|side| side.kind == EntryKind::Folder);
    let is_kept = [change.before, change.after].iter().flatten().all(Entry::was_kept);
    Ok(!is_folder
        && is_kept
        && change.undoes.is_none()
        && change.state != ChangeState::Conflicted
        && undone_by(journal, change.number)?.is_none())
}

/// Only replies to messages have a sequence.
fn is_of_a_reply(journal: &JournalReader, run: RunNumber) -> Result<bool, JournalError> {
    Ok(journal.run(run)?.is_some_and(|run| run.key.sequence > 0))
}

fn report(console: Console, journal: &JournalReader, undone: &Undone) -> Result<(), JournalError> {
    let changes = journal.changes_of_run(RunNumber(undone.run))?;
    let taken_back_by =
        changes.iter().rev().find(|change| change.undoes.is_some()).map(|change| change.number.0);
    let Undone { run, paths, kept_folders, commands, not_undoable, .. } = undone;
    if console.json {
        console.json_result(&Report {
            run: *run,
            paths,
            kept_folders,
            commands,
            not_undoable,
            taken_back_by,
        });
        return Ok(());
    }
    for line in lines(undone) {
        console.result(&line);
    }
    if let Some(number) = taken_back_by {
        console.progress(&format!("`agentd undo {number}` takes this back"));
    }
    Ok(())
}

/// What was undone, a line for each path, and what was not.
pub(crate) fn lines(undone: &Undone) -> Vec<String> {
    let path_line = |path: &UndonePath| {
        let effect = match path.effect {
            UndoEffect::Restored => "restored",
            UndoEffect::BroughtBack => "brought back",
            UndoEffect::Removed => "removed",
        };
        format!("{effect:<12}  {}", path.path)
    };
    let mut lines: Vec<_> = undone.paths.iter().map(path_line).collect();
    lines.extend(
        undone.kept_folders.iter().map(|folder| format!("kept          {folder}/  (it is not empty)")),
    );
    let kept = undone.not_undoable.iter();
    lines.extend(
        kept.map(|path| format!("not undone    {path}  (what was there is not kept, or it has changed)")),
    );
    if !undone.commands.is_empty() {
        lines.push("not undone: what these commands did to files is not known".to_owned());
        lines.extend(undone.commands.iter().map(|command| format!("  $ {}", one_line(command))));
    }
    lines
}

fn show_obstacles(console: Console, obstacles: &[UndoObstacle]) {
    if console.json {
        let line = |obstacle: &UndoObstacle| ObstacleLine {
            path: obstacle.path.clone(),
            why: obstacle.why.to_string(),
            diff: obstacle.diff.clone(),
        };
        console.json_result(&Refusal {
            error: UndoError::Obstacles(obstacles.to_vec()).to_string(),
            obstacles: obstacles.iter().map(line).collect(),
        });
        return;
    }
    for obstacle in obstacles {
        console.result(&obstacle.to_string());
        if !obstacle.diff.is_empty() {
            console.result(&obstacle.diff);
        }
    }
}

/// Explains a failure.
pub(crate) fn explain(error: &UndoError) -> Failure {
    let failure = |exit| Failure::new(exit, error.to_string());
    match error {
        UndoError::Unknown { .. } => {
            failure(Exit::Usage).advise("`agentd log` lists the changes with their numbers")
        }
        UndoError::Nothing => nothing(),
        UndoError::AlreadyUndone { by, .. } => {
            failure(Exit::Failed).advise(format!("`agentd undo {by}` takes that undo back"))
        }
        _ => failure(Exit::Failed),
    }
}

fn nothing() -> Failure {
    Failure::new(Exit::Failed, "there is nothing to undo").advise("`agentd log` lists what was done")
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn unreadable(error: JournalError) -> Failure {
    Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"))
}
