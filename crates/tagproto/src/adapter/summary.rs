//! The summaries of changed files.

use std::borrow::Cow;

use wap_core::{ModifyFileResponse, WriteFileResponse};

use crate::{Block, IfExists};

/// Returns the summary of a file that was written.
pub(super) fn written(block: &Block<'_>, path: &str, written: &WriteFileResponse) -> String {
    // Filling an empty file would add lines.
    let has_text_already = matches!(block, Block::CreateFile { if_exists: IfExists::Refuse, .. })
        && !written.created
        && written.lines_added == 0;
    if has_text_already { unchanged(path) } else { format!("Created '{path}'") }
}

/// Returns the summary of hunks.
pub(super) fn hunks(path: &str, hunks: usize, modified: &ModifyFileResponse) -> String {
    if modified.lines_added == 0 && modified.lines_removed == 0 {
        return unchanged(path);
    }
    let hunks = if hunks == 1 { "1 hunk".to_owned() } else { format!("{hunks} hunks") };
    format!("Edited '{path}' ({hunks}, +{} -{} lines)", modified.lines_added, modified.lines_removed)
}

/// Returns the workspace's text about one operation of an edit by text, whose operations are its hunks.
pub(super) fn of_hunks(text: &str) -> Cow<'_, str> {
    match text.strip_prefix("operation ") {
        Some(rest) => format!("hunk {rest}").into(),
        None => text.into(),
    }
}

/// Returns the index of the hunk that an error is about; `None` if it is not about one.
pub(super) fn hunk_index(text: &str) -> Option<usize> {
    let (number, _) = text.strip_prefix("operation ")?.split_once(':')?;
    number.parse::<usize>().ok()?.checked_sub(1)
}

fn unchanged(path: &str) -> String {
    format!("'{path}' was not changed: it is as the edit would make it")
}
