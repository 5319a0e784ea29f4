//! Collecting the matching lines of one file with their context.

use std::collections::VecDeque;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};
use wap_core::{Limits, SearchMatch};

/// Collects the matching lines of one file.
#[derive(Debug)]
pub(super) struct FileSink {
    path: String,
    /// The number of matches still to collect; the others are only counted.
    room: usize,
    pub matches: Vec<SearchMatch>,
    /// The number of matching lines.
    pub total: u64,
    /// Lines seen since the last match, as context of the next one.
    before: VecDeque<String>,
}

impl FileSink {
    pub(super) fn new(path: String, room: usize) -> FileSink {
        FileSink { path, room, matches: Vec::new(), total: 0, before: VecDeque::new() }
    }

    /// Checks whether only counting is left.
    fn is_full(&self, searcher: &Searcher) -> bool {
        let has_context = |earlier: &SearchMatch| earlier.context_after.len() >= searcher.after_context();
        self.matches.len() >= self.room && self.matches.last().is_none_or(has_context)
    }

    /// Adds a line to the matches that still need context: a match is also context of the previous one.
    fn add_after(&mut self, searcher: &Searcher, line: &str) {
        let wanted = searcher.after_context();
        // From the newest: once a match has its context, all earlier ones do.
        for earlier in self.matches.iter_mut().rev() {
            if earlier.context_after.len() >= wanted {
                break;
            }
            earlier.context_after.push(line.to_owned());
        }
    }

    fn add_before(&mut self, searcher: &Searcher, line: String) {
        self.before.push_back(line);
        while self.before.len() > searcher.before_context() {
            self.before.pop_front();
        }
    }
}

impl Sink for FileSink {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, sink_match: &SinkMatch<'_>) -> io::Result<bool> {
        // Counted even when full: `Ok(false)` would end the search, and the total with it.
        self.total += 1;
        if self.is_full(searcher) {
            return Ok(true);
        }
        let line = line_text(sink_match.bytes());
        self.add_after(searcher, &line);
        if self.matches.len() < self.room {
            self.matches.push(SearchMatch {
                path: self.path.clone(),
                line: sink_match.line_number().unwrap_or(0),
                match_text: line.clone(),
                context_before: self.before.iter().cloned().collect(),
                context_after: Vec::new(),
            });
        }
        self.add_before(searcher, line);
        Ok(true)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if self.is_full(searcher) {
            return Ok(true);
        }
        let line = line_text(context.bytes());
        if *context.kind() == SinkContextKind::After {
            self.add_after(searcher, &line);
        }
        self.add_before(searcher, line);
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.before.clear();
        Ok(true)
    }
}

/// A line without its ending, truncated to the longest that is shown.
fn line_text(bytes: &[u8]) -> String {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes; the rest is not decoded.
    let line = &line[..line.len().min(Limits::MAX_MATCH_CHARACTERS * 4)];
    String::from_utf8_lossy(line).chars().take(Limits::MAX_MATCH_CHARACTERS).collect()
}
