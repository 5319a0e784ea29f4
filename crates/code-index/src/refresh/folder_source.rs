//! Which files are indexed, and how they are read.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use file_index::GitIgnores;
use rel_path::{ProtectedNames, RelPath};
use sandbox_fs::{FileKind, FileRoot, FileStamp, FsError, Visit, WalkEntry, WalkLimits};
use wap_core::{CancelFlag, Exclusions};

/// How long listing a folder may take.
const WALK_TIME: Duration = Duration::from_secs(120);

/// A folder whose files are indexed.
///
/// Left out are: links and special files, names that begin with a dot, protected names ([`ProtectedNames::default`] and
/// what [`FolderSource::without`] adds), the default exclusions of WAP, and what git ignores. A path that is left out is
/// left out of every answer, whoever names it.
#[derive(Debug)]
pub struct FolderSource {
    root: FileRoot,
    protected: ProtectedNames,
    left_out: Vec<RelPath>,
    exclusions: Exclusions,
}

/// A file as it was found.
#[derive(Clone, Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: RelPath,
    pub(crate) stamp: FileStamp,
}

/// What a listing gave.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<FoundFile>,
    /// Whether every file was seen: nothing may be taken for removed otherwise.
    pub(crate) is_complete: bool,
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct ReadSource {
    pub(crate) content: Vec<u8>,
    pub(crate) stamp: FileStamp,
}

impl FolderSource {
    /// Takes a folder.
    #[must_use]
    pub fn new(root: FileRoot) -> FolderSource {
        let mut protected = ProtectedNames::default();
        for entry in root.policy().protected.entries() {
            protected.add(entry);
        }
        FolderSource { root, protected, left_out: Vec::new(), exclusions: Exclusions::defaults() }
    }

    /// Leaves out one more folder, with all that is beneath it: a state folder for instance.
    #[must_use]
    pub fn without(mut self, folder: RelPath) -> FolderSource {
        if !folder.is_root() {
            self.left_out.push(folder);
        }
        self
    }

    /// Whether the folder is still there.
    pub(crate) fn is_alive(&self) -> bool {
        self.root.check_alive().is_ok()
    }

    /// Lists the files beneath a folder in the order of their paths.
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
            match self.admits_step(&entry.path, name, is_folder) && !ignores.ignores(&entry.path, is_folder) {
                true if is_folder => Visit::Pass,
                true => Visit::Take,
                false => Visit::Skip,
            }
        });
        let mut files = Vec::new();
        for entry in walk.by_ref() {
            // A name that is no text cannot be named by a request.
            if let (Some(found), true) = (entry.metadata, entry.path.to_str().is_some()) {
                files.push(FoundFile { path: entry.path, stamp: found.stamp() });
            }
        }
        let summary = walk.summary();
        let is_complete = !summary.out_of_entries && !summary.out_of_time && !cancel.is_cancelled();
        Ok(Listing { files, is_complete })
    }

    /// Whether a file of this path would be indexed.
    pub(crate) fn admits(&self, path: &RelPath) -> bool {
        let mut ignores = GitIgnores::new(&self.root);
        self.admits_steps(path, |step, is_folder| !ignores.ignores(step, is_folder))
    }

    /// Whether a file of this path would be indexed as far as its name says: git's rules apart, which take reading.
    pub(crate) fn may_show(&self, path: &RelPath) -> bool {
        self.admits_steps(path, |_, _| true)
    }

    fn admits_steps(&self, path: &RelPath, mut also: impl FnMut(&RelPath, bool) -> bool) -> bool {
        if path.is_root() || path.has_parent_steps() || path.to_str().is_none() {
            return false;
        }
        let mut step = RelPath::root();
        let depth = path.components().count();
        path.components().enumerate().all(|(index, name)| {
            let Ok(next) = step.child(name) else { return false };
            step = next;
            let is_folder = index + 1 < depth;
            self.admits_step(&step, name, is_folder) && also(&step, is_folder)
        })
    }

    /// Looks at one component of a path, what is above it being fine.
    fn admits_step(&self, path: &RelPath, name: &[u8], is_folder: bool) -> bool {
        if name.starts_with(b".") || self.left_out.iter().any(|folder| path.starts_with(folder)) {
            return false;
        }
        // The default exclusions name folders. What is in them is not met if they are not entered.
        let is_excluded = is_folder && self.exclusions.excludes(&path.to_string(), true);
        !is_excluded && !self.protected.protects(path)
    }

    /// The stamp of a regular file, without following links; `None` for anything else.
    pub(crate) fn stamp(&self, path: &RelPath) -> Option<FileStamp> {
        self.root.metadata(path).ok().filter(|found| found.is_file()).map(|found| found.stamp())
    }

    /// Whether a path is a folder, no link being followed at its end.
    pub(crate) fn is_folder(&self, path: &RelPath) -> bool {
        self.root.metadata(path).is_ok_and(|found| found.is_folder())
    }

    /// Reads a file. `None` if it is gone, cannot be read, is too large, or is another file than its path says: one
    /// behind a link.
    pub(crate) fn read(&self, path: &RelPath, limit_bytes: u64) -> Option<ReadSource> {
        let file = self.root.open_file(path).ok()?;
        if file.path() != path {
            return None;
        }
        let stamp = file.metadata().stamp();
        let content = file.read_to_end(limit_bytes).ok()?;
        // What was written while it was read shows in the stamp only if that is taken first; then the next look finds
        // another one.
        Some(ReadSource { content, stamp })
    }
}
