//! The trees that git has cached in an index: its extension `TREE`.
//!
//! `git commit` and `git diff --cached` take the tree of a folder from there, and read the entries only of folders without
//! one. If a tree does not match the entries, a commit holds changes that no difference has shown.

use sha1::{Digest as _, Sha1};
use sha2::{Digest as _, Sha256};

use crate::entry::Entry;
use crate::index_error::IndexError;
use crate::object_format::ObjectFormat;

/// The mode of a folder in a tree.
const FOLDER_MODE: u32 = 0o040_000;

/// The most folders with or without a tree. The largest repositories have a tenth of them, and each takes about 90 bytes of
/// memory, twelve times its size in the index.
const MOST_FOLDERS: usize = 1 << 20;

/// The most digits of a count of entries or folders.
const DIGITS: usize = 10;

/// The most bytes of computed trees, as a multiple of the index's size, plus a constant. Version 4 repeats a long name in a
/// few bytes; real names are shorter.
const TREE_SHARE: usize = 8;
const TREE_BYTES: usize = 4_096;

/// The part that an index is refused for.
const WRONG: IndexError = IndexError::Malformed { what: "the cached trees" };

/// The cached trees of an index, by folders.
#[derive(Debug)]
pub(crate) struct CachedTrees<'a> {
    /// The first is the root; each comes before those in it.
    folders: Vec<Folder<'a>>,
}

#[derive(Debug)]
struct Folder<'a> {
    name: &'a [u8],
    /// `None` if git recomputes the tree.
    tree: Option<Tree<'a>>,
    /// The folders in it, in git's order: shorter names first.
    folders: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Tree<'a> {
    /// The entries below it.
    entries: usize,
    /// The name of the object.
    object: &'a [u8],
}

impl<'a> CachedTrees<'a> {
    /// Parses the content of the extension.
    pub(crate) fn parse(content: &'a [u8], format: ObjectFormat) -> Result<CachedTrees<'a>, IndexError> {
        let mut folders: Vec<Folder<'a>> = Vec::new();
        // The folders whose list of subfolders has not ended, with the number of remaining ones.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut rest = content;
        loop {
            let (folder, within) = read_folder(&mut rest, format)?;
            let position = folders.len();
            if position == MOST_FOLDERS {
                return Err(WRONG);
            }
            match open.last_mut() {
                Some((parent, left)) => {
                    let last = folders[*parent].folders.last().map(|last| folders[*last].name);
                    let is_next = last.is_none_or(|last| order(last) < order(folder.name));
                    if !is_next || folder.name.is_empty() || folder.name.contains(&b'/') {
                        return Err(WRONG);
                    }
                    *left -= 1;
                    let parent = *parent;
                    folders[parent].folders.push(position);
                }
                None if !folder.name.is_empty() => return Err(WRONG),
                None => {}
            }
            folders.push(folder);
            open.push((position, within));
            while open.last().is_some_and(|(_, left)| *left == 0) {
                open.pop();
            }
            if open.is_empty() {
                break;
            }
        }
        if rest.is_empty() { Ok(CachedTrees { folders }) } else { Err(WRONG) }
    }

    /// Reports whether git takes a tree from here.
    pub(crate) fn has_trees(&self) -> bool {
        self.folders.iter().any(|folder| folder.tree.is_some())
    }

    /// Iterates over the names of the trees.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &'a [u8]> {
        self.folders.iter().filter_map(|folder| Some(folder.tree?.object))
    }

    fn within(&self, folder: Option<usize>, name: &[u8]) -> Option<usize> {
        let folders = &self.folders[folder?].folders;
        let at = folders.binary_search_by_key(&order(name), |folder| order(self.folders[*folder].name));
        at.ok().map(|at| folders[at])
    }

    fn tree(&self, folder: Option<usize>) -> Option<Tree<'a>> {
        self.folders[folder?].tree
    }
}

