//! The test harness for authors of agents: a throw-away repository and issue, a run, a report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cocode_env::{AgentState, IssueNumber, PartName, ReadyMarker};
use rel_path::ProtectedNames;
use sandbox_exec::{Level, SpawnerProgram};
use serde::Serialize;

use crate::error::RunnerError;
use crate::objects::object_import::LIMIT;
use crate::plan::RunRequest;
use crate::plan::definition::AgentDefinition;
use crate::plan::host::Host;
use crate::plan::run_limits::RunLimits;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::git::{DIFF, GitError};
use crate::repository::worktree::file_error;
use crate::run::event::{RunEvent, RunObserver};
use crate::run::stop::StopFlag;
use crate::runner::{Runner, RunnerConfig};

/// The agent's issue. A program that does not understand text can solve it, too.
const BODY: &str = "Note this issue\n\nAdd a line that names this issue as '#1' to a file: to CHANGES.txt, or to another \
     one that fits better.\n";

/// The text that an added line must contain.
const REQUIRED_TEXT: &str = "#1";

/// The most bytes of the agent's changes that are searched for it.
const MOST_CHANGES_BYTES: u64 = 4 << 20;

/// The name of the part about the deadline.
const IN_TIME: &str = "in_time";

/// The paths, capabilities and limits of the harness.
#[derive(Clone, Debug)]
pub struct CheckContext {
    /// The user's environment.
    pub host: Host,
    /// The program that becomes the spawner of processes.
    pub spawner: SpawnerProgram,
    /// The folder in which the throw-away folder is made.
    pub scratch: PathBuf,
    /// The least confinement.
    pub least_level: Level,
    /// The time of the agent.
    pub limits: RunLimits,
}

/// The report of the harness.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// True if the agent keeps the contract.
    pub passed: bool,
    /// Every part, in order.
    pub parts: Vec<CheckPart>,
    /// The last lines of the agent's output, at most 20.
    pub output: Vec<String>,
}

impl CheckReport {
    /// Returns whether the agent ended before its deadline.
    pub fn is_in_time(&self) -> bool {
        self.parts.iter().all(|part| part.name != IN_TIME || part.holds)
    }
}

/// One part of the contract.
#[derive(Clone, Debug, Serialize)]
pub struct CheckPart {
    /// The part's name.
    pub name: &'static str,
    /// True if it holds.
    pub holds: bool,
    /// True if the contract requires it; otherwise it is advice.
    pub required: bool,
    /// The observation or reason.
    pub detail: String,
}

/// The observed output of the agent.
#[derive(Default)]
struct OutputLog {
    lines: Mutex<Vec<String>>,
    structured: Mutex<bool>,
}

impl RunObserver for OutputLog {
    fn event(&self, event: &RunEvent) {
        if let RunEvent::Log { line, .. } = event {
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push(line.message.clone());
            if lines.len() > 20 {
                lines.remove(0);
            }
            *self.structured.lock().unwrap_or_else(PoisonError::into_inner) |= line.level.is_some();
        }
    }
}

/// Runs an agent on a throw-away repository and reports on every part of the contract.
///
/// # Errors
/// Those of the harness itself; a breach by the agent is part of the report.
pub fn check_contract(
    context: &CheckContext,
    definition: &AgentDefinition,
    stop: &StopFlag,
) -> Result<CheckReport, RunnerError> {
    let folder = tempfile::Builder::new().prefix("cocode-check-").tempdir_in(&context.scratch);
    let folder = folder.map_err(file_error("make a folder in", &context.scratch))?;
    // Resolved, because a rule of the confinement for a symlink does not cover its target.
    let root = fs::canonicalize(folder.path()).map_err(file_error("find", folder.path()))?;
    let repository = root.join("repository");
    make_repository(&context.host, &repository)?;
    let runner = Runner::open(RunnerConfig {
        repository,
        state_folder: root.join("state"),
        worktrees: root.join("worktrees"),
        private: vec![root.join("state")],
        names: ProtectedNames::default(),
        host: context.host.clone(),
        spawner: context.spawner.clone(),
        homes: None,
        scratch: context.scratch.clone(),
        least_level: context.least_level,
        highest_level: Level::Full,
    })?;
    let issue = IssueNumber::try_from(1).expect("1 is the number of an issue");
    let request = RunRequest {
        issue,
        issue_url: None,
        body: BODY.to_owned(),
        agents: vec![definition.clone()],
        base: None,
        continues: None,
        marker: ReadyMarker::default(),
        limits: context.limits,
    };
    let log = OutputLog::default();
    let before = fs::read(root.join("repository/greeting.txt")).ok();
    let mut records = runner.run(&request, stop, &log)?;
    let record = records.pop().expect("a run of one agent has one record");
    let after = fs::read(root.join("repository/greeting.txt")).ok();
    let is_clean = match runner.worktree_of(&record) {
        Some(worktree) if worktree.path.is_dir() => worktree.is_clean(&runner.repository)?,
        _ => false,
    };
    let is_done = has_done_it(&runner.repository, &record)?;
    let parts = parts(&record, &log, is_clean, before == after, is_done);
    let output = log.lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(CheckReport { passed: parts.iter().all(|part| part.holds || !part.required), parts, output })
}

