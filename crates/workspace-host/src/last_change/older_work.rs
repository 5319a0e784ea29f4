//! Older work that can be undone if the newest cannot.

use std::collections::BTreeSet;

use change_journal::{ChangeNumber, JournalError, JournalReader, RecordedChange};
use local_workspace::{LocalWorkspace, Undo};

use crate::last_change::{PAGE, Search, is_restorable, whole};

/// The maximum number of replies, calls and commands that are tried.
const MOST_TRIED: usize = 10;

/// Returns a change of the newest work before a refused undo that can currently be undone as a whole; `None` if there
/// is none among the last few.
pub(crate) fn older_work(
    journal: &JournalReader,
    workspace: &LocalWorkspace,
    refused: &Undo,
) -> Result<Option<RecordedChange>, JournalError> {
    let oldest: Option<ChangeNumber> = match refused {
        Undo::Changes(numbers) => numbers.iter().min().copied(),
        Undo::Run(run) => journal.changes_of_run(*run)?.iter().map(|change| change.number).min(),
        Undo::Conversation(_) => None,
    };
    let mut search = Search::new(journal, workspace.git_ignores());
    let mut tried = BTreeSet::new();
    let mut before = oldest;
    while let Some(number) = before {
        let changes = journal.latest_changes(Some(number), PAGE)?;
        before = changes.last().map(|oldest| oldest.number);
        for change in changes {
            if !search.is_on_purpose(&change)?
                || !is_restorable(&change)
                || !tried.insert((change.run, change.step))
            {
                continue;
            }
            let undo = whole(journal, workspace.git_ignores(), change.number);
            if undo.is_ok_and(|undo| workspace.can_undo(&undo)) {
                return Ok(Some(change));
            }
            if tried.len() == MOST_TRIED {
                return Ok(None);
            }
        }
    }
    Ok(None)
}
