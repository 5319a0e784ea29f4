//! The log: runs of the journal with their steps and changes.

use std::collections::BTreeSet;

use change_journal::{
    EntryKind, JournalError, JournalReader, RecordedChange, RecordedRun, RecordedStep, RunFilter, RunNumber,
};
use file_index::GitIgnores;
use local_workspace::undone_by;
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use serde::Serialize;
use wap_core::visible_line;

use super::step_failure::step_failure;
use super::unreadable;
use crate::state::bookkeeping::{Bookkeeping, folded_line};
use crate::{Failure, WorkspacePaths};

/// The maximum number of characters of a step's description.
const LINE_CHARACTERS: usize = 70;

/// A run of the journal with its steps and changes, in serializable form.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunLine {
    run: u64,
    conversation: String,
    sequence: u64,
    began_at: String,
    finished: bool,
    steps: Vec<StepLine>,
    /// The changes of the run beyond the wanted number.
    #[serde(skip_serializing_if = "is_zero")]
    changes_left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The runs of a page of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRange {
    /// Leaves out this run and later ones.
    pub before: Option<u64>,
    /// The maximum number of runs.
    pub limit: u32,
    /// The maximum number of changes of each run.
    pub changes: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StepLine {
    step: u32,
    description: String,
    finished: bool,
    /// The way in which it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    changes: Vec<ChangeLine>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeLine {
    change: u64,
    path: String,
    what: &'static str,
    state: String,
    /// The change that this one undoes.
    undoes: Option<u64>,
    /// The change that has undone this one.
    undone_by: Option<u64>,
    /// True if no step made it on purpose.
    #[serde(skip)]
    is_bookkeeping: bool,
}

/// Reads the newest runs, newest first, at most `limit`. With `folds_bookkeeping`, changes that [`log_text`]
/// folds are marked.
///
/// # Errors
/// The journal cannot be read.
pub fn log(paths: &WorkspacePaths, limit: u32, folds_bookkeeping: bool) -> Result<Vec<RunLine>, Failure> {
    let Some(journal) = paths.journal_reader()? else { return Ok(Vec::new()) };
    read(&journal, paths, limit, folds_bookkeeping).map_err(unreadable)
}

/// Reads a page of runs, newest first.
///
/// # Errors
/// The journal cannot be read.
pub fn log_range(paths: &WorkspacePaths, range: &LogRange) -> Result<Vec<RunLine>, Failure> {
    let Some(journal) = paths.journal_reader()? else { return Ok(Vec::new()) };
    let filter = RunFilter { before: range.before.map(RunNumber), ..RunFilter::default() };
    let runs = journal.runs(&filter, range.limit).map_err(unreadable)?;
    let lines = runs.into_iter().map(|run| run_line(&journal, run, range.changes));
    lines.collect::<Result<_, _>>().map_err(unreadable)
}

fn read(
    journal: &JournalReader,
    paths: &WorkspacePaths,
    limit: u32,
    folds_bookkeeping: bool,
) -> Result<Vec<RunLine>, JournalError> {
    let runs = journal.runs(&RunFilter::default(), limit)?;
    let mut runs: Vec<RunLine> =
        runs.into_iter().map(|run| run_line(journal, run, usize::MAX)).collect::<Result<_, _>>()?;
    if folds_bookkeeping {
        mark_bookkeeping(journal, paths, &mut runs)?;
    }
    Ok(runs)
}

/// Renders runs as lines of text; changes that are bookkeeping are folded into one line for each step.
#[must_use]
pub fn log_text(runs: &[RunLine]) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        lines.push(run_head(run));
        for step in &run.steps {
            lines.push(step_text(step, visible_line));
            let (folded, listed): (Vec<_>, Vec<_>) =
                step.changes.iter().partition(|change| change.is_bookkeeping);
            lines.extend(listed.into_iter().map(change_text));
            let folded = folded.iter().filter(|change| !change.path.ends_with('/')).count();
            lines.extend(folded_line(folded).map(|line| format!("           {line}")));
        }
    }
    lines
}

