//! `exploreFiles`: what is in a folder.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError, Metadata, Visit, WalkEntry, WalkLimits, WalkSummary};
use wap_core::{
    Call, EntryKind, Exclusions, ExploreFiles, ExploreFilesResponse, ExploredFile, Reason, WapError,
};

use crate::engine::LocalWorkspace;
use crate::errors::fs_read_error;
use crate::git_ignores::GitIgnores;
use crate::read::metadata;

/// How long a listing or a search goes on before it answers with what it has. Entries and matches behind the last one that
/// is shown are counted up to here, and up to the million entries that a walk reads.
const TIME_BOUND: Duration = Duration::from_secs(10);

/// The same for a caller who says that it waits longer.
const LONGEST_TIME_BOUND: Duration = Duration::from_secs(120);

/// How long a listing or a search of this call may go on.
pub(crate) fn walk_time(call: &Call<'_>) -> Duration {
    call.time_left.map_or(TIME_BOUND, |left| left.min(LONGEST_TIME_BOUND))
}

/// What a request leaves out of its walks.
pub(crate) struct LeftOut<'a> {
    /// Globs, for recursive operations.
    pub exclusions: Option<&'a Exclusions>,
    /// Whether the globs are the default ones.
    pub are_defaults: bool,
    /// Whether what git ignores is left out.
    pub git_ignored: bool,
}

impl LocalWorkspace {
    pub(crate) fn explore(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        let start = self.folder_path(&request.path)?;
        self.hidden.check(&start)?;
        let depth = depth(request)?;
        let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
        let timeout = walk_time(call);
        let limits = WalkLimits { depth, timeout, ..WalkLimits::default() };
        let mut walk = self.root.walk(&start, limits).map_err(|error| folder_error(&error, &request.path))?;
        self.hidden.check(walk.start())?;
        let rules = LeftOut {
            exclusions: request.recursive.unwrap_or(false).then_some(&exclusions),
            are_defaults: request.exclude_patterns.is_none(),
            git_ignored: request.respect_gitignore.unwrap_or(false),
        };
        let excludes = self.excluder(call, walk.start(), &rules);
        walk = walk.visited_by(move |entry| if excludes(entry) { Visit::Skip } else { Visit::Take });
        let most = usize::try_from(self.config.limits.max_directory_entries).unwrap_or(usize::MAX);
        let mut files = Vec::new();
        let mut total_found = 0;
        for entry in walk.by_ref() {
            total_found += 1;
            if files.len() < most {
                // Only those that are shown are asked about; most entries of a large tree are only counted.
                let wants_metadata = request.return_metadata.unwrap_or(false);
                let found = wants_metadata.then(|| self.root.metadata(&entry.path).ok()).flatten();
                files.push(explored(&entry, found.as_ref()));
            }
        }
        if total_found == 0 && walk.summary().unreadable > 0 {
            // It is the folder itself: nothing else was found that could have been entered.
            let text = format!("the folder '{}' could not be read", request.path);
            return Err(WapError::new(Reason::ReadError, text).with("path", request.path.as_str()));
        }
        let warnings = warnings(walk.summary());
        self.check_cancelled(call)?;
        Ok(ExploreFilesResponse {
            is_truncated: total_found > files.len() as u64 || !is_complete(walk.summary()),
            files,
            total_found,
            warnings,
        })
    }

    /// Decides which entries of a walk from `start` are left out: hidden ones always, others as the rules say. A start
    /// folder that is excluded itself was meant all the same.
    pub(crate) fn excluder<'a>(
        &'a self,
        call: &'a Call<'_>,
        start: &RelPath,
        rules: &LeftOut<'_>,
    ) -> impl Fn(&WalkEntry) -> bool + Send + use<'a> {
        let start = if start.is_root() { String::new() } else { start.to_string() };
        let exclusions = rules.exclusions.map(|exclusions| exclusions.beneath(&start));
        // The default ones name folders and what is in them. A walk does not come to what is in a folder that it has
        // left out, so only folders have to be compared.
        let are_for_folders = rules.are_defaults;
        let ignores = rules.git_ignored.then(|| Mutex::new(GitIgnores::new(&self.root)));
        move |entry| {
            let is_folder = entry.kind == FileKind::Folder;
            let compares = is_folder || !are_for_folders;
            let excludes = |globs: &Exclusions| globs.excludes(&entry.path.to_string(), is_folder);
            // A cancelled walk runs out at once; its result is not used.
            call.cancel.is_cancelled()
                || self.hidden.hides(&entry.path)
                || compares && exclusions.as_ref().is_some_and(excludes)
                || ignores.as_ref().is_some_and(|ignores| {
                    let mut ignores = ignores.lock().unwrap_or_else(PoisonError::into_inner);
                    ignores.ignores(&entry.path, is_folder)
                })
        }
    }
}

fn depth(request: &ExploreFiles) -> Result<usize, WapError> {
    let deepest = request.max_depth.unwrap_or(i64::from(ExploreFiles::DEFAULT_DEPTH));
    let deepest = usize::try_from(deepest).ok().filter(|depth| *depth > 0).ok_or_else(|| {
        let text = format!("maxDepth is {deepest}, and the entries of the folder itself are depth 1");
        WapError::new(Reason::InvalidField, text).with("field", "maxDepth")
    })?;
    Ok(if request.recursive.unwrap_or(false) { deepest } else { 1 })
}

fn explored(entry: &WalkEntry, found: Option<&Metadata>) -> ExploredFile {
    ExploredFile {
        path: entry.path.to_string(),
        is_directory: entry.kind == FileKind::Folder,
        metadata: found.map(|found| metadata(&entry.path, found)),
        kind: match entry.kind {
            FileKind::File | FileKind::Folder => None,
            FileKind::Link => Some(EntryKind::Symlink),
            FileKind::Fifo => Some(EntryKind::Fifo),
            FileKind::Socket => Some(EntryKind::Socket),
            FileKind::CharDevice | FileKind::BlockDevice | FileKind::Unknown => Some(EntryKind::Device),
        },
    }
}

fn is_complete(summary: WalkSummary) -> bool {
    !summary.out_of_entries && !summary.out_of_time
}

/// Says what a walk could not look at.
pub(crate) fn warnings(summary: WalkSummary) -> Vec<String> {
    // Folders beneath a depth that was asked for need no warning.
    let counted = [
        (summary.unreadable, "folders could not be read"),
        (summary.mounts, "folders were not entered because another file system is mounted there"),
        (summary.unnameable, "entries lie deeper, or have longer names, than any path may"),
    ];
    let mut warnings: Vec<_> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, text)| format!("{count} {text}"))
        .collect();
    if !is_complete(summary) {
        warnings.push(format!(
            "the walk ended early after {} entries; a smaller folder may be walked to its end",
            summary.entries
        ));
    }
    warnings
}

/// A folder that a request names cannot be used.
pub(crate) fn folder_error(error: &FsError, asked: &str) -> WapError {
    match error {
        FsError::NotFound { .. } | FsError::ParentMissing { .. } => {
            WapError::new(Reason::PathNotFound, format!("the folder '{asked}' does not exist"))
                .with("path", asked)
        }
        other => fs_read_error(other, asked),
    }
}
