//! The verdict on an agent's work, part by part.

use serde::{Deserialize, Serialize};

use crate::marker::ReadyMarker;
use crate::marker_use::MarkerUse;

/// The facts collected after an agent ended; [`Verdict::of`] judges them.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// The exit code; `None` if it is unknown because the runner died first.
    pub exit_code: Option<i32>,
    /// The commit that the agent started from, as 40 or 64 hexadecimal digits.
    pub start_commit: &'a str,
    /// The time of the launch, in whole seconds since 1970.
    pub launched_at: i64,
    /// The marker that the agent received.
    pub marker: &'a ReadyMarker,
    /// The text of the issue that the agent received.
    pub issue_body: &'a str,
    /// The commit at `HEAD` of the worktree; `None` if there is none or the worktree is gone.
    pub head: Option<HeadCommit>,
    /// True if the worktree has no uncommitted changes and no untracked files; `None` if a clean tree is not
    /// required.
    pub is_clean: Option<bool>,
    /// The result of the check command; `None` without one.
    pub check: Option<CheckResult>,
}

/// The commit at `HEAD` of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadCommit {
    /// The object name, in hexadecimal digits.
    pub commit: String,
    /// The message, cut at the reader's limit.
    pub message: String,
    /// False if `message` was cut; a marker in a cut message does not count.
    pub is_message_whole: bool,
    /// The number of parents.
    pub parents: usize,
    /// The committer time that the commit records, in seconds since 1970.
    pub committed_at: i64,
    /// True if the start commit is an ancestor, or is this commit.
    pub descends_from_start: bool,
    /// True if the worktree's reflog records that the commit was created there, not fetched, merged or reset to.
    pub was_made_here: bool,
    /// True if the tree differs from that of the start commit.
    pub changes_tree: bool,
    /// The reason why git rejects a commit since the start, to show to the user: for instance, a tree entry named
    /// `..` cannot be checked out. `None` if git accepts all of them.
    pub unsound: Option<String>,
}

/// The result of a check command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// True if the command exited with 0.
    pub passed: bool,
    /// The way the command ended, to show to the user.
    pub detail: String,
}

/// The verdict on an agent: ready if every part holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// True if every part holds.
    pub ready: bool,
    /// True if the message of `HEAD` contains the marker in any use.
    pub marker_present: bool,
    /// The parts, in order of [`PartName`].
    pub parts: Vec<Part>,
}

/// One part of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The rule.
    pub name: PartName,
    /// True if the rule holds.
    pub holds: bool,
    /// The reason for a failure, to show to the user; empty if the rule holds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The parts of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartName {
    /// The agent exited with 0.
    ExitCode,
    /// `HEAD` differs from the start commit and descends from it.
    Descends,
    /// `HEAD` was committed after the launch, in this worktree.
    New,
    /// The tree of `HEAD` differs from that of the start commit: a commit without changes does not count as work.
    Changes,
    /// Git accepts every commit since the start, so that each tree can be checked out.
    Sound,
    /// The message of `HEAD` states the marker as the agent's own words.
    Marker,
    /// The worktree has no uncommitted or untracked files. Only if required.
    CleanTree,
    /// The check command passed. Only with a check command.
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
    /// Judges the evidence.
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

    /// Returns true if a check command passed. Without one, only the agent itself says that the work is done.
    pub fn is_checked(&self) -> bool {
        self.parts.iter().any(|part| part.name == PartName::Check && part.holds)
    }

    /// Returns whether the check command passed; `None` without one, and if it was not run because another part does not hold.
    pub fn check_passed(&self) -> Option<bool> {
        let is_check = |part: &&Part| part.name == PartName::Check;
        let was_reached = self.parts.iter().filter(|part| !is_check(part)).all(|part| part.holds);
        self.parts.iter().find(is_check).filter(|_| was_reached).map(|part| part.holds)
    }

    /// Returns the first part that does not hold.
    pub fn first_failure(&self) -> Option<&Part> {
        self.parts.iter().find(|part| !part.holds)
    }
}

fn part(name: PartName, outcome: Result<(), String>) -> Part {
    Part { name, holds: outcome.is_ok(), why: outcome.err().unwrap_or_default() }
}

fn exit_code(code: Option<i32>) -> Result<(), String> {
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(format!("it exited with {code}")),
        None => Err("its exit code is unknown".to_owned()),
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
        // Git records whole seconds, so a commit within the second of the launch counts as new.
        Some(head) if head.committed_at < evidence.launched_at => {
            Err("its commit is older than its launch".to_owned())
        }
        Some(head) if !head.was_made_here => {
            Err("its commit is not its own: the worktree's reflog does not show that it was made there, or another agent delivered the same one".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn changes(head: Option<&HeadCommit>, start: &str) -> Result<(), String> {
    match head {
        None => Err("there is no commit".to_owned()),
        Some(head) if head.commit == start => Err("there is no new commit".to_owned()),
        Some(head) if !head.changes_tree => {
            Err("its files are the same as at the start: nothing was changed".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn is_sound(head: Option<&HeadCommit>) -> Result<(), String> {
    match head.and_then(|head| head.unsound.as_ref()) {
        Some(why) => Err(format!("git rejects what it committed: {why}")),
        None => Ok(()),
    }
}

fn marker(head: Option<&HeadCommit>, evidence: &Evidence<'_>) -> Result<(), String> {
    let Some(head) = head else { return Err("there is no commit".to_owned()) };
    if !head.is_message_whole {
        return Err("the message of the last commit is too long to read".to_owned());
    }
    let why = match MarkerUse::of(evidence.marker, &head.message, evidence.issue_body) {
        MarkerUse::Said if head.commit == evidence.start_commit => {
            "the marker is in the start commit, not in a commit of the agent"
        }
        MarkerUse::Said if head.parents > 1 => {
            "the marker is in a merge commit, which repeats the messages of others"
        }
        MarkerUse::Said => return Ok(()),
        MarkerUse::Absent => "the last commit's message does not contain the marker",
        MarkerUse::Reverted => "the marker is in the subject of a reverted commit",
        MarkerUse::Quoted => "the marker is only quoted",
    };
    Err(why.to_owned())
}
