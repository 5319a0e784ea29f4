//! Patterns of paths that recursive operations leave out.

pub(crate) mod credential_name;
pub(crate) mod withheld_files;

use std::sync::{Arc, LazyLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{Limits, Reason, WapError};

/// The eight default exclusions of WAP 1.0.
pub const DEFAULT_EXCLUSIONS: [&str; 8] = [
    "**/node_modules/**",
    "**/.git/**",
    "**/dist/**",
    "**/build/**",
    "**/.venv/**",
    "**/target/**",
    "**/__pycache__/**",
    "**/vendor/**",
];

static DEFAULTS: LazyLock<Exclusions> =
    LazyLock::new(|| Exclusions::new(&DEFAULT_EXCLUSIONS).expect("the default exclusions are valid globs"));

/// A compiled list of globs relative to the root; cheap to clone.
///
/// `**/` is zero or more folders, `*` and `?` do not match `/`. A pattern that ends in `/**` also excludes the folder itself,
/// which is then not entered. A leading `./` or `/` is ignored.
#[derive(Clone, Debug)]
pub struct Exclusions {
    entries: Arc<GlobSet>,
    folders: Arc<GlobSet>,
    /// The index of the pattern of each of `folders`.
    folder_patterns: Arc<[usize]>,
    /// Ignored patterns, by their index in the list.
    ignored: Arc<[usize]>,
}

impl Exclusions {
    /// Returns the glob that excludes one path and nothing else.
    #[must_use]
    pub fn of_path(path: &str) -> String {
        globset::escape(path)
    }

    /// Compiles a list of globs. An empty list excludes nothing.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidGlob`] with the pattern in `details.pattern`; also for a pattern over [`Limits::MAX_PATTERN_BYTES`], or
    /// all together over [`Limits::MAX_PATTERNS_BYTES`].
    pub fn new<P: AsRef<str>>(patterns: &[P]) -> Result<Exclusions, WapError> {
        let limit = Limits::MAX_PATTERNS_BYTES;
        check_size(
            "patterns together have",
            patterns.iter().map(|pattern| pattern.as_ref().len()).sum(),
            limit,
        )?;
        let mut entries = GlobSetBuilder::new();
        let mut folders = GlobSetBuilder::new();
        let mut folder_patterns = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            let pattern = pattern.as_ref();
            check_size("pattern has", pattern.len(), Limits::MAX_PATTERN_BYTES)?;
            // Paths are relative and have no leading `./`, so a pattern with one would never match.
            let glob = pattern.strip_prefix("./").unwrap_or(pattern).trim_start_matches('/');
            entries.add(compile(glob, pattern)?);
            // `folder/**` matches only entries below the folder, so the folder itself needs another glob.
            if let Some(folder) = glob.strip_suffix("/**") {
                folders.add(compile(folder, pattern)?);
                folder_patterns.push(index);
            }
        }
        let build = |set: GlobSetBuilder| {
            set.build().map(Arc::new).map_err(|error| {
                WapError::new(
                    Reason::InvalidGlob,
                    format!("the exclusion patterns are too large: {}", error.kind()),
                )
            })
        };
        Ok(Exclusions {
            entries: build(entries)?,
            folders: build(folders)?,
            folder_patterns: folder_patterns.into(),
            ignored: Arc::new([]),
        })
    }

    /// Returns the document's defaults, compiled once.
    #[must_use]
    pub fn defaults() -> Exclusions {
        DEFAULTS.clone()
    }

    /// Returns the exclusions of a request's `excludePatterns`: the defaults if it is absent.
    ///
    /// # Errors
    ///
    /// Those of [`Exclusions::new`].
    pub fn for_request(patterns: Option<&[String]>) -> Result<Exclusions, WapError> {
        patterns.map_or_else(|| Ok(Exclusions::defaults()), Exclusions::new)
    }

    /// Returns the exclusions of a walk that starts at a folder of the caller's choice: patterns that exclude the start itself
    /// are ignored, because the caller named the folder.
    #[must_use]
    pub fn for_walk_from(&self, start: &str) -> Exclusions {
        if start.is_empty() || !self.excludes(start, true) {
            return self.clone();
        }
        let mut ignored = self.entries.matches(start);
        ignored.extend(self.folders.matches(start).into_iter().map(|index| self.folder_patterns[index]));
        // Patterns that an outer walk ignores stay ignored.
        ignored.extend(self.ignored.iter());
        ignored.sort_unstable();
        ignored.dedup();
        Exclusions { ignored: ignored.into(), ..self.clone() }
    }

    /// Checks whether a path relative to the root is left out; `path` is `/`-separated without a leading `./`.
    #[must_use]
    pub fn excludes(&self, path: &str, is_directory: bool) -> bool {
        // The usual case: `is_match` stops at the first pattern, where `matches` collects all.
        if self.ignored.is_empty() {
            return self.entries.is_match(path) || (is_directory && self.folders.is_match(path));
        }
        let counts = |pattern: &usize| self.ignored.binary_search(pattern).is_err();
        self.entries.matches(path).iter().any(counts)
            || is_directory
                && self.folders.matches(path).iter().any(|index| counts(&self.folder_patterns[*index]))
    }
}

fn check_size(what: &str, bytes: usize, limit: usize) -> Result<(), WapError> {
    if bytes <= limit {
        return Ok(());
    }
    let text = format!("the exclusion {what} {bytes} bytes, more than {limit}");
    Err(WapError::new(Reason::InvalidGlob, text).with("limit", limit))
}

fn compile(glob: &str, pattern: &str) -> Result<globset::Glob, WapError> {
    // The separator is literal, or `*.rs` would match in every folder.
    GlobBuilder::new(glob).literal_separator(true).build().map_err(|error| {
        WapError::new(Reason::InvalidGlob, format!("cannot use the glob '{pattern}': {}", error.kind()))
            .with("pattern", pattern)
    })
}
