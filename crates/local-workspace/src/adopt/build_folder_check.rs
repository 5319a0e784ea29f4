//! Finds files in build folders that git would obey, after a command has ended, and renames them out of git's way.
//!
//! Build folders are bind-mounted, so nothing in them is judged when changes are adopted. Examining a whole build
//! folder after each command would be too expensive. A folder whose entries have changed shows it by its ctime, which
//! no command can set: changed folders are followed to the end of the change, the others within a small budget.
//!
//! Between commands the examined folders are watched, and only those with a changed entry are examined again. This
//! holds only while they contain no repository, whose files can change through other names.

mod repository_names;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use file_index::{FolderChanges, FolderWatch};
use git_index::{REFERENCE_BYTES, is_reference};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FileStamp, FolderAt, FsError, Metadata, Visit, WalkEntry, WalkLimits};

use self::repository_names::{holds_objects, is_part, may_be_obeyed};
use crate::change::present::Present;
use crate::change::publish::open_root;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::{INDEX_BYTES, InRepository, Refusal, is_git_name, is_index};
use crate::git::linked_contents::{ContentsOnDisk, LinkedContents as _};
use crate::git::repository_context::RepositoryContext;

/// The number of changed folders that are examined.
const CHANGED_FOLDERS: usize = 20_000;

/// The number of unchanged folders that are examined. An ordinary `node_modules` of 30,000 entries has about 4,000.
const OTHER_FOLDERS: usize = 6_000;

/// The number of entries read in folders, and again in repositories.
const ENTRIES: usize = 200_000;

/// The maximum number of folders that are watched between commands.
const WATCHED_FOLDERS: usize = 8_000;

/// The largest file that is read, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// The suffix added to a file that git would obey.
const SUFFIX: &str = ".agentd-refused";

/// The number of names that are tried.
const NAMES: usize = 100;

/// The lag of the file system's clock behind this process's, in nanoseconds.
const ONE_TICK: i128 = 50_000_000;

/// A moment before a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(i128);

impl Moment {
    pub(crate) fn now() -> Moment {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        Moment(i128::try_from(now).unwrap_or(i128::MAX) - ONE_TICK)
    }

    /// Returns whether a time, in nanoseconds since 1970, is later.
    pub(crate) fn is_before(self, nanoseconds: i128) -> bool {
        nanoseconds >= self.0
    }
}

/// The findings in build folders.
#[derive(Debug, Default)]
pub(crate) struct BuildFolderFindings {
    /// Files that git would obey, with the reason; they were renamed, or removed if they were symlinks.
    pub taken_away: Vec<(String, Refusal)>,
    /// The ones for which that failed.
    pub left: Vec<(String, Refusal)>,
    /// True if a budget ended before everything was examined.
    pub is_cut: bool,
}

/// Build folders before a command that writes through to them.
#[derive(Debug, Default)]
pub(crate) struct BuildFoldersBefore {
    pub folders: Vec<RelPath>,
    /// The files of their repositories that are judged if they are new.
    files: BTreeMap<RelPath, FileStamp>,
    /// True if the list is incomplete.
    is_cut: bool,
    /// Reports changes in the examined folders; `None` if everything has to be examined again.
    watch: Option<BuildFolderWatch>,
}

/// Watches on all folders that an examination would read.
#[derive(Debug)]
struct BuildFolderWatch {
    folders: FolderWatch,
    /// The device and inode of each build folder when it was watched.
    roots: Vec<Option<(u64, u64)>>,
}

impl BuildFoldersBefore {
    /// Records the contents of repositories before a command. A repository that is missing from the record was
    /// completed, or moved there, by the command: then all of it is judged, whatever the age of its parts.
    pub(crate) fn look(root: &FileRoot, folders: Vec<RelPath>) -> BuildFoldersBefore {
        let mut check = Check::new(root, Moment(i128::MAX), &folders, None);
        check.walk();
        let Check { files, is_cut, .. } = check;
        BuildFoldersBefore { folders, files, is_cut, watch: None }
    }

