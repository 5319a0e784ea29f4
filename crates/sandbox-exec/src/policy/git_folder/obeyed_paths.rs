//! The paths in a folder that git obeys because its settings name them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::left_out::LeftOut;
use super::repositories::Repositories;
use super::settings_reader::SettingsReader;
use super::way_links::WayLinks;

/// The way in which git obeys a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObeyedAs {
    /// It takes settings from the file.
    Settings,
    /// It runs what is in the folder, as hooks.
    Hooks,
    /// It runs the file as a hook, to which a link in a folder of hooks leads.
    Hook,
    /// It runs the file.
    Program,
    /// It looks in the folder for programs that it runs by name, and so do shells.
    Programs,
    /// It passes the file or folder to a program that it runs.
    Argument,
    /// It takes attributes from the file, which select among the programs that settings name.
    Attributes,
}

/// A path in a folder that git obeys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObeyedPath {
    /// Relative to the folder, without links and `..`; empty for the folder itself.
    pub path: PathBuf,
    /// The way in which git obeys it.
    pub obeyed_as: ObeyedAs,
    /// True if the path applies in every repository of the user, and so inside every folder.
    pub is_in_every_repository: bool,
    /// The name of the setting, such as `core.hooksPath`, without its subsection; or a description for paths that no setting
    /// names.
    pub setting: String,
}

/// The paths in one folder that git's settings name, at one point in time.
#[derive(Clone, Debug)]
pub struct ObeyedPaths {
    /// The paths, in their order.
    pub paths: Vec<ObeyedPath>,
    /// The reasons that paths may be missing; empty if all settings were read. Otherwise git may obey any path.
    pub left_out: Vec<LeftOut>,
    /// The settings files, including missing ones, and the folders that were listed.
    files: Vec<(PathBuf, Option<Stamp>)>,
    /// The links on the way to the paths that settings name.
    ways: WayLinks,
}

/// Identifies a file's state: device, inode, size, modification and status change times.
pub(super) type Stamp = (u64, u64, u64, (i64, i64), (i64, i64));

impl ObeyedPaths {
    /// Reads the settings of the user, of the machine, of variables, of the repositories that contain `folder` and of their
    /// submodules and linked working trees, with all included files, under any condition.
    ///
    /// A command can add submodules and working trees, so the user's settings are applied to the repositories around the
    /// folder first; beyond the limit, their paths in the others count at any depth.
    ///
    /// `folder` is canonical; `home` is absolute; `variable` returns a variable of the user's environment. Settings of other
    /// repositories further down are not read.
    pub fn find(folder: &Path, home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> ObeyedPaths {
        let repositories = Repositories::find(folder);
        let sources = repositories.sources.iter().map(|path| (path.clone(), stamp(path))).collect();
        let mut reader = SettingsReader::new(folder, &repositories, home, &variable, sources);
        reader.read_own();
        reader.read_others();
        let outcome = reader.finish();
        ObeyedPaths {
            paths: outcome.paths,
            left_out: outcome.left_out.into_iter().collect(),
            files: outcome.files,
            ways: outcome.ways,
        }
    }

    /// Checks that no settings file has changed since, and no link on the way to the named paths. Costs one `stat` each, and
    /// reads no contents.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.files.iter().all(|(file, then)| stamp(file) == *then) && self.ways.are_unchanged()
    }
}

/// Returns the stamp of a file or folder; `None` if it does not exist.
pub(super) fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(file).ok()?;
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    Some((metadata.dev(), metadata.ino(), metadata.len(), modified, changed))
}

#[cfg(test)]
mod tests;
