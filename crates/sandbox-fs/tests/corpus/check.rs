//! What must hold of every reply, and after every case.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use sandbox_fs::{FileKind, OpenFile};

use super::case::{Case, Expectation};
use super::subject::{NEW_TEXT, Reply, Subject};
use super::{CANARY, Sandbox};

/// Far more than any reply takes, also on a machine that has other work.
const SLOW: Duration = Duration::from_secs(90);

/// What the rounds of a case gave.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) accepted: u64,
    pub(super) last: Option<Reply>,
    /// Replaced files, the latest few of them.
    replaced: VecDeque<OpenFile>,
    /// Lines that were written to earlier ones after they had been checked.
    late_lines: u64,
    /// Lines in versions that were kept under another name.
    kept_lines: u64,
}

/// How many replaced files are held open at a time.
const HELD: usize = 100;

impl Seen {
    pub(super) fn add<S: Subject>(&mut self, reply: Result<Reply, S::Refusal>) {
        match reply {
            Ok(mut reply) => {
                self.accepted += 1;
                self.replaced.extend(reply.replaced.take());
                self.last = Some(reply);
            }
            Err(refusal) => self.kept_lines += lines(S::kept(&refusal)),
        }
        if self.replaced.len() > HELD {
            self.late_lines += self.replaced.pop_front().map_or(0, |file| late_lines(&file));
        }
    }

    fn all_late_lines(&self) -> u64 {
        self.late_lines + self.replaced.iter().map(late_lines).sum::<u64>()
    }
}

