//! `file.list`: the files below a folder.

use std::collections::HashSet;

use super::failure::{Failure, excerpt};
use super::fit;
use super::globs::Globs;
use super::need_call::{Answer, NeedCall, refused};
use super::walk::{LeftOut, Walked, walk};
use crate::{FileListResult, NeedResult, WarningCode};

/// A depth that exceeds that of every path.
const WHOLE_DEPTH: i64 = 1_000;

/// Lists files. Hidden files, files that git ignores and the default exclusions are left out unless the pattern
/// names them.
pub(super) fn list(root: &str, pattern: Option<&str>, frame: &mut NeedCall<'_>) -> Answer {
    let globs = pattern
        .map(|pattern| {
            Globs::new(pattern).ok_or_else(|| {
                Failure::about(WarningCode::InvalidField, pattern).saying("the pattern is not a valid glob")
            })
        })
        .transpose()?;
    let folder = ListedFolder::new(root, frame)?;
    let usual =
        walk(root, WHOLE_DEPTH, LeftOut::Usual, frame).map_err(refused(root, WarningCode::FileListFailed))?;
    let matches = |path: &str| globs.as_ref().is_none_or(|globs| globs.is_match(path));
    let names = |name: &str| globs.as_ref().is_some_and(|globs| globs.names(name));
    let is_listed =
        |path: &str| matches(path) && path.split('/').all(|name| !name.starts_with('.') || names(name));
    let mut files: Vec<String> = Vec::new();
    for entry in usual.entries.iter().filter(|entry| !entry.is_directory) {
        if folder.relative(&entry.path).is_some_and(&is_listed) {
            files.push(entry.path.clone());
        }
    }
    let (mut is_complete, mut is_late) = (usual.is_complete, usual.is_late);
    if let Some(globs) = &globs {
        let may_be_ignored = files.is_empty() && globs.has_literal();
        if globs.names_excluded() || may_be_ignored {
            let named = named(globs, &usual, &folder, frame);
            let files_named = named.files.into_iter();
            files.extend(files_named.filter(|path| folder.relative(path).is_some_and(&is_listed)));
            is_complete &= named.is_complete;
            is_late |= named.is_late;
        }
    }
    // An explicitly named file may be in both listings.
    files.sort_unstable();
    files.dedup();
    let total = files.len() as u64;
    let is_cut = fit::items(&mut files, frame.room);
    let truncated = is_cut || !is_complete;
    if is_late {
        frame.warn(WarningCode::NeedTimeout, excerpt(&format!("file.list {root}")));
    }
    let what = format!("file.list {root}");
    match (truncated, is_complete) {
        (false, _) => {}
        (true, true) => frame.warn_cut(&what, files.len() as u64, total),
        (true, false) => frame.warn_cut_of_more(&what, files.len() as u64, total),
    }
    Ok(NeedResult::FileList(FileListResult {
        root: root.to_owned(),
        pattern: pattern.map(str::to_owned),
        files,
        truncated,
        total_files: (truncated && is_complete).then_some(total),
    }))
}

/// The excluded files that a pattern names.
struct Named {
    files: Vec<String>,
    is_complete: bool,
    is_late: bool,
}

fn named(globs: &Globs, usual: &Walked, folder: &ListedFolder, frame: &NeedCall<'_>) -> Named {
    let folders = globs.literal_folders();
    let start = folder.absolute(&folders);
    let Ok(everything) = walk(&start, WHOLE_DEPTH, LeftOut::Nothing, frame) else {
        // The folder does not exist, so the pattern matches nothing.
        return Named { files: Vec::new(), is_complete: true, is_late: false };
    };
    let usual_paths: HashSet<&str> = usual.entries.iter().map(|entry| entry.path.as_str()).collect();
    let is_named = |path: &&str| {
        // The pattern has to name the outermost excluded folder on the path to the file.
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let first = ends
            .map(|end| &path[..end])
            .filter(|above| folder.relative(above).is_some())
            .find(|above| !usual_paths.contains(above));
        first.is_none_or(|first| globs.names(first.rsplit('/').next().unwrap_or(first)))
    };
    let files =
        everything.entries.iter().filter(|entry| !entry.is_directory).map(|entry| entry.path.as_str());
    Named {
        files: files.filter(is_named).map(str::to_owned).collect(),
        is_complete: everything.is_complete,
        is_late: everything.is_late,
    }
}

/// The canonical path of a listing's folder.
struct ListedFolder {
    folder: String,
}

impl ListedFolder {
    fn new(root: &str, frame: &NeedCall<'_>) -> Result<ListedFolder, Failure> {
        let folder = frame.canonical(root)?;
        Ok(ListedFolder { folder: if folder.is_root() { String::new() } else { folder.to_string() } })
    }

    /// Returns a path relative to the folder; `None` for the folder itself and everything else.
    fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.folder.is_empty() {
            return Some(path);
        }
        path.strip_prefix(&self.folder)?.strip_prefix('/').filter(|rest| !rest.is_empty())
    }

    fn absolute(&self, relative: &str) -> String {
        match (self.folder.as_str(), relative) {
            ("", "") => ".".to_owned(),
            ("", relative) => relative.to_owned(),
            (folder, "") => folder.to_owned(),
            (folder, relative) => format!("{folder}/{relative}"),
        }
    }
}
