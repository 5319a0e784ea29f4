//! Listings of folders.

use std::collections::BTreeSet;

use rel_path::Shortlist;
use wap_core::{
    Exclusions, ExploreFiles, ExploreFilesResponse, ExploredFile, FileMetadata, Limits, WapError,
};

use crate::tree::Tree;

/// The time of modification of every file.
const LAST_MODIFIED: &str = "1970-01-01T00:00:00Z";

pub(crate) fn explore(
    tree: &Tree,
    limits: &Limits,
    request: &ExploreFiles,
) -> Result<ExploreFilesResponse, WapError> {
    request.check_bounds()?;
    let start = tree.folder_path(&request.path)?;
    let depth = request.depth()?;
    let pattern = request.compiled_pattern()?;
    // Compiled also for flat listings, so that a bad pattern is refused either way.
    let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
    let walk = Walk {
        tree,
        exclusions: request.is_recursive().then(|| exclusions.for_walk_from(&start)),
        max_depth: depth.unwrap_or(usize::MAX),
    };
    let mut entries = walk.entries(&start);
    if let Some(pattern) = &pattern {
        entries.retain(|path| pattern.matches(path.as_bytes(), tree.is_folder(path)));
    }
    let most = limits.max_directory_entries as usize;
    let with_metadata = request.return_metadata.unwrap_or(false);
    let prefix_bytes = if start.is_empty() { 0 } else { start.len() + 1 };
    // Matches of a pattern are listed in the order of their paths.
    let chosen = match &pattern {
        Some(_) => (0..entries.len().min(most)).collect(),
        None => Shortlist::of_paths(entries.iter().map(|path| &path[prefix_bytes..]), most),
    };
    // The shortlist gives positions among the sorted entries.
    let paths: Vec<&str> = entries.iter().copied().collect();
    let files = chosen.into_iter().map(|index| paths[index]).map(|path| ExploredFile {
        path: path.to_owned(),
        is_directory: tree.is_folder(path),
        metadata: with_metadata.then(|| metadata(tree, path)),
        kind: None,
    });
    let total_found = entries.len() as u64;
    let mut warnings = ignore_warning(tree, request.respect_gitignore);
    warnings.extend(request.pattern_warning(total_found));
    warnings.extend(ExploreFilesResponse::cut_warning(most, total_found));
    Ok(ExploreFilesResponse {
        files: files.collect(),
        is_truncated: entries.len() > most,
        total_found,
        warnings,
    })
}

/// A listing of the entries below a folder.
pub(crate) struct Walk<'a> {
    pub(crate) tree: &'a Tree,
    /// The patterns of entries to leave out; `None` for flat listings, which are complete.
    pub(crate) exclusions: Option<Exclusions>,
    /// The number of levels to list; 1 for the folder's direct entries.
    pub(crate) max_depth: usize,
}

impl<'a> Walk<'a> {
    /// Returns the paths of files and folders, sorted by their bytes.
    pub(crate) fn entries(&self, start: &str) -> BTreeSet<&'a str> {
        let paths = self.tree.files().keys().chain(self.tree.folders());
        let prefix = if start.is_empty() { String::new() } else { format!("{start}/") };
        let listed = paths.map(String::as_str).filter(|path| {
            let Some(rest) = path.strip_prefix(&prefix) else { return false };
            // The number of names after the prefix is the depth.
            rest.split('/').count() <= self.max_depth && !self.is_excluded(prefix.len(), path)
        });
        listed.collect()
    }

    /// Reports whether a path, or a folder between it and the start, is left out.
    fn is_excluded(&self, prefix: usize, path: &str) -> bool {
        let Some(exclusions) = &self.exclusions else { return false };
        let folders = path[prefix..].match_indices('/').map(|(end, _)| &path[..prefix + end]);
        folders.into_iter().any(|folder| exclusions.excludes(folder, true))
            || exclusions.excludes(path, self.tree.is_folder(path))
    }
}

pub(crate) fn metadata(tree: &Tree, path: &str) -> FileMetadata {
    FileMetadata {
        path: path.to_owned(),
        size: tree.files().get(path).map_or(0, |bytes| bytes.len() as u64),
        is_directory: tree.is_folder(path),
        last_modified: LAST_MODIFIED.to_owned(),
    }
}

/// Returns a warning if ignore rules would have applied.
pub(crate) fn ignore_warning(tree: &Tree, respect_gitignore: Option<bool>) -> Vec<String> {
    let is_ignore_file = |path: &String| path.rsplit('/').next() == Some(".gitignore");
    if respect_gitignore == Some(true) && tree.files().keys().any(is_ignore_file) {
        return vec!["the workspace in memory does not read ignore rules".to_owned()];
    }
    Vec::new()
}
