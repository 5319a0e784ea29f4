//! From a policy to a child: which mounts, which rules, which environment. It reads the host.

mod inner_mounts;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::init::home_mount::HIDDEN;
use crate::init::layer_mount::LayerMount;
use crate::init::mount_entry::{Access, MountEntry};
use crate::launcher::canonical::canonicalize;
use crate::launcher::home::{Arranged, HomeLease, arrange};
use crate::launcher::plan::inner_mounts::InnerMounts;
use crate::launcher::private_folder::PrivateFolder;
use crate::launcher::settings_folder::{ETC, EtcView, SettingsFolder};
use crate::launcher::tool_settings::{self, MaskedFile};
use crate::launcher::{SpawnError, system_tree, toolchains};
use crate::policy::Policy;
use crate::policy::environment::{User, base_environment, visible_certificates};
use crate::policy::isolation::Isolation;
use crate::policy::network::NetworkPolicy;
use crate::report::file_view::FileView;
use crate::spawner::preparation::{self, Preparation};
use crate::spawner::request::{ChildLimits, FileAccess, Order, Request, Task};

/// The reason that a policy cannot be put in force. Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The workspace does not exist or is not a folder.
    #[error("the workspace is not a folder")]
    NotAFolder,
    /// The workspace is or contains a folder that the sandbox itself is made of, such as `/` or `/usr`, or lies in `/dev`,
    /// `/proc` or `/sys`.
    #[error(
        "the workspace is a system folder, holds one, or is in /dev, /proc or /sys; commands run in folders elsewhere"
    )]
    SystemFolder,
    /// The workspace is the user's home folder, which is to be hidden.
    #[error("the workspace is the home folder")]
    HomeFolder,
    /// A readable or writable path of the policy, such as a folder of `--cache`, or a replaced folder, does not exist.
    #[error(
        "{name:?}, which commands are given beside the workspace, is not there; make it again, or leave it out"
    )]
    MissingPath {
        /// The last part of the path. A model may read it, so that the folders above are left out.
        name: String,
    },
    /// A readable or writable path of the policy lies in the workspace and leads out of it through a symbolic link, which a
    /// command may have made.
    #[error(
        "a folder in the workspace that commands are given leads out of it through a symbolic link; name the folder that \
         the link leads to instead, if that is meant"
    )]
    LeadsOut,
    /// The policy has a layer, and this machine gives commands no root of their own to mount it in.
    #[error("a copy-on-write layer cannot be mounted without a root of the command's own")]
    NoRootForLayer,
    /// The policy replaces a folder, and this machine gives commands no root of their own to do that in.
    #[error("a folder cannot be replaced without a root of the command's own")]
    NoRootForReplaced,
    /// The policy's layer is one over another folder than the workspace.
    #[error("the copy-on-write layer is not one over the workspace")]
    ForeignLayer,
    /// The policy has a layer over a workspace that is to stay as it is.
    #[error("a workspace that is read-only has no copy-on-write layer")]
    ReadOnlyWithLayer,
    /// The workspace is to stay as it is, and this machine gives commands no root of their own to mount it read-only in.
    #[error("the workspace cannot be read-only without a root of the command's own")]
    NoRootForReadOnly,
    /// The policy allows names, and this machine cannot keep a command's connections to them.
    #[error(
        "commands cannot be kept to allowed names here: that takes a network namespace and a root of their own, and a \
         filter of system calls with notifications; run `agentd doctor`, or choose --network off or on"
    )]
    NoNetworkForNames,
    /// The policy allows names, and the command is to share a network: other commands in it would reach them, too.
    #[error("allowed names are not to be had in a network that commands share; choose --network off or on")]
    NamesInSharedNetwork,
}

