//! The list of mounts that make a root of the command's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::init::layer_mount::LayerMount;
use crate::init::mount_entry::{Access, MountEntry};
use crate::launcher::plan::inner_mounts::InnerMounts;
use crate::launcher::plan::shared_trees::SharedTrees;
use crate::launcher::plan::{Homes, Plan};
use crate::launcher::settings_folder::EtcView;
use crate::launcher::system_tree;
use crate::launcher::tool_settings::{self, MaskedFile};
use crate::policy::Policy;

impl Plan {
    /// Makes the list of mounts: the system first, then every tree after the one that contains it.
    pub(super) fn lay_out(
        &mut self,
        policy: &Policy,
        homes: &Homes<'_>,
        etc: &EtcView,
        trees: &SharedTrees,
        inner: &InnerMounts,
    ) {
        let readable = trees.read_only();
        self.mounts = system_tree::entries(policy, homes.home, etc);
        // A file that the caller names is shown unmasked; nothing can be mounted over a mask, which has no name any more.
        self.mounts
            .retain(|entry| !matches!(entry, MountEntry::Mask { target, .. } if readable.contains(target)));
        let entries = tree_entries(policy, homes, &readable, trees);
        let layer = policy.layer.as_ref().map(|layer| self.layer_entry(layer, inner));
        // A layer hides mounts that were made in the workspace before it.
        let lies_on_layer = |entry: &MountEntry| {
            layer.is_some() && entry.target() != self.workspace && entry.target().starts_with(&self.workspace)
        };
        let (after, before): (Vec<_>, Vec<_>) = entries.into_iter().partition(lies_on_layer);
        for entry in before {
            let is_workspace = entry.target() == self.workspace;
            self.mounts.push(entry);
            // Before anything else is mounted in there.
            if is_workspace && !policy.is_workspace_read_only {
                let (target, except) = (self.workspace.clone(), inner.writable.clone());
                self.mounts.push(MountEntry::SealInner { target, except });
                // On a layer, the kernel renames no folder with a mount in it.
                let around = inner.around.iter().filter(|_| layer.is_none());
                self.mounts.extend(around.map(|folder| MountEntry::Pin { target: folder.clone() }));
            }
        }
        self.mounts.extend(layer.into_iter().chain(after));
        self.mounts.extend(system_tree::home_files(policy, homes.home, &self.workspace));
        self.protect(policy);
    }

    /// Mounts protected paths over themselves, so that they can be neither renamed nor changed, and covers hidden ones.
    fn protect(&mut self, policy: &Policy) {
        // A file that is only pinned could still be written; a `.git` file names the repository.
        let pin = |target: PathBuf| match target.is_file() {
            true => MountEntry::Protect { target },
            false => MountEntry::Pin { target },
        };
        self.mount_over(&policy.pinned, pin);
        self.mount_over(&policy.read_only, |target| MountEntry::Protect { target });
        self.mount_over(&policy.hidden, |target| MountEntry::Cover { target });
    }

    /// Adds an entry for each of these paths, and records those that no mount can protect.
    fn mount_over(&mut self, paths: &[PathBuf], entry: impl Fn(PathBuf) -> MountEntry) {
        for path in paths {
            match self.mountable(path) {
                Some(target) => self.mounts.push(entry(target)),
                None => self.unprotected.push(path.clone()),
            }
        }
    }

    /// Mounts copies of tool settings without secrets over the originals.
    pub(super) fn mask(&mut self, homes: &Homes<'_>, etc: &EtcView, trees: &SharedTrees) {
        let read_only = trees.read_only();
        let is_shown = |path: &Path| {
            system_tree::shows(path)
                || read_only.iter().any(|tree| path.starts_with(tree))
                || tool_settings::is_always_shown(homes.real, path)
                || homes.kept.is_some_and(|kept_home| kept_home.covers(path))
        };
        for MaskedFile { path, contents } in &trees.masked {
            let target = etc.mask_target(path).or_else(|| is_shown(path).then(|| path.clone()));
            let contents = contents.clone();
            self.mounts.extend(target.map(|target| MountEntry::Mask { target, contents }));
        }
    }

    /// Returns the layer over the workspace, with the folders that show through it.
    fn layer_entry(&self, layer: &LayerMount, inner: &InnerMounts) -> MountEntry {
        let uncovered = layer.uncovered.iter().filter_map(|path| self.mountable(path));
        let uncovered = uncovered.filter(|path| path.is_dir() && *path != self.workspace);
        let mounts = inner.all.clone();
        MountEntry::Layer {
            target: self.workspace.clone(),
            upper: layer.upper.clone(),
            work: layer.work.clone(),
            uncovered: uncovered.filter(|path| !mounts.contains(path)).collect(),
            mounts,
        }
    }
}

/// Returns the entries for the child's home, its temporary folders and the shared trees, each after the one that contains it.
fn tree_entries(
    policy: &Policy,
    homes: &Homes<'_>,
    readable: &[PathBuf],
    trees: &SharedTrees,
) -> Vec<MountEntry> {
    let tmpfs = |target: &Path, mode| MountEntry::Tmpfs {
        target: target.to_owned(),
        size_bytes: policy.limits.temporary_bytes,
        mode,
    };
    let bind =
        |path: &PathBuf, access| MountEntry::Bind { source: path.clone(), target: path.clone(), access };
    let replacement = |(folder, target): &(PathBuf, PathBuf)| MountEntry::Bind {
        source: folder.clone(),
        target: target.clone(),
        access: Access::Writable,
    };
    // Of two entries for the same path the later one wins.
    let mut mounts: BTreeMap<(usize, PathBuf), MountEntry> = BTreeMap::new();
    let homes =
        homes.kept.map_or_else(|| vec![tmpfs(homes.home, 0o700)], |kept_home| kept_home.entries(homes.home));
    let entries = [tmpfs(Path::new("/tmp"), 0o1777), tmpfs(Path::new("/var/tmp"), 0o1777)]
        .into_iter()
        .chain(homes)
        .chain(readable.iter().map(|path| bind(path, Access::ReadOnly)))
        .chain(trees.writable.iter().map(|path| bind(path, Access::Writable)))
        .chain(trees.replaced.iter().map(replacement));
    for entry in entries {
        let target = entry.target().to_owned();
        mounts.insert((target.components().count(), target), entry);
    }
    mounts.into_values().collect()
}