/// The key of git's order of folders.
fn order(name: &[u8]) -> (usize, &[u8]) {
    (name.len(), name)
}

/// Reads one folder and the number of its subfolders, which follow it.
fn read_folder<'a>(rest: &mut &'a [u8], format: ObjectFormat) -> Result<(Folder<'a>, usize), IndexError> {
    let name = until(rest, 0)?;
    let entries = match until(rest, b' ')? {
        b"-1" => None,
        digits => Some(number(digits)?),
    };
    let within = number(until(rest, b'\n')?)?;
    let tree = match entries {
        None => None,
        Some(entries) => {
            let (object, after) = rest.split_at_checked(format.name_bytes()).ok_or(WRONG)?;
            *rest = after;
            Some(Tree { entries, object })
        }
    };
    Ok((Folder { name, tree, folders: Vec::new() }, within))
}

fn until<'a>(rest: &mut &'a [u8], end: u8) -> Result<&'a [u8], IndexError> {
    let at = rest.iter().position(|byte| *byte == end).ok_or(WRONG)?;
    let (before, after) = rest.split_at(at);
    *rest = &after[1..];
    Ok(before)
}

fn number(digits: &[u8]) -> Result<usize, IndexError> {
    if digits.is_empty() || digits.len() > DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return Err(WRONG);
    }
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(WRONG)
}

/// Computes the trees of the entries, and compares them with the cached ones.
pub(crate) struct TreeCheck<'a> {
    trees: &'a CachedTrees<'a>,
    format: ObjectFormat,
    /// The folders of the current entry, the root first.
    open: Vec<OpenFolder>,
    /// The bytes that trees may still have.
    bytes_left: usize,
    /// The cached trees that no entry has led to so far.
    trees_left: usize,
}

struct OpenFolder {
    /// Its position among the cached folders.
    cached: Option<usize>,
    name: Vec<u8>,
    /// The length of its path, with the slash at its end.
    path_bytes: usize,
    /// The entries below it so far.
    entries: usize,
    /// True if an entry in it, or in a folder below it that has ended, belongs to no tree.
    is_partial: bool,
    /// The content of its tree so far; `None` if no cached tree depends on it.
    content: Option<Vec<u8>>,
}

