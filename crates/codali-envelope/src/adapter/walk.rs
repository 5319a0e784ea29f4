//! Lists everything below a folder with several bounded calls.

use wap_core::{ExploreFiles, ExploredFile, WapError};

use super::need_call::NeedCall;

/// The most calls of the workspace for one listing.
const MOST_CALLS: usize = 1_000;

/// The entries that a listing leaves out, in addition to links and special files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// The workspace's default exclusions and files that git ignores.
    Usual,
    /// Nothing.
    Nothing,
}

/// The folders and files of a listing.
pub(super) struct Walked {
    pub(super) entries: Vec<ExploredFile>,
    /// The number of entries; a lower bound if the listing is incomplete.
    pub(super) total: u64,
    /// True if `entries` are complete.
    pub(super) is_complete: bool,
    /// True if they are incomplete because the need ran out of time.
    pub(super) is_late: bool,
}

/// Lists the entries below a folder down to a depth.
///
/// A truncated listing is repeated folder by folder, so that entries are missing only if a single folder has too many, if there
/// are too many folders, or if the need runs out of time.
pub(super) fn walk(
    start: &str,
    depth: i64,
    left_out: LeftOut,
    frame: &NeedCall<'_>,
) -> Result<Walked, WapError> {
    let (entries, missing, calls) = (Vec::new(), 0, 0);
    let mut walk = Walk { frame, left_out, calls, entries, missing, is_complete: true, is_late: false };
    walk.folder(start, depth)?;
    let total = walk.entries.len() as u64 + walk.missing;
    let (is_complete, is_late) = (walk.is_complete, walk.is_late);
    let mut entries = walk.entries;
    entries.retain(|entry| entry.kind.is_none());
    // Sort by components, so that a folder's entries follow it directly.
    entries.sort_by(|left, right| left.path.split('/').cmp(right.path.split('/')));
    Ok(Walked { entries, total, is_complete, is_late })
}

struct Walk<'a> {
    frame: &'a NeedCall<'a>,
    left_out: LeftOut,
    calls: usize,
    entries: Vec<ExploredFile>,
    /// The number of entries that exist but are not in `entries`.
    missing: u64,
    is_complete: bool,
    is_late: bool,
}

impl Walk<'_> {
    /// Adds the entries below a folder. Recursion is bounded by `depth` and by [`MOST_CALLS`].
    fn folder(&mut self, path: &str, depth: i64) -> Result<(), WapError> {
        let whole = self.explore(path, depth)?;
        if !whole.is_truncated {
            self.entries.extend(whole.files);
            return Ok(());
        }
        if depth <= 1 || self.has_to_end() {
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
            if self.has_to_end() {
                self.is_complete = false;
                break;
            }
            if self.folder(&folder, depth - 1).is_err() {
                // An unreadable or removed folder does not fail the others.
                self.is_complete = false;
            }
        }
        Ok(())
    }

    fn has_to_end(&mut self) -> bool {
        self.is_late = self.is_late || self.frame.is_over();
        self.is_late || self.calls >= MOST_CALLS
    }

    fn explore(&mut self, path: &str, depth: i64) -> Result<wap_core::ExploreFilesResponse, WapError> {
        self.calls += 1;
        let request = ExploreFiles {
            path: path.to_owned(),
            pattern: None,
            recursive: Some(true),
            exclude_patterns: (self.left_out == LeftOut::Nothing).then(Vec::new),
            max_depth: Some(depth),
            return_metadata: None,
            respect_gitignore: Some(self.left_out == LeftOut::Usual),
        };
        self.frame.sources.workspace.explore_files(self.frame.call, &request)
    }
}