/// Returns whether the agent has committed the change that its issue requests.
fn has_done_it(repository: &Repository, record: &AgentRecord) -> Result<bool, GitError> {
    let Some(head) = record.head.as_deref().filter(|head| repository.commit(head).is_some()) else {
        return Ok(false);
    };
    let arguments = [&DIFF[..], &["--unified=0", &record.start_commit, head, "--"]].concat();
    let git = repository.git.within(LIMIT);
    let (changes, _) = git.run_for_start(repository.location(), &arguments, MOST_CHANGES_BYTES)?;
    let changes = String::from_utf8_lossy(&changes);
    let mut added = changes.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++ "));
    Ok(added.any(|line| line.contains(REQUIRED_TEXT)))
}

fn parts(
    record: &AgentRecord,
    log: &OutputLog,
    is_clean: bool,
    is_untouched: bool,
    is_done: bool,
) -> Vec<CheckPart> {
    let part = |name, holds, required, detail: String| CheckPart { name, holds, required, detail };
    let detail = record.detail.as_deref().unwrap_or_default();
    // A shell exits with the last two if it finds no program, or none that it can run.
    let has_ended = record.exit_code.is_some_and(|code| ![126, 127].contains(&code));
    let has_started = record.launched_at_ms.is_some() && has_ended;
    let mut parts =
        vec![part("started", has_started, true, if has_started { "" } else { detail }.to_owned())];
    let in_time = record.state != AgentState::TimedOut;
    parts.push(part(IN_TIME, in_time, true, if in_time { "" } else { "it timed out" }.to_owned()));
    for one in record.verdict.iter().flat_map(|verdict| &verdict.parts) {
        let is_explained = one.name == PartName::ExitCode && !one.holds && has_started && !detail.is_empty();
        let why = if is_explained { format!("{}; {detail}", one.why) } else { one.why.clone() };
        parts.push(part(one.name.name(), one.holds, true, why));
    }
    let noun = if record.commits == 1 { "commit" } else { "commits" };
    let commits = format!("{} {noun}", record.commits);
    parts.push(part("repository_untouched", is_untouched, true, String::new()));
    parts.push(part("commits", record.commits > 0, true, commits));
    let undone = format!("the issue requests a line with '{REQUIRED_TEXT}', and none was added");
    parts.push(part("task", is_done, true, if is_done { String::new() } else { undone }));
    // A run only warns of these. They are advice here too, so that the same work has one verdict.
    let on_branch = record.warnings.is_empty();
    parts.push(part("on_branch", on_branch, false, record.warnings.join("; ")));
    let left = if is_clean { "" } else { "it left files that are not committed" };
    parts.push(part("clean_tree", is_clean, false, left.to_owned()));
    let is_structured = *log.structured.lock().unwrap_or_else(PoisonError::into_inner);
    let advice = if is_structured { "" } else { "no line has a level: print JSON or '[INFO] text'" };
    parts.push(part("log_levels", is_structured, false, advice.to_owned()));
    parts
}

/// Makes a repository with one commit, independent of the user's settings.
fn make_repository(host: &Host, folder: &Path) -> Result<(), RunnerError> {
    fs::create_dir(folder).map_err(file_error("make", folder))?;
    let file = folder.join("greeting.txt");
    fs::write(&file, "Hello\n").map_err(file_error("write", &file))?;
    let steps: [&[&str]; 3] = [
        &["init", "--quiet", "--initial-branch=main"],
        &["add", "greeting.txt"],
        &["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message=Say hello"],
    ];
    for arguments in steps {
        let mut command = Command::new("git");
        // The folder as the home, so that git finds no settings of the user.
        command.env_clear().env("PATH", &host.own_path).env("HOME", folder);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "cocode check");
            command.env(format!("GIT_{role}_EMAIL"), "check@localhost");
        }
        let output = command.args(arguments).current_dir(folder).output();
        let output = output.map_err(GitError::NotStarted)?;
        if !output.status.success() {
            return Err(GitError::Failed {
                command: arguments[0].to_owned(),
                reason: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                exit_code: output.status.code(),
            }
            .into());
        }
    }
    Ok(())
}
