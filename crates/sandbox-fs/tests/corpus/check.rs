//! The checks of every reply, and those after every case.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::Duration;

use sandbox_fs::OpenFile;

use super::case::{Case, Expectation};
use super::phrase::{self, Scene, phrases};
use super::subject::{NEW_TEXT, Reply, Subject};
use super::tree::Tree;
use super::{CANARY, Sandbox};

/// The reason why a case fails.
pub(super) enum Failure {
    /// A reply took longer than the case allows.
    Late(Duration),
    Wrong(String),
}

impl From<String> for Failure {
    fn from(what: String) -> Failure {
        Failure::Wrong(what)
    }
}

/// The results of all rounds of a case.
#[derive(Default)]
pub(super) struct RoundResults {
    pub(super) accepted: u64,
    pub(super) last: Option<Reply>,
    /// The latest replaced files.
    replaced: VecDeque<OpenFile>,
    /// The number of lines written to earlier replaced files after they had been checked.
    late_lines: u64,
    /// The number of lines in versions that were kept under another name.
    kept_lines: u64,
}

/// The number of replaced files that are held open at a time.
const HELD: usize = 100;

impl RoundResults {
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
) -> Result<(), Failure> {
    if took >= case.time_limit() {
        return Err(Failure::Late(took));
    }
    right::<S>(case, reply, sandbox).map_err(Failure::Wrong)
}

fn right<S: Subject>(
    case: &Case,
    reply: &Result<Reply, S::Refusal>,
    sandbox: &Sandbox,
) -> Result<(), String> {
    let text = match (&case.expect, reply) {
        (Expectation::Unknown(word), _) => return Err(format!("the expectation {word} is not understood")),
        (Expectation::Accepted, Err(refusal)) => return Err(format!("was refused: {refusal:?}")),
        (Expectation::Rejected, Ok(_)) => return Err("was accepted".to_owned()),
        (_, Ok(reply)) => String::from_utf8_lossy(&reply.content).into_owned() + &paths(reply),
        (_, Err(refusal)) => S::text(refusal),
    };
    // A reply may repeat the path of the request.
    let text = text.replace(&case.path(sandbox), "");
    // Reading through a mount that the user made is the one way in which the secret may appear.
    let mounts = case.steps("bind_mount").filter_map(|step| step.get(1)?.as_str());
    let is_mounted =
        mounts.map(|mount| format!("{mount}/")).any(|mount| case.path(sandbox).starts_with(&mount));
    require(is_mounted || !text.contains(CANARY), "the reply contains the secret")?;
    reveals_no_location(&text, sandbox)?;
    match (&case.code, reply) {
        (Some(code), Err(refusal)) if case.expect == Expectation::Rejected => {
            require(S::fits(code, refusal), format!("{code} is not {refusal:?}"))
        }
        _ => Ok(()),
    }
}

/// Checks a case in which the root itself was refused.
pub(super) fn refused_root(case: &Case, text: &str, sandbox: &Sandbox) -> Result<(), String> {
    let is_expected = case.expect == Expectation::Rejected && case.code.as_deref() == Some("BAD_ROOT");
    require(is_expected, format!("the root was refused: {text}"))?;
    reveals_no_location(text, sandbox)
}

fn reveals_no_location(text: &str, sandbox: &Sandbox) -> Result<(), String> {
    let top = sandbox.top().to_str().unwrap();
    require(!text.contains(top), format!("the reply reveals the absolute path: {text}"))
}

fn paths(reply: &Reply) -> String {
    reply.entries.iter().map(|(path, _)| path.clone() + "\n").collect()
}

/// Returns whether a raced operation has to succeed between two disturbances to prove anything. The racers of these cases
/// restore what they change, so success is possible.
pub(super) fn must_succeed_once(case: &Case) -> bool {
    match case.operation.as_str() {
        "read" | "write" => case.has_racer("exchange"),
        "edit" => case.has_racer("append"),
        _ => false,
    }
}

