//! `exploreFiles`: the entries of a folder.

use serde::{Deserialize, Serialize};

use crate::{FileMetadata, PathPattern, Reason, WapError};

/// Lists a folder, optionally with everything below it.
///
/// Every optional field may be absent or `null`. Source: WAP 1.0, `exploreFiles`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploreFiles {
    /// Start folder; an empty text and `.` mean the root.
    #[cfg_attr(feature = "schema", schemars(description = "Start folder; `.` is the root."))]
    pub path: String,
    /// Extension: lists only matches of this glob, at any depth; see [`PathPattern`].
    #[cfg_attr(
        feature = "schema",
        schemars(description = "Extension: `*.rs` matches names, `src/*.rs` paths, at any depth.")
    )]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Absent means flat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    /// Globs that replace the default exclusions; `[]` excludes nothing.
    #[cfg_attr(feature = "schema", schemars(description = "Globs instead of the default exclusions."))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_patterns: Option<Vec<String>>,
    /// Absent means 3 levels when recursive, and no limit with a pattern.
    #[cfg_attr(feature = "schema", schemars(description = "3 if absent and recursive."))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_depth: Option<i64>,
    /// True to return metadata.
    #[cfg_attr(feature = "schema", schemars(description = ""))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_metadata: Option<bool>,
    /// Extension: true leaves out what git ignores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respect_gitignore: Option<bool>,
}

impl ExploreFiles {
    /// The depth of a recursive listing that names none, and has no pattern.
    pub const DEFAULT_DEPTH: u32 = 3;

    /// Checks whether the listing enters folders: if it is recursive, or has a pattern and does not say otherwise.
    #[must_use]
    pub fn is_recursive(&self) -> bool {
        self.recursive.unwrap_or(self.pattern.is_some())
    }

    /// Returns the depth of the listing, 1 for the entries of the folder itself; `None` for no limit, which a recursive
    /// listing with a pattern has unless it names one.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`] if `maxDepth` is below 1, also where the listing is flat.
    pub fn depth(&self) -> Result<Option<usize>, WapError> {
        let depth = match self.max_depth {
            Some(depth) => Some(usize::try_from(depth).ok().filter(|depth| *depth > 0).ok_or_else(|| {
                let text = format!("maxDepth is {depth}, and the entries of the folder itself are depth 1");
                WapError::new(Reason::InvalidField, text).with("field", "maxDepth")
            })?),
            None if self.pattern.is_some() => None,
            None => Some(Self::DEFAULT_DEPTH as usize),
        };
        Ok(if self.is_recursive() { depth } else { Some(1) })
    }

    /// Returns the compiled pattern, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`PathPattern::new`].
    pub fn compiled_pattern(&self) -> Result<Option<PathPattern>, WapError> {
        self.pattern.as_deref().map(PathPattern::new).transpose()
    }

    /// Returns a warning for an empty listing whose pattern was perhaps meant to be relative to the start folder.
    #[must_use]
    pub fn pattern_warning(&self, total_found: u64) -> Option<String> {
        let pattern =
            self.pattern.as_deref().filter(|pattern| pattern.trim_end_matches('/').contains('/'))?;
        let start = self.path.trim_start_matches("./").trim_matches('/');
        if total_found > 0 || matches!(start, "" | ".") || pattern.trim_start_matches("./").starts_with(start)
        {
            return None;
        }
        let relative = pattern.trim_start_matches("./").trim_start_matches('/');
        Some(format!("a pattern with '/' is compared with whole paths: try '{start}/{relative}'"))
    }
}

/// The entries of a folder, sorted by the bytes of the path; the start folder itself is not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploreFilesResponse {
    /// The entries, at most `maxDirectoryEntries`.
    pub files: Vec<ExploredFile>,
    /// True if entries were left out.
    pub is_truncated: bool,
    /// The number of entries, those left out included.
    pub total_found: u64,
    /// Extension: what the caller should know, a bound that was reached for instance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ExploreFilesResponse {
    /// Returns the warning for a listing of `listed` entries of `total_found`: how to see the others. `None` if there are none.
    #[must_use]
    pub fn cut_warning(listed: usize, total_found: u64) -> Option<String> {
        (total_found > listed as u64)
            .then(|| "entries are left out: list one of the folders, or give a 'pattern'".to_owned())
    }
}

/// One entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploredFile {
    /// Canonical path relative to the root.
    pub path: String,
    /// True for a folder.
    pub is_directory: bool,
    /// Metadata, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<FileMetadata>,
    /// Extension: present for what is neither a file nor a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
}

/// The kind of an entry that is neither a regular file nor a folder. Such entries are listed and never entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
}
