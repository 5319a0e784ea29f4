//! `exploreFiles`: the entries of a folder.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use file_index::GitIgnores;
use rel_path::{MAX_COMPONENTS, RelPath, Shortlist};
use sandbox_fs::{FileKind, FsError, Metadata, Visit, WalkLimits, WalkSummary};
use wap_core::{
    Call, EntryKind, Exclusions, ExploreFiles, ExploreFilesResponse, ExploredFile, PathPattern, Reason,
    WapError,
};

use crate::engine::LocalWorkspace;
use crate::errors::fs_read_error;
use crate::read::metadata;

/// The time after which a listing or a search returns its entries so far. Entries and matches after the last listed
/// one are counted until then, and up to the million entries that a walk reads.
const TIME_BOUND: Duration = Duration::from_secs(10);

/// The same for a caller that announces a longer wait.
const LONGEST_TIME_BOUND: Duration = Duration::from_secs(120);

/// Returns the time limit of a listing or a search of this call.
pub(crate) fn walk_time(call: &Call<'_>) -> Duration {
    call.time_left.map_or(TIME_BOUND, |left| left.min(LONGEST_TIME_BOUND))
}

/// The entries that a request leaves out of its walks.
pub(crate) struct LeftOut<'a> {
    /// Globs, for recursive operations.
    pub exclusions: Option<&'a Exclusions>,
    /// True if the globs are the default ones.
    pub are_defaults: bool,
    /// True if files that git ignores are left out.
    pub git_ignored: bool,
}

impl LeftOut<'_> {
    /// Checks whether a walk that excludes these folders only additionally excludes hidden entries.
    ///
    /// The default globs name folders and their contents, and a walk does not reach the contents of an excluded folder.
    pub(crate) fn are_about_folders(&self) -> bool {
        !self.git_ignored && (self.exclusions.is_none() || self.are_defaults)
    }
}

impl LocalWorkspace {
    pub(crate) fn explore(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        let pattern = request.compiled_pattern()?;
        let filter = pattern.as_ref().map(EntryFilter::Pattern);
        let mut response = self.list(call, request, filter.as_ref())?;
        response.warnings.extend(request.pattern_warning(response.total_found));
        Ok(response)
    }

    /// Finds the entries with `name` in their names, without regard to the case of ASCII letters.
    ///
    /// The request determines the folder and the exclusions, its pattern is ignored; it is recursive unless it says
    /// no, and without `maxDepth` unlimited in depth. The answer is bounded and ordered like that of `exploreFiles`.
    ///
    /// # Errors
    ///
    /// Those of `exploreFiles`; [`Reason::EmptyQuery`] for an empty name.
    pub fn find_names(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
        name: &str,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.check_cancelled(call)?;
        if name.is_empty() {
            return Err(WapError::new(Reason::EmptyQuery, "the name is empty"));
        }
        let lower = name.to_ascii_lowercase().into_bytes();
        let request = ExploreFiles { recursive: request.recursive.or(Some(true)), ..request.clone() };
        self.list(call, &request, Some(&EntryFilter::NamePart(NamePart::new(&lower))))
    }

