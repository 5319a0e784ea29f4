//! The targets of symlinks, as stored in objects.

use std::collections::HashMap;
use std::rc::Rc;

use crate::repository::Repository;
use crate::repository::git::GitError;

/// The longest target of a symlink that a file system accepts, in bytes.
pub(crate) const MOST_TARGET_BYTES: u64 = 4095;

/// The content of an object that is a symlink in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// All of it.
    Whole(Rc<[u8]>),
    /// The part before the first NUL, where git ends the target.
    Cut(Rc<[u8]>),
    /// More bytes than a file system accepts, which are not read.
    Long(u64),
}

impl LinkTarget {
    /// Returns the target of the symlink that git makes; empty if it cannot make one.
    pub(crate) fn as_made(&self) -> Rc<[u8]> {
        match self {
            LinkTarget::Whole(target) | LinkTarget::Cut(target) => Rc::clone(target),
            LinkTarget::Long(_) => Rc::from([]),
        }
    }
}

/// Reads these objects. Missing ones are left out.
pub(crate) fn read<'a>(
    repository: &Repository,
    objects: impl Iterator<Item = &'a String>,
) -> Result<HashMap<String, LinkTarget>, GitError> {
    let location = repository.location();
    let mut names: Vec<&str> = objects.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let mut targets = HashMap::new();
    if names.is_empty() {
        return Ok(targets);
    }
    let sizes = ["cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)"];
    let sizes = repository.git.exchange(location, &sizes, &lines(&names))?;
    let sizes = String::from_utf8_lossy(&sizes);
    let mut short = Vec::new();
    for (name, size) in sizes.lines().filter_map(|line| line.split_once(' ')) {
        match size.parse() {
            Ok(size) if size > MOST_TARGET_BYTES => {
                targets.insert(name.to_owned(), LinkTarget::Long(size));
            }
            Ok(_) => short.push(name),
            Err(_) => {}
        }
    }
    let output = repository.git.exchange(location, &["cat-file", "--buffer", "--batch"], &lines(&short))?;
    let mut rest = &output[..];
    while !rest.is_empty() {
        let (name, content, further) = split_entry(rest).ok_or(GitError::Answer { command: "cat-file" })?;
        let target = match content.iter().position(|byte| *byte == 0) {
            Some(end) => LinkTarget::Cut(Rc::from(&content[..end])),
            None => LinkTarget::Whole(Rc::from(content)),
        };
        targets.insert(name, target);
        rest = further;
    }
    Ok(targets)
}

/// Splits the first object off the output of `cat-file --batch`: `NAME TYPE SIZE`, a line end, the content, a line end.
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
