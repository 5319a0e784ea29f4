//! `searchFiles`: text in files.
//!
//! The calling thread walks the folders and passes files on in small batches; two more threads search them
//! concurrently, and the calling one helps when it is ahead or done. The answer does not depend on the threads' timing:
//! the first matches in path order, and the totals of all files.

mod file_queue;
mod file_searcher;
mod file_sink;
mod query;
mod results;
mod warm;

use std::collections::HashSet;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use file_index::{GitIgnores, ListedContent, Needle};
use rel_path::{MAX_COMPONENTS, RelPath};
use sandbox_fs::{FileKind, FsError, Visit, WalkLimits, WalkSummary};
use wap_core::{
    Call, Exclusions, QueryType, Reason, SearchFiles, SearchFilesResponse, WapError, WithheldRule,
    holds_credentials_if_keyed,
};

use self::file_queue::{Batch, Closing, FileOrigin, FileQueue};
use self::file_searcher::FileSearcher;
use self::query::Query;
use self::results::{FileOutcome, Results};
use crate::engine::LocalWorkspace;
use crate::errors::fs_read_error;
use crate::read::explore::{LeftOut, rule_warnings, walk_time, warnings};

/// Threads that search while the calling one walks.
const WORKERS: usize = 2;

/// The number of files per batch.
const BATCH_FILES: usize = 64;

/// The files that a request searches.
struct Sources {
    /// Canonical paths of files that were named.
    files: Vec<RelPath>,
    /// Folders, each with the text of the request.
    folders: Vec<(RelPath, String)>,
}

impl LocalWorkspace {
    pub(crate) fn search(
        &self,
        call: &Call<'_>,
        request: &SearchFiles,
    ) -> Result<SearchFilesResponse, WapError> {
        request.check_bounds()?;
        let query = Query::new(request)?;
        let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
        let withheld = request.withheld.as_ref().map(|files| files.rule()).transpose()?;
        let deadline = Instant::now() + walk_time(call);
        let sources = self.sources(call, request)?;
        let results = Results::new(self.config.limits.max_search_results as usize);
        let queue = FileQueue::default();
        let searcher = || FileSearcher::new(self, call.cancel, deadline, &query, &results);
        let walked = thread::scope(|scope| {
            let queue = &queue;
            let _closed_in_any_case = Closing(queue);
            for number in 0..WORKERS {
                let mut searcher = searcher();
                let worker = thread::Builder::new().name(format!("search-{number}"));
                // Without it the calling thread does more of the work.
                let _ = worker.spawn_scoped(scope, move || searcher.run(queue));
            }
            let mut walk = SearchWalk {
                workspace: self,
                call,
                request,
                exclusions: &exclusions,
                withheld: withheld.as_ref(),
                has_undecided: false,
                deadline,
                queue,
                results: &results,
                helper: searcher(),
                visited: (sources.files.len() + sources.folders.len() > 1).then(HashSet::new),
                batch: Batch::new(),
                warnings: Vec::new(),
                is_complete: true,
            };
            walk.walk(sources).map(|()| (walk.warnings, walk.is_complete, walk.has_undecided))
        });
        if call.cancel.is_cancelled() {
            return Err(WapError::new(Reason::Cancelled, "cancelled while files were searched"));
        }
        let (warnings, is_complete, has_undecided) = walked?;
        Ok(SearchFilesResponse { has_undecided, ..results.into_response(warnings, is_complete) })
    }

    /// Determines which of the paths are files, so that a bad path is reported before anything is searched.
    fn sources(&self, call: &Call<'_>, request: &SearchFiles) -> Result<Sources, WapError> {
        let mut sources = Sources { files: Vec::new(), folders: Vec::new() };
        for requested in &request.paths {
            self.check_cancelled(call)?;
            let start = self.folder_path(requested)?;
            self.hidden.check(&start)?;
            match self.root.open_file(&start) {
                // A symlink to a file is a file for a reader.
                Ok(file) => {
                    // The path of the opened file: a symlink may point to a hidden one.
                    self.hidden.check(file.path())?;
                    sources.files.push(file.path().clone());
                }
                Err(FsError::NotAFile { kind: FileKind::Folder, .. }) => {
                    sources.folders.push((start, requested.clone()))
                }
                Err(error) => return Err(path_error(&error, requested)),
            }
        }
        Ok(sources)
    }
}

/// Returns the text that a file must contain for the query to match. The matcher makes the final decision.
fn needle(request: &SearchFiles) -> Needle {
    match request.query_type {
        QueryType::Literal => Needle::literal(request.query.as_bytes()),
        QueryType::Regex => Needle::expression(&request.query),
    }
}

/// The error for a path that cannot be searched.
fn path_error(error: &FsError, requested: &str) -> WapError {
    match error {
        FsError::NotFound { .. } | FsError::ParentMissing { .. } => {
            WapError::new(Reason::PathNotFound, format!("'{requested}' does not exist"))
                .with("path", requested)
        }
        other => fs_read_error(other, requested),
    }
}

/// The walk of a search.
struct SearchWalk<'a> {
    workspace: &'a LocalWorkspace,
    call: &'a Call<'a>,
    request: &'a SearchFiles,
    exclusions: &'a Exclusions,
    /// Files that are skipped by name: the answer does not depend on their contents.
    withheld: Option<&'a WithheldRule>,
    /// True if one of them is withheld only if it contains a secret.
    has_undecided: bool,
    deadline: Instant,
    queue: &'a FileQueue,
    results: &'a Results,
    /// Searches on this thread when the queue of the others is full.
    helper: FileSearcher<'a>,
    /// Files that were passed on, if a file could be met twice.
    visited: Option<HashSet<RelPath>>,
    batch: Batch,
    warnings: Vec<String>,
    is_complete: bool,
}