impl<'a> TreeCheck<'a> {
    pub(crate) fn new(trees: &'a CachedTrees<'a>, format: ObjectFormat, index_bytes: usize) -> TreeCheck<'a> {
        let bytes_left = index_bytes.saturating_mul(TREE_SHARE).saturating_add(TREE_BYTES);
        let trees_left = trees.folders.iter().filter(|folder| folder.tree.is_some()).count();
        let mut check = TreeCheck { trees, format, open: Vec::new(), bytes_left, trees_left };
        check.enter(Some(0), b"", 0);
        check
    }

    /// Takes the next entry, whose path shares its first `common` bytes with the path of the entry before it.
    pub(crate) fn entry(&mut self, entry: &Entry<'_>, common: usize) -> Result<(), IndexError> {
        while self.open.last().is_some_and(|folder| folder.path_bytes > common) {
            self.leave()?;
        }
        // A folder of a sparse index stands for everything below it.
        let path = entry.path.strip_suffix(b"/").unwrap_or(entry.path);
        let mut start = self.open.last().map_or(0, |folder| folder.path_bytes);
        while let Some(length) = path[start..].iter().position(|byte| *byte == b'/') {
            let name = &path[start..start + length];
            start += length + 1;
            self.enter(self.trees.within(self.cached(), name), name, start);
        }
        if entry.is_folder()
            && let Some(tree) = self.trees.tree(self.trees.within(self.cached(), &path[start..]))
        {
            self.trees_left = self.trees_left.saturating_sub(1);
            if tree.entries != 1 || tree.object != entry.object {
                return Err(WRONG);
            }
        }
        if let Some(folder) = self.open.last_mut() {
            folder.is_partial |= entry.is_to_be_added() || entry.stage != 0;
        }
        self.add(entry.mode, &path[start..], entry.object, 1)
    }

    /// Ends after the last entry.
    pub(crate) fn end(mut self) -> Result<(), IndexError> {
        while !self.open.is_empty() {
            self.leave()?;
        }
        // Git removes the tree of a folder with its last entry.
        if self.trees_left == 0 { Ok(()) } else { Err(WRONG) }
    }

    /// Returns the position of the innermost folder among the cached ones.
    fn cached(&self) -> Option<usize> {
        self.open.last()?.cached
    }

    fn enter(&mut self, cached: Option<usize>, name: &[u8], path_bytes: usize) {
        let is_needed = self.open.last().is_some_and(|parent| parent.content.is_some())
            || self.trees.tree(cached).is_some();
        self.open.push(OpenFolder {
            cached,
            name: name.to_vec(),
            path_bytes,
            entries: 0,
            is_partial: false,
            content: is_needed.then(Vec::new),
        });
    }

    fn leave(&mut self) -> Result<(), IndexError> {
        let Some(folder) = self.open.pop() else { return Ok(()) };
        let OpenFolder { cached, name, entries, is_partial, content, .. } = folder;
        let mut object =
            content.as_deref().map(|content| object_name(self.format, content)).unwrap_or_default();
        let content = content.unwrap_or_default();
        if let Some(tree) = self.trees.tree(cached) {
            self.trees_left = self.trees_left.saturating_sub(1);
            let is_like = |object: &[u8]| tree.object == object;
            let is_alike = is_like(&object)
                || is_like(&object_name(self.format, &with_old_modes(&content, self.format)));
            if is_partial || tree.entries != entries || !is_alike {
                return Err(WRONG);
            }
            // The parent's tree names the cached tree.
            object = tree.object.to_vec();
        }
        if let Some(parent) = self.open.last_mut() {
            parent.is_partial |= is_partial;
        }
        self.add(FOLDER_MODE, &name, &object, entries)
    }

    /// Adds a line to the tree of the innermost folder, with the number of entries that it stands for.
    fn add(&mut self, mode: u32, name: &[u8], object: &[u8], entries: usize) -> Result<(), IndexError> {
        let Some(folder) = self.open.last_mut() else { return Ok(()) };
        folder.entries += entries;
        let Some(content) = &mut folder.content else { return Ok(()) };
        let line = [format!("{mode:o} ").as_bytes(), name, b"\0", object].concat();
        self.bytes_left = self.bytes_left.checked_sub(line.len()).ok_or(WRONG)?;
        content.extend(line);
        Ok(())
    }
}

/// Returns the content of a tree with the group-writable file modes that git wrote in its first weeks, and other programs
/// long after. Git reads both alike, and caches such a tree under its own name when `git reset` or `git read-tree` has read it.
fn with_old_modes(content: &[u8], format: ObjectFormat) -> Vec<u8> {
    let mut old = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let (line, after) = rest.split_at((end + 1 + format.name_bytes()).min(rest.len()));
        for (mode, old_mode) in [(&b"100644 "[..], b"100664 "), (b"100755 ", b"100775 ")] {
            if line.starts_with(mode) {
                old.extend_from_slice(old_mode);
                old.extend_from_slice(&line[mode.len()..]);
            }
        }
        if !line.starts_with(b"100") {
            old.extend_from_slice(line);
        }
        rest = after;
    }
    old
}

/// Returns the name of a tree with this content.
fn object_name(format: ObjectFormat, content: &[u8]) -> Vec<u8> {
    let header = format!("tree {}\0", content.len());
    match format {
        ObjectFormat::Sha1 => Sha1::new().chain_update(header).chain_update(content).finalize().to_vec(),
        ObjectFormat::Sha256 => Sha256::new().chain_update(header).chain_update(content).finalize().to_vec(),
    }
}