/// The machine that commands run on, as far as plans are made from it.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) user: User,
    pub(crate) settings: SettingsFolder,
    /// Variables that name files or folders of certificates.
    pub(crate) certificates: BTreeMap<OsString, OsString>,
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
    /// Plans a child. `folder` holds its home and temporary files if it has no root of its own, and `kept_home` the home
    /// if one is kept; they are furnished.
    pub(crate) fn new(
        policy: &Policy,
        host: &Host,
        isolation: Isolation,
        folder: Option<&PrivateFolder>,
        mut kept_home: Option<&mut HomeLease>,
    ) -> Result<Plan, SpawnError> {
        let Host { user, settings, certificates } = host;
        let workspace = canonicalize(&policy.workspace).map_err(|_| PolicyError::NotAFolder)?;
        if !workspace.is_dir() {
            return Err(PolicyError::NotAFolder.into());
        }
        if system_tree::is_made_of(&workspace) {
            return Err(PolicyError::SystemFolder.into());
        }
        let has_root = isolation.contains(Isolation::ROOT);
        let real_home = canonicalize(&user.home).unwrap_or_else(|_| user.home.clone());
        if has_root && workspace == real_home {
            return Err(PolicyError::HomeFolder.into());
        }
        if let Some(layer) = &policy.layer {
            if !has_root {
                return Err(PolicyError::NoRootForLayer.into());
            }
            if canonicalize(&layer.lower).ok().as_ref() != Some(&workspace) {
                return Err(PolicyError::ForeignLayer.into());
            }
        }
        if policy.is_workspace_read_only {
            if policy.layer.is_some() {
                return Err(PolicyError::ReadOnlyWithLayer.into());
            }
            if !has_root {
                return Err(PolicyError::NoRootForReadOnly.into());
            }
        }
        if !policy.replaced.is_empty() && !has_root {
            return Err(PolicyError::NoRootForReplaced.into());
        }
        let isolation = match policy.network {
            NetworkPolicy::Off => isolation,
            NetworkPolicy::Host => isolation.without(Isolation::NETWORK | Isolation::NO_SOCKETS),
            // The order, which holds the names, is read by an init with a root of its own.
            NetworkPolicy::Named(_) if isolation.contains(Isolation::FOR_NAMES) => isolation,
            NetworkPolicy::Named(_) => return Err(PolicyError::NoNetworkForNames.into()),
        };
        let mut readable = canonical(&policy.readable, policy, &workspace)?;
        let mut writable = canonical(&policy.writable, policy, &workspace)?;
        let may_change = !policy.is_workspace_read_only;
        if may_change { &mut writable } else { &mut readable }.push(workspace.clone());
        let replaced = replaced(&policy.replaced)?;
        let mut toolchains = toolchains::find(&real_home);
        if let Some(kept_home) = &mut kept_home {
            let hidden: Vec<PathBuf> =
                policy.hidden.iter().filter_map(|path| canonicalize(path).ok()).collect();
            kept_home.without_caches(|cache| writable.iter().any(|path| cache.starts_with(path)));
            if let Some(why) = kept_home.reachable_in(readable.iter().chain(&writable), &hidden) {
                return Err(SpawnError::KeptHome(why));
            }
            toolchains.retain(|toolchain| !kept_home.covers(toolchain));
        }
        let kept_home = kept_home.as_deref();
        let mut masked = tool_settings::masked(&real_home, settings.path());
        // What the policy shares on purpose is shared as it is.
        masked.retain(|file| {
            !readable.contains(&file.path) && !writable.iter().any(|path| file.path.starts_with(path))
        });
        let (home, temporary) = match folder {
            Some(folder) => (folder.home(), folder.temporary()),
            None if has_root => (system_tree::private_home(&real_home), "/tmp".into()),
            None => (real_home.clone(), "/tmp".into()),
        };
        if let Some(folder) = folder {
            let settings = system_tree::git_settings(policy, &workspace);
            folder.furnish(&settings, &real_home, &toolchains, &masked).map_err(SpawnError::PrivateFolder)?;
            writable.push(folder.path().to_owned());
        }
        let mut plan = Plan {
            unprotected: Vec::new(),
            files: FileView::default(),
            given_workspace: policy.workspace.clone(),
            isolation,
            mounts: Vec::new(),
            access: FileAccess::default(),
            environment: BTreeMap::new(),
            workspace,
        };
        let inner = {
            let open: Vec<_> =
                policy.writable_mounts.iter().filter_map(|path| plan.mountable(path)).collect();
            let bound: Vec<_> = writable.iter().chain(replaced.iter().map(|(_, target)| target)).collect();
            InnerMounts::find(&plan.workspace, &open, &bound)
        };
        let etc = settings.view(isolation, !policy.network.is_off());
        let visible: Vec<&PathBuf> = toolchains.iter().chain(&readable).chain(&writable).collect();
        let is_visible = |path: &Path| {
            let Ok(path) = canonicalize(path) else { return false };
            !has_root || system_tree::shows(&path) || visible.iter().any(|tree| path.starts_with(tree))
        };
        plan.environment = base_environment(user, &home, &temporary, is_visible);
        if !policy.network.is_off() {
            let is_visible = |path: &Path| is_visible(path) || etc.shows(path);
            plan.environment.extend(visible_certificates(certificates, is_visible));
        }
        let of_caches = kept_home.into_iter().flat_map(|kept_home| kept_home.variables(&home));
        plan.environment.extend(of_caches.map(|(name, folder)| (name.into(), folder.into_os_string())));
        plan.environment.extend(policy.environment.clone());
        if has_root {
            let trees = [toolchains.as_slice(), &readable].concat();
            plan.lay_out(policy, &home, (&etc, kept_home), &trees, (&writable, &replaced), &inner);
            let is_shown = |path: &Path| {
                system_tree::shows(path)
                    || trees.iter().any(|tree| path.starts_with(tree))
                    || tool_settings::is_always_shown(&real_home, path)
                    || kept_home.is_some_and(|kept_home| kept_home.covers(path))
            };
            for MaskedFile { path, contents } in &masked {
                let target = etc.mask_target(path).or_else(|| is_shown(path).then(|| path.clone()));
                let contents = contents.clone();
                plan.mounts.extend(target.map(|target| MountEntry::Mask { target, contents }));
            }
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
        plan.files = FileView {
            working_directory: plan.workspace.clone(),
            writable: [
                writable.as_slice(),
                &[home.clone(), temporary.clone(), "/var/tmp".into(), "/dev/shm".into()],
            ]
            .concat(),
            shared: [toolchains.as_slice(), &readable].concat(),
            obeyed: if has_root {
                policy.read_only.iter().map(|path| plan.rebase(path)).collect()
            } else {
                Vec::new()
            },
            pinned: if has_root {
                policy.pinned.iter().map(|path| plan.rebase(path)).collect()
            } else {
                Vec::new()
            },
            hidden: policy.hidden.iter().map(|path| plan.rebase(path)).collect(),
            // A workspace that is read-only has its own receipt.
            mounts: if has_root && may_change { inner.sealed } else { Vec::new() },
            around_mounts: if has_root && may_change { inner.around } else { BTreeSet::new() },
            unchanging: policy.is_workspace_read_only.then(|| plan.workspace.clone()),
        };
        plan.access = if has_root {
            // Only what is to be seen is there.
            writable.extend(replaced.into_iter().map(|(_, target)| target));
            let own = ["/tmp", "/var/tmp", "/dev", "/proc"].map(PathBuf::from);
            writable.extend(own.into_iter().chain([home.clone()]));
            // What lies on a layer is there only when the layer is, and so is what lies in a kept home.
            let comes_late = |path: &PathBuf| {
                policy.layer.is_some() && path.starts_with(&plan.workspace)
                    || kept_home.is_some() && path.starts_with(&home)
            };
            let (late_writable, writable) = writable.into_iter().partition(comes_late);
            let (listable, readable) = plan.readable_beside(&etc, readable);
            FileAccess { listable, readable, writable, late_writable, plain: Vec::new() }
        } else {
            writable.extend(system_tree::devices_to_open());
            let readable = system_tree::readable().chain(etc.rules()).chain(toolchains).chain(readable);
            FileAccess {
                listable: Vec::new(),
                readable: readable.flat_map(|path| tool_settings::without(path, &masked)).collect(),
                writable,
                late_writable: Vec::new(),
                plain: canonical(&policy.plain, policy, &plan.workspace)?,
            }
        };
        Ok(plan)
    }

    /// Makes the list of mounts: the system first, then every tree after the one that contains it.
    fn lay_out(
        &mut self,
        policy: &Policy,
        home: &Path,
        (etc, kept_home): (&EtcView, Option<&HomeLease>),
        readable: &[PathBuf],
        (writable, replaced): (&[PathBuf], &[(PathBuf, PathBuf)]),
        inner: &InnerMounts,
    ) {
        let limits = &policy.limits;
        self.mounts = system_tree::entries(policy, home, etc);
        // A file that the caller names is shown as it is; nothing can be mounted over a mask, which has no name any more.
        self.mounts
            .retain(|entry| !matches!(entry, MountEntry::Mask { target, .. } if readable.contains(target)));
        let tmpfs = |target: &Path, mode| MountEntry::Tmpfs {
            target: target.to_owned(),
            size_bytes: limits.temporary_bytes,
            mode,
        };
        let bind =
            |path: &PathBuf, access| MountEntry::Bind { source: path.clone(), target: path.clone(), access };
        let replacement = |(folder, target): &(PathBuf, PathBuf)| MountEntry::Bind {
            source: folder.clone(),
            target: target.clone(),
            access: Access::Writable,
        };
        // Of two entries for the same place the later one counts.
        let mut trees: BTreeMap<(usize, PathBuf), MountEntry> = BTreeMap::new();
        let homes = kept_home.map_or_else(|| vec![tmpfs(home, 0o700)], |kept_home| kept_home.entries(home));
        let entries = [tmpfs(Path::new("/tmp"), 0o1777), tmpfs(Path::new("/var/tmp"), 0o1777)]
            .into_iter()
            .chain(homes)
            .chain(readable.iter().map(|path| bind(path, Access::ReadOnly)))
            .chain(writable.iter().map(|path| bind(path, Access::Writable)))
            .chain(replaced.iter().map(replacement));
        for entry in entries {
            let target = entry.target().to_owned();
            trees.insert((target.components().count(), target), entry);
        }
        let layer = policy.layer.as_ref().map(|layer| self.layer_entry(layer, inner));
        // A layer hides what was mounted in the workspace before it.
        let lies_on_layer = |entry: &MountEntry| {
            layer.is_some() && entry.target() != self.workspace && entry.target().starts_with(&self.workspace)
        };
        let (after, before): (Vec<_>, Vec<_>) = trees.into_values().partition(lies_on_layer);
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
        self.mounts.extend(system_tree::home_files(policy, home, &self.workspace));
        for path in &policy.pinned {
            match self.mountable(path) {
                // A file that is only pinned could still be written; a `.git` file names the repository.
                Some(target) if target.is_file() => self.mounts.push(MountEntry::Protect { target }),
                Some(target) => self.mounts.push(MountEntry::Pin { target }),
                None => self.unprotected.push(path.clone()),
            }
        }
        for path in &policy.read_only {
            match self.mountable(path) {
                Some(target) => self.mounts.push(MountEntry::Protect { target }),
                None => self.unprotected.push(path.clone()),
            }
        }
        for path in &policy.hidden {
            match self.mountable(path) {
                Some(target) => self.mounts.push(MountEntry::Cover { target }),
                None => self.unprotected.push(path.clone()),
            }
        }
    }

    /// Returns the folders that may be listed and those that may be read, in a root of the command's own.
    ///
    /// Only what is to be seen is there, but for the closed entries of `/etc`: one rule for the whole root would open them.
    fn readable_beside(&self, etc: &EtcView, readable: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
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

    /// Returns the layer over the workspace, and what is seen through it.
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

    /// Returns where a mount can go for this path of the policy: nowhere if it does not exist or leads over a link.
    fn mountable(&self, path: &Path) -> Option<PathBuf> {
        let path = self.rebase(path);
        (canonicalize(&path).ok()? == path).then_some(path)
    }

    /// Moves a path below the workspace as the caller wrote it to below the workspace's canonical path.
    fn rebase(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.given_workspace) {
            // Joining nothing would add a slash at the end.
            Ok(rest) if rest.as_os_str().is_empty() => self.workspace.clone(),
            Ok(rest) => self.workspace.join(rest),
            Err(_) => path.to_owned(),
        }
    }

    /// Moves a path below the workspace's canonical path to where the caller has it.
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

/// Resolves paths that the user has named. A path beneath the workspace must stay there: what works in the workspace could
/// put a link in its place, and would be given the folder that the link leads to.
fn canonical(paths: &[PathBuf], policy: &Policy, workspace: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    let resolve = |path: &PathBuf| {
        let canonical = canonicalize(path).map_err(|_| missing(path))?;
        let is_named_beneath = path.starts_with(&policy.workspace) || path.starts_with(workspace);
        if is_named_beneath && !canonical.starts_with(workspace) {
            return Err(PolicyError::LeadsOut);
        }
        Ok(canonical)
    };
    paths.iter().map(resolve).collect()
}

fn replaced(folders: &[(PathBuf, PathBuf)]) -> Result<Vec<(PathBuf, PathBuf)>, PolicyError> {
    let resolve = |path: &PathBuf| canonicalize(path).map_err(|_| missing(path));
    folders.iter().map(|(folder, target)| Ok((resolve(folder)?, resolve(target)?))).collect()
}

fn missing(path: &Path) -> PolicyError {
    PolicyError::MissingPath { name: path.file_name().unwrap_or_default().to_string_lossy().into_owned() }
}
