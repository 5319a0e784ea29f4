//! The file tools over a tree.

use std::collections::BTreeSet;

use super::edit::{Edit, check_text, with_current_text};
use super::line_map::LineMap;
use super::lines::split;
use super::meaning::Meaning;
use super::search::Search;
use super::tree::{Access, Tree, version_of};
use crate::{
    DeleteFile, DeleteFileResponse, Exclusions, ExploreFiles, ExploreFilesResponse, ExploredFile, FileChange,
    FileChanged, FileMetadata, FileState, FileStates, Limits, LineNumbers, ModifyFile, ModifyFileResponse,
    Moment, ReadFile, ReadFileResponse, Reason, RegexReplacements, SearchFiles, SearchFilesResponse, Skipped,
    WapError, WriteFile, WriteFileResponse, WriteMode,
};

/// When every file was last modified.
const LAST_MODIFIED: &str = "1970-01-01T00:00:00Z";

pub(super) fn explore(
    tree: &Tree,
    limits: &Limits,
    request: &ExploreFiles,
) -> Result<ExploreFilesResponse, WapError> {
    request.check_bounds()?;
    let start = tree.folder_path(&request.path)?;
    let recursive = request.recursive.unwrap_or(false);
    let depth = request.max_depth.unwrap_or(i64::from(ExploreFiles::DEFAULT_DEPTH));
    if depth < 1 {
        let error = WapError::new(Reason::InvalidField, format!("maxDepth is {depth}, but 1 is the least"));
        return Err(error.with("field", "maxDepth"));
    }
    let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
    let walk = Walk {
        tree,
        exclusions: recursive.then(|| exclusions.beneath(&start)),
        deepest: if recursive { usize::try_from(depth).unwrap_or(usize::MAX) } else { 1 },
    };
    let found = walk.entries(&start);
    let most = limits.max_directory_entries as usize;
    let with_metadata = request.return_metadata.unwrap_or(false);
    let files = found.iter().take(most).map(|path| ExploredFile {
        path: (*path).to_owned(),
        is_directory: tree.is_folder(path),
        metadata: with_metadata.then(|| metadata(tree, path)),
        kind: None,
    });
    Ok(ExploreFilesResponse {
        files: files.collect(),
        is_truncated: found.len() > most,
        total_found: found.len() as u64,
        warnings: ignore_warning(tree, request.respect_gitignore),
    })
}

pub(super) fn read(tree: &Tree, limits: &Limits, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
    let path = tree.file_path(&request.path, Access::Read)?;
    let bytes = tree.files().get(&path).ok_or_else(|| not_found(&path))?;
    check_text(&path, bytes)?;
    let lines = split(bytes);
    let ranged = request.start_line.is_some() || request.end_line.is_some();
    let most = usize::try_from(limits.max_file_size).unwrap_or(usize::MAX);
    if !ranged && bytes.len() > most {
        let text = format!("'{path}' has {} bytes, more than {most}; read a range of its lines", bytes.len());
        let error = WapError::new(Reason::FileTooLarge, text);
        return Err(error.with("size", bytes.len()).with("totalLines", lines.len()));
    }
    let (first, last) = if ranged { range(&path, bytes, &lines, request)? } else { (1, lines.len()) };
    let wanted = &lines[first - 1..last];
    let mut room = most;
    let fitting = wanted.iter().take_while(|line| {
        let fits = line.len() <= room;
        room = room.saturating_sub(line.len());
        fits
    });
    let mut returned = fitting.count();
    let mut content = String::from_utf8_lossy(&wanted[..returned].concat()).into_owned();
    let is_truncated = returned < wanted.len();
    if returned == 0 && is_truncated {
        // The first line alone is too long: cut it at a character.
        let valid = String::from_utf8_lossy(&wanted[0][..most]);
        content = valid.trim_end_matches('\u{fffd}').to_owned();
        returned = 1;
    }
    let mut warnings = Vec::new();
    if std::str::from_utf8(bytes).is_err() {
        warnings.push("the file is not UTF-8; undecodable bytes are shown as U+FFFD".to_owned());
    }
    Ok(ReadFileResponse {
        content,
        metadata: metadata(tree, &path),
        is_truncated,
        total_lines: lines.len() as u64,
        returned_lines: returned as u64,
        version: Some(version_of(bytes)),
        warnings,
    })
}