/// Checks a case after its rounds: the phrases of its check, and that only its own path has changed.
pub(super) fn aftermath<S: Subject>(
    scene: &Scene<'_>,
    disturbances: u64,
    before: &Tree,
) -> Result<(), String> {
    let (case, sandbox, results) = (scene.case, scene.sandbox, scene.results);
    for phrase in phrases(&case.check) {
        phrase::holds::<S>(phrase, scene)?;
    }
    if must_succeed_once(case) {
        require(results.accepted > 0, "it never succeeded")?;
    }
    if case.operation == "edit" && case.has_racer("append") {
        no_update_is_lost(case, sandbox, results, disturbances)?;
    }
    if is_still(case) {
        links_remain(case, sandbox, results)?;
        only_its_own_path(case, sandbox, results, before)?;
    }
    Ok(())
}

/// Returns whether only the operation changes the workspace, so that the whole can be compared.
pub(super) fn is_still(case: &Case) -> bool {
    const OTHER: [&str; 8] = [
        "racer",
        "delete_root",
        "move_root",
        "replace_root",
        "root",
        "deep_dirs",
        "many_files",
        "small_fs_inodes",
    ];
    OTHER.iter().all(|verb| case.steps(verb).next().is_none())
}

/// Checks that links are neither followed nor replaced; only a deletion removes one.
fn links_remain(case: &Case, sandbox: &Sandbox, results: &RoundResults) -> Result<(), String> {
    let path = case.path(sandbox);
    for name in case.steps("symlink").filter_map(|step| step.get(1)?.as_str()) {
        let is_removed = case.operation == "delete" && results.accepted > 0 && name == path;
        let is_link = fs::symlink_metadata(sandbox.at(name)).is_ok_and(|data| data.is_symlink());
        require(is_link != is_removed, format!("{name} is a link: {is_link}"))?;
    }
    Ok(())
}

/// Checks that a refused or reading operation has changed nothing, and that an accepted change has affected its own path
/// only, as requested.
fn only_its_own_path(
    case: &Case,
    sandbox: &Sandbox,
    results: &RoundResults,
    before: &Tree,
) -> Result<(), String> {
    let path = case.path(sandbox);
    let changes =
        results.accepted > 0 && matches!(case.operation.as_str(), "write" | "append" | "edit" | "delete");
    let name = Path::new(&path).file_name().filter(|_| changes);
    let difference = before.difference(&Tree::of(&sandbox.workspace()), name);
    require(difference.is_none(), difference.unwrap_or_default())?;
    if !changes {
        return Ok(());
    }
    let content = fs::read(sandbox.at(&path)).map(|content| String::from_utf8_lossy(&content).into_owned());
    let is_done = match (case.operation.as_str(), &content) {
        ("delete", _) => fs::symlink_metadata(sandbox.at(&path)).is_err(),
        ("write", Ok(content)) => content == NEW_TEXT,
        ("append", Ok(content)) => content.ends_with(NEW_TEXT),
        ("edit", Ok(content)) => content.contains(case.arguments["content"].as_str().unwrap_or("edited")),
        _ => false,
    };
    require(is_done, format!("{} was accepted, and the file is {content:?}", case.operation))
}

/// Checks that every line that the racer appended is in the file, or in a version that an error named, or in a replaced
/// file that the caller still holds.
fn no_update_is_lost(
    case: &Case,
    sandbox: &Sandbox,
    results: &RoundResults,
    appended: u64,
) -> Result<(), String> {
    let in_file = lines(&fs::read(sandbox.at(&case.path(sandbox))).unwrap());
    let late = results.all_late_lines();
    let kept = results.kept_lines;
    let account = format!("{appended} appended, {in_file} in the file, {late} late, {kept} kept");
    require(in_file + late + kept == appended, account)
}

/// Counts the racer's lines that were appended to a file after it had been checked and replaced.
fn late_lines(file: &OpenFile) -> u64 {
    lines(&file.read_range(file.metadata().size_bytes, u64::MAX).unwrap())
}

fn lines(content: &[u8]) -> u64 {
    content.split(|byte| *byte == b'\n').filter(|line| *line == b"z").count() as u64
}
