//! The history: a timeline over all conversations, differences, undo and redo.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::response::Response;
use change_journal::{ChangeNumber, Entry, JournalError, JournalReader, RunNumber};
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

/// The most files of a difference in one answer.
const MOST_FILES: usize = 50;

/// The most bytes of all contents that are compared for one answer about a range of changes, and the number of changes that
/// are read at a time.
const MOST_COMPARED_BYTES: u64 = 128 << 20;
const PAGE_OF_CHANGES: u32 = 1_000;

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
        // One more than is sent, to know whether there are more.
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
    /// The number of files in earlier answers.
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

/// Returns the difference made by changes, file by file.
pub(crate) async fn difference(State(page): State<Arc<Page>>, Query(between): Query<Between>) -> Response {
    page.answer(move |page| {
        let mut answer = Differences { files: Vec::new(), total: 0 };
        let Some(journal) = page.config.paths.journal_reader()? else { return Ok(json(&answer)) };
        let files = match between.run {
            Some(run) => run_differences(&journal, RunNumber(run)),
            None => {
                let (from, to) = (between.from.unwrap_or(1), between.to.unwrap_or(u64::MAX));
                if from > to {
                    return Err(Refused::bad(format!("{from} comes after {to}")));
                }
                let numbers = ChangeNumber(from)..=ChangeNumber(to);
                check_size(&journal, &numbers, MOST_COMPARED_BYTES)?;
                differences(&journal, numbers)
            }
        };
        // File by file: only the files to send are kept in memory, and the others are counted.
        for file in files.map_err(unreadable)? {
            answer.add(file.map_err(unreadable)?, between.skip);
        }
        Ok(json(&answer))
    })
    .await
}

impl Differences {
    /// Counts a differing file, and adds it if it belongs to this part of the answer.
    fn add(&mut self, file: Option<FileDifference>, skip: usize) {
        let Some(file) = file.filter(|file| !file.diff.is_empty()) else { return };
        if self.total >= skip && self.files.len() < MOST_FILES {
            self.files.push(file_view(file));
        }
        self.total += 1;
    }
}

/// Refuses changes whose files take too long to compare: each answer compares all of them, to count those that differ.
fn check_size(
    journal: &JournalReader,
    numbers: &RangeInclusive<ChangeNumber>,
    most_bytes: u64,
) -> Result<(), Refused> {
    // The lengths of the first and of the last content of each file.
    let mut lengths: HashMap<Vec<u8>, (u64, u64)> = HashMap::new();
    let mut after = ChangeNumber(numbers.start().0.saturating_sub(1));
    let length = |entry: &Option<Entry>| entry.and_then(|entry| entry.length_bytes).unwrap_or(0);
    loop {
        let changes = journal.changes(after, PAGE_OF_CHANGES).map_err(unreadable)?;
        let Some(newest) = changes.last() else { break };
        after = newest.number;
        for change in changes.into_iter().filter(|change| change.number <= *numbers.end()) {
            let last = length(&change.after);
            lengths
                .entry(change.path)
                .and_modify(|lengths| lengths.1 = last)
                .or_insert((length(&change.before), last));
        }
        if after > *numbers.end() {
            break;
        }
    }
    let bytes = lengths.values().map(|(before, after)| before + after).sum::<u64>();
    if bytes <= most_bytes {
        return Ok(());
    }
    let text = format!(
        "these changes are about {} files with {} MiB, which are too many to be compared at once",
        lengths.len(),
        bytes >> 20
    );
    Err(Refused::bad(text).advise("choose fewer changes, or look at one run"))
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

/// The changes to undo; exactly one of the fields is set.
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

/// Undoes changes. A refusal is a normal answer, which lists the paths that prevent it.
pub(crate) async fn undo(State(page): State<Arc<Page>>, body: Bytes) -> Response {
    page.answer(move |page| {
        let Undoing { run, change, session } = read(&body)?;
        if [run.is_some(), change.is_some(), session.is_some()].iter().filter(|given| **given).count() != 1 {
            return Err(Refused::bad("name a run, a change or a session"));
        }
        let request = UndoRequest { change, run, session, ..UndoRequest::default() };
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

#[cfg(test)]
mod tests {
    use change_journal::{
        ChangeNumber, ChangeRecord, ContentHash, EntryRecord, Journal, RunKey, RunState, StepKind, StepRecord,
    };
    use local_workspace::{differences, run_differences};

    use super::{Differences, MOST_FILES, check_size};

    /// Returns a journal with one run that makes files of one line, some of them again with a line more, and its number.
    fn journal(files: usize, again: usize) -> (Journal, change_journal::RunNumber) {
        let journal = Journal::in_memory().unwrap();
        let key = RunKey { conversation: "test".into(), sequence: 1, content: ContentHash::of(b"") };
        let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
        let paths: Vec<String> = (0..files).map(|file| format!("{file:03}")).collect();
        for (index, count) in [files, again].into_iter().enumerate() {
            let (before, after) = match index {
                0 => (None, EntryRecord::file(b"one\n")),
                _ => (Some(EntryRecord::file(b"one\n")), EntryRecord::file(b"one\ntwo\n")),
            };
            let paths = paths.iter().take(count);
            let changes = paths.map(|path| ChangeRecord::intended(path.as_bytes(), before, Some(after)));
            let changes = changes.collect();
            let step = StepRecord { kind: StepKind::FileChange, description: "make", outcome: b"", changes };
            let step_index = u32::try_from(index).unwrap();
            let numbers = journal.record_steps(run.number(), step_index, &[step]).unwrap();
            journal.publish_changes(&numbers).unwrap();
        }
        (journal, run.number())
    }

    #[test]
    fn the_differences_of_a_run_are_those_of_its_changes() {
        let (journal, run) = journal(MOST_FILES * 2 + 7, 5);
        let reader = journal.reader();
        let all: Vec<String> = differences(reader, ChangeNumber(1)..=ChangeNumber(u64::MAX))
            .unwrap()
            .filter_map(|file| Some(file.unwrap()?.diff))
            .collect();
        for skip in [0, 1, MOST_FILES, MOST_FILES * 2, MOST_FILES * 3] {
            let mut answer = Differences { files: Vec::new(), total: 0 };
            run_differences(reader, run).unwrap().for_each(|file| answer.add(file.unwrap(), skip));
            assert_eq!(answer.total, all.len());
            let texts: Vec<_> = answer.files.iter().map(|file| file.difference.text.clone()).collect();
            let expected: Vec<_> = all.iter().skip(skip).take(MOST_FILES).cloned().collect();
            assert_eq!(texts, expected, "{skip}");
        }
    }

    #[test]
    fn changes_of_too_many_bytes_are_not_compared_at_once() {
        let (journal, _) = journal(20, 20);
        let numbers = |first, last| ChangeNumber(first)..=ChangeNumber(last);
        let check = |first, last, most| {
            let refused = check_size(journal.reader(), &numbers(first, last), most).err();
            refused.map(|refused| format!("{refused:?}"))
        };
        // Twenty files, missing before and of eight bytes after.
        assert_eq!(check(1, u64::MAX, 160), None);
        let refused = check(1, u64::MAX, 159).unwrap();
        assert!(refused.contains("about 20 files") && refused.contains("choose fewer changes"), "{refused}");
        // The first twenty changes, and the next twenty, with four bytes each before.
        assert_eq!((check(1, 20, 80), check(21, 40, 240)), (None, None));
        assert!(check(1, 20, 79).is_some() && check(21, 40, 239).is_some());
    }
}
