//! Collects the data of the workspace that an outbox shows.

use std::collections::BTreeSet;

use rel_path::Shortlist;
use wap_core::{
    Call, ExploreFiles, ExploreFilesResponse, ExploredFile, LineSpan, ReadFileResponse, Reason, WapError,
    Workspace,
};

use super::{Context, ListedEntry, OutboxLimits, RequestedFile, RequestedText};
use crate::{
    Session,
    adapter::{read_lines, read_start},
};

/// Collects the listing and the files that the last reply requested.
///
/// Files that git ignores, everything in `.git` and paths that the engine hides are left out of the listing. Symlinks are listed
/// but not followed. A file that has become unreadable is not an error: the outbox reports it.
///
/// # Errors
///
/// The workspace's error if it cannot be listed.
pub fn gather<W: Workspace + ?Sized>(
    session: &Session,
    workspace: &W,
    call: &Call<'_>,
    limits: &OutboxLimits,
) -> Result<Context, WapError> {
    gather_listed(session, workspace, call, limits).map(|(context, _)| context)
}

/// Returns the request for the listed entries of a folder, with all its descendants if it is `deep`.
pub(super) fn exploration(path: &str, deep: bool) -> ExploreFiles {
    ExploreFiles {
        path: path.to_owned(),
        pattern: None,
        // A flat listing would also include ignored files.
        recursive: Some(true),
        // In a worktree `.git` is a file.
        exclude_patterns: Some(vec!["**/.git".to_owned(), "**/.git/**".to_owned()]),
        max_depth: Some(if deep { DEEPEST_LISTING } else { 1 }),
        return_metadata: Some(true),
        respect_gitignore: Some(true),
    }
}

/// Collects like [`gather`], and also returns the entries that the workspace returned.
pub(super) fn gather_listed<W: Workspace + ?Sized>(
    session: &Session,
    workspace: &W,
    call: &Call<'_>,
    limits: &OutboxLimits,
) -> Result<(Context, Vec<ExploredFile>), WapError> {
    let explored = workspace.explore_files(call, &exploration("", true))?;
    // Counted before folders are left out: `total_found` includes them.
    let returned = explored.files.len() as u64;
    let mut listing: Vec<ListedEntry> = explored.files.iter().cloned().filter_map(listed).collect();
    let over_limit = listing.len().saturating_sub(limits.listed_files);
    if over_limit > 0 {
        let chosen =
            Shortlist::of_paths(listing.iter().map(|entry| entry.path.as_str()), limits.listed_files);
        listing = chosen.iter().map(|index| listing[*index].clone()).collect();
    }
    let unlisted = explored.total_found.saturating_sub(returned) + over_limit as u64;
    let mut listing_notes = explored.warnings;
    // The message itself counts the unlisted entries, and names the blocks that show them.
    let of_cut = ExploreFilesResponse::cut_warning(explored.files.len(), explored.total_found);
    listing_notes.retain(|note| Some(note) != of_cut.as_ref());
    if explored.is_truncated && listing_notes.is_empty() && explored.total_found <= returned {
        listing_notes.push("there may be more than what is listed".to_owned());
    }

    let mut bytes_left = limits.all_files_bytes;
    let mut files: Vec<RequestedFile> = Vec::new();
    let mut added = BTreeSet::new();
    for path in &session.read_file_requests {
        let ranges = session.read_file_ranges.get(path);
        let ranges: Vec<Option<LineSpan>> =
            ranges.map_or_else(|| vec![None], |ranges| ranges.iter().copied().map(Some).collect());
        for lines in ranges {
            let file = match read(workspace, call, path, lines) {
                Ok(response) => requested(response, lines, limits.file_bytes.min(bytes_left)),
                Err(_) => RequestedFile { path: path.clone(), text: None },
            };
            // Two requested paths may lead to the same file by now.
            if !added.insert((file.path.clone(), lines.map(|lines| lines.first))) {
                continue;
            }
            bytes_left -= file.text.as_ref().map_or(0, |text| text.text.len());
            files.push(file);
        }
    }
    let context = Context { listing, unlisted, listing_notes, files, ..Context::default() };
    Ok((context, explored.files))
}

/// The depth of the listing, which includes the deepest possible path.
const DEEPEST_LISTING: i64 = 64;

/// Returns the listed entry; `None` for a folder.
pub(super) fn listed(entry: ExploredFile) -> Option<ListedEntry> {
    if entry.is_directory {
        return None;
    }
    let size_bytes = entry.metadata.map_or(0, |metadata| metadata.size);
    Some(ListedEntry { path: entry.path, size_bytes, kind: entry.kind })
}

/// Reads a file or some lines of it. If the file no longer has those lines, the response has no text.
fn read<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    path: &str,
    lines: Option<LineSpan>,
) -> Result<ReadFileResponse, WapError> {
    let Some(lines) = lines else { return read_start(workspace, call, path, i64::MAX) };
    match read_lines(workspace, call, path, lines) {
        Err(error) if error.reason() == Reason::InvalidRange => {
            let response = read_start(workspace, call, path, 1)?;
            Ok(ReadFileResponse {
                content: String::new(),
                returned_lines: 0,
                is_truncated: false,
                ..response
            })
        }
        answer => answer,
    }
}

/// Cuts the text of a response to `limit_bytes`, between lines if possible, else between characters.
fn requested(response: ReadFileResponse, lines: Option<LineSpan>, limit_bytes: usize) -> RequestedFile {
    let mut text = response.content;
    let is_over_limit = text.len() > limit_bytes;
    if is_over_limit {
        text.truncate(text.floor_char_boundary(limit_bytes));
        if let Some(last_end) = text.rfind('\n') {
            text.truncate(last_end + 1);
        }
    }
    let text = RequestedText {
        text,
        version: response.version,
        total_lines: response.total_lines,
        lines,
        is_cut: is_over_limit || response.is_truncated,
        warnings: response.warnings,
    };
    RequestedFile { path: response.metadata.path, text: Some(text) }
}
