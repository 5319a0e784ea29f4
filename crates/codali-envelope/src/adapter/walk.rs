//! Everything beneath a folder, though a workspace lists only so much at once.

use wap_core::{ExploreFiles, ExploredFile, WapError};

use super::need_call::NeedCall;

/// How often a workspace is asked for one listing.
const MOST_CALLS: usize = 1_000;

/// What is left out, links and special files apart, which always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// The workspace's default exclusions and what git ignores.
    Usual,
    /// Nothing.
    Nothing,
}

/// Folders and files.
pub(super) struct Walked {
    pub(super) entries: Vec<ExploredFile>,
    /// How many entries there are; at least that many if not all could be looked at.
    pub(super) total: u64,
    /// Whether `entries` are all there are.
    pub(super) is_complete: bool,
}

/// Lists what lies beneath a folder down to a depth.
///
/// A listing that is cut is made again folder by folder, so that only a single folder with too many entries, or too many
/// folders, leave something out.
pub(super) fn walk(
    start: &str,
    depth: i64,
    left_out: LeftOut,
    frame: &NeedCall<'_>,
) -> Result<Walked, WapError> {
    let mut walk = Walk { frame, left_out, calls: 0, entries: Vec::new(), missing: 0, is_complete: true };
    walk.folder(start, depth)?;
    let total = walk.entries.len() as u64 + walk.missing;
    let is_complete = walk.is_complete;
    let mut entries = walk.entries;
    entries.retain(|entry| entry.kind.is_none());
    // A folder's entries stand behind it, whatever its name sorts before.
    entries.sort_by(|left, right| left.path.split('/').cmp(right.path.split('/')));
    Ok(Walked { entries, total, is_complete })
}

struct Walk<'a> {
    frame: &'a NeedCall<'a>,
    left_out: LeftOut,
    calls: usize,
    entries: Vec<ExploredFile>,
    /// How many entries are known to be there and are not among `entries`.
    missing: u64,
    is_complete: bool,
}

impl Walk<'_> {
    fn folder(&mut self, path: &str, depth: i64) -> Result<(), WapError> {
        let whole = self.explore(path, depth)?;
        if !whole.is_truncated {
            self.entries.extend(whole.files);
            return Ok(());
        }
        if depth <= 1 || self.calls >= MOST_CALLS {
            self.missing += whole.total_found.saturating_sub(whole.files.len() as u64);
            self.entries.extend(whole.files);
            self.is_complete = false;
            return Ok(());
        }
        let flat = self.explore(path, 1)?;
        self.missing += flat.total_found.saturating_sub(flat.files.len() as u64);
        self.is_complete &= !flat.is_truncated;
        let folders: Vec<String> =
            flat.files.iter().filter(|entry| entry.is_directory).map(|entry| entry.path.clone()).collect();
        self.entries.extend(flat.files);
        for folder in folders {
            if self.folder(&folder, depth - 1).is_err() {
                // A folder that cannot be read, or is gone, costs itself.
                self.is_complete = false;
            }
        }
        Ok(())
    }

    fn explore(&mut self, path: &str, depth: i64) -> Result<wap_core::ExploreFilesResponse, WapError> {
        self.calls += 1;
        let request = ExploreFiles {
            path: path.to_owned(),
            recursive: Some(true),
            exclude_patterns: (self.left_out == LeftOut::Nothing).then(Vec::new),
            max_depth: Some(depth),
            return_metadata: None,
            respect_gitignore: Some(self.left_out == LeftOut::Usual),
        };
        self.frame.sources.workspace.explore_files(self.frame.call, &request)
    }
}
