//! `agentd undo`: taking changes back.

use std::collections::BTreeSet;

use change_journal::{
    ChangeState, Entry, EntryKind, JournalError, JournalReader, RecordedChange, RunNumber, StepKind,
};
use file_index::GitIgnores;
use local_workspace::{LocalWorkspace, Undo, UndoEffect, UndoError, Undone, UndonePath, undone_by};
use serde::Serialize;
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

use crate::cli::{self, Common};
use crate::commands::session::{cancel_flag, parse_id};
use crate::exit::{Exit, Failure, Outcome};
use crate::owner::shared_workspace::SharedWorkspace;
use crate::owner::undo_request::{Obstacle, UndoAnswer, UndoRefusal, UndoRequest};
use crate::state::Places;
use crate::state::bookkeeping::{Bookkeeping, folded_line};
use crate::views::console::Console;
use crate::views::progress::one_line;

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
struct Refusal<'a> {
    error: &'a str,
    obstacles: &'a [Obstacle],
}

/// Takes back what is asked for.
pub(crate) fn undo(common: &Common, console: Console, asked: &cli::Undo) -> Outcome {
    let cancel = cancel_flag()?;
    let places = Places::find(common)?;
    if !places.has_sessions() {
        return Err(nothing());
    }
    if let Some(session) = &asked.session {
        parse_id(session)?;
    }
    let request = UndoRequest { change: asked.change, reply: asked.reply, session: asked.session.clone() };
    let workspace = SharedWorkspace::new(common, &places, console);
    workspace.open()?;
    let origin = origin();
    let answer = workspace.undo(&request, &Call { origin: &origin, cancel: &cancel, time_left: None })?;
    match answer {
        Ok(answer) => {
            report(console, &answer, asked.all);
            if answer.reply_is_open {
                console.notice("this reply is not finished: applying it again, or `agentd resume`, goes on with the rest of it");
            }
            Ok(Exit::Done)
        }
        Err(refusal) => {
            if !refusal.obstacles.is_empty() {
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

/// What came of an undo, as a text of about so many characters for a model; a refusal is an error.
pub(crate) fn told(answer: Result<UndoAnswer, UndoRefusal>, characters: usize) -> Result<String, String> {
    let mut page = Page { text: String::new(), left: characters, left_out: 0 };
    match answer {
        Ok(answer) => {
            lines(&answer.undone).iter().for_each(|line| page.add(line));
            let run = answer.undone.run;
            page.end(&format!(
                "log {{\"before\":{},\"limit\":1}} lists what this undo did",
                run.saturating_add(1)
            ));
            if let Some(number) = answer.taken_back_by {
                page.text.push_str(&format!("undoing change {number} takes this back"));
            }
            Ok(page.text.trim_end().to_owned())
        }
        Err(refusal) => {
            page.add(&refusal.message);
            for obstacle in refusal.obstacles {
                page.add(&format!("`{}` {}", obstacle.path, obstacle.why));
                obstacle.diff.lines().for_each(|line| page.add(line));
            }
            page.end(
                "undo with the number of one change shows what is in its way, readFile what a file holds now",
            );
            Err(page.text.trim_end().to_owned())
        }
    }
}

/// Lines, as many as fit.
struct Page {
    text: String,
    left: usize,
    left_out: usize,
}

impl Page {
    fn add(&mut self, line: &str) {
        let characters = line.chars().count().saturating_add(1);
        if self.left_out > 0 || characters > self.left {
            self.left_out += 1;
            return;
        }
        self.left -= characters;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Says how many lines are left out, if any, and how to get them.
    fn end(&mut self, how: &str) {
        if self.left_out > 0 {
            self.text.push_str(&format!("[{} lines are left out; {how}]\n", self.left_out));
        }
    }
}

/// Takes something back as a run of its own.
pub(crate) fn take_back(
    workspace: &LocalWorkspace,
    what: &Undo,
    cancel: &CancelFlag,
) -> Result<Undone, UndoError> {
    let origin = origin();
    workspace.undo(&Call { origin: &origin, cancel, time_left: None }, what)
}

/// The last reply that has changed anything on purpose, and is in force; without `reply` also what other clients have done since: a
/// change of a file, or all of a command.
///
/// Bookkeeping is never undone alone. Where it stands in the way of a reply, because later commands have changed the same files, it
/// is undone with it.
pub(crate) fn last(
    journal: &JournalReader,
    ignores: GitIgnores<'_>,
    reply: bool,
) -> Result<Option<Undo>, JournalError> {
    let mut bookkeeping = Bookkeeping::new(journal, ignores);
    let mut passed = Vec::new();
    let mut before = None;
    loop {
        let changes = journal.latest_changes(before, PAGE)?;
        let Some(oldest) = changes.last() else { return Ok(None) };
        before = Some(oldest.number);
        for change in &changes {
            if !is_in_force(journal, change)? {
                continue;
            }
            if bookkeeping.holds(change)? {
                passed.push(change.clone());
                continue;
            }
            if is_of_a_reply(journal, change.run)? {
                return of_reply(journal, change.run, &passed).map(Some);
            }
            if !reply {
                return last_of_step(journal, change).map(Some);
            }
        }
    }
}

/// All that a reply has changed, and the later bookkeeping of the same files.
fn of_reply(
    journal: &JournalReader,
    run: RunNumber,
    passed: &[RecordedChange],
) -> Result<Undo, JournalError> {
    let changes = journal.changes_of_run(run)?;
    let paths: BTreeSet<&[u8]> = changes.iter().map(|change| &*change.path).collect();
    let riding: Vec<_> =
        passed.iter().filter(|later| later.run != run && paths.contains(&*later.path)).collect();
    if riding.is_empty() {
        return Ok(Undo::Run(run));
    }
    let mut numbers: Vec<_> = riding.iter().map(|change| change.number).collect();
    for change in &changes {
        let is_kept = [&change.before, &change.after].into_iter().flatten().all(Entry::was_kept);
        if is_kept && change.state != ChangeState::Conflicted && undone_by(journal, change.number)?.is_none()
        {
            numbers.push(change.number);
        }
    }
    Ok(Undo::Changes(numbers))
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

fn report(console: Console, answer: &UndoAnswer, shows_all: bool) {
    let UndoAnswer { undone, taken_back_by, bookkeeping, .. } = answer;
    let Undone { run, paths, kept_folders, commands, not_undoable, .. } = undone;
    if console.json {
        console.json_result(&Report {
            run: *run,
            paths,
            kept_folders,
            commands,
            not_undoable,
            taken_back_by: *taken_back_by,
        });
        return;
    }
    let is_folder = |path: &str| bookkeeping.contains(&format!("{path}/"));
    let is_folded = |path: &str| !shows_all && (bookkeeping.contains(path) || is_folder(path));
    let (folded, shown): (Vec<_>, Vec<_>) = undone.paths.iter().partition(|path| is_folded(&path.path));
    let folded = folded.iter().filter(|path| !is_folder(&path.path)).count();
    // What is all of it is not a footnote.
    if shown.is_empty() {
        lines(undone).iter().for_each(|line| console.result(line));
    } else {
        let mut shown = undone.clone();
        shown.paths.retain(|path| !is_folded(&path.path));
        lines(&shown).iter().for_each(|line| console.result(line));
        if let Some(line) = folded_line(folded) {
            console.result(&line);
        }
    }
    if let Some(number) = taken_back_by {
        console.progress(&format!("`agentd undo {number}` takes this back"));
    }
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

fn show_obstacles(console: Console, refusal: &UndoRefusal) {
    if console.json {
        console.json_result(&Refusal { error: &refusal.message, obstacles: &refusal.obstacles });
        return;
    }
    for obstacle in &refusal.obstacles {
        console.result(&format!("`{}` {}", obstacle.path, obstacle.why));
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
        UndoError::InParts { .. } => failure(Exit::Failed).advise(
            "`agentd log` lists what was changed; undo or repeat it when the disk takes writes again",
        ),
        UndoError::AlreadyUndone { by, .. } => {
            failure(Exit::Failed).advise(format!("`agentd undo {by}` takes that undo back"))
        }
        _ => failure(Exit::Failed),
    }
}

fn nothing() -> Failure {
    Failure::new(Exit::Failed, "there is nothing to undo").advise("`agentd log` lists what was done")
}
