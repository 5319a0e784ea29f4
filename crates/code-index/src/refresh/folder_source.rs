//! The indexed files of a folder.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use file_index::GitIgnores;
use rel_path::{ProtectedNames, RelPath};
use sandbox_fs::{FileKind, FileRoot, FileStamp, FsError, Visit, WalkEntry, WalkLimits};
use wap_core::{CancelFlag, Exclusions, usually_holds_credentials};

use crate::hidden_parts::{HiddenParts, VisibleContent};

/// The time limit of listing a folder.
const WALK_TIME: Duration = Duration::from_secs(120);

/// The file with git's rules outside of the tree. A file over the limit below is not obeyed.
const EXCLUDE_FILE: &str = ".git/info/exclude";
const EXCLUDE_BYTES: u64 = 256 << 10;

/// A folder whose files are indexed.
///
/// Leaves out links and special files, names that begin with a dot, files that usually hold credentials, protected names
/// ([`ProtectedNames::default`] and those of the root's policy), folders added with [`FolderSource::without`], the default
/// exclusions of WAP, and files that git ignores by rules that [`GitIgnores`] obeys. A path that is left out never appears in
/// answers, even if a request names it.
#[derive(Debug)]
pub struct FolderSource {
    root: FileRoot,
    protected: ProtectedNames,
    left_out: Vec<RelPath>,
    exclusions: Exclusions,
    hidden: Option<Arc<dyn HiddenParts>>,
}

/// A file of a listing.
#[derive(Clone, Debug)]
pub(crate) struct ListedFile {
    pub(crate) path: RelPath,
    pub(crate) stamp: FileStamp,
}

/// The result of listing a folder.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<ListedFile>,
    /// True if every file was listed; otherwise a missing file must not count as removed.
    pub(crate) is_complete: bool,
}

/// The content of a file, with its stamp.
#[derive(Debug)]
pub(crate) struct ReadSource {
    pub(crate) content: Vec<u8>,
    pub(crate) stamp: FileStamp,
}

/// Returns the text of a path in the store and in answers: on one line, and the same as in all other answers about the workspace.
/// `None` if it is not UTF-8, and therefore not indexed.
pub(crate) fn written(path: &RelPath) -> Option<String> {
    path.to_str()?;
    let mut written = path.to_string();
    written.truncate(written.trim_end_matches('/').len());
    Some(written)
}

impl FolderSource {
    /// Creates a source for the folder of `root`.
    #[must_use]
    pub fn new(root: FileRoot) -> FolderSource {
        let mut protected = ProtectedNames::default();
        for entry in root.policy().protected.entries() {
            protected.add(entry);
        }
        FolderSource {
            root,
            protected,
            left_out: Vec::new(),
            exclusions: Exclusions::defaults(),
            hidden: None,
        }
    }

    /// Leaves out another folder with everything below it, such as a state folder.
    #[must_use]
    pub fn without(mut self, folder: RelPath) -> FolderSource {
        if !folder.is_root() {
            self.left_out.push(folder);
        }
        self
    }

    /// Hides parts of files: no word, name or import is taken from them.
    #[must_use]
    pub fn hiding(self, parts: Arc<dyn HiddenParts>) -> FolderSource {
        FolderSource { hidden: Some(parts), ..self }
    }

