//! `agentd log`: what was done, from the journal.

use std::collections::BTreeSet;

use change_journal::{
    EntryKind, JournalError, JournalReader, RecordedChange, RecordedRun, RecordedStep, RunFilter, RunNumber,
};
use file_index::GitIgnores;
use local_workspace::undone_by;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use serde::Serialize;
use serde_json::json;

use crate::cli::Common;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::progress::one_line;
use wap_mcp::LogPage;
use workspace_host::WorkspacePaths;
use workspace_host::state::bookkeeping::{Bookkeeping, folded_line};

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
    /// Whether nobody made it on purpose.
    #[serde(skip)]
    is_bookkeeping: bool,
}

/// Lists runs with their steps and changes, newest first.
pub(crate) fn log(common: &Common, console: Console, limit: u32, all: bool) -> Outcome {
    let places = WorkspacePaths::find(&common.host())?;
    let runs = match places.journal_reader()? {
        Some(journal) => {
            let mut runs = lines(&journal, limit).map_err(unreadable)?;
            if !all {
                mark_bookkeeping(&journal, &places, &mut runs).map_err(unreadable)?;
            }
            runs
        }
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

/// Renders a part of the log for a model: as much as fits, and how to get the rest.
pub(crate) fn page(places: &WorkspacePaths, asked: &LogPage) -> Result<String, Failure> {
    let text = match places.journal_reader()? {
        Some(journal) => pages(&journal, asked).map_err(unreadable)?,
        None => String::new(),
    };
    Ok(if text.is_empty() { "nothing was done here yet".to_owned() } else { text })
}

fn pages(journal: &JournalReader, asked: &LogPage) -> Result<String, JournalError> {
    let mut page = PageText { text: String::new(), left: asked.characters };
    let (mut before, mut skip) = (asked.before.map(RunNumber), asked.skip);
    let next = |before| journal.runs(&RunFilter { before, ..RunFilter::default() }, 1);
    for _ in 0..asked.limit {
        let Some(run) = next(before)?.pop() else { return Ok(page.text) };
        before = Some(run.number);
        if let Some(shown) = add_run(journal, &run, skip, &mut page)? {
            let arguments = json!({ "before": run.number.0 + 1, "skip": shown });
            page.note(&format!(
                "the rest of this run and earlier ones are left out; go on with log {arguments}"
            ));
            return Ok(page.text);
        }
        skip = 0;
    }
    if let (Some(before), false) = (before, next(before)?.is_empty()) {
        let arguments = json!({ "before": before.0 });
        page.note(&format!("earlier runs are left out; go on with log {arguments}"));
    }
    Ok(page.text)
}

/// Adds the lines of a run after the first `skip`. Returns how many lines of it were shown by now if not all of them fit. What
/// is not shown is not worked out.
fn add_run(
    journal: &JournalReader,
    run: &RecordedRun,
    skip: u64,
    page: &mut PageText,
) -> Result<Option<u64>, JournalError> {
    let mut head = run_head(&run_line_of(run));
    if skip > 0 {
        head.push_str("  (continued)");
        // Where not even this fits, no line would.
        let _ = page.add(&head);
    }
    let mut index = 0;
    if index >= skip && !page.add(&head) {
        return Ok(Some(index));
    }
    let changes = journal.changes_of_run(run.number)?;
    for step in journal.steps(run.number)? {
        index += 1;
        let line = step_line(journal, step.clone(), &[])?;
        if index >= skip && !page.add(&step_text(&line)) {
            return Ok(Some(index));
        }
        for change in changes.iter().filter(|change| change.step == step.index) {
            index += 1;
            if index >= skip && !page.add(&change_text(&change_line(journal, change)?)) {
                return Ok(Some(index));
            }
        }
    }
    Ok(None)
}

/// A text that grows by lines as long as they fit.
struct PageText {
    text: String,
    left: usize,
}

impl PageText {
    /// Adds a line if it fits, or a first one as far as it does: each page goes on by one line at least.
    fn add(&mut self, line: &str) -> bool {
        let characters = line.chars().count().saturating_add(1);
        if characters > self.left && !self.text.is_empty() {
            return false;
        }
        self.text.extend(line.chars().take(self.left));
        self.text.push('\n');
        self.left = self.left.saturating_sub(characters);
        true
    }

    fn note(&mut self, note: &str) {
        self.text.push_str(&format!("[{note}]\n"));
    }
}

fn rendered(runs: &[RunLine]) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        lines.push(run_head(run));
        for step in &run.steps {
            lines.push(step_text(step));
            let (folded, shown): (Vec<_>, Vec<_>) =
                step.changes.iter().partition(|change| change.is_bookkeeping);
            lines.extend(shown.into_iter().map(change_text));
            let folded = folded.iter().filter(|change| !change.path.ends_with('/')).count();
            lines.extend(folded_line(folded).map(|line| format!("           {line}")));
        }
    }
    lines
}

/// Marks the changes that a view folds into one line. Without a folder to ask, none are.
fn mark_bookkeeping(
    journal: &JournalReader,
    places: &WorkspacePaths,
    runs: &mut [RunLine],
) -> Result<(), JournalError> {
    let Ok(root) = FileRoot::open(&places.workspace, &RootRules::default(), FsPolicy::default()) else {
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

fn run_head(run: &RunLine) -> String {
    let unfinished = if run.finished { "" } else { "  (not finished)" };
    let sequence = if run.sequence == 0 { String::new() } else { format!(" message {}", run.sequence) };
    format!("{}  {}{sequence}{unfinished}", run.began_at, run.conversation)
}

fn step_text(step: &StepLine) -> String {
    let unknown = if step.finished { "" } else { "  (its end is not known)" };
    format!("  {}{unknown}", one_line(&step.description))
}

fn change_text(change: &ChangeLine) -> String {
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
    let steps = steps.into_iter().map(|step| step_line(journal, step, &changes)).collect::<Result<_, _>>()?;
    Ok(RunLine { steps, ..run_line_of(&run) })
}

/// A run without its steps.
fn run_line_of(run: &RecordedRun) -> RunLine {
    RunLine {
        run: run.number.0,
        conversation: run.key.conversation.clone(),
        sequence: run.key.sequence,
        began_at: jiff::Timestamp::try_from(run.began_at)
            .map(|time| format!("{time:.0}"))
            .unwrap_or_default(),
        finished: run.finished_at.is_some(),
        steps: Vec::new(),
    }
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
        is_bookkeeping: false,
    })
}