    fn list(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
        filter: Option<&EntryFilter<'_>>,
    ) -> Result<ExploreFilesResponse, WapError> {
        request.check_bounds()?;
        let start = self.folder_path(&request.path)?;
        self.hidden.check(&start)?;
        let is_bottomless = filter.is_some() && request.max_depth.is_none() && request.is_recursive();
        let depth = if is_bottomless { None } else { request.depth()? }.unwrap_or(MAX_COMPONENTS);
        let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
        let rules = LeftOut {
            exclusions: request.is_recursive().then_some(&exclusions),
            are_defaults: request.exclude_patterns.is_none(),
            git_ignored: request.respect_gitignore.unwrap_or(false),
        };
        let ignores = self.git_rules(&rules);
        let found_start = |error: FsError| folder_error(&error, &request.path);
        let warm = match self.file_index() {
            // Nothing is listed yet: the folder is only resolved.
            Some(_) => {
                let limits = WalkLimits { depth: 0, ..WalkLimits::default() };
                let start = self.root.walk(&start, limits).map_err(found_start)?.start().clone();
                self.hidden.check(&start)?;
                let excludes = self.excluder(call, &start, &rules, ignores.as_ref());
                let mut listed = Listed::new(self, request);
                let wanted = Wanted { depth, filter, most: listed.most };
                let walked = self.warm_list(&start, &wanted, &rules, excludes, &mut |entry| {
                    // The view has already selected it.
                    listed.add(&entry.path, entry.kind, 1, 0);
                });
                walked.map(|(summary, counted)| {
                    listed.counted += counted;
                    (listed, summary)
                })
            }
            None => None,
        };
        let (listed, summary) = match warm {
            Some(walked) => walked,
            None => {
                let limits = WalkLimits { depth, timeout: walk_time(call), ..WalkLimits::default() };
                let walk = self.root.walk(&start, limits).map_err(found_start)?;
                self.hidden.check(walk.start())?;
                let excludes = self.excluder(call, walk.start(), &rules, ignores.as_ref());
                let mut walk = walk.visited_by(move |entry| {
                    if excludes(&entry.path, entry.kind) { Visit::Skip } else { Visit::Take }
                });
                let mut listed = Listed::new(self, request);
                for entry in walk.by_ref() {
                    match filter {
                        None => listed.add(&entry.path, entry.kind, entry.depth, entry.position),
                        // Entries that match are listed in the order of their paths.
                        Some(filter) if filter.takes(&entry.path, entry.kind) => {
                            listed.add(&entry.path, entry.kind, 1, 0);
                        }
                        Some(_) => {}
                    }
                }
                (listed, walk.summary())
            }
        };
        let total = listed.total();
        if total == 0 && summary.unreadable > 0 && filter.is_none() {
            // It is the folder itself: there was no other folder to enter.
            let text = format!("the folder '{}' could not be read", request.path);
            return Err(WapError::new(Reason::ReadError, text).with("path", request.path.as_str()));
        }
        self.check_cancelled(call)?;
        let files = listed.into_files();
        let of_walk = warnings(summary).into_iter().chain(ignores.iter().flat_map(rule_warnings));
        Ok(ExploreFilesResponse {
            is_truncated: total > files.len() as u64 || !is_complete(summary),
            warnings: of_walk.chain(ExploreFilesResponse::cut_warning(files.len(), total)).collect(),
            files,
            total_found: total,
        })
    }

    /// Returns git's rules if a request leaves out what they ignore.
    pub(crate) fn git_rules(&self, rules: &LeftOut<'_>) -> Option<Mutex<GitIgnores<'_>>> {
        rules.git_ignored.then(|| Mutex::new(GitIgnores::new(&self.root)))
    }

    /// Decides which entries of a walk from `start` are left out: hidden ones always, others by the rules, with git's
    /// in `ignores`. A start folder that is itself excluded was requested explicitly.
    pub(crate) fn excluder<'a, 'r>(
        &'a self,
        call: &'a Call<'_>,
        start: &RelPath,
        rules: &LeftOut<'_>,
        ignores: Option<&'a Mutex<GitIgnores<'r>>>,
    ) -> impl Fn(&RelPath, FileKind) -> bool + Send + use<'a, 'r> {
        let start = if start.is_root() { String::new() } else { start.to_string() };
        let exclusions = rules.exclusions.map(|exclusions| exclusions.for_walk_from(&start));
        // Of the default globs, only those for folders have to be compared.
        let are_for_folders = rules.are_defaults;
        move |path, kind| {
            let is_folder = kind == FileKind::Folder;
            let compares = is_folder || !are_for_folders;
            let excludes = |globs: &Exclusions| globs.excludes(&path.to_string(), is_folder);
            // A cancelled walk ends at once; its result is not used.
            call.cancel.is_cancelled()
                || self.hidden.hides(path)
                || compares && exclusions.as_ref().is_some_and(excludes)
                || ignores.is_some_and(|ignores| {
                    let mut ignores = ignores.lock().unwrap_or_else(PoisonError::into_inner);
                    ignores.ignores(path, is_folder)
                })
        }
    }
}

/// The entries of a listing so far.
struct Listed<'a> {
    workspace: &'a LocalWorkspace,
    wants_metadata: bool,
    most: usize,
    shortlist: Shortlist<(RelPath, FileKind)>,
    /// Entries that were only counted.
    counted: u64,
}

impl<'a> Listed<'a> {
    fn new(workspace: &'a LocalWorkspace, request: &ExploreFiles) -> Listed<'a> {
        let most = usize::try_from(workspace.config.limits.max_directory_entries).unwrap_or(usize::MAX);
        let wants_metadata = request.return_metadata.unwrap_or(false);
        Listed { workspace, wants_metadata, most, shortlist: Shortlist::new(most), counted: 0 }
    }

    fn add(&mut self, path: &RelPath, kind: FileKind, depth: usize, position: usize) {
        self.shortlist.offer(depth, position, || (path.clone(), kind));
    }

    fn total(&self) -> u64 {
        self.shortlist.offered() + self.counted
    }

    /// Reads the metadata of the listed entries; most entries of a large tree are only counted.
    fn into_files(self) -> Vec<ExploredFile> {
        let (root, wants_metadata) = (&self.workspace.root, self.wants_metadata);
        let entries = self.shortlist.into_values().into_iter();
        entries
            .map(|(path, kind)| {
                let metadata = wants_metadata.then(|| root.metadata(&path).ok()).flatten();
                explored(&path, kind, metadata.as_ref())
            })
            .collect()
    }
}

/// The wanted entries below a folder.
pub(crate) struct Wanted<'a> {
    /// The depth in folders; 0 means none.
    pub depth: usize,
    /// The filter of listed entries; `None` for all.
    pub filter: Option<&'a EntryFilter<'a>>,
    /// The maximum number listed; the others are counted.
    pub most: usize,
}