    /// Does the same after an earlier command, examining only the changes since.
    pub(crate) fn look_again(
        root: &Arc<FileRoot>,
        folders: Vec<RelPath>,
        last: BuildFoldersBefore,
    ) -> BuildFoldersBefore {
        if folders.is_empty() {
            return BuildFoldersBefore::default();
        }
        if last.folders == folders
            && let Some(mut watch) = last.watch
            && let Some(changed) = watch.changed(root, &folders)
        {
            let mut check = Check::new(root, Moment(i128::MAX), &changed, None).watching(watch.folders);
            check.walk();
            if let Some(watched) = check.watch.take() {
                watch.folders = watched;
                let is_cut = last.is_cut || check.is_cut;
                return BuildFoldersBefore { folders, files: BTreeMap::new(), is_cut, watch: Some(watch) };
            }
        }
        // The roots first: one that is replaced in the meantime has a different inode later.
        let roots = identities(root, &folders);
        let mut check = Check::new(root, Moment(i128::MAX), &folders, None);
        check.watch = FolderWatch::start(Arc::clone(root)).ok();
        check.walk();
        let Check { files, is_cut, watch, .. } = check;
        let watch = watch.map(|folders| BuildFolderWatch { folders, roots });
        BuildFoldersBefore { folders, files, is_cut, watch }
    }

    /// Drops the contents once they were checked, but keeps the data for the next examination.
    pub(crate) fn without_contents(self) -> BuildFoldersBefore {
        let is_cut = self.is_cut || self.watch.is_none();
        BuildFoldersBefore { files: BTreeMap::new(), is_cut, ..self }
    }
}

impl BuildFolderWatch {
    /// Returns the folders with changed entries; `None` if there may be others.
    fn changed(&mut self, root: &FileRoot, folders: &[RelPath]) -> Option<Vec<RelPath>> {
        let FolderChanges::Paths(paths) = self.folders.changes() else { return None };
        if identities(root, folders) != self.roots {
            return None;
        }
        let mut changed = BTreeSet::new();
        for path in paths {
            // A different folder may have its name now.
            self.folders.forget(&path);
            if folders.contains(&path) {
                changed.insert(path);
            } else if folders.iter().any(|folder| path.starts_with(folder)) {
                changed.extend(path.parent());
            }
        }
        // A removed folder is gone with all of its subfolders.
        let is_there = |folder: &RelPath| root.metadata(folder).is_ok_and(|now| now.is_folder());
        Some(changed.into_iter().filter(is_there).collect())
    }
}

fn identities(root: &FileRoot, folders: &[RelPath]) -> Vec<Option<(u64, u64)>> {
    let identity =
        |folder| root.metadata(folder).ok().map(|now| now.stamp()).map(|now| (now.device, now.inode));
    folders.iter().map(identity).collect()
}

/// Finds files that git would obey and that were made, changed or completed since a moment.
pub(crate) fn check(root: &FileRoot, before: &mut BuildFoldersBefore, since: Moment) -> BuildFolderFindings {
    let watch = before.watch.take().and_then(|mut watch| {
        let changed = watch.changed(root, &before.folders)?;
        Some((watch, changed))
    });
    let (mut check, roots) = match watch {
        Some((BuildFolderWatch { folders, roots }, changed)) => {
            let mut check = Check::new(root, since, &changed, Some(before)).watching(folders);
            check.is_cut = before.is_cut;
            (check, roots)
        }
        None => (Check::new(root, since, &before.folders, Some(before)), Vec::new()),
    };
    check.walk();
    let watch = check.watch.take().map(|folders| BuildFolderWatch { folders, roots });
    let mut findings = BuildFolderFindings { is_cut: check.is_cut, ..BuildFolderFindings::default() };
    let open = if check.obeyed.is_empty() { None } else { open_root(root).ok() };
    for (path, kind, refusal) in check.obeyed {
        let is_gone = open.as_ref().is_some_and(|open| take_away(open, &path, kind).is_ok());
        let list = if is_gone { &mut findings.taken_away } else { &mut findings.left };
        list.push((path.to_string(), refusal));
    }
    (before.watch, before.is_cut) = (watch, findings.is_cut);
    findings
}

