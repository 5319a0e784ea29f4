//! Creating folders.

use std::os::fd::OwnedFd;

use rel_path::RelPath;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::error::FsError;
use crate::handle::{self, FOLDER_PATH};
use crate::resolve::Last;
use crate::root::FileRoot;

/// The missing folders of a path.
struct Missing {
    /// The canonical path of the deepest folder that exists.
    existing: RelPath,
    /// The names below it, outermost first.
    names: Vec<Vec<u8>>,
    /// Their canonical paths.
    paths: Vec<RelPath>,
}

impl FileRoot {
    /// Creates the folder `path` and the missing folders above it. Returns the canonical paths of the folders
    /// that it created, outermost first.
    ///
    /// # Errors
    ///
    /// [`FsError::IsLink`] if the path goes through a link, [`FsError::NotAFolder`] if it goes through a file.
    /// Names and protection are checked before the first folder is created. After a failure the new folders are
    /// removed.
    pub fn create_dirs(&self, path: &RelPath) -> Result<Vec<RelPath>, FsError> {
        let Missing { existing, names: missing, paths } = self.check_missing(path)?;
        let mut folder = self.resolver.open_exact(&existing, FOLDER_PATH).map_err(|errno| match errno {
            // The folder existed when the path was split.
            Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::AGAIN => FsError::Busy { path: path.clone() },
            other => FsError::from_errno(other, &existing),
        })?;
        let mut made: Vec<(OwnedFd, &[u8], RelPath)> = Vec::new();
        for (name, path) in missing.iter().zip(paths) {
            match make_folder(&folder, name) {
                Ok((inner, created)) => {
                    let outer = std::mem::replace(&mut folder, inner);
                    if created {
                        made.push((outer, name, path));
                    }
                }
                Err(errno) => {
                    for (outer, name, _) in made.iter().rev() {
                        // A folder that another program has used meanwhile is not empty, so it and those above it
                        // stay.
                        let _ = rustix::fs::unlinkat(outer, *name, AtFlags::REMOVEDIR);
                    }
                    return Err(creation_error(errno, &path));
                }
            }
        }
        Ok(made.into_iter().map(|(_, _, path)| path).collect())
    }

    /// Returns the canonical paths of the folders that [`FileRoot::create_dirs`] would create, outermost first,
    /// after the same checks.
    pub(crate) fn missing_folders(&self, path: &RelPath) -> Result<Vec<RelPath>, FsError> {
        self.check_missing(path).map(|missing| missing.paths)
    }

    fn check_missing(&self, path: &RelPath) -> Result<Missing, FsError> {
        self.check_writable(path)?;
        if !path.has_parent_steps() {
            self.check_protected(path)?;
        }
        let (existing, missing) = self.split_existing(path)?;
        let mut paths = Vec::with_capacity(missing.len());
        let mut whole = existing.clone();
        for name in &missing {
            whole = whole.child(name)?;
            self.check_new_name(&whole, name)?;
            paths.push(whole.clone());
        }
        // Once for the whole path: an entry may protect a path by any of its components.
        self.check_protected(&whole)?;
        Ok(Missing { existing, names: missing, paths })
    }

    /// Splits `path` into the canonical path of its deepest existing folder and the names below that are missing.
    fn split_existing(&self, path: &RelPath) -> Result<(RelPath, Vec<Vec<u8>>), FsError> {
        let mut prefix = path.clone();
        let mut missing = Vec::new();
        // Each round removes one component, and the root itself exists.
        loop {
            let missing_folder = match self.resolver.resolve(&prefix, Last::Folder, self.policy.links) {
                Ok(resolved) if resolved.through_link => {
                    let target =
                        missing.iter().rev().try_fold(resolved.path, |path, name: &Vec<u8>| path.child(name));
                    return Err(FsError::IsLink { path: path.clone(), target: target.ok() });
                }
                Ok(resolved) if resolved.exists => {
                    // The name may be a link without a target, which resolving reports as missing.
                    if let Some(outermost) = missing.last() {
                        self.check_no_link(&resolved.path.child(outermost)?)?;
                    }
                    missing.reverse();
                    return Ok((resolved.path, missing));
                }
                Ok(resolved) => resolved.path,
                Err(FsError::ParentMissing { folder }) => folder,
                Err(error) => return Err(error),
            };
            // `..` from a folder that does not exist means nothing.
            let name = prefix.file_name().ok_or(FsError::ParentMissing { folder: missing_folder })?;
            missing.push(name.to_vec());
            prefix = prefix.parent().expect("a path with a last component has a parent");
        }
    }

    /// Refuses a dangling link: resolving reports a missing folder, but the name is taken.
    fn check_no_link(&self, canonical: &RelPath) -> Result<(), FsError> {
        match self.link_target(canonical) {
            Ok(Some(_)) => Err(FsError::IsLink { path: canonical.clone(), target: None }),
            Ok(None) | Err(FsError::NotFound { .. } | FsError::ParentMissing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Creates and opens one folder; returns true with it if this call created it.
fn make_folder(outer: &OwnedFd, name: &[u8]) -> Result<(OwnedFd, bool), Errno> {
    let created = match rustix::fs::mkdirat(outer, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => true,
        // Another program has made it meanwhile; the open below refuses anything but a folder.
        Err(Errno::EXIST) => false,
        Err(other) => return Err(other),
    };
    match handle::open_at(outer, name, FOLDER_PATH) {
        Ok(inner) => Ok((inner, created)),
        Err(errno) => {
            if created {
                let _ = rustix::fs::unlinkat(outer, name, AtFlags::REMOVEDIR);
            }
            Err(errno)
        }
    }
}

fn creation_error(errno: Errno, path: &RelPath) -> FsError {
    match errno {
        Errno::NOENT => FsError::ParentMissing { folder: path.parent().unwrap_or_default() },
        Errno::LOOP => FsError::IsLink { path: path.clone(), target: None },
        other => FsError::from_errno(other, path),
    }
}
