//! Build folders within a former wider build folder, with files that have another name there.
//!
//! Within a build folder, hard links are kept. If only a part of it is still a build folder, because git's rules or its
//! index have changed, a command that writes to that part directly would change files around it unnoticed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FolderAt, WalkLimits};
use wap_core::Exclusions;

/// The limits for examining one folder. A folder that exceeds them counts as leading out.
const LOOK: WalkLimits =
    WalkLimits { depth: usize::MAX, entries: 100_000, timeout: Duration::from_millis(500) };

/// The examined build folders.
#[derive(Debug, Default)]
pub(crate) struct FormerBuildFolders {
    /// Those without files that have a name outside. They stay so while commands have layers: a hard link cannot cross
    /// mounts.
    closed: BTreeSet<RelPath>,
}

impl FormerBuildFolders {
    /// Returns the build folders through which a file outside of them may be changed.
    pub(crate) fn leading_out(&mut self, root: &FileRoot, folders: &[RelPath]) -> Vec<RelPath> {
        // A folder that was part of a wider one in the meantime may have new hard links.
        self.closed.retain(|folder| folders.contains(folder));
        let exclusions = Exclusions::defaults();
        let mut leading_out = Vec::new();
        for folder in folders {
            let mut around = std::iter::successors(folder.parent(), RelPath::parent);
            let was_part =
                around.any(|around| !around.is_root() && exclusions.excludes(&around.to_string(), true));
            if !was_part || self.closed.contains(folder) {
                continue;
            }
            if may_lead_out(root, folder) {
                leading_out.push(folder.clone());
            } else {
                self.closed.insert(folder.clone());
            }
        }
        leading_out
    }

    /// Forgets everything, because a command without a layer can link any two folders.
    pub(crate) fn forget(&mut self) {
        self.closed.clear();
    }
}

fn may_lead_out(root: &FileRoot, folder: &RelPath) -> bool {
    // No hard link leads into a mount.
    if matches!(root.folder_at(folder), Ok(FolderAt::Mount)) {
        return false;
    }
    let Ok(walk) = root.walk(folder, LOOK) else { return true };
    if walk.start() != folder {
        return true;
    }
    let mut walk = walk.with_metadata();
    let mut names_outside: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut is_complete = true;
    for entry in walk.by_ref().filter(|entry| entry.kind != FileKind::Folder) {
        let Some(metadata) = entry.metadata else {
            is_complete = false;
            continue;
        };
        if metadata.links > 1 {
            let stamp = metadata.stamp();
            let names = names_outside.entry((stamp.device, stamp.inode)).or_insert(metadata.links);
            *names = names.saturating_sub(1);
        }
    }
    let summary = walk.summary();
    let is_cut = summary.out_of_entries || summary.out_of_time;
    let has_unread = summary.unreadable > 0 || summary.too_deep > 0 || summary.unnameable > 0;
    !is_complete || is_cut || has_unread || names_outside.values().any(|names| *names > 0)
}
