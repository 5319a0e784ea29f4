//! Overlays on folders for a whole process, rather than for one command.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{DumpableBehavior, getegid, geteuid, set_dumpable_behavior};

use crate::child::confine;
use crate::init::layer_mount::{self, LayerMount, mounts_inside};
use crate::init::map_ids;
use crate::init::new_root::{attach, copy_tree, open_outside};
use crate::init::step::{AtStep, Step, StepError};
use crate::sys::{self, MountAttributes, set_mount_attributes};

/// One process's private view of files: layers over some folders, and folders that replace others.
///
/// A program that runs as a trial enters the view at its start. Its changes in a covered folder go to the layer, unseen
/// by other processes, and the view ends with the process and its descendants. This confines nothing; commands that the
/// process runs in a sandbox see the same files as the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessOverlays {
    /// Layers over folders, in mount order: a folder inside another one comes after it.
    pub layers: Vec<LayerMount>,
    /// Folders, each with the folder that it replaces. They are mounted after the layers.
    pub replaced: Vec<(PathBuf, PathBuf)>,
}

impl ProcessOverlays {
    /// Puts layers over folders and replaces others.
    pub fn new(layers: Vec<LayerMount>, replaced: Vec<(PathBuf, PathBuf)>) -> ProcessOverlays {
        ProcessOverlays { layers, replaced }
    }

    /// Covers the folders for the calling process, which must be single-threaded, and for its later children. Its working
    /// directory stays uncovered.
    ///
    /// Mounts inside a covered folder are shown read-only.
    ///
    /// # Errors
    ///
    /// The step that failed. The process may then see some folders covered and others not: it should end.
    pub fn enter(&self) -> Result<(), StepError> {
        let ids = (geteuid().as_raw(), getegid().as_raw());
        let is_own_namespace = match sys::unshare(libc::CLONE_NEWNS) {
            Err(Errno::PERM) => {
                sys::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).at(Step::Clone)?;
                // The process's own id files belong to root while it is not dumpable.
                set_dumpable_behavior(DumpableBehavior::Dumpable).at(Step::IdMaps)?;
                map_ids(ids).at(Step::IdMaps)?;
                true
            }
            unshared => unshared.at(Step::Clone).map(|()| false)?,
        };
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
            .at(Step::PrivateMounts)?;
        // Opened before anything covers them: a layer cannot be mounted over or in another layer.
        let mut trees = Vec::new();
        for layer in &self.layers {
            take(layer, &mut trees).at(Step::Layer)?;
        }
        for (source, target) in &self.replaced {
            let tree = open_outside(source).and_then(|source| copy_tree(&source)).at(Step::Bind)?;
            trees.push((target.clone(), tree));
        }
        for (target, tree) in trees {
            // By now the target may be on another of the layers.
            let mount_point = open_outside(&target).at(Step::Bind)?;
            attach(&tree, &mount_point, Path::new("")).at(Step::Bind)?;
        }
        if is_own_namespace {
            // The mounts are made; children must not gain the other rights of the namespace.
            confine::limit_capabilities().at(Step::Capabilities)?;
            confine::drop_capabilities().at(Step::Capabilities)?;
        }
        Ok(())
    }
}

/// Collects the trees to mount over a folder and over paths in it.
fn take(layer: &LayerMount, trees: &mut Vec<(PathBuf, OwnedFd)>) -> rustix::io::Result<()> {
    let folders = [&layer.lower, &layer.upper, &layer.work].map(|folder| open_outside(folder));
    let [lower, upper, work] = folders;
    trees.push((layer.lower.clone(), layer_mount::mount(&lower?, &upper?, &work?)?));
    for path in mounts_inside(&layer.lower) {
        let tree = copy_tree(&open_outside(&path)?)?;
        set_mount_attributes(&tree, MountAttributes::READ_ONLY, true)?;
        trees.push((path, tree));
    }
    for folder in &layer.uncovered {
        match open_outside(folder) {
            Err(Errno::NOENT) => {}
            opened => trees.push((folder.clone(), copy_tree(&opened?)?)),
        }
    }
    Ok(())
}
