//! The check that git accepts an agent's commits.
//!
//! Git stores any bytes under any name: trees with an entry `..` or `.git`, in any of its disguises, or with invalid modes.
//! It notices only at a checkout, or at a fetch by a client that checks objects. An agent can make such trees, so they are
//! searched for before the user adopts its work: git itself reads the new commits and trees into a temporary folder.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rel_path::{ProtectedNames, RelPath};

use crate::error::RunnerError;
use crate::objects::checkout_check;
use crate::objects::object_import::LIMIT;
use crate::repository::Repository;
use crate::repository::git::{GitError, reason};
use crate::repository::tree_changes::{self, Entries, SUBMODULE, listed};
use crate::repository::worktree::file_error;

/// The faults of which git only warns, since old repositories have them. Git itself does not write them, so in new objects
/// they are forged.
const WARNED_OF: [&str; 1] = ["badFilemode"];

/// The files that git checks in every tree, by the prefixes of their kinds of faults.
const OBEYED_BY_GIT: [(&str, &str); 2] = [("gitmodules", ".gitmodules"), ("gitattributes", ".gitattributes")];

/// The most bytes that are read of a line in a list of objects. The rest belongs to an overlong path.
const MOST_LINE_BYTES: u64 = 4096;

/// The most characters of a path in a message.
const MOST_PATH_CHARACTERS: usize = 200;

/// The most submodules that a message names.
const MOST_NAMED: usize = 5;

/// Returns git's reason to reject the commits from `start` to `commit`; `None` if it accepts them. `folder` is made and
/// removed again.
///
/// The time grows with the number of new commits and trees, up to five minutes; contents of files are not read. Faults
/// that `start` already has do not count, since they are not the agent's.
pub(crate) fn unsound(
    repository: &Repository,
    folder: &Path,
    start: &str,
    commit: &str,
) -> Result<Option<String>, RunnerError> {
    // A crash may have left the folder.
    remove(folder)?;
    fs::create_dir_all(folder.join("pack")).map_err(file_error("make", folder))?;
    let reason = look(repository, folder, start, commit).and_then(|reason| match reason {
        None => checkout_check::impossible(repository, folder, start, commit),
        reason => Ok(reason),
    });
    remove(folder)?;
    match reason {
        // Commits that take too long or too much memory to check are not safe to check out either.
        Err(RunnerError::Git(error @ (GitError::TooSlow { .. } | GitError::TooLong { .. }))) => {
            Ok(Some(error.to_string()))
        }
        Err(RunnerError::Git(error)) if error.is_of_this_machine() => Err(error.into()),
        Err(RunnerError::Git(GitError::Failed { reason, .. })) => Ok(Some(reason)),
        reason => reason,
    }
}

fn look(
    repository: &Repository,
    folder: &Path,
    start: &str,
    commit: &str,
) -> Result<Option<String>, RunnerError> {
    let git = repository.git.within(LIMIT);
    let file_error = file_error("make a pack in", folder);
    let mut pack = tempfile::tempfile_in(folder).map_err(&file_error)?;
    let range = format!("{commit}\n--not\n{start}\n");
    let mut arguments =
        vec!["pack-objects", "--revs", "--stdout", "--quiet", "--window=0", "--delta-base-offset"];
    // Contents of files cannot be unsound, and may be large.
    arguments.push("--filter=blob:none");
    arguments.extend(repository.is_partial().then_some("--exclude-promisor-objects"));
    git.write_to(repository.location(), &arguments, &range, pack.try_clone().map_err(&file_error)?)?;
    // The clone shares the offset, which is at the end now.
    pack.rewind().map_err(&file_error)?;
    // `--strict` also checks the links between objects, some of which lead nowhere in a partial clone.
    let check = if repository.is_partial() { "--fsck-objects" } else { "--strict" };
    let apart = git.with_objects(folder, Some(&repository.common_folder.join("objects")));
    let (is_accepted, errors) =
        apart.judge_from(repository.location(), &["index-pack", "--stdin", check], pack)?;
    let findings: Vec<Finding<'_>> =
        errors.lines().filter_map(Finding::parse).filter(|finding| finding.counts).collect();
    if findings.is_empty() {
        return Ok((!is_accepted).then(|| reason(&errors)));
    }
    let mut list = tempfile::tempfile_in(folder).map_err(&file_error)?;
    let arguments = ["rev-list", "--objects", commit, "--not", start];
    git.write_to(repository.location(), &arguments, "", list.try_clone().map_err(&file_error)?)?;
    for finding in findings {
        list.rewind().map_err(&file_error)?;
        let path = match path_of(&list, finding.object).map_err(&file_error)? {
            Some(path) => Some(path),
            // Git checks some files in every tree that has them, though the start may have the same.
            None => finding.new_path(repository, folder, start, commit)?,
        };
        if let Some(path) = path {
            return Ok(Some(finding.render(path.as_os_str().as_bytes())));
        }
    }
    Ok(None)
}

