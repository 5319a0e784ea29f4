//! The verdict: whether an agent is really done, part by part.

use serde::{Deserialize, Serialize};

use crate::marker::ReadyMarker;
use crate::marker_use::MarkerUse;

/// What was found of an agent when it had ended. Facts only; [`Verdict::of`] judges them.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// Its exit code; `None` if it is not known, because whoever watched it died.
    pub exit_code: Option<i32>,
    /// The commit that it started from, as 40 or 64 hexadecimal digits.
    pub start_commit: &'a str,
    /// When it was launched, in whole seconds since 1970.
    pub launched_at: i64,
    /// The marker that it was given.
    pub marker: &'a ReadyMarker,
    /// The issue's text that it was given.
    pub issue_body: &'a str,
    /// The commit that its worktree is at; `None` if there is none or the worktree is gone.
    pub head: Option<HeadCommit>,
    /// Whether the worktree holds nothing uncommitted and nothing untracked; `None` if that was not asked for.
    pub is_clean: Option<bool>,
    /// What the check command came to; `None` if there is none.
    pub check: Option<CheckResult>,
}

/// The commit that a worktree is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadCommit {
    /// Its name.
    pub commit: String,
    /// Its message, or as much of it as is read.
    pub message: String,
    /// Whether that is all of the message: one that is longer than is read does not count.
    pub is_message_whole: bool,
    /// How many parents it has.
    pub parents: usize,
    /// When it was committed, in seconds since 1970, as it says itself.
    pub committed_at: i64,
    /// Whether the start commit is among its ancestors, or is the commit itself.
    pub descends_from_start: bool,
    /// Whether the worktree's own log of `HEAD` shows it being made there, not fetched, merged or reset to.
    pub was_made_here: bool,
    /// Whether its tree is another one than that of the start commit.
    pub changes_tree: bool,
    /// What git refuses of the commits since the start, for people: an entry of a tree with the name `..`, for
    /// instance, which no checkout makes. `None` if git takes all of it.
    pub unsound: Option<String>,
}

/// What a check command came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Whether it exited with 0.
    pub passed: bool,
    /// How it ended, for people.
    pub detail: String,
}

/// Whether an agent is ready, with every part that this depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether every part holds.
    pub ready: bool,
    /// Whether the marker stands in the message of `HEAD` at all.
    pub marker_present: bool,
    /// The parts, in order of [`PartName`].
    pub parts: Vec<Part>,
}

/// One part of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which one.
    pub name: PartName,
    /// Whether it holds.
    pub holds: bool,
    /// Why not, for people; empty if it holds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The parts of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartName {
    /// It exited with 0.
    ExitCode,
    /// `HEAD` is another commit than the start, and descends from it.
    Descends,
    /// `HEAD` was committed after the launch, in this worktree.
    New,
    /// The tree of `HEAD` is another one than that of the start. A commit without changes is no work.
    Changes,
    /// Git takes everything that was committed since the start: no entry of a tree is one that it refuses to check out.
    Sound,
    /// The message of `HEAD` says the marker as the agent's own word.
    Marker,
    /// Nothing is uncommitted or untracked. Only if asked for.
    CleanTree,
    /// The check command passed. Only if there is one.
    Check,
}

impl PartName {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            PartName::ExitCode => "exit_code",
            PartName::Descends => "descends",
            PartName::New => "new",
            PartName::Changes => "changes",
            PartName::Sound => "sound",
            PartName::Marker => "marker",
            PartName::CleanTree => "clean_tree",
            PartName::Check => "check",
        }
    }
}

