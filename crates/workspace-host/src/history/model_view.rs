//! Runs of the journal as texts for a model: without secrets, and without the contents of files that hold credentials.

use std::fmt::Write;

use change_journal::{
    ChangeState, ContentHash, JournalError, JournalReader, RecordedRun, RecordedStep, RunFilter, RunNumber,
    StepKind,
};
use local_workspace::{FileDifference, run_differences, undone_by};
use wap_core::{CancelFlag, ExecuteCommandResponse, WapError};

use super::log::{run_head, run_line_of};
use super::unreadable;
use super::visible_diff::visible_diff;
use super::work_so_far::work_so_far;
use crate::{Exit, Failure, SecretRules, WorkspacePaths};

/// The number of runs examined for one part of a list.
const LISTED_RUNS: u32 = 100;

/// The number of runs searched for a failed command or a conversation.
const SEARCHED_RUNS: u32 = 2_000;

/// The number of changes searched for the last one in force.
const SEARCHED_CHANGES: u32 = 2_000;

/// The maximum number of bytes of a run's differences. Past half of it, no further file is read.
const MOST_BYTES: usize = 8 << 20;

/// The maximum number of files read although their differences are too long to show.
const MOST_LONG: usize = 20;

/// The maximum number of characters of a step's description.
const LINE_CHARACTERS: usize = 120;

/// The runs of a workspace, as a model may see them.
#[derive(Clone, Copy, Debug)]
pub struct RunViews<'a> {
    paths: &'a WorkspacePaths,
    rules: &'a SecretRules,
}

/// A part of the list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPage {
    /// The runs that have changed files, the newest first.
    pub runs: Vec<ListedRun>,
    /// The run before which the next part begins; `None` if this part is the last.
    pub next: Option<u64>,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRun {
    /// Its number.
    pub number: u64,
    /// Its time, its conversation and its first step, in one line.
    pub description: String,
}

