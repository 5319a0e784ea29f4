//! The paths that a view only counts.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use change_journal::{ChangeNumber, JournalError, JournalReader};
use file_index::GitIgnores;
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

use crate::WorkspacePaths;
use crate::state::bookkeeping::Bookkeeping;

/// The changes that are read at a time.
const PAGE: u32 = 1_000;

/// Returns the paths to which changes of these numbers did nothing but bookkeeping.
///
/// # Errors
/// The journal cannot be read.
pub fn bookkeeping_paths(
    journal: &JournalReader,
    paths: &WorkspacePaths,
    numbers: &RangeInclusive<ChangeNumber>,
) -> Result<BTreeSet<String>, JournalError> {
    let Ok(root) = FileRoot::open(&paths.workspace, &RootRules::default(), FsPolicy::default()) else {
        return Ok(BTreeSet::new());
    };
    let mut judge = Bookkeeping::new(journal, GitIgnores::new(&root));
    let (mut bookkeeping, mut on_purpose) = (BTreeSet::new(), BTreeSet::new());
    let mut after = ChangeNumber(numbers.start().0.saturating_sub(1));
    loop {
        let page = journal.changes(after, PAGE)?;
        let Some(newest) = page.last() else { break };
        after = newest.number;
        for change in page.iter().filter(|change| change.number <= *numbers.end()) {
            let path = RelPath::from_bytes(&change.path).unwrap_or_default().to_string();
            if judge.holds(change)? {
                bookkeeping.insert(path)
            } else {
                on_purpose.insert(path)
            };
        }
        if after > *numbers.end() {
            break;
        }
    }
    Ok(bookkeeping.difference(&on_purpose).cloned().collect())
}
