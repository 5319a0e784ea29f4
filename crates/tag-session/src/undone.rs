//! Changes of a session that the user undid since its pending outbox was written.
//!
//! An undo leaves no separate note: it is a change like any other, and the journal records which change it undoes.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, EntryKind, JournalError, JournalReader, RecordedChange};
use rel_path::RelPath;
use tagproto::SessionId;

use crate::documents;

/// The number of changes that one query reads.
const PAGE: u32 = 500;

/// The longest chain of undos of undos that is followed.
const LONGEST_CHAIN: u32 = 10_000;

/// The maximum number of paths in a note.
const PATHS: usize = 20;

/// Returns the number of the last change in the journal; 0 without changes.
pub(crate) fn last_change(journal: &JournalReader) -> Result<ChangeNumber, JournalError> {
    let latest = journal.latest_changes(None, 1)?;
    Ok(latest.first().map_or(ChangeNumber(0), |change| change.number))
}

/// Returns lines for the next outbox about changes that were undone or restored since the pending outbox was written, up to
/// change `until`.
pub(crate) fn notes(
    journal: &JournalReader,
    id: SessionId,
    until: ChangeNumber,
) -> Result<Vec<String>, JournalError> {
    // Without the document, the last reported change is unknown: the session is from an older version, or its journal
    // was lost.
    let Some(last) = journal.document(&documents::known_changes(id))? else { return Ok(Vec::new()) };
    let Some(last) = std::str::from_utf8(&last.bytes).ok().and_then(|number| number.parse().ok()) else {
        return Ok(Vec::new());
    };
    let mut flips: BTreeMap<ChangeNumber, Flips> = BTreeMap::new();
    let mut after = ChangeNumber(last);
    while after < until {
        let changes = journal.changes(after, PAGE)?;
        let Some(last) = changes.last() else { break };
        after = last.number;
        for change in changes.iter().take_while(|change| change.number <= until) {
            if let Some((number, path, is_undone)) = undone_change(journal, id, change)? {
                let flips = flips.entry(number).or_insert(Flips { path, is_undone, count: 0 });
                (flips.is_undone, flips.count) = (is_undone, flips.count + 1);
            }
        }
    }
    // A change that was undone and restored meanwhile is in the state in which the model left it.
    let paths = |is_undone: bool| -> BTreeSet<&str> {
        let changed = flips.values().filter(|flips| flips.count % 2 == 1 && flips.is_undone == is_undone);
        changed.map(|flips| &*flips.path).collect()
    };
    let mut notes = Vec::new();
    for (is_undone, what) in [
        (true, "the user has undone changes that you had made to"),
        (false, "the user has restored changes of yours, which had been undone, to"),
    ] {
        let paths = paths(is_undone);
        if !paths.is_empty() {
            notes.push(format!("{what} {}; READ_FILE shows the current content", named(&paths)));
        }
    }
    Ok(notes)
}

/// The undos and restorations of one change.
struct Flips {
    path: String,
    /// True if the last one was an undo.
    is_undone: bool,
    count: u32,
}

/// Returns the change of the session that `change` undoes or restores: its number, its path, and true if it is undone. `None` if
/// `change` is not an undo, or undoes a change of another conversation.
fn undone_change(
    journal: &JournalReader,
    id: SessionId,
    change: &RecordedChange,
) -> Result<Option<(ChangeNumber, String, bool)>, JournalError> {
    let is_folder = [change.before, change.after].iter().flatten().all(|side| side.kind == EntryKind::Folder);
    // A conflicted change had no effect, and folders follow from their files.
    if change.state == ChangeState::Conflicted || is_folder {
        return Ok(None);
    }
    let (mut at, mut steps) = (change.undoes, 0);
    while let Some(number) = at {
        steps += 1;
        let Some(undone) = journal.change(number)?.filter(|_| steps <= LONGEST_CHAIN) else { break };
        if undone.undoes.is_none() {
            let run = journal.run(undone.run)?;
            let is_own = run.is_some_and(|run| run.key.conversation == id.to_string());
            let path = RelPath::from_bytes(&undone.path).unwrap_or_default().to_string();
            // Each further undo flips the change back.
            return Ok(is_own.then_some((number, path, steps % 2 == 1)));
        }
        at = undone.undoes;
    }
    Ok(None)
}

fn named(paths: &BTreeSet<&str>) -> String {
    let quoted: Vec<_> = paths.iter().take(PATHS).map(|path| format!("'{path}'")).collect();
    match paths.len() - quoted.len() {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}
