//! The kept home of commands: its folders, the lock on it, and the layers over the user's caches.
//!
//! A kept home is a folder with `home`, which commands see as their home, and `caches`, which holds the upper folder of
//! the layer over each of the user's caches. The folder is locked while a command changes it; a command that finds it
//! locked sees the same through layers of its own, which are discarded.

mod arrangement;
mod furnishing;
pub(crate) mod host_caches;
mod obeyed_settings;
pub(crate) mod removal;
mod size;
mod store;

pub(crate) use arrangement::{Arranged, arrange};
pub use store::{HomeSize, KeptHomes};

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::launcher::private_folder::{FolderLock, PrivateFolder, lock};
use crate::policy::kept_home::KeptHome;

/// The names in a kept home's folder.
const HOME: &str = "home";
const CACHES: &str = "caches";
/// Holds the folders of commands that found the home locked.
const PASSING: &str = "passing";
/// Holds what is being removed.
const TRASH: &str = "trash";
/// Holds the path of the workspace, to find out whether it still exists.
const WORKSPACE: &str = "workspace";

/// The right to change a kept home, or a discarded layer over it, while one command runs.
#[derive(Debug)]
pub(crate) struct HomeLease {
    /// The folder that holds what the command changes.
    own: PathBuf,
    /// Folders of the homes that show through it, the topmost first.
    lower: Vec<PathBuf>,
    /// The user's home, and the visible caches in it, relative to it.
    real_home: PathBuf,
    caches: Vec<PathBuf>,
    limit_bytes: u64,
    /// Present if `own` is the kept home itself.
    lock: Option<FolderLock>,
    /// Present if `own` is discarded.
    passing: Option<PrivateFolder>,
}

impl HomeLease {
    /// Acquires the home for a command on this workspace; makes missing folders.
    pub(crate) fn take(kept: &KeptHome, real_home: &Path, workspace: &Path) -> io::Result<HomeLease> {
        make_private(&kept.folder)?;
        let folder = fs::canonicalize(&kept.folder)?;
        let mut lower: Vec<PathBuf> = Vec::new();
        if let Some(over) = &kept.over {
            lower.extend(fs::canonicalize(over).ok().filter(|over| over.join(HOME).is_dir()));
        }
        let lock = if kept.is_discarded { None } else { lock(&folder)? };
        let (own, passing) = if lock.is_some() {
            (folder, None)
        } else {
            let parent = folder.join(PASSING);
            make_private(&parent)?;
            let passing = PrivateFolder::create(&parent, HOME)?;
            let own = passing.path().to_owned();
            // The command that holds the lock may not have made it yet.
            make_private(&folder.join(HOME))?;
            lower.insert(0, folder);
            (own, Some(passing))
        };
        let caches = host_caches::find(real_home);
        let limit_bytes = kept.limit_bytes;
        let real_home = real_home.to_owned();
        let lease = HomeLease { own, lower, real_home, caches, limit_bytes, lock, passing };
        lease.prepare(workspace)?;
        Ok(lease)
    }

    /// Makes the folders of the home and of its layers.
    fn prepare(&self, workspace: &Path) -> io::Result<()> {
        if self.lock.is_some() {
            store::remove_leftovers(&self.own);
            // A failure for lack of space is harmless: room is made below.
            let _ = store::note_workspace(&self.own, workspace);
            store::enforce_limit(&self.own, self.limit_bytes);
        }
        make_private(&self.own.join(HOME))?;
        if self.is_layered() {
            self.renew_work(&self.home_layer())?;
        }
        for cache in &self.caches {
            let layer = self.cache_layer(cache);
            if host_caches::is_discarded(cache) {
                removal::remove_tree(&layer.join(UPPER))?;
            }
            make_private(&layer.join(UPPER))?;
            self.renew_work(&layer)?;
        }
        Ok(())
    }

    /// Recreates a layer's work folder: the kernel accepts only an unused one.
    fn renew_work(&self, layer: &Path) -> io::Result<()> {
        let work = layer.join(WORK);
        removal::remove_tree(&work)?;
        make_private(&work)
    }

    /// Checks whether the home itself is a layer over another one.
    fn is_layered(&self) -> bool {
        !self.lower.is_empty()
    }

    /// The folder of the home's own layer, whose upper folder is the home.
    fn home_layer(&self) -> PathBuf {
        self.own.join("layer")
    }

    fn cache_layer(&self, cache: &Path) -> PathBuf {
        self.own.join(CACHES).join(layer_name(cache))
    }

    /// Returns the variables that name caches, with their folders in a home.
    pub(crate) fn variables(&self, home: &Path) -> impl Iterator<Item = (&'static str, PathBuf)> {
        self.caches.iter().filter_map(move |cache| Some((host_caches::variable(cache)?, home.join(cache))))
    }

    /// Drops the caches that `is_shared` holds for: the policy shares these on purpose, without a layer.
    pub(crate) fn without_caches(&mut self, is_shared: impl Fn(&Path) -> bool) {
        let real_home = self.real_home.clone();
        self.caches.retain(|cache| !is_shared(&real_home.join(cache)));
    }

    /// Checks whether a path of the user's home is in a cache, which commands see through a layer.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        let name = path.strip_prefix(&self.real_home);
        name.is_ok_and(|name| self.caches.iter().any(|cache| name.starts_with(cache)))
    }

    /// Checks whether one of these folders exposes the home at a second path, where commands could change files under a
    /// layer; returns the reason.
    pub(crate) fn reachable_in<'a>(
        &self,
        mut folders: impl Iterator<Item = &'a PathBuf>,
        hidden: &[PathBuf],
    ) -> Option<io::Error> {
        let is_hidden = |own: &&PathBuf| hidden.iter().any(|hidden| own.starts_with(hidden));
        let own = [&self.own].into_iter().chain(&self.lower).filter(|own| !is_hidden(own));
        let own: Vec<&PathBuf> = own.collect();
        let shows = |folder: &PathBuf| own.iter().any(|own| own.starts_with(folder));
        let why = "it is in a folder that commands are given";
        folders.any(shows).then(|| io::Error::new(io::ErrorKind::PermissionDenied, why))
    }
}

impl Drop for HomeLease {
    fn drop(&mut self) {
        if let Some(passing) = &self.passing {
            // Leftovers are removed when the home is next acquired.
            let _ = removal::remove_tree(passing.path());
        }
        if self.lock.is_some() {
            furnishing::remove_settings(&self.own.join(HOME), &self.own.join(TRASH));
            for cache in &self.caches {
                // The kernel leaves a folder without permissions, which other programs could not remove.
                let _ = removal::remove_tree(&self.cache_layer(cache).join(WORK));
            }
            let _ = removal::remove_tree(&self.home_layer());
            store::measure_if_due(&self.own, self.limit_bytes);
        }
    }
}

const UPPER: &str = "upper";
const WORK: &str = "work";

/// Returns a cache's name in the folder of layers.
fn layer_name(cache: &Path) -> String {
    String::from_utf8_lossy(cache.as_os_str().as_bytes()).replace('/', "+")
}

/// Makes a folder that only the user can enter, and its parents; an existing folder stays unchanged.
fn make_private(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
        Err(_) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
    }
}
