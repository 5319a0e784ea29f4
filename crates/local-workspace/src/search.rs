//! `searchFiles`: text in files.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish,
    SinkMatch,
};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError, Visit, WalkLimits};
use wap_core::{
    Call, Exclusions, Limits, QueryType, Reason, SearchFiles, SearchFilesResponse, SearchMatch, Skipped,
    WapError,
};

use crate::engine::LocalWorkspace;
use crate::explore::{start_error, warnings};

/// How long a search goes on before it answers with what it has.
const TIME_BOUND: Duration = Duration::from_secs(10);

impl LocalWorkspace {
    pub(crate) fn search(
        &self,
        call: &Call<'_>,
        request: &SearchFiles,
    ) -> Result<SearchFilesResponse, WapError> {
        let matcher = matcher(request)?;
        let context_lines = context_lines(request)?;
        let deadline = Instant::now() + call.time_left.unwrap_or(TIME_BOUND).min(TIME_BOUND);
        let mut notes = Vec::new();
        let files = self.files_to_search(call, request, deadline, &mut notes)?;
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(context_lines)
            .after_context(context_lines)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .bom_sniffing(true)
            .build();
        let mut found = Found::new(self.config.limits.max_search_results);
        for (done, path) in files.iter().enumerate() {
            self.check_cancelled(call)?;
            if Instant::now() >= deadline {
                notes.push(format!(
                    "the search ended early: {} of {} files were searched",
                    done,
                    files.len()
                ));
                found.is_incomplete = true;
                break;
            }
            found.search(&mut searcher, &matcher, self, path);
        }
        Ok(found.into_response(notes))
    }

    /// Every file to search, each once, sorted by the bytes of its path.
    fn files_to_search(
        &self,
        call: &Call<'_>,
        request: &SearchFiles,
        deadline: Instant,
        notes: &mut Vec<String>,
    ) -> Result<BTreeSet<RelPath>, WapError> {
        let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
        let recursive = request.recursive.unwrap_or(true);
        let mut files = BTreeSet::new();
        for asked in &request.paths {
            let start = self.folder_path(asked)?;
            self.hidden.check(&start)?;
            if !start.is_root() && self.is_file(&start) {
                // A file that is named is always searched.
                files.insert(self.root.canonical_path(&start).map_err(|error| start_error(&error, &start))?);
                continue;
            }
            let depth = if recursive { WalkLimits::default().depth } else { 1 };
            let timeout = deadline.saturating_duration_since(Instant::now());
            let limits = WalkLimits { depth, timeout, ..WalkLimits::default() };
            let excludes = self.excluder(call, true, &exclusions, request.respect_gitignore);
            let walk = self.root.walk(&start, limits).map_err(|error| start_error(&error, &start))?;
            let mut walk = walk.visited_by(move |entry| match entry.kind {
                _ if excludes(entry) => Visit::Skip,
                FileKind::File => Visit::Take,
                FileKind::Folder => Visit::Pass,
                _ => Visit::Skip,
            });
            files.extend(walk.by_ref().map(|entry| entry.path));
            notes.extend(warnings(walk.summary()));
        }
        Ok(files)
    }

    fn is_file(&self, path: &RelPath) -> bool {
        // A link to a file is a file for somebody who reads.
        self.root.open_file(path).is_ok()
    }
}

fn context_lines(request: &SearchFiles) -> Result<usize, WapError> {
    match request.context_lines {
        None => Ok(SearchFiles::DEFAULT_CONTEXT_LINES as usize),
        Some(lines) if lines < 0 => {
            let text = format!("contextLines is {lines}: give 0 to {}", Limits::MAX_CONTEXT_LINES);
            Err(WapError::new(Reason::InvalidField, text).with("field", "contextLines"))
        }
        Some(lines) => {
            Ok(usize::try_from(lines).unwrap_or(usize::MAX).min(Limits::MAX_CONTEXT_LINES as usize))
        }
    }
}

fn matcher(request: &SearchFiles) -> Result<RegexMatcher, WapError> {
    if request.query.is_empty() {
        return Err(WapError::new(Reason::EmptyQuery, "the query is empty"));
    }
    RegexMatcherBuilder::new()
        .fixed_strings(request.query_type == QueryType::Literal)
        .line_terminator(Some(b'\n'))
        .crlf(true)
        .build(&request.query)
        .map_err(|error| {
            let text = format!("the query is not a regular expression that can be used: {error}");
            WapError::new(Reason::InvalidRegex, text).with("field", "query")
        })
}

/// What a search has found so far.
struct Found {
    most: usize,
    matches: Vec<SearchMatch>,
    total: u64,
    skipped: Skipped,
    is_incomplete: bool,
}

impl Found {
    fn new(most: u32) -> Found {
        Found {
            most: most as usize,
            matches: Vec::new(),
            total: 0,
            skipped: Skipped::default(),
            is_incomplete: false,
        }
    }

    fn search(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        workspace: &LocalWorkspace,
        path: &RelPath,
    ) {
        let file = match workspace.root.open_file(path) {
            Ok(file) => file,
            // Gone since the walk.
            Err(FsError::NotFound { .. }) => return,
            Err(_) => {
                self.skipped.unreadable += 1;
                return;
            }
        };
        if workspace.hidden.hides(file.path()) {
            return;
        }
        let mut sink = FileSink {
            path: path.to_string(),
            room: self.most - self.matches.len(),
            matches: Vec::new(),
            before: VecDeque::new(),
            total: 0,
            is_binary: false,
        };
        match searcher.search_reader(matcher, file, &mut sink) {
            Ok(()) if sink.is_binary => self.skipped.binary += 1,
            Ok(()) => {
                self.total += sink.total;
                self.matches.append(&mut sink.matches);
            }
            Err(_) => self.skipped.unreadable += 1,
        }
    }

    fn into_response(self, warnings: Vec<String>) -> SearchFilesResponse {
        SearchFilesResponse {
            is_truncated: self.is_incomplete || self.total > self.matches.len() as u64,
            matches: self.matches,
            total_matches: self.total,
            skipped: self.skipped,
            warnings,
        }
    }
}

/// Collects the matching lines of one file.
struct FileSink {
    path: String,
    room: usize,
    matches: Vec<SearchMatch>,
    /// Lines seen since the last match, as context of the next one.
    before: VecDeque<String>,
    total: u64,
    is_binary: bool,
}

impl FileSink {
    /// Adds a line behind the matches that still want context: a match is context of the one before it, too.
    fn add_after(&mut self, searcher: &Searcher, line: &str) {
        let wanted = searcher.after_context();
        for found in self.matches.iter_mut().rev() {
            if found.context_after.len() >= wanted {
                break;
            }
            found.context_after.push(line.to_owned());
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

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.total += 1;
        let line = line_text(found.bytes());
        self.add_after(searcher, &line);
        if self.matches.len() < self.room {
            self.matches.push(SearchMatch {
                path: self.path.clone(),
                line: found.line_number().unwrap_or(0),
                match_text: line.clone(),
                context_before: self.before.iter().cloned().collect(),
                context_after: Vec::new(),
            });
        }
        self.add_before(searcher, line);
        Ok(true)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
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

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A line without its ending, cut at the longest that is shown.
fn line_text(bytes: &[u8]) -> String {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8_lossy(line).chars().take(Limits::MAX_MATCH_CHARACTERS).collect()
}