impl SearchWalk<'_> {
    fn walk(&mut self, sources: Sources) -> Result<(), WapError> {
        for file in sources.files {
            self.hand_on(file, FileOrigin::Named);
        }
        for (folder, requested) in sources.folders {
            if let Err(error) = self.folder(&folder, &requested) {
                self.queue.abandon();
                return Err(error);
            }
        }
        self.flush();
        self.queue.close();
        // After `close`: until then the helper would wait for further batches.
        self.helper.run(self.queue);
        Ok(())
    }

    fn folder(&mut self, start: &RelPath, requested: &str) -> Result<(), WapError> {
        let workspace = self.workspace;
        let is_recursive = self.request.recursive.unwrap_or(true);
        let depth = if is_recursive { MAX_COMPONENTS } else { 1 };
        let rules = LeftOut {
            exclusions: Some(self.exclusions),
            are_defaults: self.request.exclude_patterns.is_none(),
            git_ignored: self.request.respect_gitignore.unwrap_or(false),
        };
        let ignores = workspace.git_rules(&rules);
        let ignores = ignores.as_ref();
        let summary = match self.warm_folder(start, requested, depth, (&rules, ignores))? {
            Some(summary) => summary,
            None => self.walk_folder(start, requested, depth, (&rules, ignores))?,
        };
        self.is_complete &= !summary.out_of_entries && !summary.out_of_time;
        for warning in warnings(summary).into_iter().chain(ignores.into_iter().flat_map(rule_warnings)) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        Ok(())
    }

    fn walk_folder(
        &mut self,
        start: &RelPath,
        requested: &str,
        depth: usize,
        (rules, ignores): (&LeftOut<'_>, Option<&Mutex<GitIgnores<'_>>>),
    ) -> Result<WalkSummary, WapError> {
        let workspace = self.workspace;
        let timeout = self.deadline.saturating_duration_since(Instant::now());
        let limits = WalkLimits { depth, timeout, ..WalkLimits::default() };
        let walk = workspace.root.walk(start, limits).map_err(|error| path_error(&error, requested))?;
        workspace.hidden.check(walk.start())?;
        let excludes = workspace.excluder(self.call, walk.start(), rules, ignores);
        let mut walk = walk.visited_by(move |entry| match entry.kind {
            FileKind::File if !excludes(&entry.path, entry.kind) => Visit::Take,
            FileKind::Folder if !excludes(&entry.path, entry.kind) => Visit::Pass,
            _ => Visit::Skip,
        });
        for entry in walk.by_ref() {
            self.hand_on(entry.path, FileOrigin::Walked);
        }
        Ok(walk.summary())
    }

    /// Passes on the files in which the query may match; `None` if the folder has to be walked.
    fn warm_folder(
        &mut self,
        start: &RelPath,
        requested: &str,
        depth: usize,
        (rules, ignores): (&LeftOut<'_>, Option<&Mutex<GitIgnores<'_>>>),
    ) -> Result<Option<WalkSummary>, WapError> {
        let workspace = self.workspace;
        if workspace.file_index().is_none() {
            return Ok(None);
        }
        // Nothing is listed: the folder is only resolved.
        let limits = WalkLimits { depth: 0, ..WalkLimits::default() };
        let walk = workspace.root.walk(start, limits).map_err(|error| path_error(&error, requested))?;
        workspace.hidden.check(walk.start())?;
        let excludes = workspace.excluder(self.call, walk.start(), rules, ignores);
        let mut files = Vec::new();
        let needle = needle(self.request);
        let listed =
            workspace.warm_candidates(walk.start(), depth, &needle, excludes, &mut |entry| files.push(entry));
        let Some(summary) = listed else { return Ok(None) };
        for file in files {
            match file.content {
                ListedContent::Binary => self.count(&file.path, FileOutcome::Binary),
                ListedContent::Undecodable => self.count(&file.path, FileOutcome::Undecodable),
                ListedContent::Unknown => self.hand_on(file.path, FileOrigin::Walked),
            }
        }
        Ok(Some(summary))
    }

    /// Checks whether a file comes up for the first time, and is not withheld.
    fn is_searched(&mut self, path: &RelPath) -> bool {
        if let Some(rule) = self.withheld {
            let path = path.to_string();
            if rule.withholds(&path) {
                self.has_undecided |= holds_credentials_if_keyed(&path);
                return false;
            }
        }
        self.visited.as_mut().is_none_or(|visited| visited.insert(path.clone()))
    }

    /// Counts a file that need not be read.
    fn count(&mut self, path: &RelPath, outcome: FileOutcome) {
        if self.is_searched(path) {
            self.results.add(path, outcome);
        }
    }

    fn hand_on(&mut self, path: RelPath, origin: FileOrigin) {
        if !self.is_searched(&path) {
            return;
        }
        self.batch.push((path, origin));
        if self.batch.len() >= BATCH_FILES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH_FILES));
        if let Err(batch) = self.queue.push(batch)
            && self.helper.batch(&batch).is_err()
        {
            self.queue.abandon();
        }
    }
}
