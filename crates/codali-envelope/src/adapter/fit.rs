//! Cuts texts and lists at line and item boundaries.

use serde::Serialize;

use super::budget::written_bytes;

/// A text that was cut after a line.
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) kept: u64,
    pub(super) total: u64,
}

/// Keeps as many whole lines of a text as fit.
pub(super) fn lines(mut text: String, room: usize) -> Lines {
    let total = text.split_inclusive('\n').count() as u64;
    if text.len() <= room {
        return Lines { text, kept: total, total };
    }
    let head = &text.as_bytes()[..room];
    let end = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    text.truncate(end);
    Lines { kept: text.split_inclusive('\n').count() as u64, text, total }
}

/// Keeps as many items as fit; returns true if some were dropped.
pub(super) fn items<T: Serialize>(items: &mut Vec<T>, room: usize) -> bool {
    let mut left = room;
    let fitting = items.iter().take_while(|item| {
        // One byte for the separator after each item.
        let needed = written_bytes(item) + 1;
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    });
    let fitting = fitting.count();
    let is_cut = fitting < items.len();
    items.truncate(fitting);
    is_cut
}