fn require(holds: bool, what: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

pub(super) fn reply<S: Subject>(
    case: &Case,
    reply: &Result<Reply, S::Refusal>,
    sandbox: &Sandbox,
    took: Duration,
) -> Result<(), String> {
    require(took < SLOW, format!("took {took:?}"))?;
    let text = match (case.expect, reply) {
        (Expectation::Accepted, Err(refusal)) => return Err(format!("was refused: {refusal:?}")),
        (Expectation::Rejected, Ok(_)) => return Err("was accepted".to_owned()),
        (_, Ok(reply)) => String::from_utf8_lossy(&reply.content).into_owned() + &paths(reply),
        (_, Err(refusal)) => S::text(refusal),
    };
    // What the request has said may be repeated to whoever has sent it.
    let text = text.replace(&case.path(sandbox), "");
    // Reading through a mount that the user made is the one way in which the secret may be seen.
    require(case.name == "mount-inside" || !text.contains(CANARY), "the reply contains the secret")?;
    tells_no_place(&text, sandbox)?;
    match (&case.code, reply) {
        (Some(code), Err(refusal)) if case.expect == Expectation::Rejected => {
            require(S::fits(code, refusal), format!("{code} is not {refusal:?}"))
        }
        _ => Ok(()),
    }
}

/// What must hold if the root itself was refused.
pub(super) fn refused_root(case: &Case, text: &str, sandbox: &Sandbox) -> Result<(), String> {
    let is_expected = case.expect == Expectation::Rejected && case.code.as_deref() == Some("BAD_ROOT");
    require(is_expected, format!("the root was refused: {text}"))?;
    tells_no_place(text, sandbox)
}

fn tells_no_place(text: &str, sandbox: &Sandbox) -> Result<(), String> {
    require(!text.contains(sandbox.top().to_str().unwrap()), format!("the reply tells where it is: {text}"))
}

fn paths(reply: &Reply) -> String {
    reply.entries.iter().map(|(path, _)| path.clone() + "\n").collect()
}

/// Whether a raced operation proves nothing unless it gets through between two disturbances.
pub(super) fn must_succeed_once(case: &Case) -> bool {
    let names = ["fifo-swapped-in-race", "race-edit-lost-update", "race-swap-parent-link-write"];
    names.contains(&case.name.as_str())
}

/// The checks that single cases add.
pub(super) fn aftermath(
    case: &Case,
    sandbox: &Sandbox,
    seen: &Seen,
    disturbances: u64,
) -> Result<(), String> {
    let content = |path: &str, expected: &str| {
        let found = fs::read_to_string(sandbox.at(path)).map_err(|error| format!("{path}: {error}"))?;
        require(found == expected, format!("{path} is {found:?}"))
    };
    let absent =
        |path: &str| require(fs::symlink_metadata(sandbox.at(path)).is_err(), format!("{path} exists"));
    let is_link = |path: &str| {
        let found = fs::symlink_metadata(sandbox.at(path)).map_err(|error| format!("{path}: {error}"))?;
        require(found.is_symlink(), format!("{path} is no link any more"))
    };
    let last = seen.last.as_ref();
    let matches =
        |count: u64| require(last.is_some_and(|reply| reply.matches == count), "wrong number of matches");
    let one_entry = |path: &str, kind: FileKind| {
        let entries = last.map_or(&[][..], |reply| &reply.entries);
        require(entries == [(path.to_owned(), kind)], format!("listed {entries:?}"))
    };
    match case.name.as_str() {
        "crlf-and-no-final-newline" => content("c.txt", "a\r\nB\r\nc"),
        "read-git-config" => {
            let shown = last.map_or("".into(), |reply| String::from_utf8_lossy(&reply.content));
            let is_masked =
                shown.starts_with("[remote") && shown.contains("://") && shown.ends_with("@x/y\n");
            require(is_masked, format!("shown is {shown:?}"))
        }
        "backup-name-symlink" => {
            // The subject decides whether the file still ends without a newline.
            let edited = content("a.txt", "edited\n").or_else(|_| content("a.txt", "edited"));
            is_link("a.txt~").and(is_link("a.txt.bak")).and(edited)
        }
        "temp-name-symlink" => is_link("a.txt.tmp").and(content("a.txt", NEW_TEXT)),
        "rename-target-symlink" => is_link("l").and(content("a.txt", "x")),
        "deep-nesting-write" => absent("n"),
        "git-config-create-missing" | "git-file-gitdir" => absent(".git"),
        "git-config-write" => content(".git/config", "[core]\n"),
        "git-hooks-write" => absent(".git/hooks/pre-commit"),
        "file-as-dir" => content("a.txt", "x"),
        "glob-delete" => content("a.txt", "x"),
        "symlink-file-outside-delete" => absent("l"),
        "hardlink-inside-pair" => content("h1", "x").and(content("h2", NEW_TEXT)),
        "hardlink-outside-write" | "hardlink-outside-append" => {
            let inode = |path| fs::metadata(path).map(|found| found.ino()).unwrap();
            let own = inode(sandbox.at("h")) != inode(sandbox.outside().join("secret.txt"));
            let added = if case.operation == "append" { CANARY } else { "" };
            content("h", &format!("{added}{NEW_TEXT}")).and(require(own, "h still is the file outside"))
        }
        "perm-mode-kept" => {
            let mode = fs::metadata(sandbox.at("run.sh")).unwrap().mode() & 0o7777;
            content("run.sh", "b\n").and(require(mode == 0o755, format!("mode {mode:o}")))
        }
        "root-moved" => {
            let moved = sandbox.top().join("moved/new.txt");
            require(moved.exists() && !sandbox.workspace().exists(), "not written where the folder is now")
        }
        "root-replaced" => absent("new.txt"),
        "fifo-in-list" => one_entry("p", FileKind::Fifo),
        "non-utf8-existing-list" => one_entry(r"f\xffo", FileKind::File),
        "fifo-in-search" | "symlink-loop-search" | "non-utf8-search" => matches(1),
        "perm-dir-000-in-search" => {
            let skipped = last.is_some_and(|reply| reply.skipped_folder);
            matches(1).and(require(skipped, "the closed folder is not counted"))
        }
        "symlink-search-outside-file" => matches(0),
        "dir-100k-search" => {
            let found = last.map_or(0, |reply| reply.matches);
            require((1..=100).contains(&found), format!("{found} matches"))
                .and(require(last.is_some_and(|reply| reply.truncated), "not truncated"))
        }
        "deep-nesting-existing-list" | "endless-line-ranged-read" | "utf8-cut-at-limit" => {
            require(last.is_some_and(|reply| reply.truncated), "not truncated")
        }
        "mount-inside" => require(last.is_some_and(|reply| reply.content == CANARY.as_bytes()), "not read"),
        "race-edit-lost-update" => {
            require(seen.accepted > 0, "no edit ever succeeded")?;
            no_update_is_lost(sandbox, seen, disturbances)
        }
        _ if must_succeed_once(case) => require(seen.accepted > 0, "it never succeeded"),
        _ => Ok(()),
    }
}

/// Every line that the racer appended is in the file, or in a version that an error named, or in a replaced file that
/// the caller still holds. None is gone.
fn no_update_is_lost(sandbox: &Sandbox, seen: &Seen, appended: u64) -> Result<(), String> {
    let in_file = lines(&fs::read(sandbox.at("a.txt")).unwrap());
    let late = seen.all_late_lines();
    let kept = seen.kept_lines;
    let account = format!("{appended} appended, {in_file} in the file, {late} late, {kept} kept");
    require(in_file + late + kept == appended, account)
}

/// The racer's lines that came into a file after it had been checked and replaced.
fn late_lines(file: &OpenFile) -> u64 {
    lines(&file.read_range(file.metadata().size_bytes, u64::MAX).unwrap())
}

fn lines(content: &[u8]) -> u64 {
    content.split(|byte| *byte == b'\n').filter(|line| *line == b"z").count() as u64
}
