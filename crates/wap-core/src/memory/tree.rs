//! The files and folders, and every content that a file ever had.

use std::collections::{BTreeMap, BTreeSet};

use rel_path::{PathError, ProtectedNames, RelPath};

use super::ROOT;
use super::line_map::LineMap;
use super::lines::split;
use crate::{FileVersion, Reason, WapError};

/// Files and folders by canonical path. The root is the empty path and not among the folders.
#[derive(Default)]
pub(super) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    pasts: BTreeMap<String, Vec<Past>>,
    protected: ProtectedNames,
    /// How many contents were stored, and the number of the last one by path.
    changes: u64,
    changed_at: BTreeMap<String, u64>,
}

/// One content that a file had.
struct Past {
    version: FileVersion,
    bytes: Vec<u8>,
    /// Where the lines of the content before this one are in it.
    from_previous: LineMap,
}

/// What a caller may do with the path that it names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Tree {
    pub(super) fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    pub(super) fn folders(&self) -> &BTreeSet<String> {
        &self.folders
    }

    pub(super) fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    /// Stores a content, with the folders above it; `map` tells where the lines of the old content went, if known.
    pub(super) fn put(&mut self, path: &str, bytes: Vec<u8>, map: Option<LineMap>) -> FileVersion {
        for (end, _) in path.match_indices('/') {
            self.folders.insert(path[..end].to_owned());
        }
        let version = version_of(&bytes);
        self.changes += 1;
        self.changed_at.insert(path.to_owned(), self.changes);
        let pasts = self.pasts.entry(path.to_owned()).or_default();
        let from_previous = match (map, pasts.last()) {
            (Some(map), _) => map,
            (None, Some(previous)) => LineMap::between(&split(&previous.bytes), &split(&bytes)),
            (None, None) => LineMap::identity(0),
        };
        pasts.push(Past { version: version.clone(), bytes: bytes.clone(), from_previous });
        self.files.insert(path.to_owned(), bytes);
        version
    }

    /// How many contents were stored.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The number of the last content that was stored at a path; 0 if none was.
    pub(super) fn changed_at(&self, path: &str) -> u64 {
        self.changed_at.get(path).copied().unwrap_or(0)
    }

    /// Removes a file; its folder stays, and so does the memory of its contents.
    pub(super) fn remove(&mut self, path: &str) -> Option<Vec<u8>> {
        self.files.remove(path)
    }

    /// Returns what a file held at a version, and where those lines are now.
    pub(super) fn since(&self, path: &str, version: &FileVersion) -> Option<(&[u8], LineMap)> {
        let pasts = self.pasts.get(path)?;
        let index = pasts.iter().rposition(|past| past.version == *version)?;
        let start = LineMap::identity(split(&pasts[index].bytes).len());
        let map = pasts[index + 1..].iter().fold(start, |map, past| map.then(&past.from_previous));
        Some((&pasts[index].bytes, map))
    }

    /// Returns the canonical path of a file, which need not exist.
    pub(super) fn file_path(&self, text: &str, access: Access) -> Result<String, WapError> {
        let parsed = RelPath::parse_beneath(text, &[ROOT.as_bytes()]).map_err(path_refused)?;
        let path = self.resolve(&parsed)?;
        let protected = RelPath::parse_folder(&path).map_err(path_refused)?;
        if access == Access::Write && self.protected.protects(&protected) {
            return Err(WapError::new(Reason::Protected, format!("'{path}' is protected")));
        }
        if parsed.names_folder() || self.is_folder(&path) {
            let shown = if path.is_empty() { "." } else { &path };
            return Err(WapError::new(Reason::NotAFile, format!("'{shown}' is a folder")));
        }
        Ok(path)
    }

    /// Returns the canonical path of a file or folder that exists; empty for the root.
    pub(super) fn existing_path(&self, text: &str) -> Result<String, WapError> {
        let parsed = if text.is_empty() {
            RelPath::root()
        } else {
            RelPath::parse_beneath(text, &[ROOT.as_bytes()]).map_err(path_refused)?
        };
        let path = self.resolve(&parsed)?;
        if self.is_folder(&path) {
            return Ok(path);
        }
        if !self.files.contains_key(&path) {
            return Err(WapError::new(Reason::PathNotFound, format!("'{path}' does not exist")));
        }
        if parsed.names_folder() {
            return Err(not_a_folder(&path));
        }
        Ok(path)
    }

    /// Returns the canonical path of a folder that exists; empty for the root.
    pub(super) fn folder_path(&self, text: &str) -> Result<String, WapError> {
        let path = self.existing_path(text)?;
        if self.is_folder(&path) { Ok(path) } else { Err(not_a_folder(&path)) }
    }

    /// Follows `..` through folders that exist.
    fn resolve(&self, path: &RelPath) -> Result<String, WapError> {
        let mut resolved = RelPath::root();
        for step in path.components() {
            if step != b".." {
                resolved = resolved.child(step).map_err(path_refused)?;
                continue;
            }
            let here = key(&resolved);
            if self.files.contains_key(&here) {
                return Err(not_a_folder(&here));
            }
            if !self.is_folder(&here) {
                return Err(WapError::new(Reason::PathNotFound, format!("'{here}' does not exist")));
            }
            resolved = resolved.parent().expect("a parsed path never climbs above its root");
        }
        Ok(key(&resolved))
    }

    /// Checks that a file may be created: its name, and the folders above it.
    pub(super) fn check_creation(&self, path: &str, make_folders: bool) -> Result<(), WapError> {
        let parsed = RelPath::parse(path).map_err(path_refused)?;
        parsed.check_new_name().map_err(|error| {
            WapError::new(Reason::InvalidName, format!("cannot create '{path}': {error}"))
        })?;
        for (end, _) in path.match_indices('/') {
            if self.files.contains_key(&path[..end]) {
                return Err(not_a_folder(&path[..end]));
            }
        }
        match path.rsplit_once('/') {
            Some((parent, _)) if !make_folders && !self.folders.contains(parent) => {
                let text = format!("the folder '{parent}' does not exist; createDirectories makes it");
                Err(WapError::new(Reason::DirectoryNotFound, text))
            }
            _ => Ok(()),
        }
    }
}

/// The version of a content.
pub(super) fn version_of(bytes: &[u8]) -> FileVersion {
    FileVersion(blake3::hash(bytes).to_hex().to_string())
}

fn key(path: &RelPath) -> String {
    if path.is_root() { String::new() } else { path.to_string() }
}

fn not_a_folder(path: &str) -> WapError {
    WapError::new(Reason::NotADirectory, format!("'{path}' is not a folder"))
}

fn path_refused(error: PathError) -> WapError {
    let reason = match error {
        PathError::Absolute | PathError::Escape | PathError::Nul => Reason::PathEscapeAttempt,
        PathError::Empty => Reason::InvalidField,
        _ => Reason::InvalidName,
    };
    WapError::new(reason, error.to_string()).with("field", "path")
}
