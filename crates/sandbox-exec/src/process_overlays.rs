//! Overlays on folders for a whole process, rather than for one of its commands.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{DumpableBehavior, getegid, geteuid, set_dumpable_behavior};

use crate::child::confine;
use crate::init::layer_mount::{self, LayerMount, mounts_beneath};
use crate::init::map_ids;
use crate::init::new_root::{attach, copy_tree, open_outside};
use crate::init::step::{AtStep, Step, StepError};
use crate::sys::{self, MountAttributes, set_mount_attributes};

/// The view of files that one process has to itself: layers over some folders, and folders that replace others.
///
/// A program that is to be tried out enters it at its very beginning. What it then changes in a covered folder goes to
/// the layer, other processes do not see it, and the view ends with the process and all that it has started.
/// Nothing is confined by this; commands that the process runs in a sandbox see what the process sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessOverlays {
    /// Layers over folders, in the order in which they are put there: a folder within another one comes after it.
    pub layers: Vec<LayerMount>,
    /// Folders, each with the folder in whose place it is seen. They come after the layers.
    pub replaced: Vec<(PathBuf, PathBuf)>,
}

impl ProcessOverlays {
    /// Puts layers over folders and replaces others.
    pub fn new(layers: Vec<LayerMount>, replaced: Vec<(PathBuf, PathBuf)>) -> ProcessOverlays {
        ProcessOverlays { layers, replaced }
    }

    /// Covers the folders for the calling process and all that it starts from now on. It must have one thread only. Its
    /// working directory stays the uncovered one.
    ///
    /// What is mounted within a covered folder is shown as it is, to read only.
    ///
    /// # Errors
    ///
    /// The step that failed. The process may then see some folders covered and others not: it should end.
    pub fn enter(&self) -> Result<(), StepError> {
        let ids = (geteuid().as_raw(), getegid().as_raw());
        let is_own_namespace = match sys::unshare(libc::CLONE_NEWNS) {
            Err(Errno::PERM) => {
                sys::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).at(Step::Clone)?;
                // Its own id files belong to root while it cannot be dumped.
                set_dumpable_behavior(DumpableBehavior::Dumpable).at(Step::IdMaps)?;
                map_ids(ids).at(Step::IdMaps)?;
                true
            }
            unshared => unshared.at(Step::Clone).map(|()| false)?,
        };
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
            .at(Step::PrivateMounts)?;
        // Taken before anything lies over them: a layer over a layer, or in one, is not to be had.
        let mut trees = Vec::new();
        for layer in &self.layers {
            take(layer, &mut trees).at(Step::Layer)?;
        }
        for (source, target) in &self.replaced {
            let tree = open_outside(source).and_then(|source| copy_tree(&source)).at(Step::Bind)?;
            trees.push((target.clone(), tree));
        }
        for (target, tree) in trees {
            // By now this may be a place on another one of them.
            let mount_point = open_outside(&target).at(Step::Bind)?;
            attach(&tree, &mount_point, Path::new("")).at(Step::Bind)?;
        }
        if is_own_namespace {
            // Its mounts are made. The other rights of its namespace are of no use to another process.
            confine::limit_capabilities().at(Step::Capabilities)?;
            confine::drop_capabilities().at(Step::Capabilities)?;
        }
        Ok(())
    }
}

/// Takes what is to lie over a folder, and over places in it.
fn take(layer: &LayerMount, trees: &mut Vec<(PathBuf, OwnedFd)>) -> rustix::io::Result<()> {
    let folders = [&layer.lower, &layer.upper, &layer.work].map(|folder| open_outside(folder));
    let [lower, upper, work] = folders;
    trees.push((layer.lower.clone(), layer_mount::mount(&lower?, &upper?, &work?)?));
    for path in mounts_beneath(&layer.lower) {
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
