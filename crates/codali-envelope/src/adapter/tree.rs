//! `docdex.tree`: folders and files as an outline.

use std::borrow::Cow;

use wap_core::ExploreFiles;

use super::failure::excerpt;
use super::fit;
use super::need_call::{Answer, NeedCall, refused};
use super::walk::{LeftOut, walk};
use crate::{NeedResult, TreeNeed, TreeResult, WarningCode};

pub(super) fn tree(need: &TreeNeed, frame: &mut NeedCall<'_>) -> Answer {
    let root = need.path.as_deref().unwrap_or(".");
    let depth = need.max_depth.unwrap_or(ExploreFiles::DEFAULT_DEPTH);
    let walked = walk(root, i64::from(depth), LeftOut::Usual, frame)
        .map_err(refused(root, WarningCode::DocdexTreeFailed))?;
    let shows_hidden = need.include_hidden.unwrap_or(false);
    let only_folders = need.dirs_only.unwrap_or(false);
    // Levels are relative to the shallowest entry, for any start folder of the listing.
    let above = walked.entries.iter().map(|entry| entry.path.matches('/').count()).min().unwrap_or(0);
    let mut text = String::new();
    for entry in &walked.entries {
        let mut names = entry.path.split('/').skip(above);
        let is_hidden = !shows_hidden && names.any(|name| name.starts_with('.'));
        if is_hidden || (only_folders && !entry.is_directory) {
            continue;
        }
        let level = entry.path.matches('/').count() - above;
        let name = entry.path.rsplit('/').next().unwrap_or(&entry.path);
        let slash = if entry.is_directory { "/" } else { "" };
        text.push_str(&format!("{}{}{slash}\n", "  ".repeat(level), on_its_level(name)));
    }
    let part = fit::lines(text, frame.room);
    let truncated = part.kept < part.total || !walked.is_complete;
    if walked.is_late {
        frame.warn(WarningCode::NeedTimeout, excerpt(&format!("docdex.tree {root}")));
    }
    let what = format!("docdex.tree {root}");
    match (truncated, walked.is_complete) {
        (false, _) => {}
        (true, true) => frame.warn_cut(&what, part.kept, part.total),
        (true, false) => frame.warn_cut_of_more(&what, part.kept, part.total.max(walked.total)),
    }
    Ok(NeedResult::Tree(TreeResult {
        path: need.path.clone(),
        truncated,
        total_entries: (truncated && walked.is_complete).then_some(part.total),
        tree: part.text,
    }))
}

/// Returns a name unchanged, or quoted and escaped if its leading spaces would make it look like an entry of another folder. It
/// contains no control characters: paths escape them.
fn on_its_level(name: &str) -> Cow<'_, str> {
    if name.trim() == name && !name.starts_with('"') {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{name:?}"))
    }
}
