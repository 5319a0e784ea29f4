//! A workspace next to a folder to protect.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(crate) const CANARY: &str = "CANARY";

/// A folder with `workspace`, and next to it `outside` with a secret.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        let sandbox = Sandbox { folder };
        fs::create_dir(sandbox.workspace()).unwrap();
        fs::create_dir_all(sandbox.outside().join("sub")).unwrap();
        fs::write(sandbox.outside().join("secret.txt"), CANARY).unwrap();
        fs::create_dir(sandbox.top().join("workspace-evil")).unwrap();
        fs::write(sandbox.top().join("workspace-evil/secret.txt"), CANARY).unwrap();
        sandbox
    }

    pub(crate) fn top(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.top().join("workspace")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.top().join("outside")
    }

    /// Returns a path below the workspace, for set-ups and checks.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.workspace().join(path)
    }

    /// Returns every path in the folders next to the workspace, with the content of files, for a comparison.
    pub(crate) fn outside_snapshot(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut paths = Vec::new();
        for folder in ["outside", "workspace-evil"] {
            snapshot(&self.top().join(folder), &mut paths);
        }
        paths.sort();
        paths
    }

    /// Returns every temporary file of this crate that was left in the workspace.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        temporary_files(&self.workspace(), 0, &mut files);
        files
    }
}

/// Collects temporary files, as deep as this crate's paths reach.
fn temporary_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(Result::unwrap) {
        if entry.file_name().to_string_lossy().starts_with(".agentd-tmp-") {
            files.push(entry.path());
        }
        if entry.file_type().unwrap().is_dir() && depth < rel_path::MAX_COMPONENTS {
            temporary_files(&entry.path(), depth + 1, files);
        }
    }
}

fn snapshot(folder: &Path, paths: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            snapshot(&path, paths);
        }
        let content =
            kind.is_file().then(|| fs::read(&path).unwrap_or_default()).filter(|bytes| bytes.len() < 1 << 20);
        paths.push((path, content));
    }
}
