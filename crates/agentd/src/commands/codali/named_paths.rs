//! Files and folders that options name, as the changes of files name them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

use crate::exit::{Exit, Failure};

/// The characters of patterns, which names of files may have as well.
const PATTERN: [char; 4] = ['*', '?', '[', '{'];

/// Returns the paths in the workspace that an option names. A path that a link leads to, or that its folder lists in other case,
/// follows the one that was typed.
///
/// # Errors
///
/// [`Exit::Usage`] for what no change could ever be compared with: it would be an option without an effect.
pub(super) fn resolved(workspace: &Path, option: &str, typed: &[String]) -> Result<Vec<String>, Failure> {
    let root = FileRoot::open(workspace, &RootRules::default(), FsPolicy::default())
        .map_err(|error| Failure::new(Exit::Failed, format!("the workspace: {error}")))?;
    let mut paths: Vec<String> = Vec::new();
    for item in typed.iter().filter(|item| !item.trim().is_empty()) {
        for path in spellings(&root, workspace, option, item)? {
            let path = path.to_string().trim_end_matches('/').to_owned();
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    if paths.is_empty() && !typed.is_empty() {
        return Err(Failure::new(Exit::Usage, format!("--{option} names no file"))
            .advise("name files and folders of the workspace, with commas between them, or leave it out"));
    }
    Ok(paths)
}

/// Returns the paths that do not exist. A name may be that of a future file, or mistyped.
pub(super) fn missing<'a>(workspace: &Path, paths: &'a [String]) -> impl Iterator<Item = &'a str> {
    let is_missing = |path: &&str| fs::symlink_metadata(workspace.join(path)).is_err();
    paths.iter().map(String::as_str).filter(is_missing)
}

/// Returns the path that an item of a list names, as it was typed and as it is stored.
fn spellings(root: &FileRoot, workspace: &Path, option: &str, item: &str) -> Result<Vec<RelPath>, Failure> {
    let is_there = |text: &str| fs::symlink_metadata(workspace.join(text)).is_ok();
    // White space around an item belongs to the list, unless the name of a file has it.
    let text = if is_there(item) { item } else { item.trim() };
    let refused = |why: String| Failure::new(Exit::Usage, format!("--{option} {text}: {why}"));
    if (text.contains(PATTERN) || text.starts_with("~/")) && !is_there(text) {
        return Err(refused("it is not expanded, and there is no file of this name".to_owned())
            .advise("name files and folders: a folder stands for everything in it"));
    }
    let relative = match text.strip_prefix('/') {
        Some(_) => relative_to(workspace, Path::new(text)),
        None => Some(PathBuf::from(text)),
    };
    let parsed = match &relative {
        Some(path) if path.as_os_str().is_empty() => Ok(RelPath::root()),
        Some(path) => RelPath::from_bytes(path.as_os_str().as_bytes()).map_err(|error| error.to_string()),
        None => Err("it is outside of the workspace".to_owned()),
    };
    let path = parsed.map_err(|why| {
        refused(why).advise("name a file or folder of the workspace; paths are relative to the workspace")
    })?;
    // A path that is missing, or leads out of the workspace, has only the name that was typed.
    let stored = |path: &RelPath| root.stored_path(path).ok();
    let led_to = root.canonical_path(&path).ok().and_then(|path| stored(&path));
    let as_listed = Some(&path).filter(|path| !path.has_parent_steps()).and_then(stored);
    Ok([Some(path), as_listed, led_to].into_iter().flatten().collect())
}

/// Returns an absolute path, which may be missing, relative to the workspace; `None` if it is outside. Links in its folders
/// are followed; a link at its end is not, since it can be changed itself.
fn relative_to(workspace: &Path, path: &Path) -> Option<PathBuf> {
    if fs::canonicalize(path).is_ok_and(|path| path == workspace) {
        return Some(PathBuf::new());
    }
    let (folder, rest) = match path.file_name() {
        Some(name) => (path.parent()?, name),
        None => (path, OsStr::new("")),
    };
    let above = folder.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    let (above, canonical) = above?;
    let missing = folder.strip_prefix(above).ok()?;
    Some(canonical.join(missing).strip_prefix(workspace).ok()?.join(rest))
}