/// The entries that a search for files by their names lists.
pub(crate) enum EntryFilter<'a> {
    /// Entries with this part in their names.
    NamePart(NamePart<'a>),
    /// Entries that match a glob.
    Pattern(&'a PathPattern),
}

impl EntryFilter<'_> {
    /// Returns true if the filter depends only on the name of an entry.
    pub(crate) fn is_decided_by_name(&self) -> bool {
        match self {
            EntryFilter::NamePart(_) => true,
            EntryFilter::Pattern(pattern) => pattern.is_decided_by_name(),
        }
    }

    /// Reports whether entries of this name may be listed.
    pub(crate) fn may_take_name(&self, name: &[u8]) -> bool {
        match self {
            EntryFilter::NamePart(part) => part.is_in(name),
            EntryFilter::Pattern(pattern) => pattern.may_match_name(name),
        }
    }

    pub(crate) fn takes(&self, path: &RelPath, kind: FileKind) -> bool {
        match self {
            EntryFilter::NamePart(part) => part.is_in(path.file_name().unwrap_or_default()),
            EntryFilter::Pattern(pattern) => pattern.matches(path.as_bytes(), kind == FileKind::Folder),
        }
    }
}

/// A part of a name, in lower case.
pub(crate) struct NamePart<'n> {
    first: [u8; 2],
    rest: &'n [u8],
}

impl NamePart<'_> {
    /// `lower` is not empty.
    fn new(lower: &[u8]) -> NamePart<'_> {
        let (first, rest) = lower.split_first().expect("the name is not empty");
        NamePart { first: [*first, first.to_ascii_uppercase()], rest }
    }

    fn is_in(&self, name: &[u8]) -> bool {
        memchr::memchr2_iter(self.first[0], self.first[1], name).any(|start| {
            let at = start + 1;
            name.get(at..at + self.rest.len()).is_some_and(|part| part.eq_ignore_ascii_case(self.rest))
        })
    }
}

fn explored(path: &RelPath, kind: FileKind, on_disk: Option<&Metadata>) -> ExploredFile {
    ExploredFile {
        path: path.to_string(),
        is_directory: kind == FileKind::Folder,
        metadata: on_disk.map(|on_disk| metadata(path, on_disk)),
        kind: match kind {
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

/// Returns the warnings about the parts that a walk could not read.
pub(crate) fn warnings(summary: WalkSummary) -> Vec<String> {
    // Folders below a requested depth need no warning.
    let counted = [
        (summary.unreadable, "folder", "folders", "could not be read"),
        (
            summary.mounts,
            "folder was",
            "folders were",
            "not entered because another file system is mounted there",
        ),
        (summary.unnameable, "entry is", "entries are", "deeper, or under a longer name, than any path may"),
    ];
    let mut warnings: Vec<_> = counted
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many, text)| format!("{count} {} {text}", if *count == 1 { one } else { many }))
        .collect();
    if !is_complete(summary) {
        warnings.push(format!(
            "the walk ended early after {} entries; a smaller folder may be walked to its end",
            summary.entries
        ));
    }
    warnings
}

/// Names the files with git rules that were not obeyed.
pub(crate) fn rule_warnings(ignores: &Mutex<GitIgnores<'_>>) -> Vec<String> {
    let ignores = ignores.lock().unwrap_or_else(PoisonError::into_inner);
    let warning = |path: &RelPath| {
        format!(
            "`{path}` is not obeyed, because it is larger than 256 KiB or has more than 32 KiB of patterns with wildcards, so \
             nothing in its folder counts as ignored by git"
        )
    };
    ignores.not_obeyed().iter().map(warning).collect()
}

/// A folder that a request names cannot be used.
pub(crate) fn folder_error(error: &FsError, requested: &str) -> WapError {
    match error {
        FsError::NotFound { .. } | FsError::ParentMissing { .. } => {
            WapError::new(Reason::PathNotFound, format!("the folder '{requested}' does not exist"))
                .with("path", requested)
        }
        other => fs_read_error(other, requested),
    }
}
