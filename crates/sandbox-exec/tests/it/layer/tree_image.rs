//! A folder with everything in it as one value, to compare: kinds, permissions, contents, targets.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The file, folder or link at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File { mode: u32, content: Vec<u8>, attributes: Vec<String> },
    Folder { mode: u32 },
    Link { target: Vec<u8> },
    Special { mode: u32 },
}

/// Paths as bytes, relative to the folder; the folder itself is the empty path.
pub(crate) type Image = BTreeMap<Vec<u8>, Node>;

/// Takes the image of a folder, without the entry `left_out` in it.
pub(crate) fn take(folder: &Path, left_out: &str) -> Image {
    let mut image = Image::new();
    let mut pending = vec![Vec::new()];
    while let Some(path) = pending.pop() {
        let full_path = folder.join(OsString::from_vec(path.clone()));
        let metadata = fs::symlink_metadata(&full_path).unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let kind = metadata.file_type();
        let node = if kind.is_symlink() {
            Node::Link { target: fs::read_link(&full_path).unwrap().into_os_string().into_vec() }
        } else if kind.is_file() {
            let content = opened(&full_path, mode, 0o400, || fs::read(&full_path).unwrap());
            Node::File { mode, content, attributes: attributes(&full_path) }
        } else if kind.is_dir() {
            // A closed folder is opened until the end, to read its entries.
            if mode & 0o500 != 0o500 && !rustix::process::geteuid().is_root() {
                fs::set_permissions(&full_path, Permissions::from_mode(mode | 0o700)).unwrap();
            }
            for entry in fs::read_dir(&full_path).unwrap() {
                let name = entry.unwrap().file_name();
                if !(path.is_empty() && name == left_out) {
                    let slash: &[u8] = if path.is_empty() { b"" } else { b"/" };
                    pending.push([path.as_slice(), slash, name.as_bytes()].concat());
                }
            }
            assert_eq!(attributes(&full_path), Vec::<String>::new(), "{}", full_path.display());
            Node::Folder { mode }
        } else {
            Node::Special { mode }
        };
        image.insert(path, node);
    }
    restore(folder, &image);
    image
}

/// Gives the folders that were opened for the image their permissions back, the deepest first.
fn restore(folder: &Path, image: &Image) {
    for (path, node) in image.iter().rev() {
        if let Node::Folder { mode } = node
            && mode & 0o500 != 0o500
        {
            let full_path = folder.join(OsString::from_vec(path.clone()));
            fs::set_permissions(full_path, Permissions::from_mode(*mode)).unwrap();
        }
    }
}

/// The names of an entry's attributes. None of an overlay may ever be visible.
fn attributes(path: &Path) -> Vec<String> {
    let mut list = [0_u8; 4096];
    let length = rustix::fs::llistxattr(path, &mut list[..]).unwrap();
    let names = list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains("overlay")), "{}: {names:?}", path.display());
    names
}

fn opened<T>(path: &Path, mode: u32, needed: u32, act: impl FnOnce() -> T) -> T {
    if mode & needed == needed || rustix::process::geteuid().is_root() {
        return act();
    }
    fs::set_permissions(path, Permissions::from_mode(mode | needed)).unwrap();
    let result = act();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    result
}

/// Returns the paths that differ, with both sides.
pub(crate) fn difference<'a>(
    before: &'a Image,
    after: &'a Image,
) -> BTreeMap<Vec<u8>, (Option<&'a Node>, Option<&'a Node>)> {
    let paths = before.keys().chain(after.keys());
    let sides = paths.map(|path| (path.clone(), (before.get(path), after.get(path))));
    sides.filter(|(_, (before, after))| before != after).collect()
}

/// Shows how two images differ, for messages.
pub(crate) fn report(before: &Image, after: &Image) -> String {
    let line = |(path, (before, after)): (Vec<u8>, (Option<&Node>, Option<&Node>))| {
        let side = |node: Option<&Node>| match node {
            Some(Node::File { mode, content, .. }) => {
                let start = String::from_utf8_lossy(&content[..content.len().min(40)]).into_owned();
                format!("file {mode:o} {} bytes {start:?}", content.len())
            }
            other => format!("{other:?}"),
        };
        format!("{}: {} -> {}", path.escape_ascii(), side(before), side(after))
    };
    difference(before, after).into_iter().map(line).collect::<Vec<_>>().join("\n")
}