    /// Returns a content without its hidden parts.
    pub(crate) fn visible<'c>(&self, content: &'c [u8]) -> VisibleContent<'c> {
        VisibleContent::new(content, self.hidden.as_deref())
    }

    /// Returns a path without its hidden parts.
    pub(crate) fn visible_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.visible(text.as_bytes()).bytes {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Returns true if the folder still exists.
    pub(crate) fn is_alive(&self) -> bool {
        self.root.check_alive().is_ok()
    }

    /// Lists the files below a folder in the order of their paths.
    pub(crate) fn list(&self, start: &RelPath, cancel: &CancelFlag) -> Result<Listing, FsError> {
        let limits = WalkLimits { timeout: WALK_TIME, ..WalkLimits::default() };
        let ignores = Mutex::new(GitIgnores::new(&self.root));
        let walk = self.root.walk(start, limits)?;
        let mut walk = walk.with_metadata().visited_by(|entry: &WalkEntry| {
            let is_folder = entry.kind == FileKind::Folder;
            if cancel.is_cancelled() || !(is_folder || entry.kind == FileKind::File) {
                return Visit::Skip;
            }
            let name = entry.path.file_name().unwrap_or_default();
            let mut ignores = ignores.lock().unwrap_or_else(PoisonError::into_inner);
            match self.admits_component(&entry.path, name, is_folder)
                && !ignores.ignores(&entry.path, is_folder)
            {
                true if is_folder => Visit::Pass,
                true => Visit::Take,
                false => Visit::Skip,
            }
        });
        let mut files = Vec::new();
        for entry in walk.by_ref() {
            if let (Some(metadata), Some(_)) = (entry.metadata, written(&entry.path)) {
                files.push(ListedFile { path: entry.path, stamp: metadata.stamp() });
            }
        }
        let summary = walk.summary();
        let is_complete = !summary.out_of_entries && !summary.out_of_time && !cancel.is_cancelled();
        Ok(Listing { files, is_complete })
    }

    /// Returns true if a file with this path would be indexed.
    pub(crate) fn admits(&self, path: &RelPath) -> bool {
        self.admits_by(path, &mut self.ignores())
    }

    /// Returns git's rules that no feed covers, because they are in git's own folder.
    pub(crate) fn clone_rules(&self) -> Option<Vec<u8>> {
        self.read(&RelPath::parse(EXCLUDE_FILE).ok()?, EXCLUDE_BYTES).map(|read| read.content)
    }

    /// Returns git's rules, which are read on first use.
    pub(crate) fn ignores(&self) -> GitIgnores<'_> {
        GitIgnores::new(&self.root)
    }

    /// As [`FolderSource::admits`], with rules that were read for other paths. For sorted paths, each rules file is read once.
    pub(crate) fn admits_by(&self, path: &RelPath, ignores: &mut GitIgnores<'_>) -> bool {
        self.admits_components(path, |step, is_folder| !ignores.ignores(step, is_folder))
    }

    /// Returns true if the name allows a file to be indexed. Ignores git's rules, which have to be read from files.
    pub(crate) fn may_show(&self, path: &RelPath) -> bool {
        self.admits_components(path, |_, _| true)
    }

    fn admits_components(&self, path: &RelPath, mut also: impl FnMut(&RelPath, bool) -> bool) -> bool {
        if path.is_root() || path.has_parent_steps() || path.to_str().is_none() {
            return false;
        }
        let mut step = RelPath::root();
        let depth = path.components().count();
        path.components().enumerate().all(|(index, name)| {
            let Ok(next) = step.child(name) else { return false };
            step = next;
            let is_folder = index + 1 < depth;
            self.admits_component(&step, name, is_folder) && also(&step, is_folder)
        })
    }

    /// Checks one component of a path whose parents are admitted.
    fn admits_component(&self, path: &RelPath, name: &[u8], is_folder: bool) -> bool {
        if name.starts_with(b".") || self.left_out.iter().any(|folder| path.starts_with(folder)) {
            return false;
        }
        // Exclude it from the index, not only from answers: otherwise its content would affect which other files fit into an
        // answer.
        if !is_folder && str::from_utf8(name).is_ok_and(usually_holds_credentials) {
            return false;
        }
        // The default exclusions name folders, and a folder that is not entered hides its content.
        let is_excluded = is_folder && self.exclusions.excludes(&path.to_string(), true);
        !is_excluded && !self.protected.protects(path)
    }

    /// Returns the stamp of a regular file, without following links; `None` for any other kind.
    pub(crate) fn stamp(&self, path: &RelPath) -> Option<FileStamp> {
        self.root.metadata(path).ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.stamp())
    }

    /// Returns true for a folder, without following a link in the last component.
    pub(crate) fn is_folder(&self, path: &RelPath) -> bool {
        self.root.metadata(path).is_ok_and(|metadata| metadata.is_folder())
    }

    /// Reads a file. `None` if it is missing, unreadable, too large, or reached through a link.
    pub(crate) fn read(&self, path: &RelPath, limit_bytes: u64) -> Option<ReadSource> {
        let file = self.root.open_file(path).ok()?;
        if file.path() != path {
            return None;
        }
        let stamp = file.metadata().stamp();
        let content = file.read_to_end(limit_bytes).ok()?;
        // The stamp is taken before reading: a write during the read then changes the stamp, and the next refresh
        // reads the file again.
        Some(ReadSource { content, stamp })
    }
}
