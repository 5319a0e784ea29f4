//! Changes of a session that the user has undone since its pending outbox was written.
//!
//! Nobody leaves a note of an undo: it is a change like any other, and the journal says what it undoes.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, EntryKind, JournalError, JournalReader, RecordedChange};
use rel_path::RelPath;
use tagproto::SessionId;

use crate::documents;

/// How many changes are read in one go.
const PAGE: u32 = 500;

/// How long a chain of undos of undos may be before it is passed over.
const LONGEST_CHAIN: u32 = 10_000;

/// Most paths that a note names.
const PATHS: usize = 20;

/// The number of the last change in the journal; 0 if there is none.
pub(crate) fn last_change(journal: &JournalReader) -> Result<ChangeNumber, JournalError> {
    let latest = journal.latest_changes(None, 1)?;
    Ok(latest.first().map_or(ChangeNumber(0), |change| change.number))
}

/// What was undone, up to change `until`, since the pending outbox of a session was written: lines for the next one.
pub(crate) fn notes(
    journal: &JournalReader,
    id: SessionId,
    until: ChangeNumber,
) -> Result<Vec<String>, JournalError> {
    // Without it nobody knows what the model was told: the session is from before, or its journal was lost.
    let Some(known) = journal.document(&documents::known_changes(id))? else { return Ok(Vec::new()) };
    let Some(known) = std::str::from_utf8(&known.bytes).ok().and_then(|number| number.parse().ok()) else {
        return Ok(Vec::new());
    };
    let mut flips: BTreeMap<ChangeNumber, Flips> = BTreeMap::new();
    let mut after = ChangeNumber(known);
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
    // What was undone and brought back meanwhile is as it was.
    let paths = |is_undone: bool| -> BTreeSet<&str> {
        let changed = flips.values().filter(|flips| flips.count % 2 == 1 && flips.is_undone == is_undone);
        changed.map(|flips| &*flips.path).collect()
    };
    let mut notes = Vec::new();
    for (is_undone, what) in [
        (true, "the user has undone changes that you had made to"),
        (false, "the user has brought back changes of yours, which had been undone, to"),
    ] {
        let paths = paths(is_undone);
        if !paths.is_empty() {
            notes.push(format!("{what} {}; READ_FILE shows what is there now", named(&paths)));
        }
    }
    Ok(notes)
}

/// How often a change was undone or brought back.
struct Flips {
    path: String,
    /// Whether the last time it was undone.
    is_undone: bool,
    count: u32,
}

/// The change of the session that `change` undoes or brings back, if it does: its number, its path, and whether it is
/// undone.
fn undone_change(
    journal: &JournalReader,
    id: SessionId,
    change: &RecordedChange,
) -> Result<Option<(ChangeNumber, String, bool)>, JournalError> {
    let is_folder = [change.before, change.after].iter().flatten().all(|side| side.kind == EntryKind::Folder);
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
            return Ok(is_own.then_some((number, path, steps % 2 == 1)));
        }
        at = undone.undoes;
    }
    Ok(None)
}

fn named(paths: &BTreeSet<&str>) -> String {
    let shown: Vec<_> = paths.iter().take(PATHS).map(|path| format!("'{path}'")).collect();
    match paths.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
