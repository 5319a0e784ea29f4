//! The distances by which earlier edits of a reply moved the lines of a file.

use std::collections::BTreeMap;

use wap_core::ModifyFileResponse;

/// The moves by the edits of one reply, for the dialect whose line numbers refer to the current file.
#[derive(Debug, Default)]
pub(super) struct LineMoves {
    /// Each edit's first line and the number of lines by which it moved the text below, by canonical path.
    files: BTreeMap<String, Vec<(i64, i64)>>,
}

impl LineMoves {
    /// Returns the number of lines by which earlier edits above `start_line` moved it.
    pub(super) fn above(&self, path: &str, start_line: i32) -> i64 {
        let moves = self.files.get(path).map_or(&[][..], Vec::as_slice);
        // Edits further down do not move this line.
        moves.iter().filter(|(first, _)| *first < i64::from(start_line)).map(|(_, by)| by).sum()
    }

    /// Records an edit that begins at `start_line`.
    pub(super) fn record(&mut self, start_line: i32, response: &ModifyFileResponse) {
        let by = response.shifts.last().map_or(0, |shift| shift.by);
        if by != 0 {
            self.files.entry(response.path.clone()).or_default().push((i64::from(start_line), by));
        }
    }

    /// Forgets a file that was replaced or deleted.
    pub(super) fn forget(&mut self, path: &str) {
        self.files.remove(path);
    }
}
