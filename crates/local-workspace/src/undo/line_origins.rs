//! The origin of each line of a file, from the contents in the journal.

use std::time::{Duration, Instant};

use change_journal::{ChangeNumber, ChangeState, Entry, JournalError, JournalReader, RecordedChange};
use rel_path::RelPath;
use similar::{DiffOp, TextDiff};

use crate::undo::differences::{Side, side};

/// The maximum number of changes of a file that are traced; older lines are [`LineOrigin::Unknown`].
const MOST_CHANGES: u32 = 1_000;

/// The longest text that is compared, in bytes; lines older than a longer text are unknown.
const MOST_BYTES: usize = 4 << 20;

/// The time spent on the best comparison of two versions; after it, a coarser one is used.
const COMPARISON_TIME: Duration = Duration::from_millis(200);

/// The time limit for tracing a file: long files with long histories take a comparison for each change.
const MOST_TIME: Duration = Duration::from_secs(10);

/// The origin of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineOrigin {
    /// A recorded change has made it.
    Change(ChangeNumber),
    /// It existed before the first recorded change of the file, or before the oldest one that is kept.
    Earlier,
    /// A program outside of the journal has made it before a recorded change; `None` if after the newest one.
    Outside {
        /// The recorded change that found the line.
        before: Option<ChangeNumber>,
    },
    /// The journal no longer keeps the necessary contents, or tracing would take too long.
    Unknown,
}

/// Returns the origin of each line of a text, which is the current content of the file. Lines end with a line feed.
///
/// A line belongs to the change after which it was in the file for the first time. An undo makes nothing new: restored
/// lines belong to the change that had made them. A file is followed by its path; lines moved from another path belong
/// to the move.
///
/// # Errors
///
/// Only if the journal cannot be read.
pub fn line_origins(
    journal: &JournalReader,
    path: &RelPath,
    text: &str,
) -> Result<Vec<LineOrigin>, JournalError> {
    let mut changes = journal.changes_of_path(path.as_bytes(), MOST_CHANGES)?;
    let is_all = changes.len() < MOST_CHANGES as usize;
    changes.retain(|change| change.state != ChangeState::Conflicted);
    let mut tracing = Tracing::new(text);
    let mut newer: Option<ChangeNumber> = None;
    let deadline = Instant::now() + MOST_TIME;
    for past in without_undone(&changes) {
        if tracing.is_done() {
            break;
        }
        if Instant::now() > deadline {
            tracing.rest(LineOrigin::Unknown);
            break;
        }
        let Some(after) = text_of(journal, past.after)? else {
            tracing.rest(LineOrigin::Unknown);
            break;
        };
        tracing.go_back_to(after, LineOrigin::Outside { before: newer });
        if let Some(before) = past.before {
            let Some(before) = text_of(journal, before)? else {
                tracing.rest(LineOrigin::Unknown);
                break;
            };
            tracing.go_back_to(before, LineOrigin::Change(past.number));
        }
        newer = Some(past.number);
    }
    tracing.rest(if is_all { LineOrigin::Earlier } else { LineOrigin::Unknown });
    Ok(tracing.origins())
}

/// A point of a file's past.
struct Past {
    /// The entry after the change.
    after: Option<Entry>,
    /// The entry before; `None` for an undo, which makes nothing new.
    before: Option<Option<Entry>>,
    /// The change; for an undo, the oldest change that it has undone.
    number: ChangeNumber,
}

/// Returns the past of a file, newest first, without what was undone and everything in between: after an undo, the file held
/// again what it had held before.
fn without_undone(changes: &[RecordedChange]) -> Vec<Past> {
    let content = |entry: Option<Entry>| entry.map(|entry| (entry.kind, entry.content));
    let mut points = Vec::new();
    let mut at = 0;
    while let Some(change) = changes.get(at) {
        let undone = change.undoes.and_then(|number| {
            let rest = &changes[at + 1..];
            let undone = rest.iter().position(|earlier| earlier.number == number)?;
            // Of several changes undone together, the oldest was made on the current state.
            let is_same = |earlier: &RecordedChange| content(earlier.before) == content(change.after);
            Some(at + 1 + undone + rest[undone..].iter().position(is_same)?)
        });
        points.push(match undone {
            Some(undone) => Past { after: change.after, before: None, number: changes[undone].number },
            None => Past { after: change.after, before: Some(change.before), number: change.number },
        });
        at = undone.unwrap_or(at) + 1;
    }
    points
}

/// Returns the text of one side of a change, empty if there was no file; `None` if it is not kept, or not text.
fn text_of(journal: &JournalReader, entry: Option<Entry>) -> Result<Option<String>, JournalError> {
    Ok(match side(journal, entry)? {
        Side::Kept(None) => Some(String::new()),
        Side::Kept(Some(bytes)) if bytes.len() <= MOST_BYTES => String::from_utf8(bytes).ok(),
        Side::Kept(Some(_)) | Side::Gone => None,
    })
}

/// The lines of a file on the way back through its versions.
struct Tracing {
    origins: Vec<Option<LineOrigin>>,
    /// The version reached so far.
    version: String,
    /// The line of the file, 0-based, for each line of that version that is still in it.
    lines: Vec<Option<usize>>,
    open: usize,
}

impl Tracing {
    fn new(text: &str) -> Tracing {
        let count = text.split_inclusive('\n').count();
        let lines = (0..count).map(Some).collect();
        Tracing { origins: vec![None; count], version: text.to_owned(), lines, open: count }
    }

    fn is_done(&self) -> bool {
        self.open == 0
    }

    /// Steps to the previous version; lines that it lacks have the origin.
    fn go_back_to(&mut self, older: String, origin: LineOrigin) {
        if older == self.version {
            return;
        }
        let count = older.split_inclusive('\n').count();
        let mut lines = vec![None; count];
        let ops = {
            let [old, new] =
                [&older, &self.version].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
            TextDiff::configure().timeout(COMPARISON_TIME).diff_slices(&old, &new).ops().to_vec()
        };
        for op in ops {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                for at in 0..len {
                    lines[old_index + at] = self.lines[new_index + at].take();
                }
            }
        }
        for line in self.lines.drain(..).flatten() {
            self.origins[line] = Some(origin);
            self.open -= 1;
        }
        self.lines = lines;
        self.version = older;
    }

    /// Assigns this origin to all lines without one.
    fn rest(&mut self, origin: LineOrigin) {
        self.origins.iter_mut().filter(|line| line.is_none()).for_each(|line| *line = Some(origin));
        self.open = 0;
    }

    fn origins(self) -> Vec<LineOrigin> {
        self.origins.into_iter().map(|origin| origin.unwrap_or(LineOrigin::Unknown)).collect()
    }
}
