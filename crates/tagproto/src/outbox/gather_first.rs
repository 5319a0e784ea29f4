//! Collects what the first message of a session shows in addition to the list of files: the shape of the folder, the head of its
//! README, and the files that matter for the task.

use std::collections::BTreeSet;

use wap_core::{Call, ExploredFile, LineSpan, TaskFile, WapError, Workspace, usually_holds_credentials};

use super::gather::{exploration, gather_listed};
use super::shape::{Shape, is_readme};
use super::{Context, OutboxLimits, SuggestedFile, USUAL_BUDGET};
use crate::Session;
use crate::adapter::read_start;

/// The maximum number of suggested files.
const MOST_FILES: usize = 40;
/// The maximum number of lines, and of tokens, of the README's head.
const README_LINES: u64 = 60;
const README_TOKENS: u64 = 500;
/// The maximum number of bytes of one file from which lines are chosen.
const FILE_BYTES: usize = 128 * 1_024;

/// The maximum number of files that count as recently changed. More of them are the result of a checkout, not of work.
const MOST_RECENT: usize = 8;
/// The maximum number of files, and their total bytes, of a folder that is shown whole: another message would cost the user more
/// than the tokens.
const SMALL_FOLDER_FILES: usize = 24;
const SMALL_FOLDER_BYTES: u64 = 16 * 1_024;

/// The length of an ISO 8601 time up to its hour: `2026-01-31T12`.
const HOUR: usize = 13;

/// The fraction of the budget that the list of files may use: one eighth. Instead of a longer list, the folder's shape is shown.
const LIST_SHARE: u32 = 8;

/// Returns the maximum length of the list of files in the first message of a session, in characters.
pub(super) fn longest_list(session: &Session) -> usize {
    let tokens = session.token_budget.unwrap_or(USUAL_BUDGET).min(USUAL_BUDGET) / LIST_SHARE;
    // A token has about four characters.
    tokens as usize * 4
}

/// Collects what the first message shows: the data of [`gather`](crate::gather), the shape of a large folder, the head of the
/// README, and the readable `task_files`; for a small folder, every file.
///
/// Files that usually hold credentials are left out, unless the task names them.
///
/// # Errors
///
/// The workspace's error if it cannot be listed.
pub fn gather_first<W: Workspace + ?Sized>(
    session: &Session,
    workspace: &W,
    call: &Call<'_>,
    limits: &OutboxLimits,
    task_files: &[TaskFile],
) -> Result<Context, WapError> {
    let (mut context, explored) = gather_listed(session, workspace, call, limits)?;
    let length: usize = context.listing.iter().map(|entry| entry.path.len() + 16).sum();
    context.shape = match (context.unlisted, length > longest_list(session)) {
        (0, false) => None,
        (0, true) => Some(Shape::of(&context.listing)),
        _ => Some(Shape::survey(workspace, call, exploration)?),
    };
    let mut suggestions: Vec<(TaskFile, u64)> = Vec::new();
    if let Some(readme) = readme(&explored) {
        let head = LineSpan { first: 1, last: README_LINES };
        suggestions
            .push((TaskFile { path: readme, passages: vec![head], outline: Vec::new() }, README_TOKENS));
    }
    suggestions.extend(task_files.iter().map(|file| (file.clone(), u64::MAX)));
    let recent = recently_changed(&explored);
    let rest = if context.unlisted == 0 { files_of_small_folder(&explored) } else { Vec::new() };
    let without_passages = |path| (TaskFile { path, ..TaskFile::default() }, u64::MAX);
    suggestions.extend(recent.into_iter().chain(rest).map(without_passages));

    // Files that are shown whole are not shown in passages again.
    let mut paths: BTreeSet<String> = context.files.iter().map(|file| file.path.clone()).collect();
    for (file, most_tokens) in suggestions {
        if context.suggested.len() >= MOST_FILES {
            break;
        }
        let is_named = file.path.rsplit('/').next().is_some_and(|name| session.task.contains(name));
        if usually_holds_credentials(&file.path) && !is_named || !paths.insert(file.path.clone()) {
            continue;
        }
        context.suggested.extend(suggested(workspace, call, file, most_tokens));
    }
    Ok(context)
}

/// Reads a suggested file; `None` if it cannot be read as text, or is empty.
fn suggested<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    file: TaskFile,
    most_tokens: u64,
) -> Option<SuggestedFile> {
    let response = read_start(workspace, call, &file.path, i64::MAX).ok()?;
    if response.is_truncated || response.content.is_empty() {
        return None;
    }
    let mut text = response.content;
    if text.len() > FILE_BYTES {
        text.truncate(text.floor_char_boundary(FILE_BYTES));
        text.truncate(text.rfind('\n')? + 1);
    }
    Some(SuggestedFile {
        path: response.metadata.path,
        text,
        version: response.version,
        total_lines: response.total_lines,
        passages: file.passages,
        outline: file.outline,
        warnings: response.warnings,
        most_tokens,
    })
}

/// Returns the path of the README in the root.
fn readme(explored: &[ExploredFile]) -> Option<String> {
    let in_root = explored.iter().filter(|entry| !entry.is_directory && !entry.path.contains('/'));
    in_root.map(|entry| &entry.path).find(|path| is_readme(path)).cloned()
}

/// Returns the files of the hour of the latest change, the newest first; empty if there are many, which were probably checked
/// out.
fn recently_changed(explored: &[ExploredFile]) -> Vec<String> {
    let mut changed: Vec<(&str, &str)> = explored
        .iter()
        .filter(|entry| !entry.is_directory && entry.kind.is_none())
        .filter_map(|entry| Some((entry.metadata.as_ref()?.last_modified.as_str(), entry.path.as_str())))
        .collect();
    changed.sort_unstable_by(|one, other| other.cmp(one));
    let Some(hour) = changed.first().and_then(|(time, _)| time.get(..HOUR)) else { return Vec::new() };
    let recent = changed.iter().take_while(|(time, _)| time.starts_with(hour)).count();
    if recent > MOST_RECENT || recent * 5 > changed.len() {
        return Vec::new();
    }
    changed[..recent].iter().map(|(_, path)| (*path).to_owned()).collect()
}

/// Returns the files of a folder, in the order of its list; empty if they are many or large.
fn files_of_small_folder(explored: &[ExploredFile]) -> Vec<String> {
    let files = || explored.iter().filter(|entry| !entry.is_directory && entry.kind.is_none());
    let bytes: u64 = files().filter_map(|entry| entry.metadata.as_ref()).map(|metadata| metadata.size).sum();
    if files().count() > SMALL_FOLDER_FILES || bytes > SMALL_FOLDER_BYTES {
        return Vec::new();
    }
    files().map(|entry| entry.path.clone()).collect()
}
