//! The symlinks of a tree, and their targets once the tree is checked out.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::error::RunnerError;
use crate::objects::link_targets::{self, LinkTarget};
use crate::repository::Repository;
use crate::repository::tree_changes::LINK;
use crate::repository::worktree::file_error;
use crate::verdict::search_limit::LookBudget;

/// The most symlinks on the way to a file, as for Linux.
const MOST_STEPS: usize = 40;

/// The path length that following a symlink on disk counts as. Its way can be as long as those of 40 symlinks.
const DISK_LINK_BYTES: usize = 64 << 10;

/// The symlinks of a tree.
#[derive(Debug)]
pub(super) struct TreeLinks {
    /// Their targets, by their paths from the top.
    targets: BTreeMap<Vec<u8>, Rc<[u8]>>,
    /// Those that no file system accepts.
    unusable: BTreeSet<Vec<u8>>,
    /// The folder into which the tree is checked out, without symlinks on the way.
    root: PathBuf,
    /// The resolved targets of symlinks on disk; `None` for dangling ones.
    on_disk: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

/// The end of a symlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinkEnd {
    /// A path of the tree, without symlinks on the way; it need not exist.
    Inside(Vec<u8>),
    /// A path outside of the folder, without symlinks on the way as far as it exists.
    Outside(PathBuf),
    /// More steps than a file system follows.
    Endless,
}

/// The way of a symlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkWay {
    /// The symlinks of the tree on the way, the first one included.
    pub(super) through: Vec<Vec<u8>>,
    pub(super) end: LinkEnd,
}

impl TreeLinks {
    /// Reads the symlinks of a commit or tree. The listing of the tree is kept in a nameless file in `scratch`, since a tree can
    /// have any number of entries.
    pub(super) fn of(repository: &Repository, tree: &str, scratch: &Path) -> Result<TreeLinks, RunnerError> {
        let failed = file_error("write in", scratch);
        let mut listing = tempfile::tempfile_in(scratch).map_err(&failed)?;
        let arguments = ["ls-tree", "-r", "-z", "--full-tree", tree];
        let output = listing.try_clone().map_err(&failed)?;
        repository.git.write_to(repository.location(), &arguments, "", output)?;
        listing.seek(SeekFrom::Start(0)).map_err(&failed)?;
        let objects = link_objects(listing).map_err(&failed)?;
        let contents = link_targets::read(repository, objects.values())?;
        let (mut targets, mut unusable) = (BTreeMap::new(), BTreeSet::new());
        for (path, object) in objects {
            // Cut like in git.
            match contents.get(&object).map(LinkTarget::as_made) {
                Some(target) if !target.is_empty() => drop(targets.insert(path, target)),
                _ => drop(unusable.insert(path)),
            }
        }
        let (root, on_disk) = (repository.root.clone(), RefCell::default());
        Ok(TreeLinks { targets, unusable, root, on_disk })
    }

    /// Returns whether a path is a symlink that cannot be checked out, because its target is empty or overlong.
    pub(super) fn is_unusable(&self, path: &[u8]) -> bool {
        self.unusable.contains(path)
    }

    /// Iterates over the paths of the symlinks below a folder, without the folder's own path and its trailing slash.
    pub(super) fn below(&self, folder: &[u8]) -> impl Iterator<Item = &[u8]> {
        let start = if folder.is_empty() { Vec::new() } else { [folder, b"/"].concat() };
        let from = self.targets.range(start.clone()..).map(|(path, _)| path.as_slice());
        from.take_while(move |path| path.starts_with(&start)).map({
            let length = if folder.is_empty() { 0 } else { folder.len() + 1 };
            move |path| &path[length..]
        })
    }

    /// Follows a path of the tree. Once the budget is used up, it leads nowhere.
    pub(super) fn follow(&self, path: &[u8], budget: &LookBudget) -> LinkWay {
        let mut way = LinkWay { through: Vec::new(), end: LinkEnd::Endless };
        let mut pending = Pending(vec![(Cow::Borrowed(path), 0)]);
        let mut resolved: Vec<u8> = Vec::new();
        loop {
            if !budget.spend(resolved.len()) {
                return way;
            }
            let Some(name) = pending.next_name() else { break };
            let mut outside = None;
            if name == b".." {
                match resolved.is_empty() {
                    true => outside = Some(self.root.parent().unwrap_or(Path::new("/")).to_owned()),
                    false => leave(&mut resolved),
                }
            } else {
                join(&mut resolved, &name);
                let Some(target) = self.targets.get(&resolved) else { continue };
                if way.through.len() == MOST_STEPS {
                    return way;
                }
                way.through.push(resolved.clone());
                leave(&mut resolved);
                pending.0.push((Cow::Borrowed(target), 0));
                outside = target.starts_with(b"/").then(|| PathBuf::from("/"));
            }
            if let Some(outside) = outside {
                resolved.clear();
                let rest = pending.rest();
                if !budget.spend(rest.len()) {
                    return way;
                }
                match self.enter(&outside, &rest, budget) {
                    Ok(inside) => pending = Pending(vec![(Cow::Owned(inside), 0)]),
                    Err(end) => return LinkWay { end, ..way },
                }
            }
        }
        way.end = LinkEnd::Inside(resolved);
        way
    }

