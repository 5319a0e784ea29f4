//! The plan of a run: everything is checked before anything is made.

pub(crate) mod agent_policy;
pub(crate) mod agents_file;
pub(crate) mod definition;
pub(crate) mod environment;
pub(crate) mod host;
pub(crate) mod hub_issue;
pub(crate) mod run_limits;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use cocode_env::{AgentContext, AgentName, IssueNumber, IssueUrl, ReadyMarker, branch_name};
use egress::Network;
use sandbox_exec::{ShellCommand, Timeout};
use serde::Serialize;

use crate::error::RunnerError;
use crate::plan::agent_policy::check_writable;
use crate::plan::definition::{AgentCommand, AgentDefinition, quoted};
use crate::plan::environment::agent_environment;
use crate::plan::run_limits::RunLimits;
use crate::repository::{Base, Repository};
use crate::run::watch::GRACE;
use crate::runner::{Runner, RunnerConfig};

/// A request to run agents on an issue.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The issue's number.
    pub issue: IssueNumber,
    /// The issue's address; `None` to derive it from the repository's remote.
    pub issue_url: Option<IssueUrl>,
    /// The issue's text.
    pub body: String,
    /// The agents.
    pub agents: Vec<AgentDefinition>,
    /// The branch to start from, or a commit; `None` for the default branch.
    pub base: Option<String>,
    /// The conversation whose work the agents continue, as the journal names it; `base` is then a [snapshot](Runner::snapshot).
    pub continues: Option<String>,
    /// The marker that the last commit of an agent must carry.
    pub marker: ReadyMarker,
    /// The number of agents at once, and their time.
    pub limits: RunLimits,
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct RunPlan {
    pub(crate) base: Base,
    pub(crate) agents: Vec<PlannedAgent>,
}

/// The plan for one agent.
#[derive(Clone, Debug)]
pub(crate) struct PlannedAgent {
    pub(crate) definition: AgentDefinition,
    pub(crate) branch: String,
    pub(crate) worktree: PathBuf,
    pub(crate) context: AgentContext,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) command: ShellCommand,
    pub(crate) timeout: Duration,
}

/// The branch and the paths reserved for an agent.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub(crate) branch: String,
    pub(crate) worktree: PathBuf,
    pub(crate) context: AgentContext,
}

/// One agent of a plan, for display.
#[derive(Clone, Debug, Serialize)]
pub struct PlanLine {
    /// Its name.
    pub agent: AgentName,
    /// The branch that would be made.
    pub branch: String,
    /// The worktree that would be made.
    pub worktree: PathBuf,
    /// The branch that it would start from.
    pub base: String,
    /// The commit that it would start from.
    pub start_commit: String,
    /// The command that would be started, as text for a shell.
    pub command: String,
    /// Its deadline in seconds.
    pub timeout_seconds: u64,
    /// True if it would be confined.
    pub sandbox: bool,
    /// The names of its variables, without their values.
    pub variables: Vec<String>,
}

impl PlannedAgent {
    /// Returns its branch and paths.
    pub(crate) fn reserved(&self) -> Reserved {
        let (branch, worktree) = (self.branch.clone(), self.worktree.clone());
        Reserved { branch, worktree, context: self.context.clone() }
    }
}

impl RunPlan {
    /// Returns the plan for display, an entry for each agent.
    pub fn lines(&self) -> Vec<PlanLine> {
        let line = |agent: &PlannedAgent| PlanLine {
            agent: agent.definition.name.clone(),
            branch: agent.branch.clone(),
            worktree: agent.worktree.clone(),
            base: self.base.name.clone(),
            start_commit: self.base.commit.clone(),
            command: agent.command.text().to_owned(),
            timeout_seconds: agent.timeout.as_secs(),
            sandbox: agent.definition.is_confined,
            variables: agent.environment.keys().map(|name| name.to_string_lossy().into_owned()).collect(),
        };
        self.agents.iter().map(line).collect()
    }
}

impl Runner {
    /// Checks a request and returns its plan. Nothing is made.
    ///
    /// # Errors
    /// The first fault of the request, the repository or a program.
    pub fn plan(&self, request: &RunRequest) -> Result<RunPlan, RunnerError> {
        let (base, url) = self.check_request(request)?;
        let agents = request.agents.iter().map(|agent| self.plan_agent(request, agent, &url));
        Ok(RunPlan { base, agents: agents.collect::<Result<_, _>>()? })
    }

