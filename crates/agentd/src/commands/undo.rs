//! `agentd undo`: taking changes back.

use local_workspace::{LocalWorkspace, Undo, UndoEffect, UndoError, Undone, UndonePath};
use serde::Serialize;
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

use crate::cli::{self, Common};
use crate::commands::session::{cancel_flag, parse_id};
use crate::exit::{Exit, Outcome};
use crate::views::console::Console;
use crate::views::progress::one_line;
use workspace_host::SharedWorkspace;
use workspace_host::WorkspacePaths;
use workspace_host::last_change;
use workspace_host::state::bookkeeping::folded_line;
use workspace_host::{Obstacle, UndoAnswer, UndoRefusal, UndoRequest};

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
    let places = WorkspacePaths::find(&common.host())?;
    if !places.has_sessions() {
        return Err(last_change::nothing());
    }
    if let Some(session) = &asked.session {
        parse_id(session)?;
    }
    let request = UndoRequest { change: asked.change, reply: asked.reply, session: asked.session.clone() };
    let workspace = SharedWorkspace::new(&common.host(), &places, &console.shared());
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

/// Renders the outcome of an undo for a model, in at most about `characters`; a refusal is an error.
pub(crate) fn text(answer: Result<UndoAnswer, UndoRefusal>, characters: usize) -> Result<String, String> {
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
