//! The files that a child may use, for the rules of the kernel and for the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::init::home_mount::HIDDEN;
use crate::init::mount_entry::MountEntry;
use crate::launcher::plan::inner_mounts::InnerMounts;
use crate::launcher::plan::policy_check::PolicyError;
use crate::launcher::plan::shared_trees::{SharedTrees, canonical};
use crate::launcher::plan::{Homes, Plan};
use crate::launcher::settings_folder::{ETC, EtcView};
use crate::launcher::{system_tree, tool_settings};
use crate::policy::Policy;
use crate::policy::isolation::Isolation;
use crate::report::file_view::FileView;
use crate::spawner::request::FileAccess;

impl Plan {
    /// Returns the view of files from which receipts explain refused changes.
    pub(super) fn file_view(
        &self,
        policy: &Policy,
        homes: &Homes<'_>,
        trees: &SharedTrees,
        inner: InnerMounts,
    ) -> FileView {
        let has_root = self.isolation.contains(Isolation::ROOT);
        let may_change = !policy.is_workspace_read_only;
        let rebased = |paths: &[PathBuf]| paths.iter().map(|path| self.rebase(path)).collect();
        let if_protected = |paths| if has_root { rebased(paths) } else { Vec::new() };
        let own = [homes.home, homes.temporary, Path::new("/var/tmp"), Path::new("/dev/shm")];
        FileView {
            workspace: self.workspace.clone(),
            working_directory: self.workspace.clone(),
            writable: trees.writable.iter().cloned().chain(own.map(Path::to_owned)).collect(),
            shared: trees.read_only(),
            obeyed: if_protected(&policy.read_only),
            pinned: if_protected(&policy.pinned),
            hidden: rebased(&policy.hidden),
            // A workspace that is read-only has its own receipt.
            mounts: if has_root && may_change { inner.sealed } else { Vec::new() },
            around_mounts: if has_root && may_change { inner.around } else { BTreeSet::new() },
            unchanging: policy.is_workspace_read_only.then(|| self.workspace.clone()),
        }
    }

    /// Returns the files that a child in its own root may use. Such a root holds only visible files.
    pub(super) fn access_in_own_root(
        &self,
        policy: &Policy,
        homes: &Homes<'_>,
        etc: &EtcView,
        trees: SharedTrees,
    ) -> FileAccess {
        let mut writable = trees.writable;
        writable.extend(trees.replaced.into_iter().map(|(_, target)| target));
        let own = ["/tmp", "/var/tmp", "/dev", "/proc"].map(PathBuf::from);
        writable.extend(own.into_iter().chain([homes.home.to_owned()]));
        // Paths on a layer or in a kept home exist only once it is mounted.
        let comes_late = |path: &PathBuf| {
            policy.layer.is_some() && path.starts_with(&self.workspace)
                || homes.kept.is_some() && path.starts_with(homes.home)
        };
        let (late_writable, writable) = writable.into_iter().partition(comes_late);
        let (listable, readable) = self.readable_with_settings(etc, trees.readable);
        FileAccess { listable, readable, writable, late_writable, plain: Vec::new() }
    }

    /// Returns the files that a child without its own root may use.
    pub(super) fn access_on_host(
        &self,
        policy: &Policy,
        etc: &EtcView,
        trees: SharedTrees,
    ) -> Result<FileAccess, PolicyError> {
        let SharedTrees { readable, mut writable, toolchains, masked, .. } = trees;
        writable.extend(system_tree::devices_to_open());
        let readable = system_tree::readable().chain(etc.rules()).chain(toolchains).chain(readable);
        Ok(FileAccess {
            listable: Vec::new(),
            readable: readable.flat_map(|path| tool_settings::without(path, &masked)).collect(),
            writable,
            late_writable: Vec::new(),
            plain: canonical(&policy.plain, policy, &self.workspace)?,
        })
    }

    /// Returns the folders that may be listed and those that may be read, in a root of the command's own.
    ///
    /// The root holds only visible files, except for the closed entries of `/etc`: one rule for the whole root would open
    /// them.
    fn readable_with_settings(&self, etc: &EtcView, readable: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let root = Path::new("/");
        if !etc.is_whole() {
            return (Vec::new(), vec![root.into()]);
        }
        let first = |entry: &MountEntry| Some(root.join(entry.target().iter().nth(1)?));
        let mut folders: BTreeSet<PathBuf> = self.mounts.iter().filter_map(first).collect();
        folders.remove(Path::new(ETC));
        folders.remove(Path::new(HIDDEN));
        folders.extend(readable.into_iter().filter(|path| path.starts_with(ETC)));
        folders.extend(etc.rules());
        (vec![root.into()], folders.into_iter().collect())
    }
}