impl<'a> RunViews<'a> {
    /// Returns the runs of a state folder under the rules about secrets.
    #[must_use]
    pub fn new(paths: &'a WorkspacePaths, rules: &'a SecretRules) -> RunViews<'a> {
        RunViews { paths, rules }
    }

    /// Lists the runs that have changed files. A part can be empty and still have a next one.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn list(&self, before: Option<u64>) -> Result<RunPage, Failure> {
        let Some(journal) = self.paths.journal_reader()? else { return Ok(RunPage::default()) };
        let filter = RunFilter { before: before.map(RunNumber), ..RunFilter::default() };
        let looked_at = journal.runs(&filter, LISTED_RUNS).map_err(unreadable)?;
        let is_full = u32::try_from(looked_at.len()).is_ok_and(|count| count == LISTED_RUNS);
        let next = looked_at.last().filter(|_| is_full).map(|run| run.number.0);
        let mut page = RunPage { runs: Vec::new(), next };
        for run in &looked_at {
            let changes = journal.changes_of_run(run.number).map_err(unreadable)?.len();
            if changes > 0 {
                let description = self.describe(&journal, run, changes).map_err(unreadable)?;
                page.runs.push(ListedRun { number: run.number.0, description });
            }
        }
        Ok(page)
    }

    fn describe(
        &self,
        journal: &JournalReader,
        run: &RecordedRun,
        changes: usize,
    ) -> Result<String, JournalError> {
        let steps = journal.steps(run.number)?;
        let first = steps.first().map(|step| self.rules.mask_line(&step.description, LINE_CHARACTERS));
        let head = self.rules.mask_rest(&run_head(&run_line_of(run)));
        let noun = if changes == 1 { "change" } else { "changes" };
        Ok(format!("{head}  {changes} {noun}: {}", first.unwrap_or_default()))
    }

    /// Returns the changes of a run as a unified diff; `None` if there is no such run. Files that do not fit into 8 MiB
    /// are only counted, and their contents are not read.
    ///
    /// # Errors
    /// The journal cannot be read, or `cancel` is raised.
    pub fn differences(&self, run: u64, cancel: &CancelFlag) -> Result<Option<String>, Failure> {
        let Some(journal) = self.paths.journal_reader()? else { return Ok(None) };
        if journal.run(RunNumber(run)).map_err(unreadable)?.is_none() {
            return Ok(None);
        }
        let mut text = String::new();
        let (mut long, mut not_looked_at) = (0, 0);
        let mut differences = run_differences(&journal, RunNumber(run)).map_err(unreadable)?;
        while let Some(difference) = differences.next() {
            if cancel.is_cancelled() {
                return Err(Failure::new(Exit::Interrupted, "the client has given up its request"));
            }
            let Some(difference) = difference.map_err(unreadable)? else { continue };
            let is_long = text.len() + difference.diff.len() > MOST_BYTES;
            // Placeholders may make it many times longer.
            let visible = (!is_long).then(|| self.difference(&difference));
            match visible.filter(|visible| text.len() + visible.len() <= MOST_BYTES) {
                Some(visible) => text.push_str(&visible),
                None => long += 1,
            }
            if long == MOST_LONG || text.len() > MOST_BYTES / 2 {
                not_looked_at = differences.paths_left();
                break;
            }
        }
        if long > 0 {
            let _ = writeln!(text, "[the differences of {long} files are left out, since they are long]");
        }
        if not_looked_at > 0 {
            let _ = writeln!(text, "[{not_looked_at} more paths were changed, which are left out]");
        }
        if text.is_empty() {
            text.push_str("no file has changed\n");
        }
        Ok(Some(text))
    }

    fn difference(&self, difference: &FileDifference) -> String {
        let path = self.rules.mask_file_text(&difference.path);
        let mut text = match self.rules.leaves_out(&difference.path) {
            true => format!("{path}: its content is left out, since it usually holds credentials\n"),
            false => visible_diff(difference, self.rules),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if difference.is_cut {
            let _ = writeln!(text, "{path}: its previous content is no longer kept");
        }
        text
    }

    /// Returns the state of a run as a text that differs after each of its changes; `None` if there is no such run.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn mark(&self, run: u64) -> Result<Option<String>, Failure> {
        let Some(journal) = self.paths.journal_reader()? else { return Ok(None) };
        let Some(recorded) = journal.run(RunNumber(run)).map_err(unreadable)? else { return Ok(None) };
        let mut mark = format!("{}", recorded.finished_at.is_some());
        for change in journal.changes_of_run(RunNumber(run)).map_err(unreadable)? {
            let _ = write!(mark, " {}:{:?}", change.number.0, change.state);
        }
        // A run can have very many changes, and the text is kept as long as the run is followed.
        Ok(Some(ContentHash::of(mark.as_bytes()).to_string()))
    }

    /// Returns the newest run with a change that is in force and is not an undo; `None` if there is none.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn last_change(&self) -> Result<Option<u64>, Failure> {
        let Some(journal) = self.paths.journal_reader()? else { return Ok(None) };
        for change in journal.latest_changes(None, SEARCHED_CHANGES).map_err(unreadable)? {
            let is_own = change.undoes.is_none() && change.state != ChangeState::Conflicted;
            if is_own && undone_by(&journal, change.number).map_err(unreadable)?.is_none() {
                return Ok(Some(change.run.0));
            }
        }
        Ok(None)
    }

    /// Describes the command that failed last, of a run or of the newest runs; `None` if none has.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn failure(&self, run: Option<u64>) -> Result<Option<String>, Failure> {
        let Some(journal) = self.paths.journal_reader()? else { return Ok(None) };
        let runs = match run {
            Some(run) => journal.run(RunNumber(run)).map_err(unreadable)?.into_iter().collect(),
            None => journal.runs(&RunFilter::default(), SEARCHED_RUNS).map_err(unreadable)?,
        };
        for run in runs {
            for step in journal.steps(run.number).map_err(unreadable)?.iter().rev() {
                if let Some(failure) = failure_of(step, self.rules) {
                    let text = format!("Run {}: `{}`\n{failure}", run.number, step.description);
                    return Ok(Some(self.rules.mask_rest(&text)));
                }
            }
        }
        Ok(None)
    }

    /// Describes the work of a conversation, or of the newest one other than `own`; `None` if there is none.
    ///
    /// # Errors
    /// The journal cannot be read, or `cancel` is raised.
    pub fn work(
        &self,
        own: &str,
        conversation: Option<&str>,
        cancel: &CancelFlag,
    ) -> Result<Option<String>, Failure> {
        let Some(journal) = self.paths.journal_reader()? else { return Ok(None) };
        let filter = RunFilter { conversation: conversation.map(str::to_owned), ..RunFilter::default() };
        let limit = if conversation.is_some() { 1 } else { SEARCHED_RUNS };
        let runs = journal.runs(&filter, limit).map_err(unreadable)?;
        let other = |run: RecordedRun| (run.key.conversation != own).then_some(run.key.conversation);
        let Some(name) = conversation
            .map(str::to_owned)
            .filter(|_| !runs.is_empty())
            .or_else(|| runs.into_iter().filter(|_| conversation.is_none()).find_map(other))
        else {
            return Ok(None);
        };
        let work = work_so_far(&journal, &name, None, cancel, self.rules);
        let work = work.map_err(|refusal| Failure::new(Exit::Failed, refusal.message))?;
        Ok(Some(format!("The work of {}:\n\n{}", self.rules.mask_rest(&work.from), work.text)))
    }

    /// Returns the names of conversations that begin with a text, the newest first, at most `most`.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn conversations(&self, prefix: &str, most: usize) -> Result<Vec<String>, Failure> {
        let Some(journal) = self.paths.journal_reader()? else { return Ok(Vec::new()) };
        let mut names: Vec<String> = Vec::new();
        for run in journal.runs(&RunFilter::default(), SEARCHED_RUNS).map_err(unreadable)? {
            let name = run.key.conversation;
            if name.starts_with(prefix) && !names.contains(&name) {
                names.push(name);
            }
            if names.len() == most {
                break;
            }
        }
        Ok(names)
    }
}

