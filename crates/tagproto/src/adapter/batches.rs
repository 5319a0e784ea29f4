//! The batches of blocks that are sent to the workspace together.

use std::collections::BTreeSet;
use std::ops::Range;

use super::BaseVersions;
use crate::{Block, Item};

/// Divides a reply into batches of items that are carried out together, as index ranges.
///
/// Blocks that change files form one unit as long as only texts and errors are between them. READ_FILE and RUN_COMMAND are
/// separate, because they must see the files after the blocks before them. An edit of a file that the unit creates begins a new
/// unit: its line numbers refer to a version that exists only after the creation.
pub(super) fn batches(items: &[Item<'_>], base: &BaseVersions) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let mut start = 0;
    let mut created = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let Item::Block(block) = item else { continue };
        match &block.value {
            Block::CreateFile { path, .. } => {
                created.insert(base.canonical(path));
            }
            Block::EditFile { path, .. } | Block::EditText { path, .. }
                if created.contains(&base.canonical(path)) =>
            {
                batches.push(start..index);
                start = index;
                created.clear();
            }
            // A separate batch, even if it is the first: nothing may be changed together with it.
            Block::ReadFile { .. } | Block::RunCommand { .. } | Block::StopProcess { .. } => {
                batches.push(start..index);
                batches.push(index..index + 1);
                start = index + 1;
                created.clear();
            }
            _ => {}
        }
    }
    batches.push(start..items.len());
    batches.retain(|batch| !batch.is_empty());
    batches
}
