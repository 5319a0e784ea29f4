//! Which paths recursive operations leave out.

use std::sync::{Arc, LazyLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{Reason, WapError};

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
/// `**/` is zero or more folders, `*` and `?` do not match `/`. A pattern that ends in `/**` also excludes the folder
/// itself, which is then not entered. A leading `./` or `/` means nothing.
#[derive(Clone, Debug)]
pub struct Exclusions {
    patterns: Arc<[String]>,
    entries: Arc<GlobSet>,
    folders: Arc<GlobSet>,
}

impl Exclusions {
    /// Compiles a list of globs. An empty list excludes nothing.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidGlob`] with the pattern in `details.pattern`.
    pub fn new<P: AsRef<str>>(patterns: &[P]) -> Result<Exclusions, WapError> {
        let mut entries = GlobSetBuilder::new();
        let mut folders = GlobSetBuilder::new();
        let patterns: Arc<[String]> = patterns.iter().map(|pattern| pattern.as_ref().to_owned()).collect();
        for pattern in patterns.iter() {
            let glob = pattern.strip_prefix("./").unwrap_or(pattern).trim_start_matches('/');
            entries.add(compile(glob, pattern)?);
            if let Some(folder) = glob.strip_suffix("/**") {
                folders.add(compile(folder, pattern)?);
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
        Ok(Exclusions { entries: build(entries)?, folders: build(folders)?, patterns })
    }

    /// Returns the document's defaults, compiled once.
    #[must_use]
    pub fn defaults() -> Exclusions {
        DEFAULTS.clone()
    }

    /// Returns what a request's `excludePatterns` means: the defaults if it is absent.
    ///
    /// # Errors
    ///
    /// Those of [`Exclusions::new`].
    pub fn for_request(patterns: Option<&[String]>) -> Result<Exclusions, WapError> {
        patterns.map_or_else(|| Ok(Exclusions::defaults()), Exclusions::new)
    }

    /// Returns what is left out of a walk that starts at a folder which the caller named: a pattern that excludes the
    /// start itself does not count, because the caller asked for it.
    #[must_use]
    pub fn beneath(&self, start: &str) -> Exclusions {
        if start.is_empty() || !self.excludes(start, true) {
            return self.clone();
        }
        let alone =
            |pattern: &String| Exclusions::new(&[pattern]).expect("a pattern of a compiled list compiles");
        let others: Vec<&String> =
            self.patterns.iter().filter(|pattern| !alone(pattern).excludes(start, true)).collect();
        Exclusions::new(&others).expect("a part of a compiled list compiles")
    }

    /// Tells whether a path relative to the root is left out; `path` is `/`-separated without a leading `./`.
    #[must_use]
    pub fn excludes(&self, path: &str, is_directory: bool) -> bool {
        self.entries.is_match(path) || (is_directory && self.folders.is_match(path))
    }
}

fn compile(glob: &str, pattern: &str) -> Result<globset::Glob, WapError> {
    GlobBuilder::new(glob).literal_separator(true).build().map_err(|error| {
        WapError::new(Reason::InvalidGlob, format!("cannot use the glob '{pattern}': {}", error.kind()))
            .with("pattern", pattern)
    })
}