/// Checks the range that a request names; 1-based and inclusive.
fn range(path: &str, bytes: &[u8], lines: &[&[u8]], request: &ReadFile) -> Result<(usize, usize), WapError> {
    let total = lines.len();
    let start = request.start_line.unwrap_or(1);
    let end = request.end_line.unwrap_or_else(|| i64::try_from(total).unwrap_or(i64::MAX));
    let first = usize::try_from(start).ok().filter(|first| (1..=total).contains(first));
    match first {
        Some(first) if end >= start => {
            Ok((first, usize::try_from(end).map_or(total, |last| last.min(total))))
        }
        _ => {
            let text = format!("invalid line range {start}-{end} for '{path}' with {total} lines");
            let line = usize::try_from(start).unwrap_or(1);
            Err(with_current_text(WapError::new(Reason::InvalidRange, text), bytes, line, line))
        }
    }
}

pub(super) fn search(
    tree: &Tree,
    limits: &Limits,
    request: &SearchFiles,
) -> Result<SearchFilesResponse, WapError> {
    request.check_bounds()?;
    let search = Search::new(request)?;
    let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
    let recursive = request.recursive.unwrap_or(true);
    let mut files = BTreeSet::new();
    if request.paths.is_empty() {
        let error = WapError::new(Reason::InvalidField, "there are no paths to search in");
        return Err(error.with("field", "paths"));
    }
    for path in &request.paths {
        let start = tree.existing_path(path)?;
        if let Some((file, _)) = tree.files().get_key_value(&start) {
            files.insert(file.as_str());
            continue;
        }
        let walk = Walk {
            tree,
            exclusions: recursive.then(|| exclusions.beneath(&start)),
            deepest: if recursive { usize::MAX } else { 1 },
        };
        files.extend(walk.entries(&start).into_iter().filter(|path| !tree.is_folder(path)));
    }
    let mut matches = Vec::new();
    let mut skipped = Skipped::default();
    let mut total = 0;
    for path in files {
        let Some(found) = search.matches(path, &tree.files()[path]) else {
            skipped.binary += 1;
            continue;
        };
        total += found.len() as u64;
        let room = (limits.max_search_results as usize).saturating_sub(matches.len());
        matches.extend(found.into_iter().take(room));
    }
    Ok(SearchFilesResponse {
        is_truncated: total > matches.len() as u64,
        matches,
        total_matches: total,
        skipped,
        warnings: ignore_warning(tree, request.respect_gitignore),
    })
}

/// Says which version of each file there is. What has changed since a moment is what was stored since.
pub(super) fn file_states(tree: &Tree, paths: &[String], since: Option<&Moment>) -> FileStates {
    let state = |path: &String| {
        let path = tree.file_path(path, Access::Read).ok()?;
        let version = version_of(tree.files().get(&path)?);
        let has_changed = since.is_some_and(|since| tree.changed_at(&path) > since.change);
        Some(FileState { path, version: Some(version), has_changed })
    };
    let moment = Moment { clock_nanoseconds: 0, change: tree.changes() };
    FileStates { moment, files: paths.iter().map(state).collect() }
}

pub(super) fn change(tree: &mut Tree, change: &FileChange) -> Result<FileChanged, WapError> {
    match change {
        FileChange::Write(request) => write(tree, request).map(FileChanged::Written),
        FileChange::Modify(request) => modify(tree, request).map(FileChanged::Modified),
        FileChange::Delete(request) => delete(tree, request).map(FileChanged::Deleted),
    }
}

fn write(tree: &mut Tree, request: &WriteFile) -> Result<WriteFileResponse, WapError> {
    let path = tree.file_path(&request.path, Access::Write)?;
    let size = request.content.len() as u64;
    if size > Limits::MAX_REQUEST_BYTES {
        let text = format!("the content has {size} bytes, more than {}", Limits::MAX_REQUEST_BYTES);
        return Err(WapError::new(Reason::RequestTooLarge, text));
    }
    let old = tree.files().get(&path);
    if old.is_some() && request.write_mode() == WriteMode::Create {
        return Err(WapError::new(Reason::FileExists, format!("'{path}' exists already")));
    }
    if old.is_none() {
        tree.check_creation(&path, request.create_directories.unwrap_or(false))?;
    }
    let created = old.is_none();
    let old = old.map_or_else(Vec::new, Clone::clone);
    let new = match request.write_mode() {
        WriteMode::Append => [&old, request.content.as_bytes()].concat(),
        WriteMode::Create | WriteMode::Overwrite => request.content.as_bytes().to_vec(),
    };
    let (lines_added, lines_removed) = count_changes(&old, &new);
    let version = tree.put(&path, new, None);
    Ok(WriteFileResponse {
        success: true,
        path,
        bytes_written: size,
        version: Some(version),
        created,
        lines_added,
        lines_removed,
        warnings: Vec::new(),
    })
}

