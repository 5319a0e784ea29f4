//! Mounts of the host inside the workspace. No layer catches what a command writes there, and no comparison enters them,
//! so hooks, tasks and settings that a command writes would stay: commands can only read them, except in build folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::init::layer_mount::mounts_inside;

/// The mounts inside a workspace, by their canonical paths.
#[derive(Debug)]
pub(crate) struct InnerMounts {
    /// All of them.
    pub(crate) all: Vec<PathBuf>,
    /// Those that stay writable, because they are build folders or are inside one.
    pub(crate) writable: Vec<PathBuf>,
    /// Those that a command can only read.
    pub(crate) sealed: Vec<PathBuf>,
    /// The folders between the workspace and a mount, parents first. By renaming one, a command would move the mounts in it:
    /// a build folder with writable hooks into a repository, where no comparison enters them, or a read-only mount into a
    /// build folder, where the next command may write to it.
    pub(crate) around: BTreeSet<PathBuf>,
}

impl InnerMounts {
    /// Finds the mounts. They are writable inside `open` folders, and inside folders that are bound separately.
    pub(crate) fn find(workspace: &Path, open: &[PathBuf], bound: &[&PathBuf]) -> InnerMounts {
        let all = mounts_inside(workspace);
        let lies_in = |path: &PathBuf, folder: &Path| {
            folder.starts_with(workspace) && folder != workspace && path.starts_with(folder)
        };
        let (writable, others): (Vec<_>, Vec<_>) =
            all.iter().cloned().partition(|path| open.iter().any(|folder| lies_in(path, folder)));
        let is_sealed = |path: &PathBuf| !bound.iter().any(|folder| lies_in(path, folder));
        let sealed = others.into_iter().filter(is_sealed).collect();
        let above = |path: &PathBuf| {
            let folders = path.ancestors().skip(1).take_while(|folder| *folder != workspace);
            folders.map(Path::to_owned).collect::<Vec<_>>()
        };
        let around = all.iter().flat_map(above).filter(|folder| !all.contains(folder)).collect();
        InnerMounts { all, writable, sealed, around }
    }
}
