//! The requirements on this machine for running agents.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use cocode_env::{AgentContext, IssueNumber, ReadyMarker};
use serde::Serialize;

use crate::error::error_chain;
use crate::plan::definition::{AgentCommand, AgentDefinition};
use crate::plan::environment::agent_environment;
use crate::plan::host::Host;
use crate::plan::{body_file, check_permissions};
use crate::repository::Repository;
use crate::repository::git::{Git, GitLocation};
use crate::runner::RunnerConfig;

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

/// Checks git, the repository, the identity, each agent's program and permissions, and `gh`. Nothing is made.
pub fn doctor(config: &RunnerConfig, agents: &[AgentDefinition], is_gh_needed: bool) -> Vec<DoctorFinding> {
    let host = &config.host;
    let mut findings = vec![git(host)];
    let mut repository = None;
    if findings[0].present {
        // The folder of hooks need not exist for these calls.
        let opened = Repository::open(Git::new(host, "/nonexistent".into()), &config.repository);
        match opened {
            Ok(opened) => {
                let repository = repository.insert(opened);
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
    findings.extend(agents.iter().map(|definition| agent(config, repository.as_ref(), definition)));
    let gh = host.find_own_program("gh");
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
    command.env_clear().env("PATH", &host.own_path).arg("--version").stdin(Stdio::null());
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

/// Reports whether a run would accept an agent, as far as that depends on its definition and on this machine.
fn agent(
    config: &RunnerConfig,
    repository: Option<&Repository>,
    definition: &AgentDefinition,
) -> DoctorFinding {
    let what = format!("agent {}", definition.name);
    let permissions =
        repository.map_or(Ok(()), |repository| check_permissions(config, repository, definition));
    let words =
        permissions.and_then(|()| definition.words(&config.host, &some_environment(config, definition)));
    match (words, &definition.command) {
        (Err(error), _) => finding(&what, true, false, &error_chain(&error)),
        (Ok(_), AgentCommand::Shell { text }) => finding(&what, true, true, text),
        (Ok(words), AgentCommand::Program { .. }) => finding(&what, true, true, &words[0].to_string_lossy()),
    }
}

/// Returns the variables of an agent, with placeholder values for its issue and its worktree.
fn some_environment(config: &RunnerConfig, definition: &AgentDefinition) -> BTreeMap<OsString, OsString> {
    let worktree = config.worktrees.join("agent");
    let url = "https://issues.invalid/1".parse().expect("it is an address");
    let issue = IssueNumber::try_from(1).expect("1 is the number of an issue");
    let context =
        AgentContext::new(worktree.clone(), issue, url, body_file(&worktree), ReadyMarker::default());
    context.map_or_else(|_| BTreeMap::new(), |context| agent_environment(&config.host, definition, &context))
}

fn finding(what: &str, required: bool, present: bool, detail: &str) -> DoctorFinding {
    DoctorFinding { what: what.to_owned(), required, present, detail: detail.to_owned() }
}
