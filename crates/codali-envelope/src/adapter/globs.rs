//! The glob of a `file.list`, and the excluded files that it names explicitly.

use globset::{GlobBuilder, GlobSet};
use wap_core::{DEFAULT_EXCLUSIONS, Limits};

/// A glob relative to the folder of a listing. `*` and `?` stay within a folder, `**` crosses folders.
pub(super) struct Globs {
    matcher: GlobSet,
    parts: Vec<String>,
}

impl Globs {
    /// Compiles a glob; `None` if it is invalid, or too large.
    pub(super) fn new(pattern: &str) -> Option<Globs> {
        let pattern = pattern.trim();
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern).trim_start_matches('/');
        if pattern.len() > Limits::MAX_PATTERN_BYTES {
            return None;
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?;
        Some(Globs {
            // Use a set of one: a single matcher panics if a glob cannot be compiled.
            matcher: GlobSet::new([glob]).ok()?,
            parts: pattern.split('/').map(str::to_owned).collect(),
        })
    }

    /// Returns true if a path relative to the folder matches.
    pub(super) fn is_match(&self, path: &str) -> bool {
        self.matcher.is_match(path)
    }

    /// Returns true if the pattern names a folder or file explicitly: literally, or a hidden one by its dot.
    pub(super) fn names(&self, name: &str) -> bool {
        self.parts.iter().any(|part| {
            let is_hidden = name.starts_with('.') && part.starts_with('.');
            if is_literal(part) { part == name } else { is_hidden }
        })
    }

    /// Returns true if the pattern names anything that listings exclude by default.
    pub(super) fn names_excluded(&self) -> bool {
        let is_excluded =
            |part: &String| DEFAULT_EXCLUSIONS.iter().any(|glob| glob.contains(&format!("/{part}/")));
        self.parts.iter().any(|part| part.starts_with('.') || (is_literal(part) && is_excluded(part)))
    }

    /// Returns the leading literal folders of the pattern, joined; empty if there are none.
    pub(super) fn literal_folders(&self) -> String {
        let folders = &self.parts[..self.parts.len() - 1];
        let literal: Vec<&str> = folders
            .iter()
            .map(String::as_str)
            .take_while(|part| is_literal(part) && !part.is_empty())
            .collect();
        literal.join("/")
    }

    /// Returns true if the pattern has a part without wildcards.
    pub(super) fn has_literal(&self) -> bool {
        self.parts.iter().any(|part| is_literal(part))
    }
}

fn is_literal(part: &str) -> bool {
    !part.contains(['*', '?', '[', '{', '\\'])
}
