//! Searching and listing from a kept list, if there is one.
//!
//! The list has all files, and excludes those in which a query cannot match. The others are read as usual. Anything
//! uncertain is left to a walk, so the answers are the same.

use std::io;
use std::sync::Arc;

use file_index::{
    ContentKind, FileIndex, IndexLimits, IndexReport, IndexRules, ListEntry, ListSummary, ListWalk, Needle,
};
use rel_path::RelPath;
use sandbox_fs::{FileKind, Visit, WalkSummary};
use wap_core::Exclusions;

use crate::engine::LocalWorkspace;
use crate::git::credentials;
use crate::hidden::Hidden;
use crate::read::explore::{LeftOut, Wanted};
use crate::read::text_probe::TextProbe;

impl LocalWorkspace {
    /// Keeps a list of files and of their possible contents from the first search or listing on, in the background,
    /// so that later ones take less time. For long-running processes: a single call does not gain from it. A second
    /// call returns the first list.
    ///
    /// Dropping the workspace and all other holders of the list ends it.
    ///
    /// # Errors
    ///
    /// If the system has no thread or no handle left. Everything works without the list.
    pub fn keep_index(&self, limits: IndexLimits) -> io::Result<Arc<FileIndex>> {
        if let Some(index) = self.index.get() {
            return Ok(Arc::clone(index));
        }
        let rules = WorkspaceRules {
            hidden: Hidden::new(self.config.state_folder.clone()),
            exclusions: Exclusions::defaults(),
        };
        let index = FileIndex::start(Arc::clone(&self.root), rules, limits)?;
        Ok(Arc::clone(self.index.get_or_init(|| Arc::new(index))))
    }

    /// Returns the state of the list of files, if one is kept.
    pub fn index_report(&self) -> Option<IndexReport> {
        self.index.get().map(|index| index.report())
    }

    pub(crate) fn file_index(&self) -> Option<&FileIndex> {
        self.index.get().map(|index| &**index)
    }

    /// Walks the list from the folder with the canonical path `start`, yields the first wanted entries and counts the
    /// others; `None` if the file system has to be walked.
    pub(crate) fn warm_list(
        &self,
        start: &RelPath,
        wanted: &Wanted<'_>,
        rules: &LeftOut<'_>,
        excludes: impl Fn(&RelPath, FileKind) -> bool,
        each: &mut dyn FnMut(ListEntry),
    ) -> Option<(WalkSummary, u64)> {
        let view = self.file_index()?.view()?;
        let Wanted { depth, filter, most } = *wanted;
        let by_path = filter.filter(|filter| !filter.is_decided_by_name());
        let mut visitor = |path: &RelPath, kind| match by_path {
            _ if excludes(path, kind) => Visit::Skip,
            Some(filter) if !filter.takes(path, kind) => match kind {
                FileKind::Folder => Visit::Pass,
                _ => Visit::Skip,
            },
            _ => Visit::Take,
        };
        // Hidden entries, and entries without a valid path, are not in the list.
        let takes_leaves = by_path.is_none() && rules.are_about_folders();
        // Matches are listed in path order, which differs from the order of a truncated list.
        let most = if by_path.is_some() { usize::MAX } else { most };
        let walk = ListWalk { start, depth, visitor: &mut visitor, takes_leaves, most, each };
        let listed = match filter {
            Some(filter) if by_path.is_none() => view.named(&|name| filter.may_take_name(name), walk),
            _ => view.walk(walk),
        };
        listed.map(|listed| (summary(listed), listed.counted))
    }

    /// Walks to the files in which a query can match, and to those that a search skips; `None` as with
    /// [`warm_list`](Self::warm_list).
    pub(crate) fn warm_candidates(
        &self,
        start: &RelPath,
        depth: usize,
        needle: &Needle,
        excludes: impl Fn(&RelPath, FileKind) -> bool,
        each: &mut dyn FnMut(ListEntry),
    ) -> Option<WalkSummary> {
        let view = self.file_index()?.view()?;
        let mut visitor = |path: &RelPath, kind| match kind {
            FileKind::File if !excludes(path, kind) => Visit::Take,
            FileKind::Folder if !excludes(path, kind) => Visit::Pass,
            _ => Visit::Skip,
        };
        let (takes_leaves, most) = (false, usize::MAX);
        let walk = ListWalk { start, depth, visitor: &mut visitor, takes_leaves, most, each };
        view.candidates(needle, walk).map(summary)
    }
}

fn summary(listed: ListSummary) -> WalkSummary {
    let mut summary = WalkSummary::default();
    summary.unreadable = listed.unreadable;
    summary.mounts = listed.mounts;
    summary
}

/// The workspace's rules about files, for the list.
struct WorkspaceRules {
    hidden: Hidden,
    exclusions: Exclusions,
}

impl IndexRules for WorkspaceRules {
    fn hides(&self, path: &RelPath) -> bool {
        self.hidden.hides(path)
    }

    fn leaves_out(&self, folder: &RelPath) -> bool {
        self.exclusions.excludes(&folder.to_string(), true)
    }

    fn content_kind(&self, path: &RelPath, content: &[u8]) -> ContentKind {
        let is_utf_16 = content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff");
        if credentials::may_be_in(path) || is_utf_16 {
            // These are not the bytes that are searched.
            return ContentKind::Unknown;
        }
        let probe = TextProbe::of(content);
        match (probe.is_binary(), probe.is_undecodable()) {
            (true, _) => ContentKind::Binary,
            (_, true) => ContentKind::Undecodable,
            _ => ContentKind::Text,
        }
    }
}