    /// Returns the path from the folder on, if a path from `outside` leads back into it; otherwise the end of the way. Inside the
    /// folder, the symlinks of the tree count and not those that exist now.
    fn enter(&self, outside: &Path, rest: &[u8], budget: &LookBudget) -> Result<Vec<u8>, LinkEnd> {
        let mut real = outside.to_owned();
        // After a missing entry, each further step counts as if there were no symlinks.
        let mut is_there = true;
        let mut rest = Path::new(OsStr::from_bytes(rest)).components();
        loop {
            if is_there && real == self.root {
                return Ok(rest.as_path().as_os_str().as_bytes().to_vec());
            }
            if !budget.spend(real.as_os_str().len()) {
                return Err(LinkEnd::Endless);
            }
            match rest.next() {
                None => break,
                Some(Component::ParentDir) => drop(real.pop()),
                Some(Component::Normal(name)) => {
                    real.push(name);
                    match is_there.then(|| real.symlink_metadata()) {
                        Some(Ok(data)) if data.is_symlink() => match self.end_on_disk(&real, budget) {
                            Some(end) => real = end,
                            None => is_there = false,
                        },
                        Some(Ok(_)) => {}
                        Some(Err(_)) | None => is_there = false,
                    }
                }
                Some(_) => {}
            }
        }
        match real.strip_prefix(&self.root) {
            Ok(inside) => Ok(inside.as_os_str().as_bytes().to_vec()),
            Err(_) => Err(LinkEnd::Outside(real)),
        }
    }

    /// Returns the resolved target of a symlink on disk; `None` if it is dangling.
    fn end_on_disk(&self, link: &Path, budget: &LookBudget) -> Option<PathBuf> {
        if let Some(end) = self.on_disk.borrow().get(link) {
            return end.clone();
        }
        let end = budget.spend(DISK_LINK_BYTES).then(|| fs::canonicalize(link).ok()).flatten();
        self.on_disk.borrow_mut().insert(link.to_owned(), end.clone());
        end
    }
}

/// The names that are still to follow: texts with the position in each, the next one last.
#[derive(Debug)]
struct Pending<'a>(Vec<(Cow<'a, [u8]>, usize)>);

impl Pending<'_> {
    /// Takes the next name.
    fn next_name(&mut self) -> Option<Vec<u8>> {
        while let Some((text, at)) = self.0.last_mut() {
            let rest = &text[*at..];
            let length = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
            let name = rest[..length].to_vec();
            *at += length + 1;
            if *at > text.len() {
                self.0.pop();
            }
            if !matches!(&name[..], b"" | b".") {
                return Some(name);
            }
        }
        None
    }

    /// Returns all of it as one path, relative even if a part of it is not.
    fn rest(&self) -> Vec<u8> {
        let texts: Vec<&[u8]> = self.0.iter().rev().map(|(text, at)| &text[*at..]).collect();
        let rest = texts.join(&b'/');
        let start = rest.iter().position(|byte| *byte != b'/').unwrap_or(rest.len());
        rest[start..].to_vec()
    }
}

/// Adds a name to a path.
fn join(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// Removes the last name of a path.
fn leave(path: &mut Vec<u8>) {
    path.truncate(path.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
}

/// Returns the objects of the symlinks in a listing of a tree, by their paths.
fn link_objects(listing: File) -> io::Result<BTreeMap<Vec<u8>, String>> {
    let mut objects = BTreeMap::new();
    for entry in BufReader::new(listing).split(0) {
        let entry = entry?;
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        if let Some(facts) = entry[..tab].strip_prefix(&LINK) {
            let object = facts.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
            objects.insert(entry[tab + 1..].to_vec(), String::from_utf8_lossy(object).into_owned());
        }
    }
    Ok(objects)
}

/// Returns an absolute path without `..`, as if there were no symlinks.
fn without_steps(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    plain
}

/// Returns an absolute path without symlinks and `..`, as far as it exists.
pub(super) fn real_path(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|existing| {
        let real = fs::canonicalize(existing).ok()?;
        Some(real.join(path.strip_prefix(existing).ok()?))
    });
    without_steps(&resolved.unwrap_or_else(|| path.to_owned()))
}

#[cfg(test)]
impl TreeLinks {
    /// Makes the symlinks of a tree, each a path and a target, that is checked out into `root`.
    pub(super) fn of_targets(links: &[(String, String)], root: &Path) -> TreeLinks {
        let target =
            |(path, target): &(String, String)| (path.clone().into_bytes(), Rc::from(target.as_bytes()));
        let targets = links.iter().map(target).collect();
        TreeLinks { targets, unusable: BTreeSet::new(), root: root.to_owned(), on_disk: RefCell::default() }
    }
}
