//! Patterns for the entries of a listing.

use std::sync::Arc;

use globset::{Candidate, GlobBuilder, GlobSet};

use crate::{Limits, Reason, WapError};

/// A compiled glob for files and folders by their names or paths; cheap to clone.
///
/// A pattern without `/` is matched against the name of an entry, at any depth; one with `/` against the whole path relative to
/// the root, where `**/` is zero or more folders and `*` and `?` do not match `/`. A leading `./` or `/` ties a pattern to the
/// root, and a `/` at the end means folders only. Matching is case-sensitive, and `*` matches names that begin with a dot.
#[derive(Clone, Debug)]
pub struct PathPattern {
    glob: Arc<GlobSet>,
    is_for_names: bool,
    is_for_folders: bool,
}

impl PathPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidGlob`] with the pattern in `details.pattern`; also for patterns that are empty or longer than
    /// [`Limits::MAX_PATTERN_BYTES`].
    pub fn new(pattern: &str) -> Result<PathPattern, WapError> {
        let refuse = |text: String| {
            WapError::new(Reason::InvalidGlob, text).with("field", "pattern").with("pattern", cut(pattern))
        };
        let limit = Limits::MAX_PATTERN_BYTES;
        if pattern.len() > limit {
            let text = format!("the pattern has {} bytes, more than {limit}", pattern.len());
            return Err(refuse(text).with("limit", limit));
        }
        let path = pattern.trim_end_matches('/');
        let rooted = path.strip_prefix("./").unwrap_or(path);
        let glob = rooted.trim_start_matches('/');
        if matches!(glob, "" | ".") {
            return Err(refuse(format!("the pattern '{pattern}' names nothing: leave it out to list all")));
        }
        let unusable = |error: globset::Error| {
            let why = match error.kind() {
                // Do not quote the generated expression: the caller did not write it.
                globset::ErrorKind::Regex(_) => {
                    "it has too many alternatives within each other, or is too large"
                }
                other => &other.to_string(),
            };
            refuse(format!("cannot use the glob '{}': {why}", cut(pattern)))
        };
        let compiled = GlobBuilder::new(glob).literal_separator(true).build().map_err(unusable)?;
        // Use a set of one: a single matcher panics if a glob cannot be compiled.
        let compiled = GlobSet::new([compiled]).map_err(unusable)?;
        Ok(PathPattern {
            glob: Arc::new(compiled),
            is_for_names: !path.contains('/'),
            is_for_folders: pattern.ends_with('/'),
        })
    }

    /// Checks whether only the name of an entry decides.
    #[must_use]
    pub fn is_decided_by_name(&self) -> bool {
        self.is_for_names && !self.is_for_folders
    }

    /// Checks whether an entry of this name may match; true if its path decides.
    #[must_use]
    pub fn may_match_name(&self, name: &[u8]) -> bool {
        !self.is_for_names || self.glob.is_match_candidate(&Candidate::from_bytes(name))
    }

    /// Checks whether an entry matches; `path` is relative to the root, `/`-separated and without a leading `./`.
    #[must_use]
    pub fn matches(&self, path: &[u8], is_directory: bool) -> bool {
        if self.is_for_folders && !is_directory {
            return false;
        }
        let compared = match (self.is_for_names, path.iter().rposition(|byte| *byte == b'/')) {
            (true, Some(end)) => &path[end + 1..],
            _ => path,
        };
        self.glob.is_match_candidate(&Candidate::from_bytes(compared))
    }
}

/// Returns the beginning of a pattern that an error quotes.
fn cut(pattern: &str) -> String {
    pattern.chars().take(200).collect()
}
