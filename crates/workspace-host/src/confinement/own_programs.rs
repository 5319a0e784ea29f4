//! Programs that this process starts for itself, such as those of the clipboard, outside of all confinement.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::options::HostOptions;
use crate::state::STATE_FOLDER;

/// Finds such programs in the folders of `PATH` that no model can write to. `PATH` may contain folders of the
/// workspace, such as `.venv/bin`, where a command could put a program under any name.
#[derive(Clone, Debug)]
pub struct OwnPrograms {
    folders: Vec<PathBuf>,
    writable: Vec<PathBuf>,
}

impl OwnPrograms {
    /// Uses the folders of this process's `PATH` outside of the workspace, the state folder, folders that commands may
    /// change, and any other workspace with its state folder inside.
    #[must_use]
    pub fn of(options: &HostOptions) -> OwnPrograms {
        OwnPrograms::on(&std::env::var_os("PATH").unwrap_or_default(), options)
    }

    fn on(path: &OsStr, options: &HostOptions) -> OwnPrograms {
        let given = [&options.workspace].into_iter().chain(&options.base).chain(&options.caches);
        let writable =
            given.flat_map(|folder| [fs::canonicalize(folder).ok(), std::path::absolute(folder).ok()]);
        let mut programs = OwnPrograms { folders: Vec::new(), writable: writable.flatten().collect() };
        // A relative one depends on the current folder, which may be the workspace.
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        programs.folders = folders.filter(|folder| !programs.leads_into_writable(folder)).collect();
        programs
    }

    /// Uses them for a command without a workspace, as if in the current folder.
    #[must_use]
    pub fn of_no_workspace() -> OwnPrograms {
        OwnPrograms::of(&HostOptions::new("."))
    }

    /// Returns the folders, in the form of `PATH`, in which no symlink points to a program that a model can write to.
    #[must_use]
    pub fn search_path(&self) -> OsString {
        let folders = self.folders.iter().filter(|folder| !self.has_link_into_writable(folder));
        // They come from `PATH`, so none contains a colon.
        std::env::join_paths(folders).unwrap_or_default()
    }

    /// Returns the path of a program; `None` if there is none that no model can write.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            let runs = |data: fs::Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
            path.metadata().is_ok_and(runs) && !self.leads_into_writable(path)
        };
        self.folders.iter().map(|folder| folder.join(name)).find(is_program)
    }

    fn has_link_into_writable(&self, folder: &Path) -> bool {
        let Ok(entries) = fs::read_dir(folder) else { return false };
        let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
        entries.flatten().filter(is_link).any(|entry| self.leads_into_writable(&entry.path()))
    }

    fn leads_into_writable(&self, path: &Path) -> bool {
        let real = fs::canonicalize(path).ok();
        let paths = || [Some(path), real.as_deref()].into_iter().flatten();
        let leads = |folder: &PathBuf| paths().any(|path| path.starts_with(folder));
        // Folders of other users do not count: any user can make such a folder in `/tmp`.
        let user = rustix::process::geteuid().as_raw();
        let is_own = |data: fs::Metadata| data.is_dir() && data.uid() == user;
        let is_workspace = |folder: &Path| folder.join(STATE_FOLDER).symlink_metadata().is_ok_and(is_own);
        self.writable.iter().any(leads) || paths().any(|path| path.ancestors().any(is_workspace))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_that_a_model_could_write_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("other/.agentd")).unwrap();
        let programs =
            ["work/.venv/bin/tool", "cache/bin/tool", "other/bin/tool", "usr/bin/tool", "usr/bin/data"];
        for path in programs {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), "").unwrap();
            let mode = if path.ends_with("data") { 0o644 } else { 0o755 };
            fs::set_permissions(at(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(at("links")).unwrap();
        symlink(at("work/.venv/bin/tool"), at("links/tool")).unwrap();
        symlink(at("work/.venv"), at("venv")).unwrap();
        let options = HostOptions { caches: vec![at("cache")], ..HostOptions::new(at("work")) };
        let find = |folders: &[&str], name: &str| {
            let path = std::env::join_paths(folders.iter().map(|folder| at(folder))).unwrap();
            OwnPrograms::on(&path, &options).find(name)
        };
        let unsafe_folders = ["work/.venv/bin", "venv/bin", "cache/bin", "other/bin", "links"];
        for folder in unsafe_folders {
            assert_eq!(find(&[folder], "tool"), None, "{folder}");
            assert_eq!(find(&[folder, "usr/bin"], "tool"), Some(at("usr/bin/tool")), "the control: {folder}");
        }
        assert_eq!(find(&["usr/bin"], "data"), None, "it is not a program");
        assert_eq!(OwnPrograms::on(OsStr::new(".:bin:"), &options).find("tool"), None);
        let path = std::env::join_paths([at("work/.venv/bin"), at("links"), at("usr/bin")]).unwrap();
        assert_eq!(OwnPrograms::on(&path, &options).search_path(), at("usr/bin"));
    }
}
