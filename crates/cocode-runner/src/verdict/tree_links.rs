//! The symlinks of a tree, and where they lead once the tree is checked out.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use crate::error::RunnerError;
use crate::repository::Repository;
use crate::repository::git::GitError;
use crate::repository::worktree::file_error;

/// The mode of a symlink in trees.
pub(super) const LINK: &str = "120000";

/// The most symlinks on the way to a file, as for Linux.
const MOST_STEPS: usize = 40;

/// The longest target of a symlink that a file system takes, in bytes.
const MOST_TARGET_BYTES: u64 = 4096;

/// The symlinks of a tree.
#[derive(Debug)]
pub(super) struct TreeLinks {
    /// Their targets, by their paths from the top.
    targets: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The folder into which the tree is checked out, without symlinks on the way.
    root: PathBuf,
}

/// The end of a symlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinkEnd {
    /// A path of the tree, without symlinks on the way; it need not exist.
    Inside(Vec<u8>),
    /// A path outside of the folder, without symlinks on the way as far as it exists.
    Outside(PathBuf),
    /// More steps than a file system takes.
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
        let contents = contents(repository, objects.values())?;
        let targets =
            objects.into_iter().filter_map(|(path, object)| Some((path, contents.get(&object)?.clone())));
        Ok(TreeLinks { targets: targets.collect(), root: repository.root.clone() })
    }

    /// Iterates over the paths of the symlinks beneath a folder, without the folder's own path and the slash behind it.
    pub(super) fn beneath(&self, folder: &[u8]) -> impl Iterator<Item = &[u8]> {
        let start = if folder.is_empty() { Vec::new() } else { [folder, b"/"].concat() };
        let from = self.targets.range(start.clone()..).map(|(path, _)| path.as_slice());
        from.take_while(move |path| path.starts_with(&start)).map({
            let length = if folder.is_empty() { 0 } else { folder.len() + 1 };
            move |path| &path[length..]
        })
    }

    /// Follows a path of the tree.
    pub(super) fn follow(&self, path: &[u8]) -> LinkWay {
        let mut way = LinkWay { through: Vec::new(), end: LinkEnd::Endless };
        let mut pending = names(path);
        let mut resolved: Vec<Vec<u8>> = Vec::new();
        while let Some(name) = pending.pop_front() {
            let mut outside = None;
            if name == b".." {
                if resolved.pop().is_none() {
                    outside = Some(self.root.parent().unwrap_or(Path::new("/")).to_owned());
                }
            } else {
                resolved.push(name);
                let here = resolved.join(&b'/');
                let Some(target) = self.targets.get(&here) else { continue };
                if way.through.len() == MOST_STEPS {
                    return way;
                }
                way.through.push(here);
                resolved.pop();
                for name in names(target).into_iter().rev() {
                    pending.push_front(name);
                }
                outside = target.starts_with(b"/").then(|| PathBuf::from("/"));
            }
            if let Some(outside) = outside {
                resolved.clear();
                let rest = OsString::from_vec(pending.make_contiguous().join(&b'/'));
                match self.enter(&outside.join(rest)) {
                    Ok(inside) => pending = inside,
                    Err(end) => return LinkWay { end, ..way },
                }
            }
        }
        way.end = LinkEnd::Inside(resolved.join(&b'/'));
        way
    }

    /// Returns the names from the folder on, if an absolute path leads into it again; otherwise the end of the way.
    fn enter(&self, path: &Path) -> Result<VecDeque<Vec<u8>>, LinkEnd> {
        let ancestors: Vec<&Path> = path.ancestors().collect();
        // The shortest one: beneath the folder, the symlinks of the tree count and not those that are there now.
        let at_root =
            ancestors.into_iter().rev().find(|one| fs::canonicalize(one).is_ok_and(|real| real == self.root));
        let real = real_path(path);
        let inside = at_root.map_or_else(|| real.strip_prefix(&self.root), |root| path.strip_prefix(root));
        inside.map(|path| names(path.as_os_str().as_bytes())).map_err(|_| LinkEnd::Outside(real.clone()))
    }
}

/// Returns the objects of the symlinks in a listing of a tree, by their paths.
fn link_objects(listing: File) -> io::Result<BTreeMap<Vec<u8>, String>> {
    let mut objects = BTreeMap::new();
    for entry in BufReader::new(listing).split(0) {
        let entry = entry?;
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let facts = String::from_utf8_lossy(&entry[..tab]).into_owned();
        if let Some(object) = facts.strip_prefix(LINK).and_then(|facts| facts.rsplit(' ').next()) {
            objects.insert(entry[tab + 1..].to_vec(), object.to_owned());
        }
    }
    Ok(objects)
}

/// Reads these objects. One that is too long for a symlink is left out: nothing can check it out.
fn contents<'a>(
    repository: &Repository,
    objects: impl Iterator<Item = &'a String>,
) -> Result<HashMap<String, Vec<u8>>, GitError> {
    let location = repository.location();
    let mut names: Vec<&str> = objects.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let sizes = ["cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)"];
    let sizes = repository.git.exchange(location, &sizes, &lines(&names))?;
    let sizes = String::from_utf8_lossy(&sizes);
    let is_short = |size: &str| size.parse().is_ok_and(|size: u64| size <= MOST_TARGET_BYTES);
    let short = sizes.lines().filter_map(|line| line.split_once(' ')).filter(|(_, size)| is_short(size));
    let short: Vec<&str> = short.map(|(name, _)| name).collect();
    let output = repository.git.exchange(location, &["cat-file", "--buffer", "--batch"], &lines(&short))?;
    let mut contents = HashMap::new();
    let mut rest = &output[..];
    while !rest.is_empty() {
        let entry = split_entry(rest).ok_or(GitError::Answer { command: "cat-file" })?;
        contents.insert(entry.0, entry.1.to_vec());
        rest = entry.2;
    }
    Ok(contents)
}

/// Splits the first object off what `cat-file --batch` prints: `NAME TYPE SIZE`, a line end, the content, a line end.
fn split_entry(output: &[u8]) -> Option<(String, &[u8], &[u8])> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let facts = std::str::from_utf8(&output[..end]).ok()?;
    let (name, size) = (facts.split(' ').next()?, facts.rsplit(' ').next()?.parse::<usize>().ok()?);
    let (content, rest) = output[end + 1..].split_at_checked(size)?;
    Some((name.to_owned(), content, rest.strip_prefix(b"\n")?))
}

fn lines(names: &[&str]) -> String {
    names.iter().flat_map(|name| [*name, "\n"]).collect()
}

fn names(path: &[u8]) -> VecDeque<Vec<u8>> {
    let names = path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
    names.map(<[u8]>::to_vec).collect()
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
