//! A workspace, a folder for layers beside it, and the marks that an overlay leaves.

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

/// A folder with `workspace` and `layers` in it, removed when dropped.
pub(crate) struct Ground {
    folder: TempDir,
    pub(crate) store: LayerStore,
}

impl Ground {
    /// Makes the workspace with these files, `name` holding `name` and a line's end.
    pub(crate) fn with_files(names: &[&str]) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        for name in ["workspace", "layers"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in names {
            write(&folder.path().join("workspace").join(name), &format!("{name}\n"));
        }
        let store = open_store(folder.path());
        Ground { folder, store }
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

impl Drop for Ground {
    fn drop(&mut self) {
        if rustix::process::geteuid().is_root() {
            return;
        }
        // Folders without permissions would be left behind.
        let opened = Command::new("chmod").args(["-R", "u+rwx"]).arg(self.folder.path()).output();
        assert!(opened.is_ok());
    }
}

/// Opens the store of a folder that a ground has made.
pub(crate) fn open_store(folder: &Path) -> LayerStore {
    let root = FileRoot::open(&folder.join("workspace"), &RootRules::default(), FsPolicy::default()).unwrap();
    let layers = folder.join("layers");
    LayerStore::open(File::open(&layers).unwrap().into(), &layers, Arc::new(root)).unwrap()
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What a save by an editor is: a new file that is renamed over the old one.
pub(crate) fn save(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, path).unwrap();
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The upper folder of a layer, changed as a mounted overlay changes it.
pub(crate) struct Upper {
    pub(crate) path: PathBuf,
    lower: PathBuf,
}

impl Upper {
    /// Copies the folders on the way to `name`, as an overlay does before it changes something in them.
    fn parents(&self, name: &str) -> PathBuf {
        let place = self.path.join(name);
        let folders: Vec<&Path> = Path::new(name).ancestors().skip(1).collect();
        for folder in folders.iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
            let (above, beneath) = (self.path.join(folder), self.lower.join(folder));
            if !above.exists() && beneath.is_dir() {
                fs::create_dir(&above).unwrap();
                attribute(&above, "user.overlay.origin", b"");
                set_mode(&above, fs::metadata(&beneath).unwrap().permissions().mode() & 0o7777);
            }
        }
        place
    }

    /// A file that was written to: copied first if it is in the workspace.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let place = self.parents(name);
        let is_copied = self.lower.join(name).is_file();
        fs::write(&place, text).unwrap();
        if is_copied {
            attribute(&place, "user.overlay.origin", b"");
        }
    }

    /// A file that was renamed to this place, or whose original is gone.
    pub(crate) fn write_copied(&self, name: &str, text: &str) {
        fs::write(self.parents(name), text).unwrap();
        attribute(&self.path.join(name), "user.overlay.origin", b"");
    }

    pub(crate) fn remove(&self, name: &str) {
        let place = self.parents(name);
        mknodat(CWD, &place, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    }

    /// A folder that is new, or was removed and made anew.
    pub(crate) fn make_folder(&self, name: &str) {
        let place = self.parents(name);
        fs::create_dir(&place).unwrap();
        attribute(&place, "user.overlay.opaque", b"y");
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        symlink(target, self.parents(name)).unwrap();
    }

    /// Another name for something in the layer.
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

/// Lists the changes as lines: the path, what happened, and whether it was saved meanwhile.
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

/// Every path of a folder with what is there, in a form that can be compared: kind, permissions, content.
pub(crate) fn image(folder: &Path) -> BTreeMap<String, String> {
    let mut image = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let mode = found.permissions().mode() & 0o7777;
        let kind = found.file_type();
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
