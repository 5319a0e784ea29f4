//! `searchFiles`: text in files.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError, OpenFile, Visit, WalkLimits};
use wap_core::{
    Call, Exclusions, Limits, QueryType, Reason, SearchFiles, SearchFilesResponse, SearchMatch, Skipped,
    WapError,
};

use crate::engine::LocalWorkspace;
use crate::explore::{start_error, warnings};
use crate::git_credentials;
use crate::search_sink::FileSink;
use crate::text_probe::TextProbe;
use crate::watched_reader::{Stop, WatchedReader};

/// How long a search goes on before it answers with what it has.
const TIME_BOUND: Duration = Duration::from_secs(10);

/// The longest line that is searched, and the most that is held of a file at once.
const LINE_LIMIT_BYTES: usize = 16 << 20;

/// The largest of git's own files that is searched.
const MASKED_LIMIT_BYTES: u64 = 4 << 20;

/// How a file came to be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// It was met in a folder.
    Walked,
    /// It was named, so it is searched if that is possible at all.
    Named,
}

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
        let (files, is_complete) = self.files_to_search(call, request, deadline, &mut notes)?;
        let searcher = SearcherBuilder::new()
            .line_number(true)
            // The same as the matcher's; it splits at line feeds.
            .line_terminator(LineTerminator::crlf())
            .before_context(context_lines)
            .after_context(context_lines)
            // What is binary is decided by the rule for all tools, while the file is read.
            .binary_detection(BinaryDetection::none())
            .memory_map(MmapChoice::never())
            .heap_limit(Some(LINE_LIMIT_BYTES))
            .bom_sniffing(true)
            .build();
        let mut search = Search {
            workspace: self,
            call,
            deadline,
            searcher,
            matcher,
            most: self.config.limits.max_search_results as usize,
            matches: Vec::new(),
            total: 0,
            skipped: Skipped::default(),
        };
        let mut ended_early = !is_complete;
        for (done, (path, asked)) in files.iter().enumerate() {
            self.check_cancelled(call)?;
            match search.file(path, *asked) {
                Ok(()) => {}
                Err(Stop::Cancelled) => {
                    return Err(WapError::new(Reason::Cancelled, "cancelled while files were searched"));
                }
                Err(Stop::OutOfTime) => {
                    let all = files.len();
                    notes.push(format!("the search ended early: {done} of {all} files were searched"));
                    ended_early = true;
                    break;
                }
            }
        }
        self.check_cancelled(call)?;
        Ok(SearchFilesResponse {
            is_truncated: ended_early || search.total > search.matches.len() as u64,
            matches: search.matches,
            total_matches: search.total,
            skipped: search.skipped,
            warnings: notes,
        })
    }

    /// Every file to search, each once, sorted by the bytes of its path, and whether these are all.
    fn files_to_search(
        &self,
        call: &Call<'_>,
        request: &SearchFiles,
        deadline: Instant,
        notes: &mut Vec<String>,
    ) -> Result<(BTreeMap<RelPath, Asked>, bool), WapError> {
        let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
        let recursive = request.recursive.unwrap_or(true);
        let mut files = BTreeMap::new();
        let mut is_complete = true;
        for asked in &request.paths {
            let start = self.folder_path(asked)?;
            self.hidden.check(&start)?;
            match self.root.open_file(&start) {
                // A link to a file is a file for somebody who reads.
                Ok(file) => {
                    self.hidden.check(file.path())?;
                    files.insert(file.path().clone(), Asked::Named);
                    continue;
                }
                Err(FsError::NotAFile { kind: FileKind::Folder, .. }) => {}
                Err(error) => return Err(start_error(&error, &start)),
            }
            let depth = if recursive { WalkLimits::default().depth } else { 1 };
            let timeout = deadline.saturating_duration_since(Instant::now());
            let limits = WalkLimits { depth, timeout, ..WalkLimits::default() };
            let walk = self.root.walk(&start, limits).map_err(|error| start_error(&error, &start))?;
            self.hidden.check(walk.start())?;
            let excludes = self.excluder(call, walk.start(), Some(&exclusions), request.respect_gitignore);
            let mut walk = walk.visited_by(move |entry| match entry.kind {
                _ if excludes(entry) => Visit::Skip,
                FileKind::File => Visit::Take,
                FileKind::Folder => Visit::Pass,
                _ => Visit::Skip,
            });
            for entry in walk.by_ref() {
                files.entry(entry.path).or_insert(Asked::Walked);
            }
            let summary = walk.summary();
            is_complete &= !summary.out_of_entries && !summary.out_of_time;
            notes.extend(warnings(summary));
        }
        Ok((files, is_complete))
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
        .crlf(true)
        .build(&request.query)
        .map_err(|error| {
            let text = format!("the query is not a regular expression that can be used: {error}");
            WapError::new(Reason::InvalidRegex, text).with("field", "query")
        })
}

/// A search under way.
struct Search<'a> {
    workspace: &'a LocalWorkspace,
    call: &'a Call<'a>,
    deadline: Instant,
    searcher: Searcher,
    matcher: RegexMatcher,
    most: usize,
    matches: Vec<SearchMatch>,
    total: u64,
    skipped: Skipped,
}

impl Search<'_> {
    fn file(&mut self, path: &RelPath, asked: Asked) -> Result<(), Stop> {
        let file = match self.workspace.root.open_file(path) {
            Ok(file) => file,
            // Gone since the walk.
            Err(FsError::NotFound { .. }) => return Ok(()),
            Err(_) => {
                self.skipped.unreadable += 1;
                return Ok(());
            }
        };
        if self.workspace.hidden.hides(file.path()) {
            return Ok(());
        }
        let mut sink = FileSink::new(path.to_string(), self.most - self.matches.len());
        let (is_binary, is_undecodable, is_unreadable) = if git_credentials::may_be_in(file.path()) {
            self.masked_text(&file, &mut sink)
        } else {
            self.text(file, &mut sink)?
        };
        if is_binary {
            self.skipped.binary += 1;
        } else if is_unreadable {
            self.skipped.unreadable += 1;
        } else if is_undecodable && asked == Asked::Walked {
            self.skipped.undecodable += 1;
        } else {
            self.total += sink.total;
            self.matches.append(&mut sink.matches);
        }
        Ok(())
    }

    /// Answers whether the text is binary, undecodable, unreadable.
    fn text(&mut self, file: OpenFile, sink: &mut FileSink) -> Result<(bool, bool, bool), Stop> {
        let watched = WatchedReader::new(file, self.call.cancel, Some(self.deadline));
        let mut probe = TextProbe::new(watched);
        let searched = self.searcher.search_reader(&self.matcher, &mut probe, sink);
        match probe.inner().stopped() {
            Some(stop) => Err(stop),
            None => Ok((probe.is_binary(), probe.is_undecodable(), searched.is_err())),
        }
    }

    /// The same for a file whose credentials nobody may find out by searching for them.
    fn masked_text(&mut self, file: &OpenFile, sink: &mut FileSink) -> (bool, bool, bool) {
        let Ok(bytes) = file.read_to_end(MASKED_LIMIT_BYTES) else { return (false, false, true) };
        let mut probe = TextProbe::new(&bytes[..]);
        let mut text = Vec::new();
        if std::io::Read::read_to_end(&mut probe, &mut text).is_err() {
            return (probe.is_binary(), false, false);
        }
        let masked = git_credentials::mask(&bytes);
        let searched = self.searcher.search_slice(&self.matcher, &masked, sink);
        (false, probe.is_undecodable(), searched.is_err())
    }
}