impl Verdict {
    /// Judges what was found.
    pub fn of(evidence: &Evidence<'_>) -> Verdict {
        let head = evidence.head.as_ref();
        let mut parts = vec![
            part(PartName::ExitCode, exit_code(evidence.exit_code)),
            part(PartName::Descends, descends(head, evidence.start_commit)),
            part(PartName::New, is_new(head, evidence)),
            part(PartName::Changes, changes(head, evidence.start_commit)),
            part(PartName::Sound, is_sound(head)),
            part(PartName::Marker, marker(head, evidence)),
        ];
        if let Some(is_clean) = evidence.is_clean {
            let dirty = "the worktree holds changes that are not committed";
            parts.push(part(PartName::CleanTree, if is_clean { Ok(()) } else { Err(dirty.to_owned()) }));
        }
        if let Some(check) = &evidence.check {
            let failed = || format!("the check did not pass: {}", check.detail);
            parts.push(part(PartName::Check, if check.passed { Ok(()) } else { Err(failed()) }));
        }
        Verdict {
            ready: parts.iter().all(|part| part.holds),
            marker_present: head.is_some_and(|head| evidence.marker.is_in(&head.message)),
            parts,
        }
    }

    /// Whether a check command has passed. Without one nothing but the agent's own word says that the work is done.
    pub fn is_checked(&self) -> bool {
        self.parts.iter().any(|part| part.name == PartName::Check && part.holds)
    }

    /// Returns the first part that does not hold.
    pub fn first_failure(&self) -> Option<&Part> {
        self.parts.iter().find(|part| !part.holds)
    }
}

fn part(name: PartName, found: Result<(), String>) -> Part {
    Part { name, holds: found.is_ok(), why: found.err().unwrap_or_default() }
}

fn exit_code(code: Option<i32>) -> Result<(), String> {
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(format!("it exited with {code}")),
        None => Err("how it ended is not known".to_owned()),
    }
}

fn descends(head: Option<&HeadCommit>, start: &str) -> Result<(), String> {
    match head {
        None => Err("its worktree is at no commit".to_owned()),
        Some(head) if head.commit == start => Err("it committed nothing".to_owned()),
        Some(head) if !head.descends_from_start => {
            Err("its commit does not descend from the start".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn is_new(head: Option<&HeadCommit>, evidence: &Evidence<'_>) -> Result<(), String> {
    match head {
        None => Err("there is no commit".to_owned()),
        Some(head) if head.commit == evidence.start_commit => Err("there is no new commit".to_owned()),
        Some(head) if head.committed_at < evidence.launched_at => {
            Err("its commit is older than its launch".to_owned())
        }
        Some(head) if !head.was_made_here => {
            Err("its commit was not made in its worktree, says the worktree's log".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn changes(head: Option<&HeadCommit>, start: &str) -> Result<(), String> {
    match head {
        None => Err("there is no commit".to_owned()),
        Some(head) if head.commit == start => Err("there is no new commit".to_owned()),
        Some(head) if !head.changes_tree => {
            Err("its files are those of the start: nothing was changed".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn is_sound(head: Option<&HeadCommit>) -> Result<(), String> {
    match head.and_then(|head| head.unsound.as_ref()) {
        Some(why) => Err(format!("git does not take what it committed: {why}")),
        None => Ok(()),
    }
}

fn marker(head: Option<&HeadCommit>, evidence: &Evidence<'_>) -> Result<(), String> {
    let Some(head) = head else { return Err("there is no commit".to_owned()) };
    if !head.is_message_whole {
        return Err("the message of the last commit is longer than is read".to_owned());
    }
    let found = MarkerUse::of(evidence.marker, &head.message, evidence.issue_body);
    let why = match found {
        MarkerUse::Said if head.commit == evidence.start_commit => {
            "the marker is the start commit's, not the agent's"
        }
        MarkerUse::Said if head.parents > 1 => {
            "the marker stands in a merge, which repeats what others wrote"
        }
        MarkerUse::Said => return Ok(()),
        MarkerUse::Absent => "the last commit does not say the marker",
        MarkerUse::Reverted => "the marker is that of a reverted commit",
        MarkerUse::Quoted => "the marker is only quoted",
    };
    Err(why.to_owned())
}