/// One line of git's output about an object.
struct Finding<'a> {
    object: &'a str,
    kind: &'a str,
    what: &'a str,
    /// True if the fault makes the work unacceptable.
    counts: bool,
}

impl<'a> Finding<'a> {
    /// Parses `error: object NAME: kind: what`.
    fn parse(line: &'a str) -> Option<Finding<'a>> {
        let (level, rest) = line.split_once(": object ")?;
        let (object, rest) = rest.split_once(": ")?;
        let (kind, what) = rest.split_once(": ").unwrap_or(("", rest));
        let counts = level != "warning" || WARNED_OF.contains(&kind);
        Some(Finding { object, kind, what, counts })
    }

    /// Returns the path at which an object that the start already has becomes a file that git obeys; `None` if the start has it
    /// at every such path.
    fn new_path(
        &self,
        repository: &Repository,
        folder: &Path,
        start: &str,
        commit: &str,
    ) -> Result<Option<PathBuf>, RunnerError> {
        let obeyed = OBEYED_BY_GIT.iter().filter(|(kind, _)| self.kind.starts_with(kind));
        let obeyed = ProtectedNames::new(obeyed.map(|(_, name)| *name));
        let is_obeyed = |path: &[u8]| {
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            RelPath::from_bytes(name).is_ok_and(|name| obeyed.protects(&name))
        };
        let failed = file_error("read in", folder);
        for change in tree_changes::one_by_one(repository, folder, LIMIT, [start, commit], Entries::New)? {
            let change = change?;
            if change.new_object == self.object && is_obeyed(&change.path) {
                return Ok(Some(OsString::from_vec(change.path).into()));
            }
        }
        for entry in listed(repository, folder, LIMIT, &["ls-tree", "-r", "-z", "--full-tree", start])? {
            let entry = entry.map_err(&failed)?;
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            if entry[..tab].ends_with(self.object.as_bytes()) && is_obeyed(&entry[tab + 1..]) {
                return Ok(None);
            }
        }
        // Only in an intermediate commit.
        Ok(Some(PathBuf::new()))
    }

    fn render(&self, path: &[u8]) -> String {
        let path = path_for_message(path);
        match path.as_str() {
            "" => format!("{} (object {})", self.what, self.object),
            _ => format!("'{path}' {} (object {})", self.what, self.object),
        }
    }
}

/// Returns the beginning of a path, for a message.
pub(super) fn path_for_message(path: &[u8]) -> String {
    String::from_utf8_lossy(path).chars().take(MOST_PATH_CHARACTERS).collect()
}

/// Returns the path of an object in a list of objects; `None` if it is not listed. The path of a commit or root tree is
/// empty.
fn path_of(list: &File, object: &str) -> io::Result<Option<PathBuf>> {
    let mut reader = BufReader::new(list);
    let mut line = Vec::new();
    let mut is_start = true;
    loop {
        line.clear();
        if reader.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        // Only at the start of a line: the rest of a cut line could look like an object's name.
        let is_end = line.last() == Some(&b'\n');
        if is_start && let Some(rest) = line.strip_prefix(object.as_bytes()) {
            let path = rest.trim_ascii_end();
            let path = path.strip_prefix(b" ").unwrap_or(path);
            return Ok(Some(OsStr::from_bytes(path).into()));
        }
        is_start = is_end;
    }
}

/// Returns a warning that names the submodules which an agent has added or moved, if any: they are commits of other
/// repositories, which the check does not cover.
pub(crate) fn submodules(
    repository: &Repository,
    start: &str,
    commit: &str,
) -> Result<Option<String>, GitError> {
    let git = repository.git.within(LIMIT);
    let changes = match tree_changes::between(&git, repository.location(), [start, commit], Entries::New) {
        Err(GitError::TooLong { .. }) => {
            return Ok(Some("its changes are too many to search for submodules".to_owned()));
        }
        changes => changes?,
    };
    let submodules = changes.iter().filter(|change| change.new_mode == SUBMODULE);
    let paths: Vec<&[u8]> = submodules.map(|change| &change.path[..]).collect();
    if paths.is_empty() {
        return Ok(None);
    }
    let names = paths
        .iter()
        .take(MOST_NAMED)
        .map(|path| String::from_utf8_lossy(path).chars().take(MOST_PATH_CHARACTERS).collect::<String>());
    let mut text = format!("it has added or moved submodules: {}", names.collect::<Vec<_>>().join(", "));
    if paths.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", paths.len() - MOST_NAMED));
    }
    Ok(Some(text))
}

fn remove(folder: &Path) -> Result<(), RunnerError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file_error("remove", folder)(error)),
        _ => Ok(()),
    }
}
