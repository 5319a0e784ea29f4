//! The entries that differ between two commits or trees, as `git diff-tree --raw` lists them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use crate::error::RunnerError;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError, GitLocation, WITH_SUBMODULES};
use crate::repository::worktree::file_error;

/// The mode of an entry: six octal digits, of which the first three are its kind.
pub(crate) type Mode = [u8; 6];

/// The mode of a path without an entry.
pub(crate) const NOTHING: Mode = *b"000000";

/// The mode of a folder.
pub(crate) const FOLDER: Mode = *b"040000";

/// The mode of a symlink.
pub(crate) const LINK: Mode = *b"120000";

/// The mode of a submodule.
pub(crate) const SUBMODULE: Mode = *b"160000";

/// The entries that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    /// All that differ.
    All,
    /// Those that the second tree has.
    New,
    /// Those that the second tree has, with its folders.
    NewAndFolders,
}

/// An entry that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeChange {
    /// Relative to the repository's root.
    pub(crate) path: Vec<u8>,
    pub(crate) old_mode: Mode,
    pub(crate) new_mode: Mode,
    /// In hexadecimal, and zeros if there was no entry.
    pub(crate) old_object: String,
    /// In hexadecimal, and zeros if there is no entry any more.
    pub(crate) new_object: String,
}

impl TreeChange {
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Returns whether the kind of the entry has changed: added, removed, or a symlink instead of a file, for instance.
    pub(crate) fn has_other_kind(&self) -> bool {
        self.old_mode[..3] != self.new_mode[..3]
    }

    /// Returns whether the new entry has content: that of a file, or the target of a symlink.
    pub(crate) fn has_new_content(&self) -> bool {
        has_content(self.new_mode)
    }

    /// Returns whether the old entry had content.
    pub(crate) fn had_content(&self) -> bool {
        has_content(self.old_mode)
    }

    /// Parses `:MODE MODE OBJECT OBJECT STATUS`, the old ones first, and a path.
    fn parse(facts: &[u8], path: &[u8]) -> Option<TreeChange> {
        let facts = std::str::from_utf8(facts.strip_prefix(b":")?).ok()?;
        let mut facts = facts.split(' ');
        let mut mode = || facts.next()?.as_bytes().try_into().ok();
        let (old_mode, new_mode) = (mode()?, mode()?);
        let (old_object, new_object) = (facts.next()?.to_owned(), facts.next()?.to_owned());
        Some(TreeChange { path: path.to_owned(), old_mode, new_mode, old_object, new_object })
    }
}

fn has_content(mode: Mode) -> bool {
    ![NOTHING, FOLDER, SUBMODULE].contains(&mode)
}

/// Returns the entries that differ between two commits or trees, in git's order.
pub(crate) fn between(
    git: &Git,
    location: GitLocation<'_>,
    trees: [&str; 2],
    entries: Entries,
) -> Result<Vec<TreeChange>, GitError> {
    let output = git.run_for_bytes(location, &arguments(trees, entries))?;
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let parse = |entry: &[&[u8]]| TreeChange::parse(entry[0], entry[1]).ok_or_else(unreadable);
    fields.chunks_exact(2).map(parse).collect()
}

/// Iterates over the entries that differ between two commits or trees: there can be more than memory holds. Git's list is
/// kept in a nameless file in `folder`, and git has `limit` to write it.
pub(crate) fn one_by_one(
    repository: &Repository,
    folder: &Path,
    limit: Duration,
    trees: [&str; 2],
    entries: Entries,
) -> Result<impl Iterator<Item = Result<TreeChange, RunnerError>>, RunnerError> {
    let mut fields = listed(repository, folder, limit, &arguments(trees, entries))?;
    let folder = folder.to_owned();
    Ok(std::iter::from_fn(move || {
        let (facts, path) = (fields.next()?, fields.next()?);
        let entry = facts.and_then(|facts| Ok((facts, path?))).map_err(file_error("read in", &folder));
        Some(entry.and_then(|(facts, path)| Ok(TreeChange::parse(&facts, &path).ok_or_else(unreadable)?)))
    }))
}

/// Runs git for up to `limit`, and returns the fields of its output, each of which ends with a NUL. They are kept in a nameless
/// file in `folder`, since there can be any number.
pub(crate) fn listed(
    repository: &Repository,
    folder: &Path,
    limit: Duration,
    arguments: &[&str],
) -> Result<io::Split<BufReader<File>>, RunnerError> {
    let failed = file_error("write in", folder);
    let mut list = tempfile::tempfile_in(folder).map_err(&failed)?;
    let output = list.try_clone().map_err(&failed)?;
    repository.git.within(limit).write_to(repository.location(), arguments, "", output)?;
    list.rewind().map_err(&failed)?;
    Ok(BufReader::new(list).split(0))
}

fn arguments([old, new]: [&str; 2], entries: Entries) -> Vec<&str> {
    let mut arguments =
        vec!["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", WITH_SUBMODULES];
    arguments.extend((entries == Entries::NewAndFolders).then_some("-t"));
    arguments.extend((entries != Entries::All).then_some("--diff-filter=AMT"));
    arguments.extend([old, new]);
    arguments
}

fn unreadable() -> GitError {
    GitError::Answer { command: "diff-tree" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_or_refused() {
        let (old, new) = ("1".repeat(40), "2".repeat(64));
        let facts = format!(":100644 100755 {old} {new} M");
        let change = TreeChange::parse(facts.as_bytes(), b"a b\n\xff").expect("an entry");
        assert_eq!((change.old_mode, change.new_mode), (*b"100644", *b"100755"));
        assert_eq!((change.old_object, change.new_object), (old, new));
        assert_eq!(change.path, b"a b\n\xff");
        for facts in ["", ":", ":100644 100755 1", "100644 100755 1 2 M", ":1 2 3 4 M", ":100644  1 2 M"] {
            assert_eq!(TreeChange::parse(facts.as_bytes(), b"a"), None, "{facts}");
        }
    }

    #[test]
    fn kinds_are_compared_without_permissions() {
        let change = |old: &Mode, new: &Mode| {
            TreeChange::parse(&[b":", &old[..], b" ", new, b" 1 2 X"].concat(), b"a").expect("an entry")
        };
        let cases = [
            (b"100644", b"100755", false),
            (&NOTHING, b"100644", true),
            (b"100644", &NOTHING, true),
            (b"100644", &LINK, true),
            (&LINK, &SUBMODULE, true),
            (&SUBMODULE, &SUBMODULE, false),
        ];
        for (old, new, is_other) in cases {
            assert_eq!(change(old, new).has_other_kind(), is_other, "{old:?} {new:?}");
        }
        assert!(change(&NOTHING, &LINK).has_new_content());
        assert!(!change(&NOTHING, &LINK).had_content());
        assert!(!change(&LINK, &SUBMODULE).has_new_content());
        assert!(!change(&LINK, &FOLDER).has_new_content());
    }
}
