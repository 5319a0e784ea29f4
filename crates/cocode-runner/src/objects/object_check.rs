//! Whether git takes what an agent has committed.
//!
//! Git stores any bytes under any name: trees with an entry `..` or `.git`, in each of its disguises, or with modes that there
//! are not. It finds that out when such a tree is checked out, or when somebody fetches it who checks what comes. An agent can
//! make them, so they are looked for before anybody takes its work: by git itself, which reads the new commits and trees into
//! a folder that is thrown away.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use crate::error::RunnerError;
use crate::objects::object_import::LIMIT;
use crate::repository::Repository;
use crate::repository::git::{GitError, reason};
use crate::repository::worktree::file_error;

/// What git only warns of, since old repositories have it. It writes none of it itself, so in new objects somebody else has.
const WARNED_OF: [&str; 1] = ["badFilemode"];

/// The most bytes of a line in a list of objects; what is behind belongs to a name that nobody reads.
const MOST_LINE_BYTES: u64 = 4096;

/// The most characters of a path that is shown.
const SHOWN_CHARACTERS: usize = 200;

/// The most submodules that are named.
const MOST_NAMED: usize = 5;

/// Says what git refuses of the commits from `start` to `commit`, if anything. `folder` is made for the time of it.
///
/// It takes as long as there are new commits and trees, five minutes at most; contents of files are not read. What `start` had
/// already is not the agent's, and not looked at.
pub(crate) fn unsound(
    repository: &Repository,
    folder: &Path,
    start: &str,
    commit: &str,
) -> Result<Option<String>, RunnerError> {
    remove(folder)?;
    fs::create_dir_all(folder.join("pack")).map_err(file_error("make", folder))?;
    let found = look(repository, folder, start, commit);
    remove(folder)?;
    match found {
        // What takes too long, or too much memory, is nothing that anybody should check out.
        Err(RunnerError::Git(error @ GitError::TooSlow { .. })) => Ok(Some(error.to_string())),
        Err(RunnerError::Git(GitError::Failed { reason, .. })) => Ok(Some(reason)),
        found => found,
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
    arguments.push("--filter=blob:none");
    arguments.extend(repository.is_partial().then_some("--exclude-promisor-objects"));
    git.write_to(repository.location(), &arguments, &range, pack.try_clone().map_err(&file_error)?)?;
    pack.rewind().map_err(&file_error)?;
    // The links from object to object are looked at, too, but where some are meant to lead to what is not there.
    let how = if repository.is_partial() { "--fsck-objects" } else { "--strict" };
    let apart = git.with_objects(folder, Some(&repository.common_folder.join("objects")));
    let (is_taken, said) = apart.judge_from(repository.location(), &["index-pack", "--stdin", how], pack)?;
    let findings: Vec<Finding<'_>> =
        said.lines().filter_map(Finding::parse).filter(|finding| finding.counts).collect();
    if findings.is_empty() {
        return Ok((!is_taken).then(|| reason(&said)));
    }
    let mut list = tempfile::tempfile_in(folder).map_err(&file_error)?;
    let arguments = ["rev-list", "--objects", commit, "--not", start];
    git.write_to(repository.location(), &arguments, "", list.try_clone().map_err(&file_error)?)?;
    for finding in findings {
        list.rewind().map_err(&file_error)?;
        // What is not new is the `.gitmodules` of the start, which git looks at whenever a tree has it.
        if let Some(path) = path_of(&list, finding.object).map_err(&file_error)? {
            return Ok(Some(finding.told(&path)));
        }
    }
    Ok(None)
}

/// One line of what git says about an object.
struct Finding<'a> {
    object: &'a str,
    what: &'a str,
    /// Whether it keeps work from being taken.
    counts: bool,
}

impl<'a> Finding<'a> {
    /// Takes `error: object NAME: kind: what`.
    fn parse(line: &'a str) -> Option<Finding<'a>> {
        let (level, rest) = line.split_once(": object ")?;
        let (object, rest) = rest.split_once(": ")?;
        let (kind, what) = rest.split_once(": ").unwrap_or(("", rest));
        let counts = level != "warning" || WARNED_OF.contains(&kind);
        Some(Finding { object, what, counts })
    }

    fn told(&self, path: &Path) -> String {
        let shown: String = path.to_string_lossy().chars().take(SHOWN_CHARACTERS).collect();
        match shown.as_str() {
            "" => format!("{} (object {})", self.what, self.object),
            _ => format!("'{shown}' {} (object {})", self.what, self.object),
        }
    }
}

/// The path under which a list of objects has one; `None` if it has it not. That of a commit or of the whole tree is empty.
fn path_of(list: &File, object: &str) -> io::Result<Option<std::path::PathBuf>> {
    use std::os::unix::ffi::OsStrExt;
    let mut reader = BufReader::new(list);
    let mut line = Vec::new();
    let mut is_start = true;
    loop {
        line.clear();
        if reader.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let is_end = line.last() == Some(&b'\n');
        if is_start && let Some(rest) = line.strip_prefix(object.as_bytes()) {
            let path = rest.trim_ascii_end();
            let path = path.strip_prefix(b" ").unwrap_or(path);
            return Ok(Some(std::ffi::OsStr::from_bytes(path).into()));
        }
        is_start = is_end;
    }
}

/// Says which submodules an agent has added or moved, if any: they are commits of other repositories, which nothing here
/// judges.
pub(crate) fn submodules(
    repository: &Repository,
    start: &str,
    commit: &str,
) -> Result<Option<String>, GitError> {
    let git = repository.git.within(LIMIT);
    let arguments =
        ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=AMT", start, commit];
    let text = match git.run_for_bytes(repository.location(), &arguments) {
        Err(GitError::TooLong { .. }) => {
            return Ok(Some("its changes are too many to be looked through for submodules".to_owned()));
        }
        text => text?,
    };
    let fields: Vec<&[u8]> = text.split(|byte| *byte == 0).collect();
    let entries = fields.chunks_exact(2);
    let is_one = |facts: &[u8]| facts.split(|byte| *byte == b' ').nth(1) == Some(b"160000");
    let paths: Vec<_> = entries.filter(|entry| is_one(entry[0])).map(|entry| entry[1]).collect();
    if paths.is_empty() {
        return Ok(None);
    }
    let shown = paths
        .iter()
        .take(MOST_NAMED)
        .map(|path| String::from_utf8_lossy(path).chars().take(SHOWN_CHARACTERS).collect::<String>());
    let mut text = format!("it has added or moved submodules: {}", shown.collect::<Vec<_>>().join(", "));
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
