//! The files of the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::{Step, TaskError};

/// The files of a repository, by path relative to its root and `/`-separated.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// Returns a tree of given files.
    pub fn of<P: Into<String>, C: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, C)>) -> Tree {
        Tree { files: files.into_iter().map(|(path, content)| (path.into(), content.into())).collect() }
    }

    /// Reads the files that git tracks or would track; outside of a git checkout, every file that is not in `target`.
    ///
    /// # Errors
    ///
    /// [`TaskError::Unreadable`].
    pub fn read(root: &Path) -> Result<Tree, TaskError> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Step::new("list the files", "git", &arguments).folder(root).output();
        let paths = match listed {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
            }
            Err(_) => walk(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let whole = root.join(&path);
            // A file that was deleted and not yet committed is listed and not there; a link is not followed.
            let is_file = fs::symlink_metadata(&whole).is_ok_and(|metadata| metadata.is_file());
            if is_file {
                let content =
                    fs::read(&whole).map_err(|source| TaskError::Unreadable { path: whole, source })?;
                files.insert(path, content);
            }
        }
        Ok(Tree { files })
    }

    /// Returns the text of a file; `None` if there is none or it is not UTF-8.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Tells whether there is such a file.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Returns every path, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns every file that is text, with its path.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = |bytes| std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        self.files.iter().filter_map(move |(path, bytes)| Some((path.as_str(), text(bytes)?)))
    }

    /// Returns every Rust source of the workspace, with its path; samples under `fixtures/` are none.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs") && !path.starts_with("fixtures/"))
    }
}

/// Lists the files beneath a folder that is not a git checkout.
fn walk(root: &Path) -> Result<Vec<String>, TaskError> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let whole = root.join(&folder);
        let unreadable = |source| TaskError::Unreadable { path: whole.clone(), source };
        for entry in fs::read_dir(&whole).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type().map_err(unreadable)?;
            if kind.is_dir() && !matches!(path.as_str(), "target" | ".git" | ".agentd") {
                folders.push(path);
            } else if kind.is_file() {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}
