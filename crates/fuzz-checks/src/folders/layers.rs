//! The changes that a command leaves in its layer, compared with a model of both folders.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use cow_layer::{LayerStore, ScanLimits, ScanRules};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, lsetxattr, mknodat};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

/// The initial files of the workspace.
const START: [&str; 5] = ["a", "d/a", "d/b", "d/d/a", "e/a"];
const NAMES: [&str; 4] = ["a", "b", "d", "e"];

/// An entry of the model; folders are those of its paths.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Link(String),
    Folder,
}

type Model = BTreeMap<String, Node>;

/// Checks that the changes of a layer match a model of the command's work, and that adopting them makes the workspace equal to
/// the model.
///
/// The bytes choose the operations of a command, which are written to the layer in the way of an overlay.
pub fn layer_changes(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (workspace, layers) = (folder.path().join("workspace"), folder.path().join("layers"));
    fs::create_dir(&layers).expect("a folder");
    for name in START {
        let path = workspace.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, format!("{name}\n")).expect("a file");
    }
    let root = FileRoot::open(&workspace, &RootRules::default(), FsPolicy::default()).expect("a workspace");
    let handle = File::open(&layers).expect("a folder").into();
    let store = LayerStore::open(handle, &layers, Arc::new(root)).expect("a store");
    let layer = store.create(&"1".parse().expect("a name")).expect("a layer");
    let mut command =
        Command { upper: &layer.mount_spec().upper, lower: read(&workspace), view: read(&workspace) };
    let _ = command.work(&mut Unstructured::new(data));
    let (start, wanted) = (command.lower.clone(), command.view.clone());

    let changes = layer.changes(ScanRules::new(ScanLimits::default())).expect("a scan");
    assert_eq!(read(&workspace), start, "a scan changes nothing");
    for (name, node) in &wanted {
        let is_listed = changes.iter().any(|change| change.path.to_string().trim_end_matches('/') == name);
        assert_eq!(is_listed, start.get(name) != Some(node), "{name} of {wanted:?}");
    }
    for name in start.keys().filter(|name| !wanted.contains_key(*name)) {
        assert!(
            changes.iter().any(|change| name.starts_with(change.path.to_string().trim_end_matches('/'))),
            "{name} is gone"
        );
    }
    for change in changes.in_adoption_order() {
        layer.adopt(change).unwrap_or_else(|error| panic!("{}: {error}", change.path));
    }
    layer.finish_folders(&changes).expect("the folders");
    assert_eq!(read(&workspace), wanted, "the adopted workspace");
    layer.discard().expect("an end");
}

/// Reads a folder as a model.
fn read(folder: &Path) -> Model {
    let mut model = Model::new();
    read_into(folder, "", &mut model);
    model
}

fn read_into(folder: &Path, prefix: &str, model: &mut Model) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a type");
        if kind.is_dir() {
            read_into(&entry.path(), &format!("{name}/"), model);
            model.insert(name, Node::Folder);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).expect("a link").to_string_lossy().into_owned();
            model.insert(name, Node::Link(target));
        } else {
            model.insert(name, Node::Text(fs::read_to_string(entry.path()).expect("a text")));
        }
    }
}

/// A command, from the view of an overlay.
struct Command<'a> {
    upper: &'a Path,
    lower: Model,
    /// The command's current view.
    view: Model,
}

impl Command<'_> {
    fn work(&mut self, choices: &mut Unstructured<'_>) -> Result<()> {
        for _ in 0..choices.int_in_range(0..=10)? {
            let depth = choices.int_in_range(1..=3)?;
            let parts = (0..depth).map(|_| choices.choose(&NAMES).copied()).collect::<Result<Vec<_>>>()?;
            let name = parts.join("/");
            match choices.int_in_range(0..=4)? {
                0 => self.write(&name, &format!("{}\n", choices.int_in_range(0..=3)?)),
                1 => self.write(&name, &format!("{name}\n")),
                2 => self.remove(&name),
                3 => self.make_folder(&name),
                _ => self.link(&name),
            }
        }
        Ok(())
    }

    /// Returns true if the parent of `name` is a folder that the command sees.
    fn has_parent(&self, name: &str) -> bool {
        parent(name).is_none_or(|parent| self.view.get(parent) == Some(&Node::Folder))
    }

    fn write(&mut self, name: &str, text: &str) {
        let is_free = matches!(self.view.get(name), None | Some(Node::Text(_)));
        if !is_free || !self.has_parent(name) {
            return;
        }
        let is_copy = matches!(self.view.get(name), Some(Node::Text(_))) && self.is_lower(name);
        let path = self.clear(name);
        fs::write(&path, text).expect("a file");
        if is_copy {
            attribute(&path, "user.overlay.origin", b"");
        }
        self.view.insert(name.to_owned(), Node::Text(text.to_owned()));
    }

    fn link(&mut self, name: &str) {
        if self.view.contains_key(name) || !self.has_parent(name) {
            return;
        }
        symlink("a", self.clear(name)).expect("a link");
        self.view.insert(name.to_owned(), Node::Link("a".to_owned()));
    }

    fn make_folder(&mut self, name: &str) {
        if self.view.contains_key(name) || !self.has_parent(name) {
            return;
        }
        let path = self.clear(name);
        fs::create_dir(&path).expect("a folder");
        // The kernel marks a folder only if it hides something; otherwise the mark has no effect.
        attribute(&path, "user.overlay.opaque", b"y");
        self.view.insert(name.to_owned(), Node::Folder);
    }

    fn remove(&mut self, name: &str) {
        if !self.view.contains_key(name) {
            return;
        }
        let hides = self.is_lower(name);
        let path = self.clear(name);
        if hides {
            mknodat(CWD, &path, FileType::CharacterDevice, Mode::empty(), 0).expect("a whiteout");
        }
        let prefix = format!("{name}/");
        self.view.retain(|other, _| other != name && !other.starts_with(&prefix));
    }

    /// Returns true if the workspace has the entry and no new folder of the layer hides it.
    fn is_lower(&self, name: &str) -> bool {
        let is_hidden = ancestors(name).any(|folder| {
            let path = self.upper.join(folder);
            let mut value = [0; 1];
            rustix::fs::lgetxattr(&path, "user.overlay.opaque", &mut value[..]).is_ok_and(|read| read == 1)
        });
        self.lower.contains_key(name) && !is_hidden
    }

    /// Copies the parent folders, removes the layer's entry at `name`, and returns its path.
    fn clear(&self, name: &str) -> std::path::PathBuf {
        for folder in ancestors(name) {
            let path = self.upper.join(folder);
            if !path.exists() {
                fs::create_dir(&path).expect("a folder");
                attribute(&path, "user.overlay.origin", b"");
            }
        }
        let path = self.upper.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).expect("a folder of the layer");
        } else {
            let _ = fs::remove_file(&path);
        }
        path
    }
}

fn parent(name: &str) -> Option<&str> {
    name.rfind('/').map(|end| &name[..end])
}

/// Returns the parent folders, outermost first.
fn ancestors(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(end, _)| &name[..end])
}

fn attribute(path: &Path, name: &str, value: &[u8]) {
    lsetxattr(path, name, value, XattrFlags::empty()).expect("an attribute");
}
