//! The matches collected so far by several threads.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rel_path::RelPath;
use wap_core::{SearchFilesResponse, SearchMatch, Skipped};

/// The outcome of searching one file.
#[derive(Debug)]
pub(super) enum FileOutcome {
    /// It was searched; there may be fewer matches than matching lines.
    Text {
        total: u64,
        matches: Vec<SearchMatch>,
    },
    /// It was searched up to a line that is too long.
    LongLine {
        total: u64,
        matches: Vec<SearchMatch>,
    },
    /// It was searched up to the end of the time.
    OutOfTime {
        total: u64,
        matches: Vec<SearchMatch>,
    },
    Binary,
    Undecodable,
    Unreadable,
    /// It is no longer the file that the walk has seen.
    Gone,
}

/// The first matches in the order of paths, and the totals, independent of the order in which files are searched.
#[derive(Debug)]
pub(super) struct Results {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    matches: BTreeMap<RelPath, Vec<SearchMatch>>,
    /// Matches of all those files.
    held: usize,
    total: u64,
    files: u64,
    skipped: Skipped,
    long_lines: u64,
    first_long_line: Option<RelPath>,
    is_out_of_time: bool,
}

impl Results {
    /// Starts empty; at most `most` matches will be returned.
    pub(super) fn new(most: usize) -> Results {
        Results { most, state: Mutex::default() }
    }

    /// Returns the number of matches of one file that the answer can hold.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Checks whether the answer can hold matches of a file; if not, they are only counted.
    pub(super) fn wants(&self, path: &RelPath) -> bool {
        let state = self.lock();
        // Enough matches of other files are held, all before this one.
        let is_full = state.held >= self.most;
        !is_full || state.matches.last_key_value().is_some_and(|(last, _)| path < last)
    }

    /// Adds files that were searched and have no match.
    pub(super) fn add_without_match(&self, files: u64) {
        self.lock().files += files;
    }

    pub(super) fn add(&self, path: &RelPath, outcome: FileOutcome) {
        let mut state = self.lock();
        state.files += 1;
        match outcome {
            FileOutcome::Text { total, matches } => state.add(self.most, path, total, matches),
            FileOutcome::LongLine { total, matches } => {
                state.add(self.most, path, total, matches);
                state.long_lines += 1;
                if state.first_long_line.as_ref().is_none_or(|first| path < first) {
                    state.first_long_line = Some(path.clone());
                }
            }
            FileOutcome::OutOfTime { total, matches } => {
                state.add(self.most, path, total, matches);
                state.is_out_of_time = true;
            }
            FileOutcome::Binary => state.skipped.binary += 1,
            FileOutcome::Undecodable => state.skipped.undecodable += 1,
            FileOutcome::Unreadable => state.skipped.unreadable += 1,
            FileOutcome::Gone => state.files -= 1,
        }
    }

    /// Records that the time did not suffice for all files.
    pub(super) fn end_early(&self) {
        self.lock().is_out_of_time = true;
    }

    /// The answer. `warnings` are those of the walks; `is_complete` is true if they were completed.
    pub(super) fn into_response(self, mut warnings: Vec<String>, is_complete: bool) -> SearchFilesResponse {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if state.is_out_of_time {
            warnings.push(format!(
                "timed out after {} files, so the totals are those of a part: search fewer folders",
                state.files
            ));
        }
        if let Some(first) = &state.first_long_line {
            warnings.push(format!(
                "{} files were searched only up to a line that is longer than {} bytes, first of them '{first}'",
                state.long_lines,
                super::file_searcher::LINE_LIMIT_BYTES
            ));
        }
        let is_complete = is_complete && !state.is_out_of_time && state.long_lines == 0;
        let matches: Vec<_> = state.matches.into_values().flatten().take(self.most).collect();
        warnings.extend(SearchFilesResponse::cut_warning(matches.len(), state.total));
        SearchFilesResponse {
            is_truncated: !is_complete || state.total > matches.len() as u64,
            matches,
            total_matches: state.total,
            skipped: state.skipped,
            warnings,
            has_undecided: false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, most: usize, path: &RelPath, total: u64, matches: Vec<SearchMatch>) {
        self.total += total;
        if matches.is_empty() {
            return;
        }
        self.held += matches.len();
        self.matches.insert(path.clone(), matches);
        // The last file is useless once those before it have enough.
        while let Some(last) = self.matches.last_entry() {
            if self.held - last.get().len() < most {
                break;
            }
            self.held -= last.remove().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(path: &str, count: usize) -> (RelPath, FileOutcome) {
        let line = |line| SearchMatch {
            path: path.to_owned(),
            line,
            match_text: String::new(),
            context_before: Vec::new(),
            context_after: Vec::new(),
        };
        let matches = (1..=count as u64).map(line).collect();
        (RelPath::parse(path).unwrap(), FileOutcome::Text { total: count as u64, matches })
    }

    #[test]
    fn the_answer_does_not_depend_on_the_order_of_files() {
        let files = [("a", 1), ("b", 2), ("c", 0), ("d", 3), ("e", 1)];
        let expected = [("a", 1), ("b", 1), ("b", 2), ("d", 1)];
        for rotation in 0..files.len() {
            for reversed in [false, true] {
                let mut order = files;
                order.rotate_left(rotation);
                if reversed {
                    order.reverse();
                }
                let results = Results::new(4);
                for (path, count) in order {
                    let (path, outcome) = found_in(path, count);
                    results.add(&path, outcome);
                }
                let response = results.into_response(Vec::new(), true);
                let rendered: Vec<_> =
                    response.matches.iter().map(|one| (one.path.as_str(), one.line)).collect();
                assert_eq!(rendered, expected, "{order:?}");
                assert_eq!((response.total_matches, response.is_truncated), (7, true));
            }
        }
    }

    #[test]
    fn a_file_after_enough_matches_is_only_counted() {
        let results = Results::new(2);
        let (path, outcome) = found_in("m", 2);
        assert!(results.wants(&path));
        results.add(&path, outcome);
        assert!(results.wants(&RelPath::parse("a").unwrap()));
        assert!(!results.wants(&RelPath::parse("z").unwrap()));
    }
}
