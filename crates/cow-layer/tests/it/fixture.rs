//! A workspace, a folder for layers next to it, and the marks that an overlay leaves.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cow_layer::{Layer, LayerChanges, LayerStore, ScanRules};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, lsetxattr, mknodat};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;

/// A temporary folder with `workspace` and `layers` in it.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) store: LayerStore,
}

impl Fixture {
    /// Makes the workspace with these files, `name` holding `name` and a line's end.
    pub(crate) fn with_files(names: &[&str]) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        for name in ["workspace", "layers"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in names {
            write(&folder.path().join("workspace").join(name), &format!("{name}\n"));
        }
        let store = open_store(folder.path());
        Fixture { folder, store }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(crate) fn layer(&self) -> (Layer, Upper) {
        let layer = self.store.create(&"1".parse().unwrap()).unwrap();
        let upper = Upper { path: layer.mount_spec().upper, lower: layer.mount_spec().lower };
        (layer, upper)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.workspace().join(name)).unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if rustix::process::geteuid().is_root() {
            return;
        }
        // The temporary folder cannot remove folders without permissions.
        let opened = Command::new("chmod").args(["-R", "u+rwx"]).arg(self.folder.path()).output();
        assert!(opened.is_ok());
    }
}

/// Opens the store in the folder of a fixture.
pub(crate) fn open_store(folder: &Path) -> LayerStore {
    let root = FileRoot::open(&folder.join("workspace"), &RootRules::default(), FsPolicy::default()).unwrap();
    let layers = folder.join("layers");
    LayerStore::open(File::open(&layers).unwrap().into(), &layers, Arc::new(root)).unwrap()
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Saves like an editor: writes a new file and renames it over the old one.
pub(crate) fn save(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, path).unwrap();
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The upper folder of a layer, changed in the way of a mounted overlay.
pub(crate) struct Upper {
    pub(crate) path: PathBuf,
    lower: PathBuf,
}

impl Upper {
    /// Copies the folders on the way to `name`, as an overlay does before it changes something in them.
    fn parents(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        let folders: Vec<&Path> = Path::new(name).ancestors().skip(1).collect();
        for folder in folders.iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
            let (above, below) = (self.path.join(folder), self.lower.join(folder));
            if !above.exists() && below.is_dir() {
                fs::create_dir(&above).unwrap();
                attribute(&above, "user.overlay.origin", b"");
                set_mode(&above, fs::metadata(&below).unwrap().permissions().mode() & 0o7777);
            }
        }
        path
    }

    /// Writes a file, marked as a copy if the workspace has it.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.parents(name);
        let is_copied = self.lower.join(name).is_file();
        fs::write(&path, text).unwrap();
        if is_copied {
            attribute(&path, "user.overlay.origin", b"");
        }
    }

    /// Writes a file that carries the mark of a copy: renamed to this path, or with its original gone.
    pub(crate) fn write_copied(&self, name: &str, text: &str) {
        fs::write(self.parents(name), text).unwrap();
        attribute(&self.path.join(name), "user.overlay.origin", b"");
    }

    pub(crate) fn remove(&self, name: &str) {
        let path = self.parents(name);
        mknodat(CWD, &path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    }

    /// Makes a folder that is new, or replaces a removed one.
    pub(crate) fn make_folder(&self, name: &str) {
        let path = self.parents(name);
        fs::create_dir(&path).unwrap();
        attribute(&path, "user.overlay.opaque", b"y");
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        symlink(target, self.parents(name)).unwrap();
    }

    /// Makes another name for an entry of the layer.
    pub(crate) fn hard_link(&self, from: &str, to: &str) {
        fs::hard_link(self.path.join(from), self.parents(to)).unwrap();
    }

    /// Copies a folder and gives it these permissions.
    pub(crate) fn set_folder_mode(&self, name: &str, mode: u32) {
        self.parents(&format!("{name}/x"));
        set_mode(&self.path.join(name), mode);
    }
}

pub(crate) fn attribute(path: &Path, name: &str, value: &[u8]) {
    lsetxattr(path, name, value, XattrFlags::empty()).unwrap();
}

/// Renders the changes as lines: the path, the kind of change, and whether it was saved meanwhile.
pub(crate) fn listed(changes: &LayerChanges) -> Vec<String> {
    let line = |change: &cow_layer::LayerChange| {
        let what = match (&change.before, &change.after) {
            (None, _) => "new",
            (_, None) => "removed",
            _ => "changed",
        };
        let tree = change.tree.map_or(String::new(), |tree| format!(" with {}", tree.entries));
        let meanwhile = if change.saved_meanwhile { ", saved meanwhile" } else { "" };
        format!("{} {what}{tree}{meanwhile}", change.path)
    };
    changes.iter().map(line).collect()
}

pub(crate) fn look(layer: &Layer) -> LayerChanges {
    layer.changes(ScanRules::default()).unwrap()
}

/// Maps every path of a folder to its kind, permissions and content, for comparison.
pub(crate) fn image(folder: &Path) -> BTreeMap<String, String> {
    let mut image = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let kind = metadata.file_type();
        let what = if kind.is_symlink() {
            format!("link to {}", fs::read_link(&path).unwrap().display())
        } else if kind.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            format!("folder {mode:o}")
        } else if kind.is_file() {
            format!("file {mode:o} {:?}", fs::read_to_string(&path).unwrap())
        } else {
            format!("special {mode:o}")
        };
        image.insert(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned(), what);
    }
    image
}
