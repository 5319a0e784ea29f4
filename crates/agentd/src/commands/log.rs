//! `agentd log`: what was done, from the journal.

use change_journal::{
    EntryKind, JournalError, JournalReader, RecordedChange, RecordedRun, RecordedStep, RunFilter,
};
use local_workspace::undone_by;
use serde::Serialize;

use crate::cli::Common;
use crate::console::Console;
use crate::exit::{Exit, Failure, Outcome};
use crate::progress::one_line;
use crate::state::Places;

#[derive(Serialize)]
struct RunLine {
    run: u64,
    conversation: String,
    sequence: u64,
    began_at: String,
    finished: bool,
    steps: Vec<StepLine>,
}

#[derive(Serialize)]
struct StepLine {
    step: u32,
    description: String,
    finished: bool,
    changes: Vec<ChangeLine>,
}

#[derive(Serialize)]
struct ChangeLine {
    change: u64,
    path: String,
    what: &'static str,
    state: String,
    /// The change that this one takes back.
    undoes: Option<u64>,
    /// The change that has taken this one back.
    undone_by: Option<u64>,
}

/// Lists runs with their steps and changes, newest first.
pub(crate) fn log(common: &Common, console: Console, limit: u32) -> Outcome {
    let runs = match Places::find(common)?.journal_reader()? {
        Some(journal) => lines(&journal, limit).map_err(unreadable)?,
        None => Vec::new(),
    };
    if console.json {
        console.json_result(&runs);
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        console.notice("nothing was done here yet");
    }
    for line in rendered(&runs) {
        console.result(&line);
    }
    Ok(Exit::Done)
}

/// The same as a text, for a model.
pub(crate) fn text(places: &Places, limit: u32) -> Result<String, Failure> {
    let runs = match places.journal_reader()? {
        Some(journal) => lines(&journal, limit).map_err(unreadable)?,
        None => Vec::new(),
    };
    if runs.is_empty() {
        return Ok("nothing was done here yet".to_owned());
    }
    Ok(rendered(&runs).iter().map(|line| format!("{line}\n")).collect())
}

fn rendered(runs: &[RunLine]) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        let unfinished = if run.finished { "" } else { "  (not finished)" };
        let sequence = if run.sequence == 0 { String::new() } else { format!(" message {}", run.sequence) };
        lines.push(format!("{}  {}{sequence}{unfinished}", run.began_at, run.conversation));
        for step in &run.steps {
            let unknown = if step.finished { "" } else { "  (its end is not known)" };
            lines.push(format!("  {}{unknown}", one_line(&step.description)));
            for change in &step.changes {
                let undoes = change.undoes.map(|number| format!("  undoes {number}"));
                let undone = change.undone_by.map(|number| format!("  undone by {number}"));
                lines.push(format!(
                    "    {:>5}  {:<8} {}  {}{}{}",
                    change.change,
                    change.what,
                    change.path,
                    change.state,
                    undoes.unwrap_or_default(),
                    undone.unwrap_or_default()
                ));
            }
        }
    }
    lines
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn unreadable(error: JournalError) -> Failure {
    Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"))
}

fn lines(journal: &JournalReader, limit: u32) -> Result<Vec<RunLine>, JournalError> {
    let runs = journal.runs(&RunFilter::default(), limit)?;
    runs.into_iter().map(|run| run_line(journal, run)).collect()
}

fn run_line(journal: &JournalReader, run: RecordedRun) -> Result<RunLine, JournalError> {
    let changes = journal.changes_of_run(run.number)?;
    let steps = journal.steps(run.number)?;
    Ok(RunLine {
        run: run.number.0,
        conversation: run.key.conversation,
        sequence: run.key.sequence,
        began_at: jiff::Timestamp::try_from(run.began_at)
            .map(|time| format!("{time:.0}"))
            .unwrap_or_default(),
        finished: run.finished_at.is_some(),
        steps: steps.into_iter().map(|step| step_line(journal, step, &changes)).collect::<Result<_, _>>()?,
    })
}

fn step_line(
    journal: &JournalReader,
    step: RecordedStep,
    changes: &[RecordedChange],
) -> Result<StepLine, JournalError> {
    let changes = changes.iter().filter(|change| change.step == step.index);
    Ok(StepLine {
        step: step.index,
        description: step.description,
        finished: step.finished_at.is_some(),
        changes: changes.map(|change| change_line(journal, change)).collect::<Result<_, _>>()?,
    })
}

fn change_line(journal: &JournalReader, change: &RecordedChange) -> Result<ChangeLine, JournalError> {
    let is_folder = [change.before, change.after].iter().flatten().any(|side| side.kind == EntryKind::Folder);
    let what = match (&change.before, &change.after) {
        (None, _) => "created",
        (_, None) => "deleted",
        _ => "changed",
    };
    let mut path = rel_path::RelPath::from_bytes(&change.path).unwrap_or_default().to_string();
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
    })
}
