//! Turns a policy into a child's mounts, rules and environment. It reads the host.

mod access;
mod inner_mounts;
mod mounts;
mod policy_check;
mod shared_trees;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::init::mount_entry::MountEntry;
use crate::launcher::canonical::canonicalize;
use crate::launcher::home::{Arranged, HomeLease, arrange};
use crate::launcher::plan::inner_mounts::InnerMounts;
pub use crate::launcher::plan::policy_check::PolicyError;
use crate::launcher::plan::shared_trees::SharedTrees;
use crate::launcher::private_folder::PrivateFolder;
use crate::launcher::settings_folder::{EtcView, SettingsFolder};
use crate::launcher::{SpawnError, system_tree};
use crate::policy::Policy;
use crate::policy::environment::{User, base_environment, visible_certificates};
use crate::policy::isolation::Isolation;
use crate::policy::network::NetworkPolicy;
use crate::report::file_view::FileView;
use crate::spawner::preparation::{self, Preparation};
use crate::spawner::request::{ChildLimits, FileAccess, Order, Request, Task};

/// The properties of the machine that plans depend on.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) user: User,
    pub(crate) settings: SettingsFolder,
    /// Variables that name files or folders of certificates.
    pub(crate) certificates: BTreeMap<OsString, OsString>,
}

/// The folders of a child's home.
pub(super) struct Homes<'a> {
    /// The user's own, canonical.
    real: &'a Path,
    /// The child's.
    home: &'a Path,
    /// For its temporary files.
    temporary: &'a Path,
    /// Present if the child's home is kept between commands.
    kept: Option<&'a HomeLease>,
}

/// Everything about a child that follows from the policy, the user and the machine.
pub(crate) struct Plan {
    /// The workspace's canonical path.
    pub(crate) workspace: PathBuf,
    /// Paths of the policy, as the policy wrote them, that a mount cannot protect.
    pub(crate) unprotected: Vec<PathBuf>,
    /// The files that the command may change, to explain why others stayed as they were.
    pub(crate) files: FileView,
    given_workspace: PathBuf,
    isolation: Isolation,
    mounts: Vec<MountEntry>,
    access: FileAccess,
    environment: BTreeMap<OsString, OsString>,
}

impl Plan {
    /// Plans a child. `folder` holds its home and temporary files if it has no root of its own, and `kept_home` its home
    /// if one is kept; both are furnished here.
    pub(crate) fn new(
        policy: &Policy,
        host: &Host,
        isolation: Isolation,
        folder: Option<&PrivateFolder>,
        mut kept_home: Option<&mut HomeLease>,
    ) -> Result<Plan, SpawnError> {
        let real_home = canonicalize(&host.user.home).unwrap_or_else(|_| host.user.home.clone());
        let workspace = policy_check::workspace(policy, isolation, &real_home)?;
        let isolation = policy_check::isolation(&policy.network, isolation)?;
        let has_root = isolation.contains(Isolation::ROOT);
        let mut trees = SharedTrees::of(policy, &workspace, &real_home, host.settings.path())?;
        if let Some(kept_home) = &mut kept_home {
            trees.without_those_of(kept_home, policy)?;
        }
        let kept_home = kept_home.as_deref();
        let (home, temporary) = match folder {
            Some(folder) => (folder.home(), folder.temporary()),
            None if has_root => (system_tree::private_home(&real_home), "/tmp".into()),
            None => (real_home.clone(), "/tmp".into()),
        };
        if let Some(folder) = folder {
            let settings = system_tree::git_settings(policy, &workspace);
            folder
                .furnish(&settings, &real_home, &trees.toolchains, &trees.masked)
                .map_err(SpawnError::PrivateFolder)?;
            trees.writable.push(folder.path().to_owned());
        }
        let etc = host.settings.view(isolation, !policy.network.is_off());
        let homes = Homes { real: &real_home, home: &home, temporary: &temporary, kept: kept_home };
        let mut plan = Plan {
            unprotected: Vec::new(),
            files: FileView::default(),
            given_workspace: policy.workspace.clone(),
            isolation,
            mounts: Vec::new(),
            access: FileAccess::default(),
            environment: environment(policy, host, has_root, &homes, &trees, &etc),
            workspace,
        };
        let inner = plan.inner_mounts(policy, &trees);
        if has_root {
            plan.lay_out(policy, &homes, &etc, &trees, &inner);
            plan.mask(&homes, &etc, &trees);
            if let Some(kept_home) = kept_home {
                let Arranged { mounts, mount_points } = arrange(plan.mounts, &home, kept_home);
                plan.mounts = mounts;
                let settings = system_tree::git_settings(policy, &plan.workspace);
                kept_home.furnish(&mount_points, &settings).map_err(SpawnError::KeptHome)?;
            }
        } else {
            plan.unprotected =
                [&policy.read_only, &policy.pinned, &policy.hidden].into_iter().flatten().cloned().collect();
            let mounts: Vec<_> = inner.sealed.iter().map(|path| plan.as_given(path)).collect();
            plan.unprotected.extend(mounts);
        }
        plan.files = plan.file_view(policy, &homes, &trees, inner);
        plan.access = if has_root {
            plan.access_in_own_root(policy, &homes, &etc, trees)
        } else {
            plan.access_on_host(policy, &etc, trees)?
        };
        Ok(plan)
    }

