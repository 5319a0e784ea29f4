//! The changes of text files in the history of a repository, read with git.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::ReplayError;
use super::dice::Dice;

/// The newest commits that are looked at.
const MOST_COMMITS: usize = 6_000;

/// The largest version of a file that is taken: a message shows files up to about this size whole.
const MOST_BYTES: usize = 120 << 10;

/// The number of versions of a file, before and behind a change, that a reply can be stale by.
const STALE_BY: usize = 3;

/// A checkout, or a bare repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The name in the report.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
}

impl std::str::FromStr for Repository {
    type Err = std::convert::Infallible;

    /// Reads `NAME=DIR`, or `DIR`, whose last step is the name.
    fn from_str(text: &str) -> Result<Repository, Self::Err> {
        if let Some((name, folder)) = text.split_once('=') {
            return Ok(Repository { name: name.to_owned(), folder: folder.into() });
        }
        let folder = PathBuf::from(text);
        let name =
            folder.file_name().map_or_else(|| text.to_owned(), |name| name.to_string_lossy().into_owned());
        Ok(Repository { name, folder })
    }
}

/// One change of a text file.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) repository: String,
    pub(super) commit: String,
    pub(super) path: String,
    pub(super) old: String,
    pub(super) new: String,
    /// An earlier version of the file than `old`.
    pub(super) earlier: Option<String>,
    /// A later version than `new`.
    pub(super) later: Option<String>,
}

/// The changes that a run looks at, and the facts about where they come from.
#[derive(Debug)]
pub(super) struct History {
    pub(super) newest: String,
    pub(super) commits: usize,
    pub(super) changes: Vec<Change>,
}

struct RawChange {
    commit: String,
    path: String,
    old: String,
    new: String,
}

/// Reads so many changes of files that are text before and after, in an order that the dice determine.
pub(super) fn read(repository: &Repository, wanted: usize, dice: &mut Dice) -> Result<History, ReplayError> {
    let (newest, commits, raw) = raw_changes(repository)?;
    let mut versions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, change) in raw.iter().enumerate() {
        versions.entry(&change.path).or_default().push(index);
    }
    let mut order: Vec<usize> = (0..raw.len()).collect();
    dice.shuffle(&mut order);
    // Half of them may be binary, too large, or otherwise of no use.
    order.truncate(wanted.saturating_mul(4));
    let picks: Vec<(usize, Option<&str>, Option<&str>)> = order
        .iter()
        .map(|index| {
            let own = &versions[raw[*index].path.as_str()];
            let at = own.iter().position(|other| other == index).unwrap_or_default();
            let by = 1 + dice.below(STALE_BY);
            // git lists the newest change first.
            let earlier = own.get(at + by).map(|other| raw[*other].old.as_str());
            let later = at.checked_sub(by).and_then(|at| own.get(at)).map(|other| raw[*other].new.as_str());
            (*index, earlier, later)
        })
        .collect();
    let ids = picks.iter().flat_map(|(index, earlier, later)| {
        [Some(raw[*index].old.as_str()), Some(raw[*index].new.as_str()), *earlier, *later]
    });
    let texts = texts(repository, ids.flatten().collect())?;
    let text = |id: &str| texts.get(id).cloned();
    let mut changes = Vec::new();
    for (index, earlier, later) in picks {
        let change = &raw[index];
        let (Some(old), Some(new)) = (text(&change.old), text(&change.new)) else { continue };
        changes.push(Change {
            repository: repository.name.clone(),
            commit: change.commit.clone(),
            path: change.path.clone(),
            old,
            new,
            earlier: earlier.and_then(text),
            later: later.and_then(text),
        });
    }
    Ok(History { newest, commits, changes })
}

fn git(repository: &Repository) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(&repository.folder).stdin(Stdio::null()).stderr(Stdio::null());
    // Settings of the machine could change what is printed.
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env("LC_ALL", "C");
    command.args(["-c", "core.quotePath=false", "-c", "safe.directory=*"]);
    command
}

fn raw_changes(repository: &Repository) -> Result<(String, usize, Vec<RawChange>), ReplayError> {
    let failed = || ReplayError::NoHistory { name: repository.name.clone() };
    let most = MOST_COMMITS.to_string();
    let log =
        ["log", "--no-merges", "--no-renames", "--diff-filter=M", "--raw", "--no-abbrev", "--format=:%H"];
    let output = git(repository).args(log).args(["-n", &most]).output().map_err(|_| failed())?;
    if !output.status.success() {
        return Err(failed());
    }
    let (mut newest, mut commits) = (String::new(), 0);
    let (mut commit, mut changes) = ("", Vec::new());
    let printed = String::from_utf8_lossy(&output.stdout);
    for line in printed.lines() {
        // `:100644 100644 OLD NEW M<tab>path`, or `:COMMIT`.
        let Some((facts, path)) = line.split_once('\t') else {
            if let Some(id) = line.strip_prefix(':') {
                commit = id;
                commits += 1;
                if newest.is_empty() {
                    newest = id.to_owned();
                }
            }
            continue;
        };
        let facts: Vec<&str> = facts.trim_start_matches(':').split(' ').collect();
        let [before, after, old, new, _] = facts.as_slice() else { continue };
        let is_regular = |mode: &str| mode.starts_with("100");
        // A path with a quote has characters that no format can write.
        if is_regular(before) && is_regular(after) && old != new && !path.contains(['"', '\\', ' ']) {
            changes.push(RawChange {
                commit: commit.to_owned(),
                path: path.to_owned(),
                old: (*old).to_owned(),
                new: (*new).to_owned(),
            });
        }
    }
    if changes.is_empty() { Err(failed()) } else { Ok((newest, commits, changes)) }
}

/// Returns the contents of those blobs that are text and not too large.
fn texts(repository: &Repository, ids: HashSet<&str>) -> Result<BTreeMap<String, String>, ReplayError> {
    let failed = |_| ReplayError::NoHistory { name: repository.name.clone() };
    let mut child = git(repository)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Ok(BTreeMap::new());
    };
    let list: String = ids.iter().flat_map(|id| [*id, "\n"]).collect();
    let texts = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(list.as_bytes()));
        let mut output = BufReader::new(output);
        let mut texts = BTreeMap::new();
        let mut header = String::new();
        while output.read_line(&mut header)? > 0 {
            let facts: Vec<&str> = header.split_whitespace().collect();
            // A blob that a partial copy lacks has a header alone.
            if let [id, "blob", size] = facts.as_slice() {
                let size: usize = size.parse().unwrap_or_default();
                let mut content = vec![0; size + 1];
                output.read_exact(&mut content)?;
                content.pop();
                if size <= MOST_BYTES
                    && !content.contains(&0)
                    && let Ok(text) = String::from_utf8(content)
                {
                    texts.insert((*id).to_owned(), text);
                }
            }
            header.clear();
        }
        Ok(texts)
    });
    child.wait().map_err(failed)?;
    texts.map_err(failed)
}
