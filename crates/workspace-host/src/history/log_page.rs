//! The log in pages for a model.

use change_journal::{JournalError, JournalReader, RecordedRun, RunFilter, RunNumber};
use serde_json::json;

use super::log::{change_line, change_text, run_head, run_line_of, step_line, step_text};
use super::unreadable;
use crate::{Failure, SecretRules, WorkspacePaths};

/// A part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPart {
    /// The maximum number of runs.
    pub limit: u32,
    /// Leaves out this run and later ones.
    pub before: Option<u64>,
    /// The lines of the first run that earlier pages had.
    pub skip: u64,
    /// The maximum number of characters, apart from the note on how to continue.
    pub characters: usize,
}

/// Renders a part of the log for a model, without secrets: as much as fits, and how to get the rest.
///
/// # Errors
/// The journal cannot be read.
pub fn log_page(paths: &WorkspacePaths, part: &LogPart, rules: &SecretRules) -> Result<String, Failure> {
    let text = match paths.journal_reader()? {
        Some(journal) => pages(&journal, part, rules).map_err(unreadable)?,
        None => String::new(),
    };
    Ok(if text.is_empty() { "nothing was done here yet".to_owned() } else { text })
}

fn pages(journal: &JournalReader, part: &LogPart, rules: &SecretRules) -> Result<String, JournalError> {
    let mut page = PageText { left: part.characters, ..PageText::default() };
    let (mut before, mut skip) = (part.before.map(RunNumber), part.skip);
    let next = |before| journal.runs(&RunFilter { before, ..RunFilter::default() }, 1);
    for _ in 0..part.limit {
        let Some(run) = next(before)?.pop() else { return Ok(page.text) };
        before = Some(run.number);
        if let Some(added) = add_run(journal, &run, (skip, rules), &mut page)? {
            // `before` excludes its run, so the next page begins with this one again.
            let arguments = json!({ "before": run.number.0 + 1, "skip": added });
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

/// Adds the lines of a run after the first `skip`. Returns how many of its lines have been added so far if not all of
/// them fit.
fn add_run(
    journal: &JournalReader,
    run: &RecordedRun,
    (skip, rules): (u64, &SecretRules),
    page: &mut PageText,
) -> Result<Option<u64>, JournalError> {
    // Each line is masked whole: the first one of a page may be cut at the end of the page.
    let mut head = rules.mask_rest(&run_head(&run_line_of(run)));
    if skip > 0 {
        head.push_str("  (continued)");
        page.repeat(&head);
    }
    let mut index = 0;
    if index >= skip && !page.add(&head) {
        return Ok(Some(index));
    }
    let changes = journal.changes_of_run(run.number)?;
    for step in journal.steps(run.number)? {
        index += 1;
        let line =
            step_text(&step_line(journal, step.clone(), &[])?, |text, most| rules.mask_line(text, most));
        if index >= skip && !page.add(&line) {
            return Ok(Some(index));
        }
        for change in changes.iter().filter(|change| change.step == step.index) {
            index += 1;
            let line = rules.mask_rest(&change_text(&change_line(journal, change)?));
            if index >= skip && !page.add(&line) {
                return Ok(Some(index));
            }
        }
    }
    Ok(None)
}

/// A text that accepts lines as long as they fit.
#[derive(Default)]
struct PageText {
    text: String,
    left: usize,
    has_lines: bool,
}

impl PageText {
    /// Adds a line if it fits, or a truncated first one: each page has at least one line, so that reading page after
    /// page terminates.
    fn add(&mut self, line: &str) -> bool {
        let characters = line.chars().count().saturating_add(1);
        if characters > self.left && self.has_lines {
            return false;
        }
        self.has_lines = true;
        self.push(line);
        true
    }

    /// Adds a line that earlier pages had.
    fn repeat(&mut self, line: &str) {
        self.push(line);
    }

    fn push(&mut self, line: &str) {
        self.text.extend(line.chars().take(self.left));
        self.text.push('\n');
        self.left = self.left.saturating_sub(line.chars().count().saturating_add(1));
    }

    fn note(&mut self, note: &str) {
        self.text.push_str(&format!("[{note}]\n"));
    }
}
