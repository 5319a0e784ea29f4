//! A whole workspace as a value.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

use crate::ground::Ground;

/// Everything in the workspace: path, permission bits, and content or target.
pub(crate) fn tree(ground: &Ground) -> Vec<(String, u32, Vec<u8>)> {
    let look = |name: String| {
        let path = ground.root().join(&name);
        let found = fs::symlink_metadata(&path).unwrap();
        let content = if found.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else if found.is_dir() {
            b"(folder)".to_vec()
        } else if found.file_type().is_fifo() {
            b"(pipe)".to_vec()
        } else {
            fs::read(&path).unwrap()
        };
        (name, found.permissions().mode(), content)
    };
    ground.all_names().into_iter().map(look).collect()
}