    /// Checks a request apart from its agents' programs and paths. Returns the base, and the address of the issue.
    pub(crate) fn check_request(&self, request: &RunRequest) -> Result<(Base, IssueUrl), RunnerError> {
        if request.agents.is_empty() {
            return Err(RunnerError::NoAgents);
        }
        if request.body.trim().is_empty() {
            return Err(RunnerError::EmptyBody);
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = request.agents.iter().find(|agent| !names.insert(agent.name.clone())) {
            return Err(RunnerError::Twice { name: twice.name.clone() });
        }
        let worktrees = self.worktrees_folder();
        if worktrees.ancestors().any(|folder| folder.join(".git").exists()) {
            return Err(RunnerError::InsideRepository { path: worktrees.to_owned() });
        }
        let mut base = self.repository.base(request.base.as_deref())?;
        if let Some(conversation) = &request.continues {
            base.name = format!("session:{conversation}");
        }
        let url = match &request.issue_url {
            Some(url) => url.clone(),
            None => {
                let url = self.repository.issue_url(request.issue.get()).parse();
                url.expect("an address made of a host and a number is one")
            }
        };
        // An agent on another machine leaves no traces at its paths.
        for record in self.store.records()?.iter().filter(|record| record.is_pending_elsewhere()) {
            if record.issue == request.issue && names.contains(&record.agent) {
                return Err(RunnerError::StillElsewhere { agent: record.agent.clone() });
            }
        }
        Ok((base, url))
    }

    /// Checks a definition's permissions.
    pub(crate) fn check_permissions(&self, definition: &AgentDefinition) -> Result<(), RunnerError> {
        check_permissions(&self.config, &self.repository, definition)
    }

    /// Checks that the branch and the paths of an agent are free, and what it may do.
    pub(crate) fn reserve(
        &self,
        request: &RunRequest,
        definition: &AgentDefinition,
        url: &IssueUrl,
    ) -> Result<Reserved, RunnerError> {
        let agent = &definition.name;
        self.check_permissions(definition)?;
        let branch = branch_name(request.issue, agent);
        let worktree = self.worktrees_folder().join(format!("{}-{agent}", request.issue));
        if self.repository.has_branch(&branch) {
            return Err(RunnerError::BranchExists { branch });
        }
        // A branch `cocode` excludes every branch `cocode/…`, because git keeps them as files in a folder of that name. Git
        // itself reports all other conflicts.
        if self.repository.common_folder.join("refs/heads/cocode").is_file() {
            return Err(RunnerError::BranchExists { branch: "cocode".to_owned() });
        }
        let body_file = body_file(&worktree);
        if let Some(path) = [&worktree, &body_file].into_iter().find(|path| path.symlink_metadata().is_ok()) {
            return Err(RunnerError::FolderExists { path: path.clone() });
        }
        let context = AgentContext::new(
            worktree.clone(),
            request.issue,
            url.clone(),
            body_file,
            request.marker.clone(),
        )?;
        Ok(Reserved { branch, worktree, context })
    }

    fn plan_agent(
        &self,
        request: &RunRequest,
        definition: &AgentDefinition,
        url: &IssueUrl,
    ) -> Result<PlannedAgent, RunnerError> {
        let agent = &definition.name;
        let Reserved { branch, worktree, context } = self.reserve(request, definition, url)?;
        let environment = agent_environment(&self.config.host, definition, &context);
        let words = definition.words(&self.config.host, &environment)?;
        let text = match &definition.command {
            AgentCommand::Shell { text } => text.clone(),
            AgentCommand::Program { .. } => {
                let words = quoted(&words).ok_or_else(|| RunnerError::NotText { agent: agent.clone() })?;
                format!("exec {words}")
            }
        };
        let timeout = definition.timeout.unwrap_or(request.limits.timeout);
        let refused = |source| RunnerError::Command { agent: agent.clone(), source };
        // A fallback after the runner's own deadline, which first requests the end and kills later.
        let last = Timeout::new(timeout + GRACE + Duration::from_secs(1)).map_err(refused)?;
        let command = ShellCommand::new(&text).map_err(refused)?.with_timeout(last);
        Ok(PlannedAgent {
            definition: definition.clone(),
            branch,
            worktree,
            context,
            environment,
            command,
            timeout,
        })
    }
}

/// Checks a definition's permissions: none may lead out of the confinement, or require one that the agent does not have.
pub(crate) fn check_permissions(
    config: &RunnerConfig,
    repository: &Repository,
    definition: &AgentDefinition,
) -> Result<(), RunnerError> {
    if !definition.is_confined && definition.network != Network::On {
        return Err(RunnerError::OpenNetwork { agent: definition.name.clone() });
    }
    check_writable(config, repository, definition)
}

/// Returns the path of the issue's text for the agent of a worktree, next to it. Agents' names have no dots, so the path
/// cannot be another agent's worktree.
pub(crate) fn body_file(worktree: &std::path::Path) -> PathBuf {
    let mut name = worktree.as_os_str().to_owned();
    name.push(".issue.txt");
    PathBuf::from(name)
}
