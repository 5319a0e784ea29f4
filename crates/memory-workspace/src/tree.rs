//! Files and folders, and every content that a file ever had.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rel_path::{PathError, ProtectedNames, RelPath};

use text_edit::{LineMap, Source};
use wap_core::{FileVersion, Reason, WapError};
use wap_edit::KnownVersion;

use crate::workspace::ROOT;

/// Files and folders by canonical path. The root is the empty path and not among the folders.
#[derive(Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    pasts: BTreeMap<String, Vec<Past>>,
    protected: ProtectedNames,
    /// The number of contents stored so far, over all paths.
    changes: u64,
    /// The value of `changes` when the last content of a path was stored.
    changed_at: BTreeMap<String, u64>,
}

/// A content that a file had.
struct Past {
    version: FileVersion,
    bytes: Arc<[u8]>,
    /// The map from the lines of the previous content; `None` if one of the two is not text.
    from_previous: Option<LineMap>,
}

/// The purpose for which a caller names a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl Tree {
    pub(crate) fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    pub(crate) fn folders(&self) -> &BTreeSet<String> {
        &self.folders
    }

    pub(crate) fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    /// Stores a content, with the folders above it; `map` leads from the lines of the old content to the new ones, if known.
    pub(crate) fn put(&mut self, path: &str, bytes: Vec<u8>, map: Option<LineMap>) -> FileVersion {
        for (end, _) in path.match_indices('/') {
            self.folders.insert(path[..end].to_owned());
        }
        let version = version_of(&bytes);
        self.changes += 1;
        self.changed_at.insert(path.to_owned(), self.changes);
        let pasts = self.pasts.entry(path.to_owned()).or_default();
        // A file that was stored without an edit has no map, so the two texts are compared.
        let from_previous = map.or_else(|| {
            let previous = Source::parse(&pasts.last()?.bytes).ok()?;
            Some(LineMap::between_versions(&previous, &Source::parse(&bytes).ok()?))
        });
        pasts.push(Past { version: version.clone(), bytes: Arc::from(bytes.as_slice()), from_previous });
        self.files.insert(path.to_owned(), bytes);
        version
    }

    /// Returns the number of contents stored so far.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the number of the last content that was stored at a path; 0 if none was.
    pub(crate) fn changed_at(&self, path: &str) -> u64 {
        self.changed_at.get(path).copied().unwrap_or(0)
    }

    /// Removes a file; its folder and the record of its contents stay.
    pub(crate) fn remove(&mut self, path: &str) -> Option<Vec<u8>> {
        self.files.remove(path)
    }

    /// Returns the content of a file.
    pub(crate) fn content(&self, path: &str) -> Result<&[u8], WapError> {
        let not_found = || WapError::new(Reason::FileNotFound, format!("'{path}' does not exist"));
        self.files.get(path).map(Vec::as_slice).ok_or_else(not_found)
    }

    /// Returns the content of a file at a version, and the map from those lines to the present ones.
    pub(crate) fn known_version(&self, path: &str, version: &FileVersion) -> Option<KnownVersion> {
        let pasts = self.pasts.get(path)?;
        // Of equal contents take the last: it needs the fewest line maps to the present.
        let index = pasts.iter().rposition(|past| past.version == *version)?;
        let bytes = &pasts[index].bytes;
        let start = LineMap::identity(Source::parse(bytes).ok()?.total_lines());
        let map = pasts[index + 1..]
            .iter()
            .try_fold(start, |map, past| past.from_previous.as_ref().map(|next| map.compose(next)))?;
        Some(KnownVersion { bytes: bytes.clone(), map })
    }

    /// Returns the canonical path of a file, which need not exist.
    pub(crate) fn file_path(&self, text: &str, access: Access) -> Result<String, WapError> {
        let parsed = RelPath::parse_beneath(text, &[ROOT.as_bytes()]).map_err(path_refused)?;
        let path = self.resolve(&parsed)?;
        // The resolved path is checked, since `..` may lead to a protected name.
        let protected = RelPath::parse_folder(&path).map_err(path_refused)?;
        if access == Access::Write && self.protected.protects(&protected) {
            let text = format!("'{path}' is protected: its name is on the list of protected names");
            return Err(WapError::new(Reason::Protected, text)
                .with("why", "its name is on the list of protected names"));
        }
        if parsed.names_folder() || self.is_folder(&path) {
            let name = if path.is_empty() { "." } else { &path };
            return Err(WapError::new(Reason::NotAFile, format!("'{name}' is a folder")));
        }
        Ok(path)
    }

    /// Returns the canonical path of a file or folder that exists; empty for the root.
    pub(crate) fn existing_path(&self, text: &str) -> Result<String, WapError> {
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
    pub(crate) fn folder_path(&self, text: &str) -> Result<String, WapError> {
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
            // As on a disk, `missing/..` and `file/..` lead nowhere, although the text could be shortened.
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
    pub(crate) fn check_creation(&self, path: &str, make_folders: bool) -> Result<(), WapError> {
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

/// Parses bytes as text, or returns the refusal of a binary file.
pub(crate) fn parse_text<'a>(path: &str, bytes: &'a [u8]) -> Result<Source<'a>, WapError> {
    let refused = |_| WapError::new(Reason::BinaryFile, format!("'{path}' is a binary file"));
    Source::parse(bytes).map_err(refused)
}

/// Returns the version of a content.
pub(crate) fn version_of(bytes: &[u8]) -> FileVersion {
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