struct Check<'a> {
    root: &'a FileRoot,
    since: Moment,
    changed: VecDeque<RelPath>,
    others: VecDeque<RelPath>,
    left_entries: usize,
    /// The state before the command; `None` while it is being recorded.
    before: Option<&'a BuildFoldersBefore>,
    files: BTreeMap<RelPath, FileStamp>,
    contents: ContentsOnDisk<'a>,
    obeyed: Vec<(RelPath, FileKind, Refusal)>,
    is_cut: bool,
    /// Watches every folder outside of repositories before it is examined, and the skipped ones at the end. `None`
    /// if the next examination cannot rely on changes.
    watch: Option<FolderWatch>,
    examined: BTreeSet<RelPath>,
}

impl<'a> Check<'a> {
    fn new(
        root: &'a FileRoot,
        since: Moment,
        folders: &[RelPath],
        before: Option<&'a BuildFoldersBefore>,
    ) -> Check<'a> {
        Check {
            root,
            since,
            changed: folders.iter().cloned().collect(),
            others: VecDeque::new(),
            left_entries: ENTRIES,
            before,
            files: BTreeMap::new(),
            contents: ContentsOnDisk::new(root),
            obeyed: Vec::new(),
            is_cut: false,
            watch: None,
            examined: BTreeSet::new(),
        }
    }

    /// Treats watched folders as unchanged, unless they are new or among the folders from which the check starts.
    fn watching(mut self, watch: FolderWatch) -> Check<'a> {
        self.watch = Some(watch);
        self
    }

    fn walk(&mut self) {
        let (mut changed, mut others) = (CHANGED_FOLDERS, OTHER_FOLDERS);
        loop {
            let (queue, left) = if self.changed.is_empty() {
                (&mut self.others, &mut others)
            } else {
                (&mut self.changed, &mut changed)
            };
            let Some(folder) = queue.pop_front() else { return };
            if *left == 0 || self.left_entries == 0 {
                self.is_cut = true;
                self.watch(&folder);
                for folder in
                    std::mem::take(&mut self.changed).into_iter().chain(std::mem::take(&mut self.others))
                {
                    self.watch(&folder);
                }
                return;
            }
            *left -= 1;
            if self.examined.insert(folder.clone()) {
                self.folder(&folder);
            }
        }
    }

    /// Watches a folder in which changes are to be reported from now on.
    fn watch(&mut self, folder: &RelPath) {
        let Some(watch) = &mut self.watch else { return };
        let watched = if watch.len() < WATCHED_FOLDERS {
            watch.watch(folder)
        } else {
            Err(io::ErrorKind::Other.into())
        };
        // A folder that cannot be entered is not examined either, and its parent reports if that changes.
        if watched.is_err_and(|error| error.kind() != io::ErrorKind::NotADirectory) {
            self.watch = None;
        }
    }

    fn is_new(&self, metadata: &Metadata) -> bool {
        metadata.status_changed_nanoseconds >= self.since.0
    }

    /// Examines one folder outside of any repository.
    fn folder(&mut self, folder: &RelPath) {
        self.watch(folder);
        let entries = self.entries(folder);
        if self.left_entries == 0 {
            self.watch = None;
        }
        let has = |name: &[u8]| entries.iter().any(|(entry, _)| entry.eq_ignore_ascii_case(name));
        let is_bare = has(b"HEAD") && (has(b"commondir") || has(b"objects") && has(b"refs"));
        // Any of these may have been missing before, and the whole may have had another name.
        let is_part_new = is_bare
            && (self.root.metadata(folder).is_ok_and(|metadata| self.is_new(&metadata))
                || entries.iter().any(|(name, metadata)| is_part(name) && self.is_new(metadata)));
        for (name, metadata) in &entries {
            let Ok(path) = folder.child(name) else { continue };
            if is_git_name(name) {
                let is_new = self.is_new(metadata);
                self.in_repository(&path, &path, *metadata, is_new);
            } else if is_bare {
                self.in_repository(folder, &path, *metadata, is_part_new);
            } else if metadata.is_folder() && !is_bare {
                let is_new = self.is_new(metadata);
                if !is_new && self.watch.as_ref().is_some_and(|watch| watch.is_watched(&path)) {
                    continue;
                }
                let queue = if is_new { &mut self.changed } else { &mut self.others };
                if queue.len() < CHANGED_FOLDERS {
                    queue.push_back(path);
                } else {
                    (self.is_cut, self.watch) = (true, None);
                }
            }
        }
    }

    /// Examines one entry of the repository in `folder`, or the folder itself, and everything below.
    fn in_repository(&mut self, folder: &RelPath, path: &RelPath, metadata: Metadata, is_part_new: bool) {
        self.watch = None;
        let mut waiting = vec![(path.clone(), metadata, is_part_new)];
        while let Some((path, metadata, is_part_new)) = waiting.pop() {
            if metadata.is_folder() {
                if holds_objects(folder, &path) {
                    continue;
                }
                let entries = self.entries(&path);
                // The folder of a submodule is a repository as well.
                let is_part_new = is_part_new
                    || self.is_new(&metadata)
                    || entries.iter().any(|(name, metadata)| is_part(name) && self.is_new(metadata));
                let inner = entries.into_iter();
                waiting.extend(
                    inner.filter_map(|(name, metadata)| {
                        Some((path.child(&name).ok()?, metadata, is_part_new))
                    }),
                );
            } else if self.before.is_none() {
                self.files.insert(path, metadata.stamp());
            } else if self.is_to_be_judged(&path, &metadata, is_part_new)
                && let Some(refusal) = self.refusal(folder, &path, &metadata)
            {
                self.obeyed.push((path, metadata.kind, refusal));
            }
        }
    }

    /// Returns whether the command made or changed a file of a repository, by itself or with the whole repository.
    fn is_to_be_judged(&self, path: &RelPath, metadata: &Metadata, is_part_new: bool) -> bool {
        let is_known = |before: &BuildFoldersBefore| before.files.get(path) == Some(&metadata.stamp());
        // Past the end of the previous examination, only the ctime shows that a file is unchanged.
        self.is_new(metadata)
            || self.before.is_some_and(|before| !is_known(before) && (!before.is_cut || is_part_new))
    }

    /// Returns the reason for which a file of a repository would be refused anywhere else in the workspace.
    fn refusal(&self, folder: &RelPath, path: &RelPath, metadata: &Metadata) -> Option<Refusal> {
        let after = match metadata.kind {
            FileKind::File => {
                let limit = if is_index(path) { INDEX_BYTES } else { FILE_BYTES };
                let bytes = self.root.open_file(path).and_then(|file| match file.read_to_end(limit) {
                    // Its beginning is enough.
                    Err(_) if is_reference(path.components()) => file.read_range(0, REFERENCE_BYTES + 1),
                    bytes => bytes,
                });
                // An unreadable file cannot be judged: this content is neither a reference nor anything else that is
                // harmless.
                let bytes = bytes.unwrap_or_else(|_| b"ref:\0".to_vec());
                EffectSide::Kept(Present::file(bytes, Some(metadata.mode)))
            }
            FileKind::Link => EffectSide::link(Vec::new()),
            _ => EffectSide::special(),
        };
        let names = path.components().skip(folder.components().count()).collect();
        let effect = Effect { path: path.clone(), before: None, after: Some(after) };
        let context = RepositoryContext {
            workspace: self.root.path(),
            is_layered: false,
            was_there: &|_| false,
            is_there: &|path| self.root.metadata(path).is_ok(),
            // Build folders are judged here.
            is_unjudged: &|_| false,
            format: &|settings| self.contents.format(settings),
            lacks_object: &|_, _| false,
            text: &|path| self.contents.content(path),
            packed: &|list| self.contents.packed(list),
            content: Some(&self.contents),
        };
        let refusal = InRepository { folder: folder.clone(), names }.refusal(&effect, &context)?;
        let runs_nothing = match &refusal {
            // A repository without a working tree sets this itself.
            Refusal::Settings(change) => change.sets_only("core.bare"),
            Refusal::Attributes | Refusal::ObjectCache => true,
            // A different object store does not change settings.
            Refusal::Redirection if path == folder => false,
            Refusal::Redirection => path.parent().is_some_and(|parent| parent.file_name() == Some(b"info")),
            _ => false,
        };
        (!runs_nothing).then_some(refusal)
    }

    /// The entries of a folder that matter; none if it cannot be read.
    fn entries(&mut self, folder: &RelPath) -> Vec<(Vec<u8>, Metadata)> {
        let open = match self.root.folder_at(folder) {
            Ok(FolderAt::Folder(open)) => open,
            Ok(FolderAt::Mount) => return self.entries_in_mount(folder),
            Ok(_) => return Vec::new(),
            Err(_) => {
                (self.is_cut, self.watch) = (true, None);
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        let mut left = self.left_entries;
        let read = open.names(|name, kind| {
            left = left.saturating_sub(1);
            // Builds have many files, and only those that a repository would have matter.
            let is_of_interest = kind != FileKind::File || may_be_obeyed(folder, name);
            if left > 0 && is_of_interest {
                names.push(name.to_vec());
            }
        });
        self.left_entries = left;
        self.is_cut |= read.is_err() || left == 0;
        if read.is_err() {
            self.watch = None;
        }
        let metadata = |name: Vec<u8>| {
            let entry = open.entry(&name).ok().flatten()?;
            Some((name, entry))
        };
        names.into_iter().filter_map(metadata).collect()
    }

    /// The same for a folder in a mount, which watches do not cover.
    fn entries_in_mount(&mut self, folder: &RelPath) -> Vec<(Vec<u8>, Metadata)> {
        self.watch = None;
        let limits = WalkLimits { depth: 1, entries: self.left_entries as u64, ..WalkLimits::default() };
        let Ok(walk) = self.root.walk(folder, limits) else {
            self.is_cut = true;
            return Vec::new();
        };
        if walk.start() != folder {
            return Vec::new();
        }
        let is_of_interest = |entry: &WalkEntry| {
            entry.kind != FileKind::File
                || entry.path.file_name().is_some_and(|name| may_be_obeyed(folder, name))
        };
        let mut walk = walk.with_metadata().visited_by(|entry| match is_of_interest(entry) {
            true => Visit::TakeOnly,
            false => Visit::Skip,
        });
        let entry = |entry: WalkEntry| Some((entry.path.file_name()?.to_vec(), entry.metadata?));
        let entries = walk.by_ref().filter_map(entry).collect();
        let summary = walk.summary();
        self.left_entries =
            self.left_entries.saturating_sub(usize::try_from(summary.entries).unwrap_or(usize::MAX));
        self.is_cut |= summary.out_of_entries || summary.out_of_time || summary.unreadable > 0;
        entries
    }
}

/// Renames a file so that git ignores it, and removes a symlink.
fn take_away(root: &FileRoot, path: &RelPath, kind: FileKind) -> Result<(), FsError> {
    if kind != FileKind::File {
        return root.remove_file(path, None).map(drop);
    }
    let folder = path.parent().unwrap_or_default();
    let name = path.file_name().unwrap_or_default();
    let mut result = Err(FsError::Busy { path: path.clone() });
    for number in 0..NAMES {
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        let free = folder.child(&[name, SUFFIX.as_bytes(), number.as_bytes()].concat())?;
        result = root.rename_noreplace(path, root, &free).map(drop);
        if !matches!(result, Err(FsError::AlreadyExists { .. })) {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests;
