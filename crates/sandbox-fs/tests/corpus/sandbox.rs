//! A workspace with something to protect beside it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(crate) const CANARY: &str = "CANARY";

/// `workspace`, and beside it `outside` with a secret.
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

    /// A path beneath the workspace, for setting things up.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.workspace().join(path)
    }

    /// Every path beneath the folder above the workspace, with the content of files, for comparing.
    pub(crate) fn outside_snapshot(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        for folder in ["outside", "workspace-evil"] {
            snapshot(&self.top().join(folder), &mut found);
        }
        found.sort();
        found
    }

    /// Every temporary file of ours that was left in the workspace.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        temporary_files(&self.workspace(), 0, &mut found);
        found
    }
}

/// Looks as deep as this crate's paths go.
fn temporary_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(Result::unwrap) {
        if entry.file_name().to_string_lossy().starts_with(".agentd-tmp-") {
            found.push(entry.path());
        }
        if entry.file_type().unwrap().is_dir() && depth < rel_path::MAX_COMPONENTS {
            temporary_files(&entry.path(), depth + 1, found);
        }
    }
}

fn snapshot(folder: &Path, found: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            snapshot(&path, found);
        }
        let content =
            kind.is_file().then(|| fs::read(&path).unwrap_or_default()).filter(|bytes| bytes.len() < 1 << 20);
        found.push((path, content));
    }
}