    /// Finds the host's mounts inside the workspace.
    fn inner_mounts(&self, policy: &Policy, trees: &SharedTrees) -> InnerMounts {
        let open: Vec<_> = policy.writable_mounts.iter().filter_map(|path| self.mountable(path)).collect();
        let targets = trees.replaced.iter().map(|(_, target)| target);
        let bound: Vec<_> = trees.writable.iter().chain(targets).collect();
        InnerMounts::find(&self.workspace, &open, &bound)
    }

    /// Returns the mount point for a path of the policy; `None` if the path does not exist or leads over a link.
    fn mountable(&self, path: &Path) -> Option<PathBuf> {
        let path = self.rebase(path);
        (canonicalize(&path).ok()? == path).then_some(path)
    }

    /// Rebases a path in the workspace from the caller's spelling to the workspace's canonical path.
    fn rebase(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.given_workspace) {
            // Joining nothing would add a slash at the end.
            Ok(rest) if rest.as_os_str().is_empty() => self.workspace.clone(),
            Ok(rest) => self.workspace.join(rest),
            Err(_) => path.to_owned(),
        }
    }

    /// Rebases a path in the workspace from the canonical path to the caller's spelling.
    fn as_given(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.workspace)
            .map_or_else(|_| path.to_owned(), |rest| self.given_workspace.join(rest))
    }

    pub(crate) fn into_request(
        self,
        policy: &Policy,
        working_directory: Option<&Path>,
        environment: &BTreeMap<OsString, OsString>,
        task: Task,
    ) -> Request {
        let working_directory =
            working_directory.map_or_else(|| self.workspace.clone(), |directory| self.rebase(directory));
        let mut variables = self.environment;
        variables.extend(environment.clone());
        let (first, rest) = preparation::split(self.mounts);
        let preparation = Preparation {
            isolation: self.isolation,
            limits: ChildLimits {
                memory_bytes: policy.limits.memory_bytes,
                processes: policy.limits.processes,
                file_size_bytes: policy.limits.file_size_bytes,
                open_files: policy.limits.open_files,
            },
            access: self.access,
            mounts: first,
            is_closed: preparation::is_closed(&rest),
        };
        let environment = variables.into_iter().collect();
        let names = match &policy.network {
            NetworkPolicy::Named(outward) => Some(outward.names()),
            NetworkPolicy::Off | NetworkPolicy::Host => None,
        };
        Request { preparation, order: Order { mounts: rest, working_directory, environment, task, names } }
    }
}

/// Returns the variables of a child: the usual ones, those of its home and network, and the policy's own.
fn environment(
    policy: &Policy,
    host: &Host,
    has_root: bool,
    homes: &Homes<'_>,
    trees: &SharedTrees,
    etc: &EtcView,
) -> BTreeMap<OsString, OsString> {
    let is_visible = |path: &Path| {
        let Ok(path) = canonicalize(path) else { return false };
        !has_root || system_tree::shows(&path) || trees.hold(&path)
    };
    let mut environment = base_environment(&host.user, homes.home, homes.temporary, is_visible);
    if !policy.network.is_off() {
        let is_visible = |path: &Path| is_visible(path) || etc.shows(path);
        environment.extend(visible_certificates(&host.certificates, is_visible));
    }
    let of_caches = homes.kept.into_iter().flat_map(|kept_home| kept_home.variables(homes.home));
    environment.extend(of_caches.map(|(name, folder)| (name.into(), folder.into_os_string())));
    environment.extend(policy.environment.clone());
    environment
}