fn modify(tree: &mut Tree, request: &ModifyFile) -> Result<ModifyFileResponse, WapError> {
    request.check_bounds()?;
    let path = tree.file_path(&request.path, Access::Write)?;
    let current = tree.files().get(&path).ok_or_else(|| not_found(&path))?;
    check_text(&path, current)?;
    let identity = LineMap::identity(split(current).len());
    let edit = Edit { path: &path, current, numbered: current, since: identity };
    let meaning = Meaning { tree, path: &path, current, request };
    let in_turn = request.line_numbers == Some(LineNumbers::InTurn) && request.operations.len() > 1;
    let (edited, carried) = if in_turn {
        meaning.check_in_turn()?;
        (edit.apply_in_turn(&request.operations)?, Vec::new())
    } else {
        let meant = meaning.of_all()?;
        (edit.apply(&meant.operations)?, meant.carried)
    };
    let (lines_added, lines_removed) = count_changes(current, &edited.bytes);
    let shifts = edited.map.shifts();
    let previous_version = Some(version_of(current));
    let version = tree.put(&path, edited.bytes, Some(edited.map));
    Ok(ModifyFileResponse {
        success: true,
        path,
        version: Some(version),
        previous_version,
        shifts,
        carried,
        warnings: edited.replacements.iter().filter_map(RegexReplacements::note).collect(),
        replacements: edited.replacements,
        lines_added,
        lines_removed,
    })
}

fn delete(tree: &mut Tree, request: &DeleteFile) -> Result<DeleteFileResponse, WapError> {
    let path = tree.file_path(&request.path, Access::Write)?;
    tree.remove(&path).ok_or_else(|| not_found(&path))?;
    Ok(DeleteFileResponse { success: true, path, warnings: Vec::new() })
}

/// A listing of what lies beneath a folder.
struct Walk<'a> {
    tree: &'a Tree,
    /// What is left out; nothing is for flat listings.
    exclusions: Option<Exclusions>,
    /// 1 for the folder's own entries.
    deepest: usize,
}

impl<'a> Walk<'a> {
    /// Returns the paths of files and folders, sorted by their bytes.
    fn entries(&self, start: &str) -> BTreeSet<&'a str> {
        let paths = self.tree.files().keys().chain(self.tree.folders());
        let prefix = if start.is_empty() { String::new() } else { format!("{start}/") };
        let beneath = paths.map(String::as_str).filter(|path| {
            let Some(rest) = path.strip_prefix(&prefix) else { return false };
            rest.split('/').count() <= self.deepest && !self.is_excluded(prefix.len(), path)
        });
        beneath.collect()
    }

    /// Tells whether a path, or a folder between it and the start, is left out.
    fn is_excluded(&self, prefix: usize, path: &str) -> bool {
        let Some(exclusions) = &self.exclusions else { return false };
        let folders = path[prefix..].match_indices('/').map(|(end, _)| &path[..prefix + end]);
        folders.into_iter().any(|folder| exclusions.excludes(folder, true))
            || exclusions.excludes(path, self.tree.is_folder(path))
    }
}

fn metadata(tree: &Tree, path: &str) -> FileMetadata {
    FileMetadata {
        path: path.to_owned(),
        size: tree.files().get(path).map_or(0, |bytes| bytes.len() as u64),
        is_directory: tree.is_folder(path),
        last_modified: LAST_MODIFIED.to_owned(),
    }
}

fn count_changes(old: &[u8], new: &[u8]) -> (u32, u32) {
    let (old, new) = (split(old), split(new));
    let kept = LineMap::between(&old, &new).kept();
    let count = |lines: usize| u32::try_from(lines - kept).unwrap_or(u32::MAX);
    (count(new.len()), count(old.len()))
}

fn ignore_warning(tree: &Tree, respect_gitignore: Option<bool>) -> Vec<String> {
    let is_ignore_file = |path: &String| path.rsplit('/').next() == Some(".gitignore");
    if respect_gitignore == Some(true) && tree.files().keys().any(is_ignore_file) {
        return vec!["the workspace in memory does not read ignore rules".to_owned()];
    }
    Vec::new()
}

fn not_found(path: &str) -> WapError {
    WapError::new(Reason::FileNotFound, format!("'{path}' does not exist"))
}
