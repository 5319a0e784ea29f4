//! The requirements on this machine for running agents.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::plan::definition::{AgentCommand, AgentDefinition};
use crate::plan::host::Host;
use crate::repository::Repository;
use crate::repository::git::{Git, GitLocation};

/// The oldest version of git that supports every call of the runner: major and minor.
const OLDEST_GIT: (u32, u32) = (2, 40);

/// One requirement, with its state on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// The name of the requirement.
    pub what: String,
    /// True if agents cannot run without it.
    pub required: bool,
    /// True if this machine meets it.
    pub present: bool,
    /// The version or path that meets it, or the advice to meet it.
    pub detail: String,
}

/// Checks git, the repository, the identity, each agent's program, and `gh`.
pub fn doctor(
    host: &Host,
    repository: &Path,
    agents: &[AgentDefinition],
    is_gh_needed: bool,
) -> Vec<DoctorFinding> {
    let mut findings = vec![git(host)];
    if findings[0].present {
        // The folder of hooks need not exist for these calls.
        let opened = Repository::open(Git::new(host, "/nonexistent".into()), repository);
        match &opened {
            Ok(repository) => {
                let worktrees = repository
                    .git
                    .run(GitLocation::Folder(&repository.root), &["worktree", "list", "--porcelain"]);
                findings.push(finding("worktrees", true, worktrees.is_ok(), "git worktree works"));
                let has_commit = repository.base(None).is_ok();
                findings.push(finding("commits", true, has_commit, "agents start from a commit"));
                findings.push(identity(repository));
            }
            Err(error) => findings.push(finding("repository", true, false, &error.to_string())),
        }
    }
    findings.extend(agents.iter().map(|agent| program(host, agent)));
    let gh = host.find_program("gh");
    let detail = match &gh {
        Some(path) => path.display().to_string(),
        None => "not found; give the issue's text with --issue-body-file".to_owned(),
    };
    findings.push(finding("gh", is_gh_needed, gh.is_some(), &detail));
    findings
}

fn git(host: &Host) -> DoctorFinding {
    // Not through `Git`: a missing program is a finding here, not an error.
    let mut command = Command::new("git");
    command.env_clear().env("PATH", host.search_path()).arg("--version").stdin(Stdio::null());
    let Some(output) = command.output().ok().filter(|output| output.status.success()) else {
        return finding("git", true, false, "not found");
    };
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut numbers = text.trim_start_matches("git version ").split('.').map(|part| part.parse::<u32>().ok());
    let version = numbers.next().flatten().zip(numbers.next().flatten());
    let is_new = version.is_some_and(|version| version >= OLDEST_GIT);
    let detail = if is_new { text } else { format!("{text}; 2.40 or newer is needed") };
    finding("git", true, is_new, &detail)
}

fn identity(repository: &Repository) -> DoctorFinding {
    let identity = repository.setting("user.name").zip(repository.setting("user.email"));
    let detail = match &identity {
        Some((name, _)) => name.clone(),
        None => "none is set, so commits are from 'agentd'; set git's user.name and user.email".to_owned(),
    };
    finding("identity", false, identity.is_some(), &detail)
}

fn program(host: &Host, agent: &AgentDefinition) -> DoctorFinding {
    let what = format!("agent {}", agent.name);
    match &agent.command {
        AgentCommand::Shell { text } => finding(&what, true, true, text),
        AgentCommand::Program { program, .. } => {
            match host.find_program(&host.expand_home(program).to_string_lossy()) {
                Some(path) => finding(&what, true, true, &path.display().to_string()),
                None => finding(&what, true, false, &format!("'{program}' is missing or not executable")),
            }
        }
    }
}

fn finding(what: &str, required: bool, present: bool, detail: &str) -> DoctorFinding {
    DoctorFinding { what: what.to_owned(), required, present, detail: detail.to_owned() }
}