/// Marks the changes that a view folds into one line; none without a folder.
fn mark_bookkeeping(
    journal: &JournalReader,
    paths: &WorkspacePaths,
    runs: &mut [RunLine],
) -> Result<(), JournalError> {
    // The log of a missing folder is still useful.
    let Ok(root) = FileRoot::open(&paths.workspace, &RootRules::default(), FsPolicy::default()) else {
        return Ok(());
    };
    let mut bookkeeping = Bookkeeping::new(journal, GitIgnores::new(&root));
    for run in runs {
        let changes = journal.changes_of_run(RunNumber(run.run))?;
        let mut numbers = BTreeSet::new();
        for change in &changes {
            if bookkeeping.holds(change)? {
                numbers.insert(change.number.0);
            }
        }
        for change in run.steps.iter_mut().flat_map(|step| &mut step.changes) {
            change.is_bookkeeping = numbers.contains(&change.change);
        }
    }
    Ok(())
}

impl RunLine {
    /// Returns its author: the conversation, and the message that it answers.
    pub(super) fn by(&self) -> String {
        match self.sequence {
            0 => self.conversation.clone(),
            sequence => format!("{} message {sequence}", self.conversation),
        }
    }

    pub(super) fn conversation(&self) -> &str {
        &self.conversation
    }

    pub(super) fn began_at(&self) -> &str {
        &self.began_at
    }
}

pub(super) fn run_head(run: &RunLine) -> String {
    let unfinished = if run.finished { "" } else { "  (not finished)" };
    format!("{}  {}{unfinished}", run.began_at, run.by())
}

/// Renders a step, with its description shortened by `one_line`.
pub(super) fn step_text(step: &StepLine, one_line: impl Fn(&str, usize) -> String) -> String {
    let end = match (&step.failure, step.finished) {
        (Some(failure), _) => format!("  ({failure})"),
        (None, true) => String::new(),
        (None, false) => "  (its end is not known)".to_owned(),
    };
    format!("  {}{end}", one_line(&step.description, LINE_CHARACTERS))
}

pub(super) fn change_text(change: &ChangeLine) -> String {
    let undoes = change.undoes.map(|number| format!("  undoes {number}"));
    let undone = change.undone_by.map(|number| format!("  undone by {number}"));
    format!(
        "    {:>5}  {:<8} {}  {}{}{}",
        change.change,
        change.what,
        change.path,
        change.state,
        undoes.unwrap_or_default(),
        undone.unwrap_or_default()
    )
}

fn run_line(journal: &JournalReader, run: RecordedRun, most_changes: usize) -> Result<RunLine, JournalError> {
    let mut changes = journal.changes_of_run(run.number)?;
    let changes_left_out = changes.len().saturating_sub(most_changes);
    changes.truncate(most_changes);
    let steps = journal.steps(run.number)?;
    let steps = steps.into_iter().map(|step| step_line(journal, step, &changes)).collect::<Result<_, _>>()?;
    Ok(RunLine { steps, changes_left_out, ..run_line_of(&run) })
}

/// A run without its steps.
pub(super) fn run_line_of(run: &RecordedRun) -> RunLine {
    RunLine {
        run: run.number.0,
        conversation: run.key.conversation.clone(),
        sequence: run.key.sequence,
        began_at: jiff::Timestamp::try_from(run.began_at)
            .map(|time| format!("{time:.0}"))
            .unwrap_or_default(),
        finished: run.finished_at.is_some(),
        steps: Vec::new(),
        changes_left_out: 0,
    }
}

pub(super) fn step_line(
    journal: &JournalReader,
    step: RecordedStep,
    changes: &[RecordedChange],
) -> Result<StepLine, JournalError> {
    let changes = changes.iter().filter(|change| change.step == step.index);
    Ok(StepLine {
        step: step.index,
        description: step.description,
        finished: step.finished_at.is_some(),
        failure: step.outcome.as_deref().and_then(step_failure),
        changes: changes.map(|change| change_line(journal, change)).collect::<Result<_, _>>()?,
    })
}

pub(super) fn change_line(
    journal: &JournalReader,
    change: &RecordedChange,
) -> Result<ChangeLine, JournalError> {
    let is_folder = [change.before, change.after].iter().flatten().any(|side| side.kind == EntryKind::Folder);
    let what = match (&change.before, &change.after) {
        (None, _) => "created",
        (_, None) => "deleted",
        _ => "changed",
    };
    let mut path = RelPath::from_bytes(&change.path).unwrap_or_default().to_string();
    if is_folder {
        path.push('/');
    }
    Ok(ChangeLine {
        change: change.number.0,
        path,
        what,
        state: format!("{:?}", change.state).to_lowercase(),
        undoes: change.undoes.map(|number| number.0),
        undone_by: undone_by(journal, change.number)?.map(|number| number.0),
        is_bookkeeping: false,
    })
}
