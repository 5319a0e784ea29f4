//! The folders and files of the host that a command is given.

use std::path::{Path, PathBuf};

use crate::launcher::SpawnError;
use crate::launcher::canonical::canonicalize;
use crate::launcher::home::HomeLease;
use crate::launcher::plan::policy_check::PolicyError;
use crate::launcher::tool_settings::{self, MaskedFile};
use crate::launcher::toolchains;
use crate::policy::Policy;

/// The folders and files of the host that a command is given, in addition to those of the system. All paths are canonical.
pub(super) struct SharedTrees {
    pub(super) readable: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
    /// Folders, each with the path over which it is mounted.
    pub(super) replaced: Vec<(PathBuf, PathBuf)>,
    /// The user's own compilers and interpreters, which are read-only.
    pub(super) toolchains: Vec<PathBuf>,
    /// Settings of tools that are shown without their secrets.
    pub(super) masked: Vec<MaskedFile>,
}

impl SharedTrees {
    /// Finds the policy's trees, including the workspace, and the user's tools. `settings` holds the settings of tools.
    pub(super) fn of(
        policy: &Policy,
        workspace: &Path,
        real_home: &Path,
        settings: &Path,
    ) -> Result<SharedTrees, PolicyError> {
        let mut readable = canonical(&policy.readable, policy, workspace)?;
        let mut writable = canonical(&policy.writable, policy, workspace)?;
        if policy.is_workspace_read_only { &mut readable } else { &mut writable }.push(workspace.to_owned());
        let mut masked = tool_settings::masked(real_home, settings);
        // A file that the policy shares on purpose is not masked.
        masked.retain(|file| {
            !readable.contains(&file.path) && !writable.iter().any(|path| file.path.starts_with(path))
        });
        Ok(SharedTrees {
            replaced: replaced(&policy.replaced)?,
            toolchains: toolchains::find(real_home),
            readable,
            writable,
            masked,
        })
    }

    /// Drops the trees that a kept home provides itself.
    pub(super) fn without_those_of(
        &mut self,
        kept_home: &mut HomeLease,
        policy: &Policy,
    ) -> Result<(), SpawnError> {
        let hidden: Vec<PathBuf> = policy.hidden.iter().filter_map(|path| canonicalize(path).ok()).collect();
        kept_home.without_caches(|cache| self.writable.iter().any(|path| cache.starts_with(path)));
        if let Some(why) = kept_home.reachable_in(self.readable.iter().chain(&self.writable), &hidden) {
            return Err(SpawnError::KeptHome(why));
        }
        self.toolchains.retain(|toolchain| !kept_home.covers(toolchain));
        Ok(())
    }

    /// Returns the read-only trees: tools before the policy's.
    pub(super) fn read_only(&self) -> Vec<PathBuf> {
        [self.toolchains.as_slice(), &self.readable].concat()
    }

    /// Checks whether a canonical path is in one of the trees.
    pub(super) fn hold(&self, path: &Path) -> bool {
        let mut trees = self.toolchains.iter().chain(&self.readable).chain(&self.writable);
        trees.any(|tree| path.starts_with(tree))
    }
}

/// Resolves paths that the user has named. A path inside the workspace must stay there: otherwise a command in the
/// workspace could replace it with a link, and would be given the link's target.
pub(super) fn canonical(
    paths: &[PathBuf],
    policy: &Policy,
    workspace: &Path,
) -> Result<Vec<PathBuf>, PolicyError> {
    let resolve = |path: &PathBuf| {
        let canonical = canonicalize(path).map_err(|_| missing(path))?;
        let is_named_inside = path.starts_with(&policy.workspace) || path.starts_with(workspace);
        if is_named_inside && !canonical.starts_with(workspace) {
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