/// Describes the outcome of a command that failed; `None` for other steps.
fn failure_of(step: &RecordedStep, rules: &SecretRules) -> Option<String> {
    if step.kind != StepKind::ShellCommand {
        return None;
    }
    let outcome: Result<ExecuteCommandResponse, WapError> =
        serde_json::from_slice(step.outcome.as_deref()?).ok()?;
    let response = match outcome {
        Ok(response) if response.exit_code == 0 => return None,
        Ok(response) => response,
        Err(error) => return Some(format!("It was not carried out: {}\n", error.message())),
    };
    let mut text = format!("Exit code {}.\n", response.exit_code);
    if response.is_output_truncated {
        // At the gap, a secret could have lost the part by which it is recognised.
        match response.whole_output.as_deref().and_then(|name| name.strip_prefix("@output/")) {
            Some(name) => {
                let _ = writeln!(text, "Its output is long: read the resource agentd://output/{name}.");
            }
            None => text.push_str("Its output is long and was not kept: run it again.\n"),
        }
        return Some(text);
    }
    for (name, stream) in [("Standard output", &response.stdout), ("Standard error", &response.stderr)] {
        if !stream.is_empty() {
            // Bytes of the command, which may look like placeholders.
            let masked = rules.mask_file_text(stream);
            // Placeholders may make it many times longer.
            let _ = match masked.len() > MOST_BYTES {
                true => writeln!(text, "{name} is long with its placeholders: run the command again."),
                false => writeln!(text, "{name}:\n{}", masked.trim_end()),
            };
        }
    }
    Some(text)
}
